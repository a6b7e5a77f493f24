"""All that exercises say in words, gathered into told.txt to be read through: `python tests/told.py` writes it anew."""

import random
import re
import sys
from pathlib import Path

SAVED = Path(__file__).with_name("told.txt")


def told():
    """A paragraph for everything that is said, in the order of the notebooks."""
    from attn_lib.exercises.catalogue import EXERCISES
    from attn_lib.exercises.clinic import FAULTS
    from attn_lib.exercises.clinic.trial import FIRST, LAST

    said = [line for exercise in EXERCISES.values() for line in of_an_exercise(exercise)]
    said += ["# Any test of the clinic", *of_mistakes([*FIRST, *LAST])]
    said += ["# What can ail an attention", *(f"{fault}: {meaning}." for fault, meaning in FAULTS.items())]
    return "\n".join(said) + "\n"


def of_an_exercise(exercise):
    """What it asks for, its hints, the calls that an answer is tried on, and its mistakes."""
    from attn_lib.exercises.clinic.patient import Case
    from attn_lib.exercises.function import GRADIENTS, NUMBERS, Function, Trial, called

    yield f"# {exercise.id} {exercise.title}"
    yield f"Asks for {exercise.asks}. {exercise.section}."
    if isinstance(exercise, Case):
        yield f"{exercise.interface}."
        yield f"{exercise.name}. {exercise.story}"
    yield from (f"Hint: {hint}" for hint in exercise.hints)
    shown = re.findall(r"^(?:def|class) (\w+)", exercise.solution(), re.M)
    yield f"The solution shows {', '.join(shown)}."
    if isinstance(exercise, Function):
        trials = [trial for trial in exercise.trials if trial.stage < GRADIENTS]
        drawn = [Trial(args, NUMBERS) for args in exercise.drawn(random.Random(1))]
        for when, calls in {"Tried": trials, "Graded": drawn}.items():
            yield f"{when} on {', '.join(called(exercise, trial) for trial in calls)}."
        yield f"Returns {', '.join(exercise.returns)}."
        yield from (f"Wrong where {what}." for what, _ in exercise.invariants)
    for known, told in zip(exercise.mistakes.values(), of_mistakes(exercise.mistakes.values()), strict=True):
        best = getattr(known, "telltale", None)
        yield told if best is None else f"{told} Shown in {called(exercise, Trial(best, NUMBERS))}."


def of_mistakes(mistakes):
    return [
        f"[{known.id}] {known.name}. {known.why} Read again: {known.reread}.".replace("\n", " ") for known in mistakes
    ]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    SAVED.write_text(told(), encoding="utf-8")
