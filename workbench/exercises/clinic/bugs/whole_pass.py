"""A bug in a whole forward pass: projections, heads, masks, softmax and a cache in some forty lines."""

import math

import torch

from ..blind_spots import arguments
from ..bug import bug
from ..correct import pass_in_chunks
from ..interfaces import PASS


@bug(
    "6.33",
    PASS,
    fixes=[
        {39: ("seen = n_new", "seen += n_new")},
        {31: ("(seen,", "(keys.size(2) - n_new,")},
        {10: ("first, first + n_new", "n_keys - n_new, n_keys")},
    ],
    faults=("miscounted", "misaligned"),
    section="03#text-10",
    variants={
        "after the first chunk the count does not grow any more": pass_in_chunks(lambda seen, new: seen or new),
        "the size of the largest chunk is used as the count": pass_in_chunks(max),
        "from the third chunk on the count is one too low": pass_in_chunks(lambda seen, new: seen + new - (seen > 0)),
    },
    hints=[
        "However a text is cut, the output must be the same. For which cuts is this patient right?",
        "It is right for one chunk and for two. What is kept from chunk to chunk, and how does each chunk change it?",
        "Read six tokens at once and one by one. With this fault, only the positions of the queries differ "
        "between the two.",
    ],
)
def seen_only_lately(x, w_q, w_k, w_v, w_o, num_heads, chunks, lengths):
    """The count of tokens that were read starts again with each chunk.

    `seen = n_new` stands where `seen += n_new` belongs. The second chunk is still right, since only the first chunk was
    read before it. From the third chunk on, the positions of the queries are too small, and the newest token does not
    attend to itself. A test that reads a prompt and one more word does not find this.
    """
    batch, _, embed_dim = x.shape
    head_dim = embed_dim // num_heads

    def project(rows, weight):
        heads = (rows @ weight).view(batch, -1, num_heads, head_dim)
        return heads.transpose(1, 2)  # (batch, heads, new, head_dim)

    def may_attend(first, n_new, n_keys):
        query_at = torch.arange(first, first + n_new)[:, None]
        key_at = torch.arange(n_keys)
        real = key_at < lengths[:, None]  # (batch, keys)
        return (key_at <= query_at) & real[:, None, None, :]  # (batch, 1, new, keys)

    def softmax(scores, allowed):
        scores = scores.masked_fill(~allowed, -math.inf)
        largest = scores.amax(dim=-1, keepdim=True)
        largest = largest.masked_fill(largest == -math.inf, 0.0)
        powers = torch.exp(scores - largest)
        total = powers.sum(dim=-1, keepdim=True)
        return powers / total.masked_fill(total == 0, 1.0)

    outputs, seen = [], 0
    keys = x.new_zeros(batch, num_heads, 0, head_dim)
    values = x.new_zeros(batch, num_heads, 0, head_dim)
    for new in x.split(chunks, dim=1):
        n_new = new.size(1)
        query = project(new, w_q)
        keys = torch.cat([keys, project(new, w_k)], dim=2)
        values = torch.cat([values, project(new, w_v)], dim=2)
        allowed = may_attend(seen, n_new, keys.size(2))
        scores = query @ keys.transpose(-2, -1)  # (batch, heads, new, keys)
        scores = scores / math.sqrt(head_dim)
        weights = softmax(scores, allowed)
        heads = weights @ values  # (batch, heads, new, head_dim)
        merged = heads.transpose(1, 2)
        merged = merged.reshape(batch, n_new, embed_dim)
        outputs.append(merged @ w_o)
        seen = n_new
    return torch.cat(outputs, dim=1)


@seen_only_lately.blind_to
def at_most_two_chunks(calls):
    """Every text of the test is read in one chunk or two.

    Then this patient is right. Cut a text into more chunks.
    """
    return all(len(chunks) <= 2 for chunks in arguments(calls, "chunks"))


@seen_only_lately.tested_by
def detects(attention):
    x, weights, lengths = torch.randn(1, 6, 4), torch.randn(4, 4, 4), torch.tensor([6])
    at_once, one_by_one = (attention(x, *weights, 2, chunks, lengths) for chunks in ([6], [1] * 6))
    return not torch.allclose(at_once, one_by_one, atol=1e-4)
