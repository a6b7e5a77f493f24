"""Which lessons are served: all, or those that `chosen = "1-5, 8"` names at the head of notebooks/course.toml."""

import re
import tomllib


def chosen(folder):
    """The paths of the notebooks of this folder that are served, in order; without a course.toml all there are.

    Raises: ValueError, naming it, for a choice that is none, or that names a lesson that is not there.
    """
    there = {int(path.name[:2]): path for path in sorted(folder.glob("[0-9][0-9]*.ipynb"))}
    course = folder / "course.toml"
    choice = tomllib.loads(course.read_text(encoding="utf-8")).get("chosen", "all") if course.is_file() else "all"
    return [there[number] for number in numbers(choice, there)]


def numbers(choice, there):
    """The numbers that a choice like "1-5, 8" names, in order. Raises: ValueError for one that is not there."""
    if choice == "all":
        return sorted(there)
    parts = [re.fullmatch(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*", part) for part in str(choice).split(",")]
    if None in parts:
        raise ValueError(f'chosen = {choice!r}: write numbers of lessons, as "1-5, 8"')
    chosen_numbers = {number for part in parts for number in range(int(part[1]), int(part[2] or part[1]) + 1)}
    if missing := sorted(chosen_numbers - set(there)):
        raise ValueError(f"chosen = {choice!r}: there is no lesson {missing[0]}, they are {min(there)} to {max(there)}")
    return sorted(chosen_numbers)
