"""What was handed in: every file of a folder or a .zip, whose it is, and what is wrong with it."""

import functools
import hashlib
import io
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .answers import Cell, answer_in, course, exercises_in, headings, read_cells, split_script

LARGEST = 32 << 20  # bytes of one file
FILES_IN_ZIP = 500
IGNORED = {"__MACOSX", "__pycache__", "graded"}
ELSE = "not a notebook, .py or .zip"
OURS = {"roster.csv", "points.csv"}
MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)", re.S)
CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<id>\d+)_\d+_(?P<rest>.+)", re.S)


@dataclass
class HandIn:
    """One file: whose, what is in it, or the problem with it."""

    student: str
    path: str  # below the folder, with "/"
    modified: tuple = ()  # seconds, then the date of its entry in a .zip
    cells: list = field(default_factory=list, repr=False)
    heads: list = field(default_factory=list, repr=False)
    digest: str = ""
    problem: str = ""
    keys: tuple = ()  # what else may name the student: an id that a learning platform put into the file's name
    exercises: list = field(default_factory=list)

    @property
    def is_something_else(self):
        """Whether it is no notebook, .py or .zip, but lies there with them."""
        return self.problem.startswith(ELSE)

    @property
    def name(self):
        return PurePosixPath(self.path).name

    def answered(self, number):
        """How many exercises of a notebook it holds an answer to."""
        ids = [id for id in self.exercises if id.split(".")[0] == number]
        answers = [answer_in(self.cells, id) for id in ids]
        return sum(bool(answer.expressions) for answer in answers)

    def notebooks(self):
        return list(dict.fromkeys(id.split(".")[0] for id in self.exercises))


def find(folder):
    """Every file under a folder, or in a .zip of all, as `HandIn`s; hidden files are left out, nothing else.

    Raises: FileNotFoundError if there is no such folder, or nothing in it.
    """
    folder = Path(folder)
    if folder.is_file() and folder.suffix.lower() == ".zip":
        found = list(_in_zip(folder.read_bytes(), folder.name, "", (folder.stat().st_mtime,)))
    elif folder.is_dir():
        found = list(_in_folder(folder))
    else:
        raise FileNotFoundError(f"there is no folder {folder}")
    if not found:
        raise FileNotFoundError(f"there is nothing in {folder}")
    return found


def _in_folder(folder):
    for path in sorted(folder.rglob("*")):
        below = path.relative_to(folder)
        if _is_passed_over(below) or (len(below.parts) == 1 and below.name in OURS):
            continue
        if path.is_symlink():
            yield _made(below.as_posix(), (), problem="a link, which is not followed")
        elif path.is_file():
            try:
                stat = path.stat()
                if stat.st_size > LARGEST:
                    raise ValueError(f"larger than {LARGEST >> 20} MB")
                data = path.read_bytes()
            except (OSError, ValueError) as error:
                yield _made(below.as_posix(), (), problem=f"cannot be read: {_reason(error)}")
                continue
            if path.suffix.lower() == ".zip":
                yield from _in_zip(data, path.name, below.as_posix(), (stat.st_mtime,))
            else:
                yield _read(below.as_posix(), data, (stat.st_mtime,))


def _in_zip(data, name, place, modified):
    """The files of a .zip that lies at `place` below the folder, or, if that is "", is all there is."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            entries = [entry for entry in entries if not _is_passed_over(PurePosixPath(entry.filename))]
            if len(entries) > FILES_IN_ZIP or sum(entry.file_size for entry in entries) > 4 * LARGEST:
                raise ValueError(f"more than {FILES_IN_ZIP} files or {4 * LARGEST >> 20} MB")
            if not entries:
                raise ValueError("nothing in it")
            if any(entry.flag_bits & 1 for entry in entries):
                raise ValueError("locked with a password")
            for entry in entries:
                below = f"{place}/{entry.filename}" if place else entry.filename
                when = (*modified, *entry.date_time)
                if not place and entry.filename.lower().endswith(".zip"):  # of one student, in the .zip of all
                    yield from _in_zip(archive.read(entry), entry.filename, below, when)
                elif entry.filename.lower().endswith(".zip"):
                    yield _made(below, when, problem="a .zip in a .zip, which is not opened")
                else:
                    yield _read(below, archive.read(entry)[: LARGEST + 1], when)
    except (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError, OSError, EOFError) as error:
        yield _made(place or name, modified, problem=f"cannot be read: {_reason(error)}")


def _reason(error):
    text = getattr(error, "strerror", None) or str(error)
    return text or type(error).__name__


def _is_passed_over(path):
    return any(part.startswith(".") or part in IGNORED for part in path.parts)


def _made(path, modified, problem="", **rest):
    student, keys = whose(PurePosixPath(path))
    return HandIn(student, path, modified, problem=problem, keys=keys, **rest)


def _read(path, data, modified):
    kind = PurePosixPath(path).suffix.lower()
    if kind not in (".ipynb", ".py"):
        return _made(path, modified, problem=f"{ELSE} ({kind or 'no ending'})")
    if len(data) > LARGEST:
        return _made(path, modified, problem=f"cannot be read: larger than {LARGEST >> 20} MB")
    try:
        text = data.decode("utf-8-sig")
        cells = read_cells(text) if kind == ".ipynb" else split_script(text)
    except ValueError as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else _reason(error)
        return _made(path, modified, problem=f"cannot be read: {why}")
    heads = headings(text) if kind == ".ipynb" else []
    digest = hashlib.sha256(data).hexdigest()
    exercises = exercises_in(cells, PurePosixPath(path).name, heads)
    problem = "" if exercises else "no exercise of this course in it"
    return _made(path, modified, problem, cells=cells, heads=heads, digest=digest, exercises=exercises)


def whose(path):
    """(student, other keys) as the path says: the first folder, a .zip, or part of the file's name."""
    first = path.parts[0]
    if len(path.parts) == 1:
        first = path.stem
    elif first.lower().endswith(".zip"):
        first = first[:-4]
    within = path.parts[1:2] if path.parts[0].lower().endswith(".zip") else ()  # perhaps a platform's .zip of all
    for name in (path.name if len(path.parts) == 1 else first, *within):
        for platform in (MOODLE, CANVAS):
            if match := platform.fullmatch(name):
                return match["name"], (match["id"],)
    if len(path.parts) > 1 and not path.parts[0].lower().endswith(".zip"):
        return first, ()
    match = _numbered().fullmatch(first)
    names = [part for part in (match["before"], match["after"]) if part] if match else [first]
    return " ".join(names) or "(no name)", ()


@functools.cache
def _numbered():
    """How a file with the name of one of the course's notebooks is called."""
    lessons = "|".join(re.escape(stem.partition("_")[2]) for stem in {a.notebook for a in course().asked.values()})
    return re.compile(rf"(?P<before>.*?)[-_ ]*0*[1-9][0-9]*_(?:{lessons})[-_ ]*(?P<after>.*)")


def choose(found):
    """Of a student's files with the same notebook the fullest counts, of equally full ones the newest.

    Returns (the chosen, as (hand-in, number of notebook), what is to be said of the others).
    """
    chosen, said, rivals = [], [], {}
    for hand_in in found:
        for number in hand_in.notebooks():
            rivals.setdefault((hand_in.student, number), []).append(hand_in)
    for (_, number), files in rivals.items():
        best = max(files, key=lambda hand_in: (hand_in.answered(number), hand_in.modified))
        chosen.append((best, number))
        for other in files:
            if other is not best:
                fuller = best.answered(number) > other.answered(number)
                why = "answers more exercises" if fuller else "is newer"
                why = "is the same" if best.digest == other.digest else why
                said.append((other, f"does not count: {best.path} {why}"))
    return chosen, said


def cells_as_data(hand_in):
    return [[cell.source, cell.id, list(cell.tags)] for cell in hand_in.cells]


def cells_from_data(data):
    return [Cell(source, id, tuple(tags), place) for place, (source, id, tags) in enumerate(data)]
