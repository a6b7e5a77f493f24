"""A class as a lecturer finds it in a download: 48 files, and what each student's are to come to.

Nothing here is computed by what is tested: signs, points off and totals are written down by hand from the rules that
INSTRUCTORS.md states. Points are 1 for 1.1, 2 for 3.1 and 3 for 3.2, and each day begun after the deadline costs 10 %.
"""

import io
import zipfile
from dataclasses import dataclass, field

from grading import RIGHT, TOP_LEFT, notebook_with

EXERCISES = {"1.1": 1, "3.1": 2, "3.2": 3}
POINTS = "exercise,points\n1.1,1\n3.1,2\n3.2,3\nlate,10% a day\n"
JUDGED, UNREADABLE, BLANK = "judged", "handed in, unreadable", "handed in, nothing answered"
UNASSIGNED, NOTHING = "handed in, unassigned", "nothing"
BY_HAND = "answer = [1.5105, 3.3094, 2.2658]  # größer\n"
PADDED = "(torch.arange(max_len) < torch.tensor(lengths)[:, None])[:, None]"
PADDING = f"def my_padding_mask(lengths, max_len):\n    return {PADDED}\n"
BOTH = f"{PADDING}\n{RIGHT}\n"
CORNER = f"{TOP_LEFT}  # größer\n"
FAILS = "def my_causal_mask(q, k):\n    return q.no\n"
CALLS = "import attn_lib\nmy_causal_mask = attn_lib.causal_mask\n"
CUT_OFF = b'{"cells": [{"cell_type": "code", "sou'
STATES = JUDGED, UNREADABLE, UNASSIGNED, BLANK, NOTHING
MOODLE = "{}_{}_assignsubmission_file_/{}"
DUE = "2026-05-03 23:59"


@dataclass
class Student:
    """One of the roster: what came of them, and what the tables are to say."""

    id: str
    name: str
    files: dict = field(default_factory=dict)  # path: content, or (content, when the platform says that it came)
    signs: str = ""  # in 1.1, 3.1 and 3.2; "" where nothing is judged, a space for a notebook that never came
    total: str = ""
    state: str = JUDGED
    off: str = "0"  # what lateness takes
    late: str = ""  # words of how late
    mistake: str = ""  # the id of what 3.2 is told
    by_hand: dict = field(default_factory=dict)  # exercise: (points or "", comment)
    until: str = ""  # an extension
    says: str = ""  # words on the student's page


def zipped(**files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_dot_", "."), text)
    return data.getvalue()


def locked():
    data = bytearray(zipped(**{"01_by_hand.py": BY_HAND}))
    data[data.rindex(b"PK\x01\x02") + 8] |= 1  # as it says of an entry in its table of contents
    return bytes(data)


def unmarked(name):
    """A .zip made on a Mac: accents apart, in UTF-8, which it does not say."""
    return zipped(**{f"{name}/01_by_hand.py": BY_HAND}).replace(b"\x00\x08", b"\x00\x00")


def anna(number):
    return MOODLE.format("Anna Schmidt", number, "answers.py")


def students(notebook):
    """The roster; `notebook` makes notebook 3 as it is handed in, with an answer to 3.2 or none."""
    blank, answered = notebook(), notebook(RIGHT)
    return [
        Student("1001", "Anna Schmidt", {anna(1001): RIGHT + "#1001"}, " –✓", "3"),
        Student("1002", "Anna Schmidt", {anna(1002): CORNER}, " –✗", "0", mistake="top-left"),
        Student("0003", "Jürgen Müller", {"Ju\u0308rgen Mu\u0308ller/answers.py": BY_HAND + "#3"}, "✓  ", "1"),
        Student("4", "王小明", {"王小明.py": BY_HAND.encode("utf-16")}, "✓  ", "1"),
        Student("6", "Old Windows", {"Old Windows.py": CORNER.encode("cp1252")}, " –✗", "0", mistake="top-left"),
        Student("7", "Carla Empty", {"Carla Empty.ipynb": (b"", "2026-05-03 14:02")}, state=UNREADABLE,
                says="Carla Empty.ipynb of 0 bytes, which came on 3 May 2026, 14:02"),
        Student("8", "Dan Pdf", {"Dan Pdf.ipynb": b"%PDF-1.7 \xff\xff"}, state=UNREADABLE, says="it is a PDF"),
        Student("9", "Lena Locked", {"Lena Locked.zip": locked()}, state=UNREADABLE, says="password"),
        Student("10", "Kim Lee", {"Kim Lee/01_by_hand.py": BY_HAND + "#1"}, state=UNASSIGNED),
        Student("11", "Kim Lee", {"Kim Lee.py": BY_HAND + "#2"}, state=UNASSIGNED),
        Student("12", "Nobody Came", state=NOTHING),
        Student("13", "Vera Twice",
                {"Vera Twice/old/01_by_hand.py": "answer = [...]\n", "Vera Twice/new.py": BY_HAND + "#13",
                 "Vera Twice/newest.ipynb": CUT_OFF}, "✓  ", "1", says="cut off"),
        Student("14", "Old Edition", {"Old Edition/Untitled7.ipynb": answered}, " …✓", "3"),
        Student("15", "Bea Browser", {"Bea Browser/03_masking.ipynb.txt": answered + " "}, " …✓", "3"),
        Student("16", "Zoë Mac", {"Zoe\u0308 Mac.zip": unmarked("Zoe\u0308")}, "✓  ", "1"),
        Student("17", "Theo Truncated", {"Theo Truncated.zip": zipped(a_dot_py=BOTH)[:-30]}, state=UNREADABLE,
                says="cut off or damaged"),
        Student("20", "Olga Other", {"Olga Other.py": "print('another course')\n"}, state=UNREADABLE,
                says="no exercise of this course"),
        Student("21", "Blanka Blank", {"Blanka Blank/03_masking.ipynb": blank}, state=BLANK,
                says="Nothing is answered"),
        Student("22", "Boris Blank", {"Boris Blank/03_masking.ipynb": blank}, state=BLANK,
                says="Nothing is answered"),
        Student("23", "Half Half", {"Half Half/01.py": "answer = [...]\n", "Half Half/03.py": RIGHT + "#23"},
                "…–✓", "3"),
        Student("24", "Sam Syntax", {"Sam Syntax.py": "def my_causal_mask(q, k:\n    return 1\n"}, " –✗", "0",
                mistake="cannot-be-run"),
        Student("25", "Fay Fails", {"Fay Fails.py": FAILS}, " –✗", "0", mistake="raises"),
        Student("26", "Cal Calls", {"Cal Calls.py": CALLS}, " –✗", "0", mistake="librarys-own"),
        Student("27", "Pia Pair", {"Pia Pair.py": BOTH + "# together"}, " ✓✓", "5"),
        Student("28", "Pit Pair", {"Pit Pair.py": BOTH + "# together"}, " ✓✓", "5"),
        Student("29", "=cmd()", {"29.py": BOTH}, " ✓✓", "5"),
        # ------------------------------------------------------------------------------------------------ time
        Student("30", "Ben Late", {"lateben_LATE_30_66_03.py": BOTH + "#30"}, " ✓✓", "5",
                late="late, as the platform says"),
        Student("31", "Mia Minute", {"Mia Minute.py": (BOTH + "#31", "2026-05-03T23:59:59")}, " ✓✓", "5"),
        Student("32", "Max Midnight", {"Max Midnight.py": (BOTH + "#32", "2026-05-04T00:00")}, " ✓✓", "4.5",
                off="0.5", late="1 minute after the deadline, 3 May 2026, 23:59"),
        Student("33", "Dora Day", {"Dora Day.py": (BOTH + "#33", "2026-05-05 01:59")}, " ✓✓", "4", off="1",
                late="1 day 2 hours after"),
        Student("34", "Willi Weeks", {"Willi Weeks.py": (BOTH + "#34", "2026-05-24 12:00")}, " ✓✓", "0", off="5",
                late="20 days 12 hours after"),
        Student("35", "Eva Extension", {"Eva Extension.py": (BOTH + "#35", "2026-05-08 10:00")}, " ✓✓", "5",
                until="2026-05-10"),
        Student("36", "Emil Extension", {"Emil Extension.py": (BOTH + "#36", "2026-05-11 00:30")}, " ✓✓", "4.5",
                off="0.5", until="2026-05-10", late="31 minutes after the deadline, 10 May 2026, 23:59"),
        Student("37", "Uta Untold", {"untolduta_LATE_37_70_03.py": BOTH + "#37"}, " ✓✓", "5", until="2026-05-10"),
        # --------------------------------------------------------------------------------------------- versions
        Student("38", "Tim Twice", {"Tim Twice/a.py": (RIGHT + "#38", "2026-05-02 09:00"),
                                    "Tim Twice/b.py": (BOTH + "#38", "2026-05-04 09:00")}, " –✓", "3",
                says="a.py is the newest that came in time"),
        Student("39", "Lisa Later", {"Lisa Later/a.py": (BOTH + "#39", "2026-05-04 09:00"),
                                     "Lisa Later/b.py": (RIGHT + "#39", "2026-05-05 09:00")}, " –✓", "2.4", off="0.6",
                late="1 day 9 hours after", says="b.py is newer"),
        Student("40", "Eddy Emptied", {"Eddy Emptied/a.py": (RIGHT + "#40", "2026-05-01 09:00"),
                                       "Eddy Emptied/b.ipynb": (blank + " ", "2026-05-02 09:00")}, " –✓", "3"),
        # ---------------------------------------------------------------------------------------------- by hand
        Student("41", "Olli Override", {"Olli Override.py": FAILS + "#41"}, " –✎", "2.5", mistake="raises",
                by_hand={"3.2": ("2.5", "a slip of the keyboard")}, says="a slip of the keyboard"),
        Student("42", "Uwe Unread", {"Uwe Unread.ipynb": CUT_OFF + b" "}, "  ✎", "3", state=UNREADABLE,
                by_hand={"3.2": ("3", "shown on paper")}, says="shown on paper"),
        Student("43", "Carl Comment", {"Carl Comment.py": BOTH + "#43"}, " ✓✓", "5",
                by_hand={"3.1": ("", "elegant")}, says="elegant"),
        Student("44", "Hanna Hand", {"Hanna Hand.py": (BOTH + "#44", "2026-05-04 09:00")}, " ✓✎", "4.8", off="0.2",
                late="9 hours 1 minute after", by_hand={"3.2": ("3", "was ill")}),
    ]  # fmt: skip


STRANGERS = {"Zoe Unknown.py": CORNER + "#z", "what I shall say.docx": b"PK\x03\x04"}


def made_in(folder, scratch):
    """Write the 48 files and the teacher's tables into a folder; returns the roster's `Student`s."""

    def notebook(answer=None):
        return notebook_with(scratch / "03_masking.ipynb", **({"e2": answer} if answer else {})).read_text("utf-8")

    roster = students(notebook)
    files = {path: content for one in roster for path, content in one.files.items()} | STRANGERS
    assert len(files) == 48, len(files)
    times = ["path,time"]
    for name, content in files.items():
        data, came = content if isinstance(content, tuple) else (content, "")
        times += [f"{name},{came}"] * bool(came)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    tables = {
        "roster.csv": ["id,name", *(f"{one.id},{one.name}" for one in roster)],
        "times.csv": times,
        "deadlines.csv": ["id,deadline", f",{DUE}", *(f"{one.id},{one.until}" for one in roster if one.until)],
        "overrides.csv": ["id,exercise,points,comment", *(
            f"{one.id},{id},{points},{comment}" for one in roster for id, (points, comment) in one.by_hand.items())],
        "points.csv": [POINTS],
    }  # fmt: skip
    for name, lines in tables.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return roster
