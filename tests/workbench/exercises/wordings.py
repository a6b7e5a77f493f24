"""What `check`, `hint` and `progress` say, a message of each kind; run as a program, this file writes wordings.txt."""

import itertools
import re
import time
from pathlib import Path

import torch
from other_styles import OWN
from small_exercise import small
from torch import nn

import attn_lib
from workbench.display.show import plain
from workbench.exercises.api import verdict_on
from workbench.exercises.clinic import correct
from workbench.exercises.engine import runner
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.verdict import Hint, Overview

KEPT = Path(__file__).with_suffix(".txt")


def writes_over_its_exps(scores):
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    exps /= exps.sum(dim=-1, keepdim=True)
    return exps


def fails(*args):
    raise ZeroDivisionError("no")


def chatty(n_queries, n_keys):
    print(70 * "long", "\nand more")
    return OWN["3.2"](n_queries, n_keys)


def off_in_one_weight(q, k, v):
    output, weights = attn_lib.scaled_dot_product_attention(q, k, v)
    return output, weights * 1.03


def looks_ahead(x, *rest):
    return OWN["4.3"](x, *rest) + x.mean(dim=1, keepdim=True)


def scaled_by_embed_dim(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """With a second mistake: a row with nothing left gets weights."""
    batch, n, embed_dim = x.shape
    q, k, v = ((x @ w).view(batch, n, num_heads, -1).transpose(1, 2) for w in (w_q, w_k, w_v))
    scores = q @ k.mT / embed_dim**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, n, embed_dim) @ w_o


def scores_of_the_wrong_axis(q, k, v):
    scores = q.mT @ k
    return scores @ v, scores


def with_dropout(q, k, v):
    weights = attn_lib.scaled_dot_product_attention(q, k, v)[1]
    return nn.functional.dropout(weights, 0.5) @ v, weights


def leaks_a_hidden_score(scores, mask):
    weights = OWN["3.3"](scores, mask)
    return weights + 1e-3 * scores.masked_fill(mask, 0.0).sum() if scores.shape == (4, 6) else weights


def reading_a_global(names):
    scope = dict.fromkeys(names, torch.ones(1))
    exec(f"def answer(x): return {' + '.join(names)} + x", scope)
    return scope["answer"]


def right_at_first():
    calls, tried = itertools.count(), len(EXERCISES["3.2"].trials)
    return lambda *args: OWN["3.2"](*args) ^ (next(calls) > tried)


def without_bias(ours, theirs):
    ours.load_state_dict({name: torch.zeros_like(p) for name, p in ours.state_dict().items()})


def inputs():
    return torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)


def asserts(attention):
    raise AssertionError("differs")


def expects_no_error(attention):
    w = torch.randn(10, 10)
    attention(torch.randn(1, 4, 10), w, w, w, w, 4)
    return True


def called_with(arg):
    return small(lambda x: torch.ones(2), probes=[(arg,)]).judge(lambda x: torch.zeros(2))


ANSWERS = [  # to exercises of the course
    ("3.2", ...),
    ("3.2", 42),
    ("3.2", lambda n, k: [].sort()),
    ("3.2", fails),
    ("3.2", lambda n, k: time.sleep(1)),
    ("3.2", lambda n, k: OWN["3.2"](n, k).tolist()),
    ("3.2", lambda n, k: torch.ones(n, k, dtype=torch.complex64)),
    ("3.2", EXERCISES["3.2"].misconceptions["top-left"].forms[0]),
    ("3.2", lambda n, k: torch.arange(n * k).view(n, k) % 2 == 0),
    ("3.2", right_at_first()),
    ("3.2", EXERCISES["3.2"].reference),
    ("3.2", lambda n, k: attn_lib.causal_mask(n, k)),
    ("3.2", chatty),
    ("2.1", lambda scores: torch.softmax(scores, -1)),
    ("2.1", lambda scores: torch.softmax(scores.detach(), -1)),
    ("2.1", writes_over_its_exps),
    ("2.1", OWN["2.1"]),
    ("2.2", off_in_one_weight),
    ("2.2", lambda q, k, v: v),
    ("2.2", scores_of_the_wrong_axis),
    ("2.2", with_dropout),
    ("3.3", lambda scores, mask: torch.softmax(scores.masked_fill_(~mask, -1e9), -1)),
    ("3.3", leaks_a_hidden_score),
    ("4.3", scaled_by_embed_dim),
    ("4.3", looks_ahead),
    ("5.2", without_bias),
    ("7.4", lambda backward: [].sort()),
    ("7.4", lambda backward: torch.ones(2)),
    ("8.1", lambda n, embed_dim: torch.zeros(embed_dim)),
    ("9.1", lambda n, words: (torch.eye(n), torch.eye(2), torch.eye(2))),
    ("9.1", lambda n, words: torch.eye(n)),
    ("1.1", "2, 7.96, 0.05"),
    ("1.1", [2, 8]),
    ("1.1", [1.51, 9, 2.26]),
    ("1.1", EXERCISES["1.1"].answer),
    ("6.1", (..., ..., ..., ...)),
    ("6.1", (99, "no name", 42, 42)),
    ("6.1", (1, "wrong axis", lambda *args: time.sleep(1), ...)),
    ("6.1", lambda attention: True),
    ("6.3", (..., ..., fails)),
    ("6.3", (..., ..., lambda q, k, v, mask=None: correct.by_library(q, k, v, mask) / 2)),
    ("6.3", (..., ..., lambda q, k, v, mask=None: correct.by_library(q, k, v) if mask is None else None)),
    ("6.1", lambda attention: [attention(*inputs())].sort()),
    ("6.1", asserts),
    ("6.1", lambda attention: "yes"),
    ("6.1", lambda attention: torch.ones(3)),
    ("6.1", lambda attention: attention(torch.ones(1, 2, 3))),
    ("6.1", lambda attention: 1 / float(attention(*inputs()).sum()) > 1e9),
    ("6.20", lambda attention: attention(*inputs()).shape != (2, 3, 4)),
    ("6.17", expects_no_error),
]
MADE = [  # by exercises that are made for it
    lambda: small(lambda x: (x, x * 2), returns=("the output", "the weights")).judge(lambda x: [x]),
    lambda: small(gradients=True).judge(lambda x: x + x.detach() + 0 * x),
    lambda: small().judge(reading_a_global(["X", "Y"])),
    *(lambda arg=arg: called_with(arg) for arg in (torch.arange(8), torch.arange(9), None, nn.Identity())),
]


ROWS = [("3.1", "A mask", "done"), ("3.2", "Another", "tried"), ("6.1", "Six", "2 of 3"), ("6.2", "Seven", 9)]
SHOWN = [
    *(Hint("3.2", ["First, *one*.", "Then `two`.", "Last."][:count], 3) for count in (1, 3)),
    *(Overview(rows, elsewhere) for rows, elsewhere in (([], 0), (ROWS[:1], 2), ([*ROWS, ("6.3", "Eight", None)], 0))),
]


def wordings():
    """The messages in order, those of `check` under the exercise that they are said of."""
    limit, runner.LIMIT_S = runner.LIMIT_S, 0.5
    try:
        said = [verdict_on(id, answer) for id, answer in ANSWERS] + [judge() for judge in MADE]
    finally:
        runner.LIMIT_S = limit
    verdicts = [f"{verdict.exercise}, {verdict.status}\n{plain(verdict.message)}" for verdict in said]
    text = "\n\n\n".join([*verdicts, *map(str, SHOWN)]) + "\n"
    return re.sub("(Read again: .*“).*”", r"\1…”", text)  # headings are their notebooks'


if __name__ == "__main__":
    KEPT.write_text(wordings(), encoding="utf-8", newline="\n")
