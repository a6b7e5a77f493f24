"""Pieces, cut as the package `tokenizers` cuts them."""

import json
import random
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from workbench.smollm.pieces import Pieces

MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


@pytest.fixture(scope="module")
def both():
    """Theirs, trained on this course, and ours with what it has learned; both split as SmolLM2 does."""
    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    theirs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=1500, initial_alphabet=alphabet, special_tokens=MARKS, show_progress=False)
    theirs.train_from_iterator([path.read_text(encoding="utf-8") for path in ROOT.glob("*.md")], trainer)
    theirs.add_special_tokens([AddedToken(mark, normalized=False) for mark in MARKS])
    words = sorted(theirs.get_vocab(), key=theirs.get_vocab().get)
    merges = [" ".join(pair) for pair in json.loads(theirs.to_str())["model"]["merges"]]
    fields = {"tokenizer.ggml.tokens": words, "tokenizer.ggml.merges": merges}
    return theirs, Pieces(fields | {"tokenizer.ggml.token_type": [3 if word in MARKS else 1 for word in words]})


SIGNS = st.sampled_from(
    [*"aZé ß\n\t\r'ſ_-.,;12²½Ⅷ٣一二\u00a0\u2003\u200b\u0301😀İ\x1c\x1f", "'s", "'ll", "  ", " 7", *MARKS]
)


@given(st.lists(st.one_of(SIGNS, st.characters(exclude_categories=["Cs"])), max_size=25).map("".join))
def test_text_is_cut_as_the_package_tokenizers_cuts_it(both, text):
    theirs, ours = both
    numbers = ours.encode(text)
    assert numbers == theirs.encode(text, add_special_tokens=False).ids
    assert ours.decode(numbers) == text == theirs.decode(numbers, skip_special_tokens=False)
    assert "".join(ours.cut("tea" + "x" * len(numbers))) == "tea" + "x" * len(numbers)


def test_every_sign_beside_letters_digits_and_spaces(both):
    """All of Unicode that the running Python knows, in a few hundred texts."""
    theirs, ours = both
    signs = [chr(i) for i in range(0x30000) if unicodedata.category(chr(i)) not in ("Cs", "Cn", "Co")]
    random.Random(0).shuffle(signs)
    for i in range(0, len(signs), 300):
        text = " a1 ".join(signs[i : i + 300]) + "  ".join(signs[i : i + 300])
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids


def test_half_a_letter_is_shown_as_such(both):
    _, ours = both
    assert ours.decode([*ours.encode("tea "), ours.words.index("Ã")]) == "tea \ufffd"


def test_joins_lead_from_signs_to_pieces(both):
    _, ours = both
    steps = list(ours.joins(" model"))
    assert len(steps[0]) == 6 and all(len(after) < len(before) for before, after in pairwise(steps))
    assert [ours.words.index(piece) for piece in steps[-1]] == ours.encode(" model")
