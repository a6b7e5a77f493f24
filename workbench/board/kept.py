"""Sentences for a board in a page without a kernel: their maps, and what comes next without each head.

All in one, as small as it gets: such a page has no model. `page/real/kept.js` reads it.
"""

import json
import math
import struct
import zlib

import torch

LIKELIEST = 6  # pieces that are kept, of what comes next without each head
PARTS = 4000  # of 1, in which a share is kept


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
        body += [packed(whole.maps), _in_parts(shares).short().numpy().astype("<u2").tobytes()]
    head = json.dumps(records).encode()
    return zlib.compress(b"".join([struct.pack("<I", len(head)), head, *body]), 9)


def in_units(shares, parts):
    """Shares in whole parts of 1 that are shown as the same per cent as the shares themselves."""
    least, most = _as_shown(shares.double(), parts)
    return (parts * shares.double()).round().clamp(least, most)


def _as_shown(shares, parts):
    """The least and the most whole parts that are shown as these shares are; over 99 % is shown as that."""
    hundredths = (100 * shares + 0.5).floor()
    least = ((hundredths - 0.5) * parts / 100).floor() + 1
    most = ((hundredths + 0.5) * parts / 100).ceil() - 1
    is_all, below_all = shares >= 0.9995, math.ceil(0.9995 * parts) - 1
    return torch.where(is_all, parts, least.clamp(min=0)), torch.where(is_all, parts, most.clamp(max=below_all))


def _in_parts(rows):
    """Rows of shares, the first with all heads; also what another has less than the first is shown as what it is."""
    rows = rows.double()
    lost, units = rows[:1] - rows, in_units(rows, PARTS)
    least, most = _as_shown(rows, PARTS)
    so_far = units[:1] - lost.sign() * (units[:1] - units).abs().clamp(*_as_shown(lost.abs(), PARTS))
    return torch.where((least <= so_far) & (so_far <= most), so_far, units)


def texts(kept):
    """The texts that are kept in these bytes."""
    if not kept:
        return []
    unpacked = zlib.decompress(kept)
    (size,) = struct.unpack_from("<I", unpacked)
    return [record["text"] for record in json.loads(unpacked[4 : 4 + size])]
