"""What heads do, turned off and exchanged, and one wrong line: on a made-up model of two blocks."""

import itertools

import pytest
import torch
from small_model import SIZES, small_model

from workbench.exercises.engine.exercise import EXERCISES
from workbench.smollm import exchanged, look, read_without, silent, without_each
from workbench.smollm.one_line import WRONG, faulty, opened, spoken_by, two_tests, with_line

HEADS = list(itertools.product(range(SIZES.blocks), range(SIZES.heads)))


@pytest.fixture(scope="module")
def model():
    return small_model()


@pytest.fixture(scope="module")
def tokens(model):
    return model.tokens("The keys near the cat")


def test_looking_changes_nothing(model, tokens):
    seen = look(model, tokens)
    torch.testing.assert_close(seen.logits, model.read(tokens)[0])
    torch.testing.assert_close(look(model, tokens, last=True).logits, seen.logits[:, -1:])
    n = tokens.size(1)
    assert seen.maps.shape == (1, SIZES.blocks, SIZES.heads, n, n)
    torch.testing.assert_close(seen.maps.sum(dim=-1), torch.ones(seen.maps.shape[:-1]))
    assert not seen.maps.triu(1).any()


def test_piece_by_piece_is_one_pass(model, tokens):
    whole, _ = model.read(tokens)
    first, caches = model.read(tokens[:, :2])
    rest, _ = model.read(tokens[:, 2:], caches)
    torch.testing.assert_close(torch.cat([first, rest], dim=1), whole, rtol=0, atol=1e-4)


def test_every_head_off_is_that_head_off_alone(model, tokens):
    at_once = dict(without_each(model, tokens))
    for block, head in HEADS:
        (alone,) = read_without(model, tokens, [(block, head)])
        torch.testing.assert_close(at_once[block][head], alone, rtol=0, atol=1e-4)
    no_heads = model.logits(model.rows(tokens, attend=silent)[0])
    torch.testing.assert_close(read_without(model, tokens, HEADS, last=False), no_heads)


def test_heads_exchanged_say_what_they_say_elsewhere(model, tokens):
    other = model.tokens("The key near the cats")
    own = look(model, tokens)
    torch.testing.assert_close(exchanged(model, tokens, tokens, HEADS), own.logits[:, -1])
    block, head = HEADS[-1]
    (told,) = exchanged(model, tokens, other, [(block, head)])
    W_o = model.blocks[block].W_o[:, head * SIZES.head_dim : (head + 1) * SIZES.head_dim]
    moved = look(model, other).outputs[0, block, head, -1] - own.outputs[0, block, head, -1]
    assert (W_o @ moved).abs().max() > 1e-3 and not torch.allclose(told, own.logits[0, -1])


def test_written_out_it_is_the_models_own_attention(model, tokens):
    assert max(two_tests(model, {"": opened}, tokens)[""]) < 1e-3
    torch.testing.assert_close(model.read(tokens, attend=opened)[0], model.read(tokens)[0])


@pytest.mark.parametrize("name", WRONG)
def test_each_wrong_line_is_seen_by_one_of_two_tests(model, tokens, name):
    assert max(two_tests(model, {name: faulty(name)}, tokens)[name]) > 0.05


@pytest.mark.parametrize("name", ["one softmax for all", "mask after softmax", "no mask"])
def test_a_fault_of_the_pass_is_none_for_one_query(model, tokens, name):
    caches = None
    for i in range(tokens.size(1)):
        logits, caches = model.read(tokens[:, i : i + 1], caches, faulty(name))
    torch.testing.assert_close(logits, model.read(tokens)[0][:, -1:])
    assert two_tests(model, {name: faulty(name)}, tokens)[name][1] > 0.05


def test_line_that_does_not_stand_there_once_is_said():
    for line in ("no such line", "query"):
        with pytest.raises(ValueError, match="times in opened, not once"):
            with_line(opened, line, "")


def test_it_writes_up_to_the_end_that_it_sets(model):
    text = model.write("The keys", 6)
    ended = small_model(end=model.pieces.encode(text)[2])
    assert text.startswith(ended.write("The keys", 6)) and len(ended.write("The keys", 6)) < len(text)
    likeliest, share = model.likeliest("The keys", 1)[0]
    assert text.startswith(likeliest) and 0 < share <= 1


def test_a_learners_attention_writes_what_the_models_own_writes(model):
    def own(x, norm, W_q, W_k, W_v, W_o, heads, kv_heads, base):
        return EXERCISES["13.1"].reference(x, norm, W_q, W_k, W_v, W_o, heads, kv_heads, base)

    assert spoken_by(model, own, "The keys", 6) == "The keys" + model.write("The keys", 6)
    assert "own returns no rows" in spoken_by(model, lambda *_: None, "The keys").replace("<lambda>", "own")
