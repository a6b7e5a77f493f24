"""What notebook 10 says in words of caches, windows, published models and its own writing."""

import re

import nbformat
import pytest
import torch
from paths import NOTEBOOKS
from torch.testing import assert_close

from attn_lib import cache_bytes, scaled_dot_product_attention, window_mask

NOTEBOOK = NOTEBOOKS / "10_writing_with_a_memory.ipynb"


@pytest.fixture(scope="module")
def cells():
    return {cell.id: cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells}


def names_after(cells, *ids):
    threads, names = torch.get_num_threads(), {}
    try:
        for name in ids:
            exec(re.sub(r"^(predict|blank)\(.*?\)$", "", cells[name].source, flags=re.M | re.S), names)
        return names
    finally:
        torch.set_num_threads(threads)
        torch.set_printoptions(profile="default")


def printed(cells, name):
    return cells[name].outputs[0].text.rstrip().splitlines()


def test_without_the_mask_all_six_numbers_would_have_moved(cells):
    names = names_after(cells, "imports", "attend")
    x, w_q, w_k, w_v = (names[name] for name in ("X", "W_q", "W_k", "W_v"))
    before, after = (scaled_dot_product_attention(t @ w_q, t @ w_k, t @ w_v)[0][:2] for t in (x[:2], x))
    assert ((before - after).abs() > 1e-5).all()


def test_news_travels_further_than_a_window(cells):
    """Through layers: `window` keys a layer reach layers · (window − 1) back."""
    mask = window_mask(12, 12, 3).double()
    for layers in (1, 2, 4):
        reached = torch.linalg.matrix_power(mask, layers)[-1].nonzero()[0]
        assert 11 - reached == layers * 2


def test_the_published_models_cost_what_is_printed_and_said(cells):
    numbers = {line[:17].strip(): re.findall(r"[\d.]+", line[17:]) for line in printed(cells, "models")}
    assert numbers["Llama 2 7B, MHA"] == ["512", "64.0"] and numbers["Llama 3 8B, GQA"] == ["128", "16.0"]
    assert numbers["Falcon 7B, MQA"] == ["8", "1.0"] and numbers["Llama 3 70B, GQA"] == ["320", "40.0"]
    weights = 2 * 6_738_415_616  # its parameters, of two bytes
    text = cache_bytes(32, 32, 128, tokens=4096)
    assert f"{weights / 2**30:.1f} GiB" in cells["text-models"].source and text == 2 * 2**30
    assert 6 * text < weights < 7 * text
    latent = 61 * (512 + 64) * 2
    for name in ("text-deepseek", "text-mla"):
        assert f"{latent / 1024:.0f} KiB" in cells[name].source
    assert f"{cache_bytes(61, 128, 128) / latent:.0f} times" in cells["text-deepseek"].source


def test_the_scores_that_are_not_computed_are_as_many_as_is_said(cells):
    without, with_cache = sum(k * k for k in range(1, 101)), sum(range(1, 101))
    assert f"{without:,}".replace(",", "{,}") in cells["text-time"].source
    assert round(without / with_cache) == 67 and "Sixty-seven" in cells["text-time-answer"].source


def test_what_a_prompt_and_what_is_written_multiply_is_as_is_said(cells):
    names = names_after(cells, "imports", "products")
    reading, writing, again = names["products"](1, 1000), names["products"](1001, 1100), names["again"]
    assert f"a prompt of 1000 tokens that is {reading:.0f} million" in cells["time-heading"].source
    assert reading / 10 < writing < reading / 5  # "nearly a fifth"
    assert again / 100 > reading  # each costs more than the prompt


def test_two_sentences_go_on_from_one_cache(cells):
    ids = ("imports", "attend", "share-heads", "cached-attention", "two-ways-code", "filled-way")
    names = names_after(cells, *ids)
    x, attend, kept = names["X"], names["attend"], names["i_like"]
    assert_close(names["with_tea"][0, 0], attend(x)[0][2:])
    assert_close(names["other_way"][0, 0], attend(x[[0, 1, 0]])[0][2:])
    assert kept.keys.shape == (1, 1, 2, 3) and kept.seen == 2
