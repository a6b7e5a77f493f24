"""Where a learner's work is found: files in the folder of the copies, and environment variables that name others."""

import os
from pathlib import Path

BASELINE_FILE = ".copy.json"  # the course's cells as each copy was given them; where it stands, copies are
PROGRESS_FILE = ".progress.json"
GUESSES_FILE = ".guesses.json"  # beside it: what was entered in the forms of questions

COPY_VARIABLE = "ATTENTION_COPY"  # set: a copy is worked in though no baseline stands beside it, as on Colab
PROGRESS_VARIABLE = "ATTENTION_PROGRESS"  # folder of the progress file, in place of the one that the kernel works in
HAND_IN_VARIABLE = "ATTENTION_HAND_IN"  # folder into which a button copies notebooks; deploy/collect.py fetches them
DEADLINES_VARIABLE = "ATTENTION_DEADLINES"  # file with {"03": deadline} of this learner; stands beside the button
LIVE_VARIABLE = "ATTENTION_LIVE"  # folder into which verdicts go; `course.py grade --live` reads them
NAME_VARIABLE = "ATTENTION_NAME"  # under which name the teacher sees the learner there; the user's unless given


def guesses_file():
    """The file of what was entered in the forms of questions."""
    return Path(os.environ.get(PROGRESS_VARIABLE) or ".") / GUESSES_FILE


def in_a_copy():
    """Whether this kernel works in a learner's copy of the notebooks."""
    return Path(BASELINE_FILE).is_file() or bool(os.environ.get(COPY_VARIABLE))
