"""What was handed in: every file of a folder or a .zip, whose it is, and what is wrong with it."""

import contextlib
import datetime
import functools
import hashlib
import io
import lzma
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from workbench.display.moments import moment_in_words
from workbench.display.show import count

from .class_list import composed
from .extract import Cell, answer_in, course, exercises_in, headings, read_cells, split_script

LARGEST = 32 << 20  # bytes of one file
FILES_IN_ZIP = 500
IGNORED = {"__MACOSX", "__pycache__", "graded"}
ELSE = "not a notebook, .py or .zip"
OURS = {"roster.csv", "points.csv", "who.csv", "times.csv", "deadlines.csv", "overrides.csv"}
MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)", re.S)
CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>\d+)_\d+_(?P<rest>.+)", re.S)
PLATFORMS = {"moodle": MOODLE, "canvas": CANVAS}
BLIND = ("participant", "participante", "teilnehmer", "teilnehmerin")  # Moodle's name for all where marking is blind
KINDS = {  # how files begin, whatever their names say
    b"%PDF": "a PDF",
    b"PK\x03\x04": "a .zip, or a document that is one inside",
    b"Rar!": "a .rar archive",
    b"7z\xbc\xaf": "a .7z archive",
    b"\x1f\x8b": "a .gz archive",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
}


@dataclass(frozen=True)
class Owner:
    """Whose a file is, as far as its path tells: a label, and the number that a learning platform gave a person."""

    name: str
    platform: str = ""  # "moodle" or "canvas"
    number: str = ""

    @property
    def is_blind(self):
        """Whether the name stands for anybody."""
        return self.platform == "moodle" and self.name.casefold().startswith(BLIND)


@dataclass
class Submission:
    """One file: whose, what is in it, or the problem with it."""

    student: object  # a `Person`, once it is known who is who
    path: str  # below the folder, with "/"
    modified: tuple = ()  # seconds, then the date of its entry in a .zip
    cells: list = field(default_factory=list, repr=False)
    heads: list = field(default_factory=list, repr=False)
    digest: str = ""
    problem: str = ""
    exercises: list = field(default_factory=list)
    owner: Owner | None = None
    place: str = ""  # the file or folder that is all one student's
    late: bool = False  # as the platform marks it in its name
    came: datetime.datetime | None = None  # when, as the platform says
    from_worksheet: bool = False  # whether a grading worksheet is of the assignment that it was downloaded from
    size: int | None = None  # in bytes

    @property
    def is_something_else(self):
        """Whether it is no notebook, .py or .zip, but lies there with them."""
        return self.problem.startswith(ELSE)

    @property
    def is_stray(self):
        """Whether it is something else that nobody's name stands on, such as a teacher's own notes."""
        return self.is_something_else and self.place == self.path and not self.owner.number

    @property
    def name(self):
        return PurePosixPath(self.path).name

    def in_words(self):
        """The file as its student knows it: name, size and date."""
        size = "" if self.size is None else f" of {count(self.size, 'byte')}"
        if self.came:
            return f"{self.name}{size}, which came on {moment_in_words(self.came)}"
        moment = datetime.datetime(*self.modified[1:]) if self.modified[1:] else None  # a .zip names no zone
        if self.modified and moment is None:
            moment = datetime.datetime.fromtimestamp(self.modified[0]).astimezone()
        return f"{self.name}{size}" + (f", dated {moment_in_words(moment)}" if moment else "")

    def answered(self, number):
        """How many exercises of a notebook it holds an answer to."""
        ids = [id for id in self.exercises if id.split(".")[0] == number]
        answers = [answer_in(self.cells, id) for id in ids]
        return sum(bool(answer.expressions) for answer in answers)

    def notebooks(self):
        return list(dict.fromkeys(id.split(".")[0] for id in self.exercises))


def submissions_in(folder, but=()):
    """Every file under a folder, or in a .zip of all, as `Submission`s; hidden files are left out, and what is `but`.

    Raises: FileNotFoundError if there is no such folder, or nothing in it.
    """
    folder = Path(folder)
    if folder.is_file() and folder.suffix.lower() == ".zip":
        submissions = list(_in_zip(folder.read_bytes(), folder.name, "", (folder.stat().st_mtime,)))
    elif folder.is_dir():
        submissions = list(_in_folder(folder, {Path(path).resolve() for path in but if path}))
    else:
        raise FileNotFoundError(f"there is no folder {folder}")
    if not submissions:
        raise FileNotFoundError(f"there is nothing in {folder}")
    return submissions


def _in_folder(folder, but):
    for path in sorted(folder.rglob("*")):
        below = path.relative_to(folder)
        if _is_passed_over(below) or (len(below.parts) == 1 and below.name in OURS) or path.resolve() in but:
            continue
        if path.is_symlink():
            yield _submission(below.as_posix(), (), problem="a link, which is not followed")
        elif path.is_file():
            try:
                stat = path.stat()
                if stat.st_size > LARGEST:
                    raise ValueError(f"larger than {LARGEST >> 20} MB")
                data = path.read_bytes()
            except (OSError, ValueError) as error:
                yield _submission(below.as_posix(), (), problem=f"cannot be read: {_reason(error)}")
                continue
            if path.suffix.lower() == ".zip":
                yield from _in_zip(data, path.name, below.as_posix(), (stat.st_mtime,))
            else:
                yield _read_file(below.as_posix(), data, (stat.st_mtime,))


def _in_zip(data, name, place, modified):
    """The files of a .zip that lies at `place` below the folder, or, if that is "", is all there is."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [(_name_in_zip(entry), entry) for entry in archive.infolist() if not entry.is_dir()]
            entries = [(name, entry) for name, entry in entries if not _is_passed_over(PurePosixPath(name))]
            if len(entries) > FILES_IN_ZIP or sum(entry.file_size for _, entry in entries) > 4 * LARGEST:
                raise ValueError(f"more than {FILES_IN_ZIP} files or {4 * LARGEST >> 20} MB")
            if not entries:
                raise ValueError("there is nothing in it")
            for inner, entry in entries:
                below = f"{place}/{inner}" if place else inner
                yield from _entry(archive, entry, below, (*modified, *entry.date_time), whole=not place)
    except UNZIPPING as error:
        is_zip = data.startswith(b"PK")
        why = "it is cut off or damaged" if is_zip and isinstance(error, zipfile.BadZipFile) else _reason(error)
        why = why if is_zip else _something_else(data) or why
        yield _submission(place or name, modified, problem=f"cannot be read: {why}", size=len(data))


UNZIPPING = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, ValueError, RuntimeError, OSError, EOFError)


def _entry(archive, entry, below, when, whole):
    """A file of a .zip; should it be one that cannot be read, the others still are."""
    is_zip = below.lower().endswith(".zip")
    try:
        if entry.flag_bits & 1:
            raise ValueError("it is locked with a password")
        if is_zip and not whole:
            yield _submission(below, when, problem="a .zip in a .zip, which is not opened", size=entry.file_size)
        elif is_zip:  # of one student, in the .zip of all
            yield from _in_zip(archive.read(entry), below, below, when)
        else:
            yield _read_file(below, archive.read(entry)[: LARGEST + 1], when)
    except UNZIPPING as error:
        yield _submission(below, when, problem=f"cannot be read: {_reason(error)}", size=entry.file_size)


def _name_in_zip(entry):
    """A Mac writes UTF-8 into a .zip without saying so; else it is what the .zip says."""
    if not entry.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            return entry.orig_filename.encode("cp437").decode("utf-8")
    return entry.filename


def _reason(error):
    text = getattr(error, "strerror", None) or str(error)
    return text or type(error).__name__


def _is_passed_over(path):
    return any(part.startswith(".") or part in IGNORED for part in path.parts)


def _submission(path, modified, problem="", **rest):
    owner, place, late = whose(PurePosixPath(path))
    return Submission(None, path, modified, problem=problem, owner=owner, place=place, late=late, **rest)


def _read_file(path, data, modified):
    kind, size = _as_saved(PurePosixPath(path)).suffix.lower(), len(data)
    if kind not in (".ipynb", ".py"):
        return _submission(path, modified, problem=f"{ELSE} ({kind or 'no ending'})", size=size)
    if len(data) > LARGEST:
        return _submission(path, modified, problem=f"cannot be read: larger than {LARGEST >> 20} MB")
    try:
        text = text_of(data, kind)
        is_notebook = text.lstrip().startswith("{")  # whatever its name says
        if is_notebook and not text.rstrip().endswith("}"):
            raise ValueError("it is cut off, and ends in the middle of the notebook")
        if kind == ".ipynb" and not is_notebook and Cell(text).error:  # a script under this name may be read
            raise ValueError("it is not a notebook")
        cells = read_cells(text) if is_notebook else split_script(text)
    except ValueError as error:
        return _submission(path, modified, problem=f"cannot be read: {error}", size=size)
    heads = headings(text) if is_notebook else []
    digest = hashlib.sha256(data).hexdigest()
    exercises = exercises_in(cells, PurePosixPath(path).name if is_notebook or kind == ".py" else "", heads)
    nothing = (
        "no exercise of this course in it" if is_notebook or kind == ".py" else "cannot be read: it is not a notebook"
    )
    problem = "" if exercises else nothing
    return _submission(path, modified, problem, cells=cells, heads=heads, digest=digest, exercises=exercises, size=size)


def _as_saved(path):
    """The name as Jupyter gave it: browsers put .txt or .json behind the ending of what they download."""
    inner = path.with_suffix("")
    has_added_ending = path.suffix.lower() in (".txt", ".json") and inner.suffix.lower() in (".ipynb", ".py")
    return inner if has_added_ending else path


def text_of(data, kind):
    """A file's text: UTF-8, UTF-16 by its mark, and of a .py what old editors of Windows write.

    Raises: ValueError, which says what it is instead.
    """
    if other := _something_else(data):
        raise ValueError(other)
    encodings = ["utf-16"] if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig", *["cp1252"] * (kind == ".py")]
    for encoding in encodings:
        with contextlib.suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            if "\0" not in text:
                return text
    raise ValueError("it is not text" if b"\0" in data else "it is not UTF-8")


def _something_else(data):
    """Say what an unreadable file is, whatever its name, "" for one that may be readable."""
    if not data.strip():
        return f"it is empty ({count(len(data), 'byte')})"
    begins = data[:40].lstrip().lower()
    return next((f"it is {kind}" for signature, kind in KINDS.items() if begins.startswith(signature.lower())), "")


def whose(path):
    """(Owner, the file or folder that is all theirs, whether it is late) as the path says.

    The first folder is a student's, or a .zip, or part of the file's name; a .zip may hold a platform's folders.
    """
    first, *rest = path.parts
    is_zip = first.lower().endswith(".zip")
    for depth, name in enumerate((first, *(rest[:1] if is_zip else ())), start=1):
        for platform, pattern in PLATFORMS.items():
            if match := pattern.fullmatch(name):
                label = composed(match["name"])
                label = f"{label} {match['id']}" if label.casefold() in BLIND else label
                late = bool(match.groupdict().get("late"))
                return Owner(label, platform, match["id"]), "/".join(path.parts[:depth]), late
    if rest and not is_zip:
        return Owner(composed(first)), first, False
    first = first[:-4] if is_zip else _as_saved(path).stem
    match = _numbered().fullmatch(composed(first))
    names = [part for part in (match["before"], match["after"]) if part] if match else [composed(first)]
    return Owner(" ".join(names) or "(no name)"), path.parts[0], False


@functools.cache
def _numbered():
    """How a file with the name of one of the course's notebooks is called."""
    lessons = "|".join(re.escape(stem.partition("_")[2]) for stem in {a.notebook for a in course().asked.values()})
    return re.compile(rf"(?P<before>.*?)[-_ ]*0*[1-9][0-9]*_(?:{lessons})[-_ ]*(?P<after>.*)")


@dataclass
class Versions:
    """A student's files with the same notebook."""

    student: object
    number: str  # of the notebook
    picks: list  # of each attempt the file that stands for it, first the one that counts
    remarks: list  # (file, why it does not count) of others of an attempt

    def others(self, best, why=None):
        """(file, remark) for all but the one that counts; `why` is the reason where points have decided."""
        for other in self.picks:
            if other is not best:
                yield other, f"does not count: {best.path} {why or self._why(best, other)}"
        yield from self.remarks

    def _why(self, best, other):
        if best.digest == other.digest:
            return "is the same"
        if not other.answered(self.number) and best.answered(self.number):
            return "answers more exercises"
        return "is newer" if best.came > other.came else "is the newest that came in time"


def choose(submissions, is_late=lambda submission, number: False):
    """Return the `Versions` of each student and notebook.

    Files that came at the same time, or of which one has no time, are one attempt: of it the fullest file counts, of
    equally full ones the newest. Of attempts the newest that came in time does, else the newest; one without an answer
    only where there is no other.
    """
    rivals = {}
    for submission in submissions:
        for number in submission.notebooks():
            rivals.setdefault((submission.student, number), []).append(submission)
    return [_versions(student, number, files, is_late) for (student, number), files in rivals.items()]


def _versions(student, number, files, is_late):
    attempts, picks, remarks = {}, [], []
    timed = all(submission.came for submission in files)
    for submission in files:
        attempts.setdefault(submission.came if timed else None, []).append(submission)
    for attempt in attempts.values():
        best = max(attempt, key=lambda submission: (submission.answered(number), submission.modified))
        picks.append(best)
        for other in attempt:
            if other is not best:
                fuller = best.answered(number) > other.answered(number)
                newer = "is newer" if best.modified > other.modified else "is as new, and first by name"
                why = "answers more exercises" if fuller else newer
                why = "is the same" if best.digest == other.digest else why
                remarks.append((other, f"does not count: {best.path} {why}"))
    if timed:
        picks.sort(key=lambda one: (bool(one.answered(number)), not is_late(one, number), one.came), reverse=True)
    return Versions(student, number, picks, remarks)


def cells_as_data(submission):
    return [[cell.source, cell.id, cell.kind] for cell in submission.cells]


def cells_from_data(data):
    cells, place = [], 0
    for source, id, kind in data:
        cells.append(Cell(source, id, place=place, kind=kind))
        place += kind == "code"
    return cells
