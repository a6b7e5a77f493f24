"""What teaches attention in a notebook: boards, exercises, questions, guesses, traces, plots."""

from . import missing

missing.watch()
