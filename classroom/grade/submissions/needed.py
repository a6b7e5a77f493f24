"""Which of a submission's cells and of its lesson's lines an answer stands on, in the order in which a kernel ran them.

A name is what the last cell above has made of it: the learner's own where there is one, whether the lesson has the
name too or not. Whatever may have changed its object since comes along, as do calls that set it. What nothing above
binds is looked for below, since cells can be run in any order. Random numbers are those that the learner had: what is
drawn in a cell after `torch.manual_seed` comes with the seed and with all that was drawn between.
"""

import builtins
import functools
import itertools
from dataclasses import dataclass

from .names import ANY

BUILTIN = set(dir(builtins))


@dataclass
class Step:
    """A cell of a submission's own, or one statement: of the lesson, or of a lesson's cell that was edited."""

    file: str  # as it is shown in tracebacks
    code: str
    names: object  # `Names`
    is_own: bool
    is_import: bool = False


class Steps:
    """All steps of a submission, in order."""

    def __init__(self, steps):
        self.steps = steps
        self.altered_by = functools.cache(self._altered_by)
        self.used_when_called = functools.cache(self._used_when_called)
        self.set_when_called = functools.cache(self._set_when_called)
        self.binding = {}  # name → the numbers of the steps that bind it
        for number, step in enumerate(steps):
            for name in step.names.binds | step.names.global_later:
                self.binding.setdefault(name, []).append(number)
        self.change_arguments = set().union(*(s.names.change_arguments() for s in steps if s.is_own))
        self.modules = {name for step in steps if step.is_import for name in step.names.binds}
        self.modules -= {name for step in steps if step.is_own and not step.is_import for name in step.names.binds}

    def needed_for(self, names, chosen, point):
        """Return the steps that names stand on just before step `point`, and the chosen ones, in order.

        names are to be evaluated there, where everything chosen has run.
        """
        runs_at, to_visit = {}, []  # number of a step → where it runs, and the steps still to be looked through
        last = len(self.steps)

        def take(number, at):
            if number not in runs_at or (at[0], number) < (runs_at[number][0], number):
                runs_at[number] = at
                to_visit.append(number)

        def look_for(names, at):
            for name in names | self.used_when_called(frozenset(names)):
                self._take_what_makes(name, at, take)

        wanted = set(names) | self.used_when_called(frozenset(names))
        if point < last and any(self._is_made_below(name, point) for name in wanted):
            return self.needed_for(names, chosen, last)
        for number in chosen:
            take(number, (number, 0, number))
        look_for(set(names), (point, 0, point))
        while to_visit:
            number = to_visit.pop()
            step, at = self.steps[number], runs_at[number]
            for drawn in self._from_the_seed(number):
                take(drawn, (*at[:2], drawn) if at[1] else (drawn, 0, drawn))
            needs = step.names.needs()
            look_for(needs | (self.used_when_called(frozenset(needs)) - step.names.binds), at)
            if step.is_own:  # the answer may reach a function of it, in a list for example
                look_for(step.names.later - step.names.binds, (point, 0, point))
        return [self.steps[number] for number in sorted(runs_at, key=runs_at.get)]

    def _is_made_below(self, name, point):
        places = self.binding.get(name, ())
        return name not in BUILTIN and min(places, default=point) >= point and any(self.steps[i].is_own for i in places)

    def _take_what_makes(self, name, at, take):
        place, depth, _ = at
        is_bound, is_imported = name in BUILTIN, False
        for number in reversed(range(place)):
            step = self.steps[number]
            if is_imported and step.is_own:  # should the import fail, it is the lesson's
                continue
            binds = name in step.names.binds or step.names.may_bind_any
            if binds or not self.altered_by(number).isdisjoint((name, ANY)):
                take(number, (number, 0, number))
                is_bound = is_bound or binds
            if name in step.names.settles:
                return
            is_imported = is_imported or name in step.names.imports
        below = [number for number in self.binding.get(name, ()) if number >= place and not self.steps[number].is_own]
        if below and not is_bound:
            take(below[0], (place, depth - 1, below[0]))

    def _from_the_seed(self, number):
        """The steps of a step's cell from the last seed above it on; without a seed none."""
        above = range(number - 1, -1, -1)
        of_cell = list(itertools.takewhile(lambda i: self.steps[i].file == self.steps[number].file, above))
        seeds = [place for place, i in enumerate(of_cell) if self.steps[i].names.seeds]
        return of_cell[: seeds[0] + 1] if seeds else []

    def _altered_by(self, number):
        """The names whose object a step may change, or that it may set by a call."""
        step = self.steps[number]
        if not step.is_own:
            return step.names.changes
        names = set(step.names.touches())
        names |= {arg for function, arg in step.names.passed() if function in self.change_arguments}
        names = {name for name in names if name not in self.modules} | step.names.changes
        return names | self.set_when_called(frozenset(step.names.now))

    def _used_when_called(self, names):
        """The names that functions of these names use when they are called."""
        return self._reached(names, lambda step: step.names.later)

    def _set_when_called(self, names):
        """The names that calling functions of these names may bind or change."""
        return self._reached(names, lambda step: step.names.sets_later() if step.is_own else set())

    def _reached(self, names, names_of):
        """What `names_of` gives for each step that binds one of the names, or binds a name that such a step uses."""
        reached, to_visit, result = set(names), list(names), set()
        steps = set()
        while to_visit:
            for number in self.binding.get(to_visit.pop(), ()):
                if number not in steps:
                    steps.add(number)
                    step = self.steps[number]
                    result |= names_of(step)
                    more = step.names.uses - reached
                    reached |= more
                    to_visit += more
        return result
