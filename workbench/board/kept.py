"""Sentences for a board in a page without a kernel: their maps, and what comes next without each head.

All in one, as small as it gets: such a page has no model. `page/real/kept.js` reads it.
"""

import json
import struct
import zlib

import torch

LIKELIEST = 6  # pieces that are kept, of what comes next without each head
PARTS = 1000  # a share is kept in whole thousandths


def sentences(model, wanted):
    """The bytes of these sentences: wanted has for each its text, a pair of words or none, and groups of heads that are
    out together."""
    from .real import of_pair, packed, reading_of, spans_of, without_each

    heads, records, body = model.sizes.heads, [], []
    for text, pair, groups in wanted:
        whole = reading_of(model, text)
        out = [reading_of(model, text, [divmod(head, heads) for head in group]).shares for group in groups]
        rows = torch.stack([whole.shares, *without_each(model, text), *out])  # (rows, vocabulary)
        numbers = rows.topk(LIKELIEST).indices.unique()
        words = [model.pieces.decode([number]) for number in numbers.tolist()]
        records.append({"text": text, "pieces": spans_of(model.pieces, text), "words": words, "groups": groups})
        records[-1]["pair"] = pair
        shares = rows[:, numbers]
        if pair:
            of_two = of_pair(rows, [model.piece(f" {word}") for word in pair])
            shares = torch.cat([shares, of_two.unsqueeze(1)], dim=1)
        body += [packed(whole.maps), (shares * PARTS).round().short().numpy().astype("<u2").tobytes()]
    head = json.dumps(records).encode()
    return zlib.compress(b"".join([struct.pack("<I", len(head)), head, *body]), 9)


def texts(kept):
    """The texts that are kept in these bytes."""
    if not kept:
        return []
    unpacked = zlib.decompress(kept)
    (size,) = struct.unpack_from("<I", unpacked)
    return [record["text"] for record in json.loads(unpacked[4 : 4 + size])]
