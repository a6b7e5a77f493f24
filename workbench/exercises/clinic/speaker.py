"""Patients that speak: a block of a language model with one line of its own, and what the model writes with it.

The transcript tells in which part of the attention the line is: in the numbers, in the pass over the prompt, in the
cache, or nowhere that a reader could hear. An answer has three parts: one of `HEARD`, the number of the line, and the
mended code. It is judged on small random tensors, and no model is needed for that.
"""

import functools
import html
import re
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from workbench.smollm.model import rms_norm

from ...display import show
from ..engine.exercise import EXERCISES, Exercise, described_by, register
from ..engine.function import Function
from ..engine.probes import normal
from ..engine.runner import Worker
from ..engine.sections import section_in_words
from ..engine.source import source_of
from ..engine.verdict import Part, Verdict
from .anonymous import compiled
from .bug import source_shown
from .fault_names import HEALTHY
from .judge_bug import is_unanswered, judge_fix, judge_line
from .right_block import block

HEARD = {  # where a wrong line is → what is heard of it
    "numbers": "the first piece is wrong, and what follows is no English: every pass computes wrong numbers",
    "pass": "the first piece is wrong, and what follows is good English that does not fit the prompt: only the pass "
    "over the prompt is wrong; each later word, read alone, is right",
    "cache": "the first piece is right, and what follows falls apart: the prompt was understood, and what is kept "
    "of it is wrong or is read wrongly",
    "nowhere": "it reads like a healthy model, and yet a line is wrong: only a test shows it",
    HEALTHY: "no line is wrong, whatever it looks like",
}


def speaker(id, **settings):
    """Register a patient that speaks; the decorated function's docstring is the diagnosis, a blank line, the story.

    Settings are the fields of `Speaker`.
    """

    def add(described):
        _, name, story = described_by(described)
        asks = "one of `HEARD`, the number of a line, and the mended code"
        return register(Speaker(id=id, reference=block, name=name, story=story, asks=asks, **settings))

    return add


RIGHT = source_of(block)
ATTENTION = RIGHT.replace("def block(", "def attention(")


@dataclass(eq=False, kw_only=True)
class Speaker(Exercise):
    """A block with one line of its own and its transcript; learners see its `Patient`."""

    name: str  # the diagnosis
    story: str
    heard: str  # one of HEARD
    line: tuple  # what stands in the right block, and what this one has in its place
    also: tuple = ()  # numbers of other lines in which it can be mended
    says: dict  # prompt → what the model writes with it, as `speak` does
    title: str = ""

    in_parts = True
    half_fixed, variants = (), {}  # as `judge_fix` asks of a bug

    def __post_init__(self):
        self.title = f"Patient {self.id}"
        if self.heard not in HEARD:
            raise ValueError(f"{self.id}: heard={self.heard!r} is none of {', '.join(HEARD)}")
        if RIGHT.count(self.line[0]) != 1:
            raise ValueError(f"{self.id}: line[0]={self.line[0]!r} stands {RIGHT.count(self.line[0])} times, not once")

    @property
    def is_healthy(self):
        return self.heard == HEALTHY

    @functools.cached_property
    def source(self):
        """As the notebook has it, under the name that patients have in the clinic."""
        return ATTENTION.replace(*self.line)

    @functools.cached_property
    def buggy(self):
        return compiled(self.source, f"<patient {self.id}>")

    @functools.cached_property
    def number(self):
        """The number of its own line."""
        return RIGHT[: RIGHT.index(self.line[0])].count("\n") + 1

    @functools.cached_property
    def fix_exercise(self):
        """What judges the mended code: in one pass, and in parts with what is kept, it agrees with the right one."""
        return Function(
            id=self.id,
            reference=in_parts(block),
            title=self.title,
            section=self.section,
            asks="block(x, norm, W_q, W_k, W_v, W_o, parts)",
            hints=[],
            probes=[_probe(6, [6], seed=1), _probe(7, [4, 1, 1, 1], seed=2), _probe(9, [3, 2, 4], seed=3)],
            returns=("the rows",),
        )

    def called(self, code):
        return in_parts(code)

    @property
    def answer(self):
        return (HEALTHY, ..., ...) if self.is_healthy else (self.heard, self.number, block)

    def draw_again(self, rng):
        self.fix_exercise.draw_again(rng)

    def solution(self):
        number = self.id.partition(".")[2]
        part_and_line = f'"{HEALTHY}", ...' if self.is_healthy else f'"{self.heard}", {self.number}'
        code = (self.source if self.is_healthy else ATTENTION).replace("attention", f"mended_{number}", 1)
        return f"part_{number}, line_{number} = {part_and_line}\n\n{code}"

    # ----------------------------------------------------------------------------------------------- judging

    def judge(self, answer):
        answer = answer if isinstance(answer, tuple | list) else (answer,)
        part, line, mended = (*answer, ..., ..., ...)[:3]
        if self.is_healthy and part_named(part) == HEALTHY:
            return self.correct(f"{self.name}. {self.story}")
        with Worker() as worker:
            parts = [self._judge_part(part), self._judge_line(line), judge_fix(self, mended, worker)]
        if all(one.state == "open" for one in parts):
            return Verdict(self.id, "unattempted", None, f"Not attempted yet. Needed: {self.asks}.")
        how_many_right = sum(one.state == "right" for one in parts)
        if how_many_right == len(parts):
            return self.correct(f"{self.name}. {self.story}\n\nRead again: {section_in_words(self.section)}.")
        wrong = next((one for one in parts if one.state == "wrong"), None)
        message = "\n\n".join([f"{how_many_right} of {len(parts)} right.", *map(str, parts)])
        verdict = self.wrong(message, (wrong and wrong.matrices) or None)
        verdict.misconception = wrong and wrong.misconception
        verdict.right_parts = f"{how_many_right} of {len(parts)}" if how_many_right else ""
        return verdict

    def _judge_part(self, part):
        if is_unanswered(part):
            return Part("Where", "open", "is the first piece right? does it go on in English?")
        name = part_named(part)
        if name is None:
            return Part("Where", "wrong", f"the part is one of {', '.join(HEARD)}.", "no-part")
        if name == self.heard:
            return Part("Where", "right", f"{HEARD[name]}.")
        if name == HEALTHY:
            return Part("Where", "wrong", "it has a fault: there are calls on which its rows are wrong.", "not-healthy")
        message = f"with a fault there, {HEARD[name]}. Compare this with its transcript, or with its tests."
        return Part("Where", "wrong", message, f"not-{name}")

    def _judge_line(self, line):
        wrong = set() if self.is_healthy else {self.number, *self.also}
        return judge_line(line, wrong, self.source, ATTENTION)


def part_named(answer):
    """One of HEARD, which may stand among other words, or None where there is none of them, or several."""
    words = re.findall(r"[^\W_]+", answer.casefold()) if isinstance(answer, str) else []
    names = {PART.get(word, word) for word in words} & HEARD.keys()
    return names.pop() if len(names) == 1 and not NOT & set(words) else None


PART, NOT = {"prompt": "pass", "number": "numbers", "caches": "cache"}, {"not", "no", "isn", "never"}


# ------------------------------------------------------------------------------------------------------- running


def in_parts(code):
    """A block's code as a function of rows and weights that reads the rows part by part, with what it keeps."""

    def block(x, norm, W_q, W_k, W_v, W_o, parts):
        rows, cache = [], None
        for part in x.split(parts, dim=1):
            out, cache = code(part, (norm, W_q, W_k, W_v, W_o), cache, 6, 3, 500.0)
            rows.append(out)
        return torch.cat(rows, dim=1)

    return block


def _probe(n, parts, *, seed, heads=6, kv_heads=3, head_dim=8):
    """Random arguments of what `in_parts` returns: rows (2, n, heads · head_dim), weights, sizes of parts."""
    d, kv = heads * head_dim, kv_heads * head_dim
    norm, *weights = (
        normal(*shape, seed=seed + 20 * i) for i, shape in enumerate([(d,), (d, d), (kv, d), (kv, d), (d, d)])
    )
    return normal(2, n, d, seed=seed + 900), 1 + norm / 4, *(2 * w / d**0.5 for w in weights), parts


@torch.no_grad()
def speak(model, code, prompt, pieces=20):
    """What a `smollm.LanguageModel` writes after a prompt, so many pieces, if all its blocks have this attention.

    code(x, (norm, W_q, W_k, W_v, W_o), cache, heads, kv_heads, base) returns x with the attention added, and the cache.
    """
    sizes, epsilon = model.sizes, model.sizes.epsilon

    def read(tokens, caches):
        x = model.table[tokens]
        for i, w in enumerate(model.blocks):
            own = w.norm_1, w.W_q, w.W_k, w.W_v, w.W_o
            x, caches[i] = code(x, own, caches[i], sizes.heads, sizes.kv_heads, sizes.base)
            h = rms_norm(x, w.norm_2, epsilon)
            x = x + (F.silu(h @ w.W_gate.T) * (h @ w.W_up.T)) @ w.W_down.T
        return model.logits(x[0, -1]).argmax().item()

    caches, pieces_written = [None] * sizes.blocks, []
    number = read(model.tokens(prompt), caches)
    while number != model.end and len(pieces_written) < pieces:
        pieces_written.append(number)
        number = read(torch.tensor([[number]]), caches)
    return model.pieces.decode(pieces_written)


class Patient:
    """A speaker as a learner meets it: its transcript, its source, `buggy`, and two tests."""

    def __init__(self, speaker):
        self.id, self._speaker = speaker.id, speaker

    @property
    def source(self):
        return self._speaker.source

    @property
    def says(self):
        """Prompt → what the model writes with this block."""
        return dict(self._speaker.says)

    @property
    def buggy(self):
        """The patient, to be called and traced: attention(x, w, cache, heads, kv_heads, base) → rows, cache."""
        return self._speaker.buggy

    def tests(self):
        """The two tests that see what nobody hears, on small random numbers: how far apart the rows are at most.

        Returns two numbers, rounded to one digit: one pass against the right code's, and 3 rows at once, then 6 one by
        one, against one pass.
        """
        x, *weights, _ = _probe(9, [9], seed=4)
        with torch.no_grad():
            mine, theirs = in_parts(self.buggy), in_parts(block)
            at_once, one_by_one = (mine(x, *weights, parts) for parts in ([9], [3, 1, 1, 1, 1, 1, 1]))
            other = theirs(x, *weights, [9])
        return tuple(float(f"{(one - two).abs().max():.0e}") for one, two in ((at_once, other), (one_by_one, at_once)))

    def speak(self, model, prompt, mended=None, pieces=20):
        """What the model writes after a prompt with this block, or with mended code in its place."""
        return speak(model, mended or self.buggy, prompt, pieces)

    def _rows(self):
        return [(prompt, text.replace("\n", "⏎")) for prompt, text in self._speaker.says.items()]

    def __repr__(self):
        transcript = "\n".join(f"{prompt} → {text}" for prompt, text in self._rows())
        numbered = "\n".join(f"{k:>2}  {line}" for k, line in enumerate(self.source.splitlines(), start=1))
        return f"Patient {self.id}\n\n{transcript}\n\n{numbered}"

    def _repr_html_(self):
        transcript = "".join(
            f"<p style='margin: 0.3em 0'>{html.escape(prompt)} <b>→</b> <i>{html.escape(text)}</i></p>"
            for prompt, text in self._rows()
        )
        return show.framed(f"<b>Patient {self.id}</b>{transcript}{source_shown(self)}")


def patients():
    """Id → the `Patient` that a learner meets."""
    return {id: Patient(one) for id, one in EXERCISES.items() if isinstance(one, Speaker)}
