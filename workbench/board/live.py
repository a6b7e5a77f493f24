"""What every kind of board shares: a page and Python that hold the same, a task, and phrases that set it."""

import re
from pathlib import Path

import anywidget
import traitlets

from ..display import show
from ..display.colours import tokens
from .drag import Drag

PAGE = Path(__file__).parent / "page"
OF_LESSONS = sorted((Path(__file__).parent / "lessons").glob("*.js"))  # they register operations that one lesson has
STYLES = ("board.css", "tries.css", "figures.css", "story/story.css", "real/real.css")
SHEETS = [(PAGE / name).read_text(encoding="utf-8") for name in STYLES]
STYLE = "\n".join([tokens(".attn-board, .attn-figure"), *SHEETS])


class LiveBoard(anywidget.AnyWidget):
    """A board that a page computes and draws; Python is told what stands there, and is the judge.

    A kind of board has its inputs in `_now` and its controls in `_settings`, by their names, and calls `_begin`. It
    says with `_with` what stands there after a change, with `_read` what a page may say, with `_compute` what follows
    from it, and with `_describe` and `tables` how pages show it. Its `spec` has `start`, the inputs and controls.
    """

    _css = STYLE

    spec = traitlets.Dict().tag(sync=True)  # all that never changes
    frames = traitlets.Dict().tag(sync=True)  # name → bytes, of what has many numbers
    state = traitlets.Any().tag(sync=True, echo_update=False)  # what the page says: inputs and settings
    reply = traitlets.Dict().tag(sync=True)  # what Python answers

    def _begin(self, tries, frames, **described):
        self._reached, self._answer, self._listens, self._revision = False, None, False, 0
        problem = self._compute()
        if problem:
            raise ValueError(problem)
        self._start_settings = dict(self._settings)
        self.tries = [self._try(phrase, sets) for phrase, sets in (tries or {}).items()]
        spec, reply = self._describe(**described), {"revision": 0, "problem": ""}
        super().__init__(spec=spec, frames=frames, state=self._as_state(0), reply=reply)
        self._listens = True

    # ------------------------------------------------------------------------------------------------- read back

    @property
    def settings(self):
        """What the controls are set to, name → value."""
        return dict(self._settings)

    @property
    def reached(self):
        """Whether what the task asks for was there, now or before; its question may still be open."""
        return self._reached

    @property
    def done(self):
        """Whether the task was done, as Python judges; a board without one is never done."""
        return self._reached and (not self._task.why or self._answer == self._task.right)

    def change(self, **values):
        """Set inputs and controls (values) by name, as a hand on the page would; returns the board.

        Raises: ValueError for a name or value that the page would refuse.
        """
        state = self._with(values)
        self._read(state)
        self.state = state
        return self

    def _try(self, phrase, sets):
        """A phrase for pages: what it sets, and whether that does the task, so that it is not said before."""
        if isinstance(sets, Drag):
            return self._drag(phrase, sets)
        state, start = self._with(sets), (self._now, self._settings)
        self._now, self._settings = self._read(state)
        self._compute()
        answers, self._reached = self._reached, False
        self._now, self._settings = start
        self._compute()
        return {"said": phrase, "sets": self._changes(sets), "answers": answers}

    def _drag(self, phrase, drag):
        """A phrase with a number to drag; without that it sets what its number sets at the start."""
        before, number, after = re.fullmatch(r"(.*)\{(.+)\}(.*)", phrase).groups()
        at, values = list(drag.values).index(drag.start), list(map(str, drag.values))
        sets = [self._changes(drag.sets(value)) for value in drag.values]
        number_of = {"before": before, "after": after, "at": at, "values": values, "sets": sets}
        return self._try(before + number + after, drag.sets(drag.start)) | {"number": number_of}

    def _changes(self, sets):
        """Inputs and controls as a page is told them. Raises: ValueError for what cannot be set."""
        state = self._with(sets)
        self._read(state)
        return {part: {k: v for k, v in state[part].items() if k in sets} for part in ("inputs", "settings")}

    # -------------------------------------------------------------------------------------------- hear and judge

    @traitlets.observe("state")
    def _hear(self, change):
        """Take what the page says, all or nothing. Nothing that it says raises: nobody would see it."""
        if not self._listens:
            return
        problem, revision = "", None
        try:
            revision = self._revision = int(self.state["revision"])
            problem = self._take(self.state)
        except Exception as error:  # whatever a page may send, down to a list that nests too deep
            problem = f"Python could not read what this page said ({show.error(error, 100)})."
            self._listens, self.state = False, self._as_state(self._revision)  # a page that is loaded anew starts there
            self._listens = True
        self.reply = {"revision": revision, "problem": problem, **self._for_the_page()}

    def _take(self, message):
        inputs, settings = self._read(message)
        proof = message.get("proof")
        if proof is not None:  # what stood there when the page saw the task done: Python computes it again, and judges
            self._now, self._settings = self._read(proof)
            self._compute()
        elif message.get("fresh"):
            self._reached = False
        answer = message.get("answer")
        self._answer = answer if isinstance(answer, int) and not isinstance(answer, bool) else None
        self._now, self._settings = inputs, settings
        return self._compute()

    def _for_the_page(self):
        """What else Python answers, of a kind of board whose page cannot compute what it draws."""
        return {}

    def _as_state(self, revision):
        inputs = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in self._now.items()}
        return {"revision": revision, "inputs": inputs, "settings": dict(self._settings), "answer": self._answer}

    def _repr_mimebundle_(self, **options):
        """The live board where there is a kernel, and plain tables where there is none."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": repr(self), "text/html": self.tables()}, metadata
