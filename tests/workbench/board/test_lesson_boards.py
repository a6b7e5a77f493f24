"""Every board computes what attn_lib computes, and its task can be done by what it asks for."""

import inspect
import itertools
import math
import re

import pytest
import torch
from boards import ALL, FILM, HEADS, PMW, learned_by_rope
from paths import NOTEBOOKS
from torch.testing import assert_close

from attn_lib import (
    cached_attention,
    causal_mask,
    masked_softmax,
    rotary,
    scaled_dot_product_attention,
    self_attention_steps,
    share_heads,
    split_heads,
    window_mask,
)
from workbench.behind import two_rules
from workbench.board import lessons
from workbench.board.lessons import (
    by_hand_board,
    cache_board,
    fused_board,
    heads_board,
    induction_board,
    learning_board,
    mask_board,
    other_word_figure,
    patient_board,
    position_board,
    reshape_board,
    softmax_board,
    tiles_board,
    two_heads_board,
)
from workbench.board.lessons.n03_masking import FILLS
from workbench.board.lessons.n10_cache_operations import Fault
from workbench.board.lessons.n10_writing_with_a_memory import READ
from workbench.board.lessons.n12_tiles_operations import Fault as TilesFault
from workbench.board.lessons.n12_tiles_operations import Mask, Order


def entry(matrix, row, column, number):
    matrix = matrix.clone()
    matrix[row, column] = number
    return matrix


@pytest.mark.parametrize("name", ALL)
def test_a_board_starts_undone_and_computes_every_setting(name):
    board = ALL[name]()
    assert not board.done
    assert board.title != "Board", "it needs a title"
    for control in board.spec["controls"]:
        values = control["values"]
        for value in (values[0], values[-1]) if control["slider"] else values:
            board.change(**{control["name"]: value})
            assert board.reply["problem"] == ""


DONE_BY_HAND = {  # a way to do each task: (row, column, steps of an arrow key), switches, menus
    "by_hand": {"W_k": [(2, 2, 1)]},
    "softmax": {"d_k": 256, "temperature": 16},
    "mask": {"given": "causal", "mask": [(0, 0, -1)]},
    "heads": {"head": "head 0", "query": "1: b"},
    "two_heads": {"W_o": [(0, 0, -1), (1, 1, -1)]},
    "reshape": {"tokens": 1},
    "fused": {"seen_keys": 4, "keys": [(4, 0, -10), (4, 1, -10), (5, 0, -10), (5, 1, -10)]},
    "patient": {
        "fault": "queries and keys exchanged",
        "queries": [(0, 0, -1), (0, 1, 1), (1, 0, 2), (1, 2, -2), (2, 1, -1), (2, 2, 2)],
    },
    "learning": {"rate": 1, "step": 1},
    "stretched": {"read": 32, "by": 4, "alone": 1},
    "position": {"angle": 40, "k": [(0, 0, -1), (0, 1, 2)]},
    "induction": {
        "P": [(i, i - 1, 10) for i in (2, 3, 4)],
        "M": [(i, i, 10) for i in (1, 3, 6)],
        "W": [(i, i, 10) for i in (2, 5, 1)],
    },
    "cache": {"fault": "no mask once there is a cache", "chunk": "two"},
    "first_token": {"window": 4, "first": "stays in the cache"},
    "one_call": {"prompt": "64,000", "stored": 1},
    "tiles": {"fault": "factor missing on o", "order": "backwards", "S": [(0, 0, 9)]},
    "states": {"rule": "the error (delta rule)", "numbers": [(2, 0, 5)]},
}


def test_a_board_is_known_by_its_name():
    functions = {name for name, thing in vars(lessons).items() if inspect.isfunction(thing)}
    others = {name for name in functions if not name.endswith(("_board", "_figure"))}
    assert not others, "tests, minutes and pages pass a board whose name does not end in _board or _figure"


def test_every_board_with_a_task_has_a_way_to_do_it_above():
    with_a_task = {name for name, make in ALL.items() if make().spec["task"]}
    assert not with_a_task - {*DONE_BY_HAND}, "DONE_BY_HAND needs a way to do the task of these boards"
    assert not {*DONE_BY_HAND} - with_a_task, "DONE_BY_HAND has a way to do a task that these boards have not"


@pytest.mark.parametrize("name", DONE_BY_HAND)
def test_every_task_can_be_done_with_what_hands_have(name):
    board, changes = ALL[name](), {}
    for what, value in DONE_BY_HAND[name].items():
        changes[what] = board.inputs[what] if isinstance(value, list) else value
        for row, column, steps in value if isinstance(value, list) else ():
            changes[what][row, column] += steps
    board.change(**changes)
    task = board.spec["task"]
    assert board.reached and board.done is not bool(task["why"])
    board.set_state({"state": {**board.state, "answer": task["right"], "revision": 99}})
    assert board.done and (task["because"] or not task["why"])
    board.change(**ALL[name]().settings)
    assert board.done, "what was done stays done"


@pytest.mark.parametrize("name", ALL)
def test_a_phrase_sets_what_was_not_so_and_tells_no_answer(name):
    board = ALL[name]()
    before = {**{name: matrix.tolist() for name, matrix in board.inputs.items()}, **board.settings}
    for phrase in board.tries:
        fresh = ALL[name]()
        changes = {**phrase["sets"]["inputs"], **phrase["sets"]["settings"]}
        news = [before[what] != value for what, value in changes.items()]
        # a number sets all that its sentence says, as everything else stays as it is
        assert any(news) if "number" in phrase else all(news), phrase["said"]
        assert fresh.change(**changes).reached == phrase["answers"], phrase["said"]


@pytest.mark.parametrize("arithmetic, scale", [("as they are", 1), ("scaled by 1/√d_k", None)])
def test_by_hand_is_self_attention_steps(arithmetic, scale):
    board = by_hand_board()
    w_q, x = entry(board.inputs["W_q"], 0, 0, -2), entry(board.inputs["X"], 2, 3, 0.5)
    board.change(arithmetic=arithmetic, query="tea", W_q=w_q, X=x)
    steps = self_attention_steps(*board.inputs.values(), scale=scale)
    for name in ("queries", "keys", "values", "scores", "weights", "outputs"):
        assert_close(board.results[name], getattr(steps, name))
    assert_close(board.results["weighted_values"], steps.weighted_values[2])


def test_by_hand_shows_what_rounding_does():
    board = by_hand_board().change(arithmetic="rounded to one digit")
    wanted = torch.tensor([[2.0, 8.0, 0.0], [2.0, 7.8, 0.3]], dtype=torch.float64)
    assert_close(board.results["outputs"][1:], wanted)


def test_by_hand_task_is_done_in_the_third_column_only():
    w_k = by_hand_board().inputs["W_k"]
    places = [(row, column, step) for row in range(4) for column in range(3) for step in (-1, 1)]
    done = [at for at in places if by_hand_board().change(W_k=entry(w_k, *at[:2], w_k[at[:2]] + at[2])).reached]
    assert {column for _, column, _ in done} == {2}


def test_softmax_board_divides_by_three_numbers():
    board = softmax_board()
    assert board.settings == {"d_k": 16, "temperature": 1}
    board.change(d_k=256)
    match = board.inputs["match"]
    for words, divisor in (("1", 1), ("√d_k", 16), ("d_k", 256)):
        assert_close(board.results[f"weights, / {words}"], masked_softmax(match * 16 / divisor))
    assert board.results["weights, / 1"].max() > 0.9 and not board.done
    board.change(temperature=16)
    assert_close(board.results["weights, / 1"], masked_softmax(match))
    assert_close(board.results["entropy 1"][0, 0], torch.special.entr(masked_softmax(match)).sum())


def test_mask_board_shows_what_each_fill_does_to_a_nan():
    board = mask_board().change(given="causal")
    assert_close(board.results["weights"], masked_softmax(board.inputs["scores"], causal_mask(4)))
    board.change(mask=entry(board.inputs["mask"], 0, 0, 0))  # one click: the first query has nothing left
    assert board.done
    assert board.results["weights"][0].isnan().all() and not board.results["weights"][1:].isnan().any()
    assert board.results["gradient"].isnan().all()
    board.change(fill="−1e9 before softmax")
    assert board.results["weights"][0].sum() == 1  # an average of what nobody may see
    board.change(fill="0 after softmax")
    assert board.results["sums"][1] < 0.99
    board.change(fill="masked_softmax of attn_lib")
    assert (board.results["weights"][0] == 0).all() and board.results["gradient"].isfinite().all()
    assert board.done  # its second half, looking at the gradient, does not take it back


def test_another_word_moves_no_output_before_it_under_a_causal_mask():
    board = other_word_figure()
    for sentence, first in (("I like milk", 2), ("I like coffee", 2), ("I drink tea", 1), ("We like tea", 0)):
        board.change(chosen=sentence, mask=torch.ones(3, 3))
        assert (board.results["moved by"] > 0.001).all(), "nothing is closed, and everybody hears it"
        last = entry(entry(torch.ones(3, 3), 0, 2, 0), 1, 2, 0)
        for mask, keeps in ((causal_mask(3).double(), first), (last, first if first != 1 else 0)):
            moved = board.change(mask=mask).results["moved by"]
            assert (moved[:keeps] == 0).all() and (moved[keeps:] > 0.001).all(), sentence


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("given", ["everything open", "padding and causal"])
def test_mask_board_gradient_is_autograds(fill, given):
    board = mask_board().change(fill=fill, given=given, mask=torch.tensor([[1.0, 1, 0, 1]] * 3 + [[0.0, 1, 1, 1]]))
    w_v = torch.eye(2, dtype=torch.float64, requires_grad=True)
    tokens = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], dtype=torch.float64)
    outputs = board.results["weights"] @ (tokens @ w_v)
    alive = board.results["allowed"].bool().any(dim=-1)
    assert_close(board.results["gradient"], torch.autograd.grad(outputs[alive].square().sum(), w_v)[0])


def test_heads_boards_task_is_the_most_even_row():
    board = heads_board(HEADS, (word for word in "ab"))
    assert_close(board.results["chosen"], HEADS[1].double())
    board.change(query="1: b", head="head 0")
    assert_close(board.results["row"], HEADS[0, 1:].double())
    assert board.done
    weights = torch.rand(3, 2, 5, requires_grad=True).softmax(-1)
    assert heads_board(weights, ["x", "y"], list("abcde")).settings["head"]
    assert heads_board(weights).settings["query"]
    assert heads_board(HEADS.bfloat16()).results["chosen"].tolist() == [[1, 0], [0.2001953125, 0.80078125]]


@pytest.mark.parametrize(
    "arguments, exception, word",
    [
        (([[0.5]],), TypeError, "tensor"),
        ((torch.ones(2, 2),), ValueError, r"\(2, 2\)"),
        ((torch.ones(0, 2, 2),), ValueError, "empty"),
        ((HEADS, ["a"]), ValueError, "tokens has 1 entries, weights have 2"),
        ((torch.ones(1, 2, 3), ["a", "b"], ["a"]), ValueError, "key_tokens has 1 entries, weights have 3"),
        ((torch.ones(17, 256, 256),), ValueError, "17 × 256 × 256 = 1,114,112 numbers.*at most 1,048,576"),
    ],
)
def test_heads_board_says_what_does_not_fit(arguments, exception, word):
    with pytest.raises(exception, match=word):
        heads_board(*arguments)


def test_two_heads_are_multi_head_attention_with_a_movable_cut():
    board = two_heads_board().change(cut_at=1, head_1="off")
    q, k, v = (board.inputs[name] for name in ("queries", "keys", "values"))
    weights = torch.softmax(q[:, :1] @ k[:, :1].T, dim=-1)
    assert_close(board.results["both"], torch.cat([weights @ v[:, :1], torch.zeros(3, 3).double()], dim=1))
    board.change(head_1="on", cut_at=2)
    other = two_heads_board().change(W_o=board.inputs["W_o"] * 0)
    assert not other.reached  # silence is not the answer


def test_reshape_boards_task_is_a_single_token():
    board = reshape_board()
    x = board.results["x"]
    for h in (0, 1):
        assert_close(board.results[f"right {h}"], split_heads(x[None], 2)[0, h])
        assert_close(board.results[f"wrong {h}"], x.view(2, 3, -1)[h])
    board.change(heads=1)
    assert not board.done
    board.change(heads=3, tokens=1)
    assert board.done
    assert math.prod(board.results["right 2"].shape) == 3


def test_fused_board_output_so_far_ends_as_attention():
    board = fused_board()
    q, k, v = (board.inputs[name] for name in ("queries", "keys", "values"))
    for seen in range(1, 7):
        board.change(seen_keys=seen)
        assert_close(board.results["so far"], torch.softmax(q @ k[:seen].T, dim=-1) @ v[:seen])
    assert_close(board.results["so far"], board.results["attention"])


def test_a_patient_looks_healthy_where_scores_are_symmetric():
    board = patient_board()
    assert_close(board.results["sick weights"].sum(dim=0), torch.ones(3).double())
    board.change(fault="queries and keys exchanged")
    assert board.results["difference"].abs().max() > 0.5 and not board.reached
    board.change(queries=board.inputs["queries"] * 0)
    assert not board.reached


@pytest.mark.parametrize("learns", ["W_q alone", "W_q and W_k"])
@pytest.mark.parametrize("step, rate", [(0, 0.5), (1, 3), (2, 0.5), (50, 0.1)])
def test_learning_board_goes_the_way_that_autograd_goes(learns, step, rate):
    wish = torch.tensor([[0, 0, 1.0], [0, 0, 0], [0.5, 0.5, 0]], dtype=torch.float64)
    board = learning_board().change(learns=learns, step=step, rate=rate, wish=wish)
    x, w_q, w_k = (board.inputs[name] for name in ("X", "W_q", "W_k"))

    def loss(w_q, w_k):
        return -(wish * torch.log_softmax(x @ w_q @ (x @ w_k).T, dim=-1)).sum()

    for _ in range(step):
        there = [w.clone().requires_grad_() for w in (w_q, w_k)]
        to_q, to_k = torch.autograd.grad(loss(*there), there)
        w_q, w_k = w_q - rate * to_q, w_k - (rate * to_k if learns == "W_q and W_k" else 0)
    near = {"rtol": 1e-4, "atol": 1e-4}  # each step is kept in float32
    assert_close(board.results["W_q now"], w_q, **near)
    assert_close(board.results["W_k now"], w_k, **near)
    assert_close(board.results["loss"].sum(), loss(w_q, w_k), **near)
    here = board.results["W_q now"].requires_grad_()
    (gradient,) = torch.autograd.grad(loss(here, board.results["W_k now"]), here)
    assert_close(board.results["to W_q"], gradient)
    assert_close(board.results["to scores"].sum(dim=1), torch.zeros(3).double())


def test_learning_boards_task_is_a_step_that_goes_too_far():
    for rate, step, reached in ((0.1, 50, False), (0.5, 2, False), (1, 0, False), (1, 1, True), (3, 1, True)):
        board = learning_board().change(rate=rate, step=step)
        assert board.reached is reached, (rate, step)
        assert not board.done
    assert board.results["weights"][0].argmax() != 2
    unlike = learning_board().change(wish=torch.tensor([[1.0, 0, 0], [0, 0, 0], [0, 0, 0]]))
    assert not unlike.change(step=50, rate=0.1).reached  # whoever wishes for less has not done it


def six(row):
    return row.expand(6, 2)


@pytest.mark.parametrize("start", [0, 7])
def test_position_board_computes_each_scheme(start):
    board = position_board().change(angle=50, start=start, q=[[0.5, -2.0]], k=[[1.0, 3.0]])
    q, k = six(board.inputs["q"]), six(board.inputs["k"])
    angles = math.radians(50) * torch.arange(start, start + 6, dtype=torch.float64)
    waves = torch.stack([angles.cos(), angles.sin()], dim=1)
    first = torch.arange(6)[:, None].double() - torch.arange(6)
    turned_q, turned_k = (
        torch.view_as_real(torch.view_as_complex(x.contiguous()) * torch.view_as_complex(waves)) for x in (q, k)
    )
    scores = {
        "no position": q @ k.T,
        "waves added": (q + waves) @ (k + waves).T,
        "RoPE": turned_q @ turned_k.T,
        "RoPE, queries only": turned_q @ k.T,
        "ALiBi": q @ k.T - 2 * first,
    }
    for scheme, wanted in scores.items():
        board.change(scheme=scheme, slope=2)
        assert_close(board.results["scores"], wanted.double())
        assert_close(board.results["weights"], masked_softmax(wanted.double(), causal_mask(6)))


def test_position_boards_task_is_a_key_one_step_ahead():
    board = position_board()
    for angle, reached in ((90, False), (60, True)):
        ahead = rotary(board.inputs["q"], 0)
        turn = torch.deg2rad(torch.tensor(float(angle)))
        x, y = ahead[0]
        k = 4 * torch.stack([x * turn.cos() - y * turn.sin(), x * turn.sin() + y * turn.cos()])
        board.change(angle=angle, k=k[None].round(decimals=2))
        assert board.reached == reached
    assert board.change(start=9).reached and not board.done


def test_no_slope_of_alibi_prefers_the_token_before():
    for slope in (0, 0.25, 0.5, 1, 2, 4):
        weights = position_board().change(scheme="ALiBi", slope=slope).results["weights"]
        assert (weights.diagonal(-1) <= weights.diagonal()[1:]).all(), slope


@pytest.mark.parametrize("rule", two_rules.RULES)
def test_stretched_board_scores_are_those_of_rotary(rule):
    query, w = learned_by_rope()["RoPE", rule]
    key = two_rules.ONE_KEY.expand(32, 16)

    def by_distance(base):
        return rotary(query.expand(32, 16), base=base)[:, None] @ rotary(key, base=base)[:1].mT

    board, place = ALL["stretched"]().change(read=32), list(two_rules.RULES).index(rule)
    assert_close(board.results[f"{rule}, now"][0], by_distance(10_000.0).flatten())
    assert_close(board.results["right"][place, 0], two_rules.share_right("RoPE", rule, 32, query, w))
    divided = board.change(by=4).results[f"{rule}, now"][0]
    assert_close(divided[::4], by_distance(10_000.0).flatten()[:8])  # distance 4 counts as 1
    board.change(way="the slow pairs more (another base)")
    assert_close(board.results[f"{rule}, now"][0], by_distance(10_000 * 4 ** (16 / 14)).flatten())


def settings_that_do(name):
    """All settings of a board's controls that do its task."""
    controls = {control["name"]: control["values"] for control in ALL[name]().spec["controls"]}
    every = [dict(zip(controls, values, strict=True)) for values in itertools.product(*controls.values())]
    return [some for some in every if ALL[name]().change(**some).reached]


@pytest.mark.parametrize("name", ["stretched", "first_token"])
def test_a_task_about_settings_has_one_answer(name):
    (only,) = settings_that_do(name)
    assert DONE_BY_HAND[name].items() <= only.items()


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("window", [2, 3, 6, 8])
def test_first_token_board_attends_through_a_window(window, stays):
    board = ALL["first_token"]()
    board.change(window=window, first=["leaves the window", "stays in the cache"][stays])
    q, k, v = board.inputs.values()
    mask = window_mask(8, 8, window)
    mask[:, 0] |= stays
    outputs, weights = scaled_dot_product_attention(q, k, v, mask, scale=1)
    assert_close(board.results["outputs"], outputs)
    assert_close(board.results["weights"], weights)
    next_one = window_mask(1, 9, window)[0, :8]
    next_one[0] |= stays
    assert board.results["held"].item() == next_one.sum()


def turned(x, start):
    """RoPE of one pair, of 40 degrees a position."""
    angles = math.radians(40) * torch.arange(start, start + x.size(-2), dtype=torch.float64)
    waves = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(torch.view_as_complex(x.contiguous()) * waves)


def four_heads(x):
    """Queries and keys of the cache board: four heads of two of a token's four numbers."""
    a, b, c, d = x.unbind(1)
    queries = torch.stack([a, b, c, d, -b, -d, a, c], dim=1)
    return (split_heads(heads[None], 4)[0] for heads in (queries, torch.stack([a, b, c, d, a, c, b, d], dim=1)))


def read_with_a_fault(x, chunk, stored, window, fault):
    """What the cache board shows, by a cache that is passed on: outputs, what is kept, the weights of each token."""
    queries, stored_heads = four_heads(x)
    stored_heads = stored_heads[:stored]
    keys, values = stored_heads[:, :0], stored_heads[:, :0, :1]
    outputs, weights, groups = [], [], 4 // stored
    for begin in range(0, len(x), chunk):
        new = slice(begin, min(begin + chunk, len(x)))
        start = 0 if fault == "positions start again" else begin
        keys = torch.cat([keys, turned(stored_heads[:, new], start)], dim=1)
        values = torch.cat([values, stored_heads[:, new, :1]], dim=1)
        n_q, n_k = new.stop - new.start, keys.size(1)
        mask = window_mask(n_q, n_k, window)
        if fault == "top-left mask":
            mask = torch.ones(n_q, n_k, dtype=torch.bool).tril().triu(1 - window)
        elif fault == "no mask once there is a cache" and begin:
            mask = torch.ones(n_q, n_k, dtype=torch.bool)
        k, v = (
            part.repeat(groups, 1, 1) if fault == "heads repeated as a list" else share_heads(part, groups)
            for part in (keys, values)
        )
        output, w = scaled_dot_product_attention(turned(queries[:, new], start), k, v, mask)
        outputs.append(output)
        weights += list(w.transpose(0, 1))
        spare = max(0, n_k - window + 1 + (fault == "window one too short"))
        keys, values = keys[:, spare:], values[:, spare:]
    return torch.cat(outputs, dim=1), keys, values, weights


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("chunk, read, scheme, window", [(1, 8, 2, 8), (2, 7, 4, 3), (4, 6, 1, 4)])
def test_cache_board_is_a_cache_with_each_fault(fault, chunk, read, scheme, window):
    words = {1: "MQA, 1 stored", 2: "GQA, 2 stored", 4: "MHA, 4 stored"}
    at_a_time = {1: "one", 2: "two", 4: "four"}[chunk]
    board = cache_board().change(fault=fault, chunk=at_a_time, read=read, scheme=words[scheme], window=window)
    x = board.inputs["X"][:read]
    outputs, keys, values, weights = read_with_a_fault(x, chunk, scheme, window, fault)
    queries, all_keys = four_heads(x)
    full, _ = cached_attention(
        turned(queries, 0), turned(all_keys[:scheme], 0), all_keys[:scheme, :, :1], window=window
    )
    off = (outputs - full).abs().amax(dim=(0, 2))
    assert_close(board.results["off by"][:read, 0], off)
    assert board.results["off by"][read:].isnan().all()
    held = slice(read - keys.size(1), read)
    for name, wanted in (("keys", keys), ("values", values)):
        assert_close(board.results[name][held], wanted.transpose(0, 1).flatten(1))
        assert int(board.results[name].isfinite().sum()) == wanted.numel()
    assert board.results["stored"].item() == keys.numel() + values.numel()
    for i, of_each_head in enumerate(weights):
        shown = board.change(of=READ[i]).results["weights"]
        assert_close(shown[shown > 0], of_each_head[of_each_head > 0])
    if read < 8:
        assert board.change(of=READ[7]).results["weights"].isnan().all()


def test_cache_boards_task_is_the_missing_mask_and_two_at_a_time():
    for fault in Fault:
        for chunk in ("one", "two", "four"):
            board = cache_board().change(fault=fault, chunk=chunk, read=8, window=4)
            assert board.reached == (fault == "no mask once there is a cache" and chunk != "one"), (fault, chunk)
    assert not cache_board().change(fault="no mask once there is a cache", chunk="two", read=2).reached
    assert not board.done


def two_heads(x, P, M, W):
    """What the second of two heads hears, and what is said, as `attn_lib` has it."""
    before = masked_softmax(P, causal_mask(6))
    match = masked_softmax(x @ M @ (before @ x).T, causal_mask(6))
    return before, match, masked_softmax(match @ x @ W)[-1:]


@pytest.mark.parametrize("text", [0, 1, 2])
def test_induction_board_is_two_heads_of_attn_lib(text):
    board = induction_board(FILM, [step / 10 for step in range(11)])
    generator = torch.Generator().manual_seed(text)
    own = [torch.randn(size, size, generator=generator).double() for size in (6, 7, 7)]
    words = board.spec["controls"][2]["values"][text]
    board.change(P=own[0], M=own[1], W=own[2], text=words)
    x = board.results["x"]
    names = next(panel["columns"] for panel in board.spec["panels"] if panel["name"] == "x")
    assert [names[i] for i in x.argmax(dim=1)] == words.split()
    for name, wanted in zip(("before", "match", "says"), two_heads(x, *own), strict=True):
        assert_close(board.results[name], wanted)
    for step, place in ((0, 0), (5, 5), (10, 10)):
        board.change(whose="learned", step=step)
        for name, wanted in zip(
            ("before", "match", "says"), two_heads(x, *(m.double() for m in FILM[place])), strict=True
        ):
            assert_close(board.results[name], wanted)
        assert board.results["right"].item() == pytest.approx(place / 10)


def test_induction_boards_task_is_nine_entries():
    board = induction_board(FILM, [0.0] * 11)
    P, M, W = (matrix.clone().double() for matrix in PMW)
    always_milk = W.clone()
    always_milk[:, 2] = 100
    board.change(W=always_milk)
    assert board.results["says"][0, 2] > 0.99 and not board.reached
    for i in (2, 3, 4):
        P[i, i - 1] = 10
    for asks, says in ((1, 2), (3, 5), (6, 1)):  # tea milk, cup egg, oat tea
        assert not board.change(P=P, M=M, W=W).reached
        M[asks, asks] = W[says, says] = 10
    assert board.change(P=P, M=M, W=W).reached and not board.done
    assert sum(int(matrix.count_nonzero()) for matrix in (P, M, W)) == 9
    board.set_state({"state": {**board.state, "answer": 2, "revision": 99}})
    assert board.done
    learned = induction_board([(P, M, W)] * 11, [1.0] * 11).change(whose="learned")
    assert learned.results["says"].max() > 0.9 and not learned.reached  # it is not to be left to learning


def test_the_board_that_instructors_are_shown_how_to_make_is_one():
    text = (NOTEBOOKS / "INSTRUCTORS.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(from workbench.board .+?)```", text, re.S)
    made = {}
    exec(code, made)
    x = torch.tensor([[1.0, 0], [0, 2], [1, 1]], dtype=torch.float64)
    assert_close(made["board"].results["outputs"], torch.softmax(x @ x.T, dim=-1) @ x)
    assert "drink" in made["board"].tables()


@pytest.mark.parametrize("mask", Mask)
def test_tiles_board_ends_at_the_whole_rows_whatever_the_tiles(mask):
    board = tiles_board().change(mask=mask, read=5)
    for rows, keys, order, query in itertools.product((1, 2, 4), (1, 4), Order, ("I", "milk")):
        board.change(rows=rows, keys=keys, order=order, query=query)
        assert board.results["difference"].max() < 1e-9
        assert_close(board.results["so far"], board.results["whole"])


def test_tiles_board_shows_the_lessons_three_keys_and_its_faults():
    board = tiles_board().change(read=3)
    assert_close(board.results["so far"].round(decimals=4), torch.tensor([[1.9366, 6.6831, 1.5951]]).double())
    film = board.results["film"]
    assert film[:3, 0].tolist() == [2, 4, 4] and film[3:].isnan().all()
    for fault in list(TilesFault)[1:5]:
        shown = [board.change(fault=fault, order=o).results["difference"] for o in ("forwards", "backwards")]
        first = [one[0, 0].item() for one in shown]
        assert first[0] > 0.05 and first[1] < 1e-9, fault
        assert not board.reached


def test_tiles_board_shows_what_happens_without_care():
    board = tiles_board().change(mask="first two keys", fault="no care for −∞", read=1)
    assert board.results["difference"].isnan().all(), "every row is lost, as in the lesson"
    assert board.results["film"][0, 0] == -math.inf and board.results["film"][0, 1:].isnan().all()
    low = tiles_board().change(mask="causal", keys=2, fault="−10000 for −∞", S=entry(board.inputs["S"], 0, 0, -20000.0))
    assert low.results["difference"][0, 0] > 0.05


def test_tiles_board_spares_what_nobody_hears():
    board = tiles_board().change(mask="causal", rows=2, keys=2, read=5)
    tiles = board.results["tiles"]
    assert tiles.isnan().sum() == 2 * 3 + 2 * 1 and tiles[:2, 2:].isnan().all()
    assert tiles[0, 1] == -math.inf, "masked in a tile that is read"
    tiled, whole = board.results["bytes"][0].tolist()
    assert tiled < board.change(mask="none").results["bytes"][0, 0] < whole
