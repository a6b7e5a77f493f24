"""What notebook 8 says in words of rules that are learned with RoPE."""

import nbformat
import pytest
import torch
from paths import NOTEBOOKS

from attn_lib import alibi_bias, rotary, sinusoidal_encoding

NOTEBOOK = NOTEBOOKS / "08_position.ipynb"


@pytest.fixture(scope="module")
def lesson():
    """What notebook 8 shows of its two rules on a second reading, and its source of `learn`."""
    sources = {cell.id: cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
    before, threads, names = torch.get_default_dtype(), torch.get_num_threads(), {}
    try:
        for part in ("imports", "schemes", "share-right", "learn"):
            names.update(rotary=rotary, sinusoidal_encoding=sinusoidal_encoding, alibi_bias=alibi_bias)
            exec(sources[part], names)
        yield names, sources["learn"]
    finally:
        torch.set_default_dtype(before)
        torch.set_num_threads(threads)
        torch.set_printoptions(profile="default")


def test_rope_keeps_no_rule_beyond_the_trained_distances(lesson):
    names, source = lesson
    step = "gradient / size.add_(gradient**2).sqrt()"
    assert source.count(step) == 1
    exec(source.replace(step, "3 * gradient"), names)  # plain gradient descent
    learned = names["learn"]("RoPE", "before")
    assert names["share_right"]("RoPE", "before", 32, *learned) > 0.99
    assert 0.3 < names["share_right"]("RoPE", "before", 256, *learned) < 0.9
