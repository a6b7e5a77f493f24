"""Grading a class: what comes in is judged once, nothing becomes 0 unjudged, and each file finds its student."""

import contextlib
import csv
import io
import re
import sys
import zipfile
from collections import Counter
from importlib import import_module
from pathlib import Path

import messy_class
import pytest
from bs4 import BeautifulSoup
from grading import RIGHT, TOP_LEFT, JudgeHere, result, table_of, texts
from paths import ROOT

from classroom.grade import grade_class
from classroom.grade.__main__ import main
from classroom.grade.grade_answer import RUN_ENDINGS
from classroom.grade.judge_process import JudgeProcess
from classroom.grade.report import gradebooks
from classroom.grade.sandbox.host import Limits, refuse_unconfined
from classroom.grade.submissions.extract import Cell
from classroom.grade.submissions.submission import Submission
from workbench.exercises.engine.exercise import EXERCISES

MOODLE = "{}_assignsubmission_file_"


@pytest.fixture
def quick(monkeypatch):
    """Grades a folder: whatever it is, an answer to 1.1 is right, and 1.2 was left out."""

    class Quick(JudgeHere):
        def grade(self, submission):
            return [result("1.1", "correct", share=1.0), result("1.2", "missing")]

    monkeypatch.setattr(grade_class, "JudgeProcess", Quick)
    return lambda folder, *options: main([str(folder), "--unconfined", *options])


def column(path, name, of):
    """{cell of one column: cell of another}."""
    heads, *lines = table_of(path)
    return {line[heads.index(of)]: line[heads.index(name)] for line in lines}


def page_of(out, number):
    (path,) = (out / "feedback").glob(f"{number}-*.html")
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").get_text()


@pytest.fixture(scope="module")
def messy(host, tmp_path_factory):
    """The class of 48 files as it was graded: its students, the folder of tables and pages, and what was said."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as said:
        patch.setattr(grade_class, "JudgeProcess", JudgeHere)
        patch.setattr(grade_class, "refuse_unconfined", lambda: None)
        patch.setattr(JudgeHere, "host", host)
        patch.setattr(JudgeHere, "asked", [])
        folder = tmp_path_factory.mktemp("class")
        roster = messy_class.made_in(folder, tmp_path_factory.mktemp("scratch"))
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert main([str(folder), "--jobs", "1"]) == 0
        assert {path: path.read_bytes() for path in before} == before, "overrides too are the teacher's alone"
    return roster, folder / "graded", said.getvalue()


def soup_of(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def test_messy_class_has_everybody_in_one_state(messy):
    roster, out, said = messy
    assert column(out / "handed-in.csv", "state", of="id").items() >= {(one.id, one.state) for one in roster}
    how_many = Counter(one.state for one in roster)
    first, others = said.splitlines()[:2]
    each = [int(n) for n in re.findall(r"\d+", first)]
    assert each == [len(roster), *(how_many[state] for state in messy_class.STATES)] and each[0] == sum(each[1:])
    assert others == "3 not matched to it: 3 judged" and "gradebooks, read again and right" in said
    assert [line in soup_of(out / "class.html").get_text() for line in (first, others)] == [True] * 2
    *_, last = table_of(out / "who.csv")
    assert last[0] == "Zoe Unknown.py"
    assert "Uwe Unread.ipynb: cannot be read: it is cut off" in said and "Zoe Unknown.py: not on the roster" in said


def points_in(one):
    """Points in each exercise as the student's signs and the teacher's hand have them, "" where nothing is judged."""
    cells = []
    for (id, of), sign in zip(messy_class.EXERCISES.items(), one.signs or "   ", strict=True):
        notebook = one.signs[:1] if id == "1.1" else one.signs[1:]
        found = {"✓": str(of), "✎": one.by_hand.get(id, [""])[0], " ": ""}.get(sign, "0")
        cells.append(found if set(notebook) & set("✓✗✎") else "")
    return cells


def test_every_number_of_the_messy_class_is_right_in_each_gradebook(messy):
    roster, out, _ = messy
    by_exercise = {line[0]: line[4:] for line in table_of(out / "points-by-exercise.csv")[1:]}
    moodle = {line[0]: line[3:] for line in table_of(out / "gradebook-moodle.csv")[1:]}
    canvas = {line[2]: line[5:] for line in table_of(out / "gradebook-canvas.csv")[2:]}
    assert [*by_exercise] == [*moodle] == [*canvas] == [one.id for one in roster], "ids are texts, zeros and all"
    for one in roster:
        points = points_in(one)
        judged = one.total != ""
        assert by_exercise[one.id] == [*points, *(["0", one.off, one.total] if judged else [""] * 3)], one
        books = [points[0], f"{float(one.total) - float(points[0] or 0):g}" if any(points[1:]) else ""]
        assert moodle[one.id] == canvas[one.id] == books, one


def test_every_number_of_the_messy_class_page_is_right(messy):
    roster, out, _ = messy
    whole = soup_of(out / "class.html")
    lines = {line[0].removesuffix(" late"): line for line in texts(whole, "table.grid tbody tr")}
    late = {line[0]: line[1:] for line in texts(whole.select_one("[aria-label=late]"), "tbody tr")}
    by_hand = {line[0]: " ".join(line[1:]) for line in texts(whole.select_one("[aria-label='by hand']"), "tbody tr")}
    for one in roster:
        label = f"{one.name} ({one.id})" if one.name in ("Anna Schmidt", "Kim Lee") else one.name
        line = lines.pop(label)
        assert line[0].endswith(" late") == bool(one.late)
        if one.total:
            assert line[1:] == [*(sign.strip() for sign in one.signs), one.total], one
        else:
            assert line[1].startswith(one.state) and len(line) == 2
        if one.late:
            how, off = late.pop(label)
            assert how.startswith(one.late) and off == (f"points off: {one.off}" if one.off != "0" else "")
        for id, (points, comment) in one.by_hand.items():
            said = by_hand.pop(label)
            assert said.startswith(f"{id}: {points}") and comment in said
    assert sorted(lines) == ["Kim Lee (Kim Lee)", "Kim Lee (Kim Lee.py)", "Zoe Unknown"] and not late and not by_hand
    wrong = Counter(one.mistake for one in roster if one.mistake) + Counter(["top-left"])  # the stranger's
    answered = sum(any(sign in "✓✗" for sign in one.signs) or bool(one.mistake) for one in roster) + 3
    told = texts(whole.select_one("[aria-label='mistakes of the class']"), "tbody tr")
    assert [mistake_of(line[1]) for line in told] == ["top-left", "raises", "cannot-be-run", "librarys-own"]
    assert [line[-1].partition(" of")[0] for line in told] == [str(wrong[mistake_of(line[1])]) for line in told]
    assert all(f" of {answered} " in line[-1] for line in told)
    assert f"{wrong['top-left']} of {answered} made the same mistake" in whole.select_one("h1 + p").get_text()
    same = texts(whole.select_one("[aria-label='same files']"), "tbody tr")
    assert same == [["Pia Pair , Pit Pair", "Pia Pair.py Pit Pair.py"]], "nothing answered is no likeness"


def test_every_student_of_the_messy_class_is_told_what_came(messy):
    roster, out, _ = messy
    for one in roster:
        if one.state in (messy_class.NOTHING, messy_class.UNASSIGNED):
            assert not [*(out / "feedback").glob(f"{one.id}-*")]
            continue
        said = page_of(out, one.id)
        assert one.says in said and one.late in said
        assert re.findall(r"([\d.]+) of \d points\.", said) == [one.total] * bool(one.total)
        assert all(comment in said for _, comment in one.by_hand.values())
        assert "Pair" not in said or one.name.endswith("Pair"), "who has the same file is between teacher and students"


def mistake_of(name):
    known = {mistake: known.name for mistake, known in EXERCISES["3.2"].misconceptions.items()} | RUN_ENDINGS
    return next(mistake for mistake, words in known.items() if words == name)


def put(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{messy_class.BY_HAND}# {name}")


def test_who_csv_says_whose_is_whose(quick, tmp_path, capsys):
    put(tmp_path, "Kim Lee.py", "Kim Lee/01_by_hand.py", "who knows/x.py")
    (tmp_path / "roster.csv").write_text("id,name\n10,Kim Lee\n11,Kim Lee\n12,Li Na\n")
    quick(tmp_path)
    asked = (tmp_path / "graded/who.csv").read_text(encoding="utf-8-sig")
    for place, id in {"Kim Lee": "11", "Kim Lee.py": "10", "who knows": "12"}.items():
        asked = asked.replace(f"\n{place},,", f"\n{place},{id},")
    (tmp_path / "who.csv").write_text(f"{asked}nowhere,10,\nwho knows/x.py,99,\n")
    capsys.readouterr()
    quick(tmp_path)
    said = capsys.readouterr().out
    assert "nowhere: there is no such file" in said and "nobody on the roster has the id 99" in said
    assert column(tmp_path / "graded/handed-in.csv", "files", of="id") == {
        "10": "Kim Lee.py", "11": "Kim Lee/01_by_hand.py", "12": "who knows/x.py",
    }  # fmt: skip
    assert not (tmp_path / "graded/who.csv").exists(), "nothing is left to ask"


WORKSHEET = """Identifier,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments
Participant 1001,Submitted for grading - 2 hours late,,100.00,-,
Participant 1002,Submitted for grading,55.00,100.00,-,"Two
lines"
Participant 1003,No submission,,100.00,-,
"""


def test_blind_marking_fills_in_moodles_worksheet(quick, tmp_path, capsys):
    put(tmp_path, "Participant_1001_assignsubmission_file_/01.py")
    put(tmp_path, "Participant_1004_assignsubmission_file_/01.py")
    (tmp_path / "Participant_1002_assignsubmission_file_").mkdir()
    (tmp_path / "Participant_1002_assignsubmission_file_/01.ipynb").touch()
    quick(tmp_path)
    assert "3 students: 2 judged, 1 handed in but unreadable" in capsys.readouterr().out
    worksheet = tmp_path / "Grades.csv"
    worksheet.write_text(WORKSHEET)
    quick(tmp_path, "--roster", str(worksheet))
    told = capsys.readouterr().out
    assert "3 on the roster: 1 judged, 1 handed in but unreadable, 1 with" in told and "1 handed in late" in told
    back = (tmp_path / "graded/grading-worksheet.csv").read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    assert back == WORKSHEET.replace("late,,100", "late,33.33,100", 1), "1 of 3 points, and all else as it was"
    quick(tmp_path, "--roster", str(worksheet), "--zeros")
    assert list(column(tmp_path / "graded/grading-worksheet.csv", "Grade", of="Identifier").values()) == [
        "33.33",
        "55.00",
        "0",
    ]


@pytest.mark.parametrize(
    ("heads", "cells", "word", "mail"),
    [
        ("ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Feedback als Kommentar",
         "Ada Lovelace,ada@x.org,Zur Bewertung abgegeben", "Teilnehmer/in", "ada@x.org"),
        ("Identifiant;Nom complet;Statut;Note;Note maximale;Commentaires", "Ada Lovelace;Remis", "Participant ", ""),
        ("Identificador,Nombre completo,Estado,Calificación,Calificación máxima,Comentarios",
         "Ada Lovelace,Enviado", "Participante ", ""),
        ("Identificatie,Volledige naam,Adres,Status,Cijfer,Hoogste cijfer,Feedback",  # of which no table knows
         "Ada Lovelace,ada@x.org,Ingeleverd", "Deelnemer ", "ada@x.org"),
    ],
)  # fmt: skip
def test_moodles_worksheet_is_filled_in_in_any_language(quick, tmp_path, heads, cells, word, mail):
    put(tmp_path, "Ada Lovelace_2003_assignsubmission_file_/01.py")
    comma = ";" if ";" in heads else ","
    other = cells.replace("Ada Lovelace", "Bob").replace("ada@", "bob@")
    rows = ((f"{word}2003", cells), (f"{word}2004", other))
    text = "\n".join([heads, *(comma.join([*row, "", '"100,00"', ""]) for row in rows), ""])
    (tmp_path / "roster.csv").write_text(text, encoding="utf-8")
    quick(tmp_path)
    back = column(tmp_path / "graded/handed-in.csv", "state", of="student")
    assert back == {"Ada Lovelace": "judged", "Bob": "on the platform, not in this folder"}
    assert column(tmp_path / "graded/handed-in.csv", "e-mail", of="student")["Ada Lovelace"] == mail
    back = (tmp_path / "graded/grading-worksheet.csv").read_text(encoding="utf-8-sig")
    back, was = (list(csv.reader(table.splitlines(), delimiter=comma)) for table in (back, text))
    assert back == [was[0], [*was[1][:-3], "33,33", *was[1][-2:]], was[2]]


def test_two_assignments_of_a_student_are_one_student(quick, tmp_path):
    put(tmp_path, f"{MOODLE.format('Ada Lovelace_1')}/01_by_hand.py", "Ada Lovelace.py")
    (tmp_path / MOODLE.format("Ada Lovelace_2")).mkdir()
    (tmp_path / MOODLE.format("Ada Lovelace_2") / "02.py").write_text("def my_softmax(scores):\n    return 1\n")
    (tmp_path / "roster.csv").write_text("id,name\n7,Ada Lovelace\n")
    quick(tmp_path)
    assert [line[:2] for line in table_of(tmp_path / "graded/handed-in.csv")[1:]] == [["Ada Lovelace", "7"]]


def test_hand_in_that_was_not_downloaded_is_never_0(quick, tmp_path, capsys):
    put(tmp_path, "Ada_1001_assignsubmission_file_/01.py")
    heads = "ID,Vollständiger Name,Status,Bewertung,Bestwertung,Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung)"
    rows = [("Ada", "Zur Bewertung abgegeben"), ("Bob", "Zur Bewertung abgegeben"), ("Eve", "Keine Abgabe")]
    lines = [f"Teilnehmer/in{1001 + i},{name},{status},,10.00,-,-" for i, (name, status) in enumerate(rows)]
    (tmp_path / "roster.csv").write_text("\n".join([heads, *lines, ""]), encoding="utf-8")
    quick(tmp_path, "--zeros")
    said = capsys.readouterr().out
    assert "not in this folder of Bob:" in said and "for 1 student: Eve\n" in said
    grades = column(tmp_path / "graded/grading-worksheet.csv", "Bewertung", of="Vollständiger Name")
    assert grades == {"Ada": "3.33", "Bob": "", "Eve": "0"}
    with zipfile.ZipFile(tmp_path / "graded/feedback-moodle.zip") as archive:  # which Moodle gives to each
        assert archive.namelist() == ["Ada_1001_assignsubmission_file_/feedback.html"]


def test_deadline_has_its_zone_and_the_readers_own_time(quick, tmp_path, browser, capsys):
    for name in ("ada", "bob"):
        put(tmp_path, f"{name}.py")
    (tmp_path / "times.csv").write_text("path,time\nada.py,2026-05-03T23:59+02:00\nbob.py,2026-05-03T22:50+01:00\n")
    assert quick(tmp_path, "--deadline", "2026-05-03 23:58 Europe/Berlin") == 0
    assert "Times that name no zone are this machine's, UTC" in capsys.readouterr().out
    (page,) = (tmp_path / "graded/feedback").glob("ada-*.html")
    context = browser.new_context(timezone_id="America/New_York")
    tab = context.new_page()
    tab.goto(page.as_uri())
    text = tab.inner_text("main")
    context.close()
    assert "1 minute after the deadline, 3 May 2026, 23:58 (UTC+2" in text and "17:58" in text
    assert column(tmp_path / "graded/handed-in.csv", "late", of="student")["bob"] == ""


def test_moved_deadline_takes_nothing_off_any_more(quick, tmp_path):
    put(tmp_path, "Ada.py")
    (tmp_path / "times.csv").write_text("path,time\nAda.py,2026-05-04 09:00\n")
    (tmp_path / "points.csv").write_text("exercise,points\n1.1,4\nlate,25%\n")
    for due, points in (("2026-05-03 23:59", "3"), ("2026-05-04 09:00", "4"), ("2026-05-04 08:59", "3")):
        quick(tmp_path, "--deadline", due)
        assert column(tmp_path / "graded/gradebook-moodle.csv", "Attention 01 by hand", of="Full name")["Ada"] == points


def test_worksheet_tells_when_work_in_plain_folders_came(quick, tmp_path, capsys):
    put(tmp_path, "Ada/01.py", "who knows/01.py", "Eve/01.py")
    heads = "Identifier,Full name,Status,Grade,Maximum Grade,Last modified (submission)"
    times = ['"Monday, 4 May 2026, 12:01 AM"'] * 2 + ["-"]
    lines = [f"Participant {1001 + i},{name},x,,10.00,{came}"
             for i, (name, came) in enumerate(zip(("Ada", "Bob", "Eve"), times, strict=True))]  # fmt: skip
    (tmp_path / "roster.csv").write_text("\n".join([heads, *lines, ""]))
    (tmp_path / "who.csv").write_text("path,id\nwho knows,1002\n")
    quick(tmp_path, "--deadline", "2026-05-03")
    late = column(tmp_path / "graded/handed-in.csv", "late", of="student")
    assert [bool(late[name]) for name in ("Ada", "Bob", "Eve")] == [True, True, False]
    assert "has no time for Eve/01.py, nor has a worksheet: counted as in time" in capsys.readouterr().out


def test_unreadable_part_stays_without_points(judge_here, tmp_path):
    """Of one who set points by hand for an exercise of it, and of one who pasted an exercise as a text."""
    put(tmp_path, "Ada/03_masking.ipynb", "Bob/03_masking.py", "Bob/onlinetext.html", "Eve/03_masking.py")
    (tmp_path / "Ada/03_masking.ipynb").write_text("{")
    for name in ("Bob", "Eve"):
        (tmp_path / name / "03_masking.py").write_text(RIGHT)
    (tmp_path / "roster.csv").write_text("id,name\n1,Ada\n2,Bob\n3,Eve\n")
    (tmp_path / "overrides.csv").write_text("id,exercise,points\n1,3.1,2\n")
    (tmp_path / "points.csv").write_text("exercise,points\n3.1,2\n3.2,3\n3.3,2\n")
    assert main([str(tmp_path), "--jobs", "1"]) == 0
    lines = table_of(tmp_path / "graded/points-by-exercise.csv")[1:]
    assert [line[4:7] for line in lines] == [["2", "", ""], ["", "3", ""], ["0", "3", "0"]]
    assert "– of 2" in page_of(tmp_path / "graded", 2)
    assert page_of(tmp_path / "graded", 1).count("not judged") == 3


def test_best_version_counts_where_it_is_asked_for(judge_here, tmp_path):
    for name, text in {"a": messy_class.BOTH, "b": RIGHT, "c": f"{RIGHT}\n"}.items():
        put(tmp_path, f"Ada/{name}.py")
        (tmp_path / f"Ada/{name}.py").write_text(text)
    rows = "Ada/a.py,2026-05-04 09:00\nAda/b.py,2026-05-02 09:00\nAda/c.py,2026-05-01 09:00\n"
    (tmp_path / "times.csv").write_text(f"path,time\n{rows}")
    out, told = tmp_path / "graded", []
    for rule, options, points in (("", (), "3"), ("", ("--best",), "5"), ("late,50%\n", ("--best",), "3")):
        (tmp_path / "points.csv").write_text(f"exercise,points\n3.1,2\n3.2,3\n{rule}")
        assert main([str(tmp_path), "--jobs", "1", "--deadline", "2026-05-03", *options]) == 0
        assert column(out / "gradebook-moodle.csv", "Attention 03 masking", of="Full name")["Ada"] == points
        told.append(page_of(out, "Ada"))
    assert "Ada/b.py is the newest that came in time" in told[0] and "Ada/b.py is newer" in told[0]
    assert "Ada/a.py has the most points, 5" in told[1] and "Ada/b.py has the most points, 3" in told[2]


def test_notebook_that_nobody_answered_counts_for_nobody(judge_here, tmp_path):
    blank, out = "answer = [...]\ncheck('1.1', answer)\n", tmp_path / "graded"
    texts = {"Ada/03.py": TOP_LEFT, "Bob/03.py": TOP_LEFT, "Bob/01_by_hand.py": blank, "Eve.py": blank}
    put(tmp_path, *texts)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert main([str(tmp_path), "--jobs", "1"]) == 0
    assert table_of(out / "gradebook-moodle.csv")[0][3:] == ["Attention 03 masking"]
    assert "1.1" not in page_of(out, "Ada") and "1.1" not in page_of(out, "Bob")
    (tmp_path / "Ada/01.py").write_text(messy_class.BY_HAND, encoding="utf-8")
    assert main([str(tmp_path), "--jobs", "1"]) == 0
    points = column(out / "gradebook-moodle.csv", "Attention 01 by hand", of="Full name")
    assert points == {"Ada": "1", "Bob": "", "Eve": ""}
    assert column(out / "handed-in.csv", "state", of="student")["Eve"] == "handed in, nothing answered"


def test_nothing_handed_in_is_0_only_with_zeros_after_each_deadline(quick, tmp_path):
    put(tmp_path, "Ada.py")
    (tmp_path / "Bob.ipynb").touch()
    (tmp_path / "roster.csv").write_text("id,name\n1,Ada\n2,Bob\n3,Eve\n4,Kim\n")
    (tmp_path / "deadlines.csv").write_text("id,notebook,deadline\n,01,2026-05-03\n4,,2999-01-01\n")
    for options, points in ((), ["1", "", "", ""]), (["--zeros"], ["1", "", "0", ""]):
        quick(tmp_path, *options)
        for name in ("gradebook-moodle.csv", "points-by-exercise.csv"):
            assert [line[-1] for line in table_of(tmp_path / "graded" / name)[1:]] == points, name


@pytest.mark.parametrize(
    ("roster", "judged"),
    [
        ("1001,Anna Schmidt\n1002,Anna Schmidt\n", {"1001", "1002"}),
        ("1001,Anna Schmidt\n77,Anna Schmidt\n", {"1001"}),  # whose is the other? Not for a program to say
        ("77,Anna Schmidt\n", set()),  # two people of this name, of whom one is not on the roster
        ("1001,Bob\n77,Anna Schmidt\n", set()),  # a platform's number may be another's id
    ],
)
def test_namesakes_files_are_given_to_nobody_by_guess(quick, tmp_path, roster, judged):
    put(tmp_path, *(f"{MOODLE.format(f'Anna Schmidt_{number}')}/01_by_hand.py" for number in (1001, 1002)))
    (tmp_path / "roster.csv").write_text(f"id,name\n{roster}")
    quick(tmp_path)
    states = [*column(tmp_path / "graded/handed-in.csv", "state", of="files").values()]
    assert states.count("judged") == 2, "both are judged, and neither is the other's version"
    points = column(tmp_path / "graded/gradebook-moodle.csv", "Attention 01 by hand", of="ID number")
    assert {id for id, reached in points.items() if reached} == judged and "0" not in points.values()


ENGLISH = ("Identifier,Status,Grade,Maximum Grade,Last modified (submission),Last modified (grade)",
           "Participant 1001,Submitted for grading,,10.00,{},-")  # fmt: skip
GERMAN = ("ID,Status,Bewertung,Bestwertung,Kann geändert werden,Zuletzt geändert (Abgabe),Zuletzt geändert (Note)",
          "Teilnehmer/in1001,Zur Bewertung abgegeben,,10.00,Ja,{},-")  # fmt: skip


def test_moodles_worksheet_says_when_work_came(quick, tmp_path):
    put(tmp_path, "Participant_1001_assignsubmission_file_/01.py")
    for (heads, line), came, late in (
        (ENGLISH, '"Sunday, 3 May 2026, 11:59 PM"', ""),
        (GERMAN, '"Sonntag, 3. Mai 2026, 23:59"', ""),
        (ENGLISH, '"Monday, 4 May 2026, 12:01 AM"', "2 minutes after the deadline, 3 May 2026, 23:59 ("),
    ):
        (tmp_path / "roster.csv").write_text(f"{heads}\n{line.format(came)}\n", encoding="utf-8")
        quick(tmp_path, "--deadline", "2026-05-03")
        (said,) = column(tmp_path / "graded/handed-in.csv", "late", of="student").values()
        assert said.startswith(late) and bool(said) == bool(late), came


def test_teachers_table_that_cannot_be_read_ends_grading(quick, tmp_path, capsys):
    put(tmp_path, "Ada.py")
    for name, text, said in (
        ("deadlines.csv", "id,deadline\n,soon\n", "'soon' is no time"),
        ("deadlines.csv", "id,until\n,2026-05-03\n", "no column deadline"),
        ("times.csv", "path,time\nAda.py,2026-05-03\n", "'2026-05-03' is no time"),
        ("points.csv", "exercise,points\n1.1,1\nlate,much\n", "'much' is nothing that lateness may cost"),
        ("overrides.csv", "id,points\n1,2\n", "no columns id, exercise and points"),
    ):
        (tmp_path / name).write_text(text)
        assert quick(tmp_path) == 1 and said in capsys.readouterr().err
        (tmp_path / name).unlink()


def test_wrong_rows_of_teachers_tables_are_named(quick, tmp_path, capsys):
    put(tmp_path, "Ada.py")
    (tmp_path / "roster.csv").write_text("id,name\n1,Ada\n")
    (tmp_path / "deadlines.csv").write_text("id,deadline\n9,2026-05-03\n")
    rows = "9,1.1,1\n1,1.9,1\n1,1.1,lots\n1,1.1,5\n1,1.1,0.5\n"
    (tmp_path / "overrides.csv").write_text(f"id,exercise,points\n{rows}")
    quick(tmp_path)
    said = capsys.readouterr().out
    for words in (
        "deadlines.csv: 9: nobody on the roster has this id", "overrides.csv: 9 1.1: nobody has the id 9",
        "overrides.csv: 1 1.9: there is no exercise '1.9'\n", "'lots' is no number of points", "stands there twice",
        "overrides.csv: 1 1.1: 5 points, of 1, count as they stand",
    ):  # fmt: skip
        assert words in said
    assert [line[-1] for line in table_of(tmp_path / "graded/gradebook-moodle.csv")[1:]] == ["0.5"]


def test_gradebook_that_is_not_as_it_was_meant_is_never_done(quick, tmp_path, monkeypatch, capsys):
    put(tmp_path, "Ada.py")
    (tmp_path / "roster.csv").write_text("id,name\n007,Ada\n")
    close = gradebooks._table.__exit__

    def spreadsheet(self, *error):
        close(self, *error)
        if self.path.name == table:  # which had it open, and saved it its own way
            self.path.write_bytes(self.path.read_bytes().replace(b"007", b"7"))

    monkeypatch.setattr(gradebooks._table, "__exit__", spreadsheet)
    for table in ("gradebook-moodle.csv", "gradebook-canvas.csv", "points-by-exercise.csv"):
        assert quick(tmp_path) == 1
        said = capsys.readouterr()
        assert table in said.err and "'7' for '007'" in said.err and "right" not in said.out


# ----------------------------------------------------------------------------------------------- what was judged once


def test_edition_covers_every_file_that_judging_imports(tmp_path, monkeypatch):
    import_module("classroom.grade.sandbox.worker")  # which runs in a process of its own
    rooms = [ROOT / room for room in ("attn_lib", "workbench", "classroom/grade")]
    imported = {Path(module.__file__) for module in [*sys.modules.values()] if getattr(module, "__file__", None)}
    imported = {path for path in imported if any(map(path.is_relative_to, rooms))}
    assert {"worker.py", "remote.py", "extract.py"} <= {path.name for path in imported} and len(imported) > 50
    assert imported <= set(grade_class.sources())
    monkeypatch.setattr(grade_class, "ROOT", tmp_path)
    editions = [grade_class.edition_of_the_course()]
    for name in ("attn_lib/masks.py", "classroom/grade/sandbox/worker.py", "workbench/x/y/z.py", "notebooks/01.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(name)
        editions.append(grade_class.edition_of_the_course())
    assert len(set(editions)) == 5


def test_judged_submission_is_kept_until_something_changes(judge_here, tmp_path, monkeypatch, capsys):
    def judged_by(*options):
        judge_here.asked.clear()
        assert main([str(tmp_path), *options]) == 0
        return sorted(judge_here.asked)

    (tmp_path / "ada.py").write_text(RIGHT)
    (tmp_path / "roster.csv").write_text("id,name\n1,Ada\n2,Bob\n")
    assert judged_by() == ["ada.py"] and judged_by() == []
    (tmp_path / "bob.py").write_text(TOP_LEFT)
    assert judged_by() == ["bob.py"]
    assert judged_by("--again") == ["ada.py", "bob.py"] and judged_by("--again-for", "2") == ["bob.py"]
    assert main([str(tmp_path), "--again-for", "3"]) == 1 and "no students have the id 3" in capsys.readouterr().err
    assert judged_by("--seconds", "60") == ["ada.py", "bob.py"], "it might come to something else"
    for path in (tmp_path / "graded").rglob("*.json"):
        path.write_text("[", encoding="utf-8")  # a disk that was full
    assert judged_by() == ["ada.py", "bob.py"]
    monkeypatch.setattr(grade_class, "edition_of_the_course", lambda: "another")
    with monkeypatch.context() as ended:
        ended.setattr(judge_here, "grade", lambda self, submission: None)  # its process ended
        assert judged_by() == []
    assert judged_by() == ["ada.py", "bob.py"]


def test_zip_of_all_is_graded_beside_itself(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("ada/x.docx", "")
    (tmp_path / "roster.csv").write_text("id,name\n1,Ada\n", encoding="utf-8")
    found = grade_class.grade(tmp_path / "all.zip")
    assert found.out == tmp_path / "graded" and [person.name for person in found.people] == ["Ada"]


def test_empty_folder_is_an_error_and_no_empty_table(tmp_path, capsys):
    assert main([str(tmp_path)]) == 1 and main([str(tmp_path / "nowhere")]) == 1
    said = capsys.readouterr().err
    assert "Nothing was graded: there is nothing in" in said and "there is no folder" in said


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_submission_that_nobody_judged_is_an_error(judge_here, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(judge_here, "asked", None)  # a judge that fails
    (tmp_path / "ada.py").write_text(RIGHT)
    assert main([str(tmp_path)]) == 1 and not (tmp_path / "graded/verdicts.csv").exists()
    assert "Nothing was graded: 1 hand-ins could not be judged; the next call goes on." in capsys.readouterr().err


def test_submission_that_ended_grading_is_named_and_not_run_again(judge_here, tmp_path, monkeypatch, capsys):
    marks, grade = [], judge_here.grade

    def killed(self, submission):
        marks.extend((tmp_path / "graded").rglob("*.runs"))  # what a kill would leave
        return grade(self, submission)

    monkeypatch.setattr(judge_here, "grade", killed)
    for name in ("ada", "bob"):
        (tmp_path / f"{name}.py").write_text(f"{RIGHT}  # {name}")
    assert main([str(tmp_path), "--jobs", "1"]) == 0
    of_ada, of_bob = marks
    assert not of_ada.exists() and not of_bob.exists()
    of_bob.touch()
    for kept in of_bob.parent.glob("*.json"):
        kept.unlink()
    capsys.readouterr()
    assert main([str(tmp_path)]) == 0
    assert "bob.py: not judged" in capsys.readouterr().out and judge_here.asked == ["ada.py", "bob.py", "ada.py"]
    assert main([str(tmp_path), "--again"]) == 0
    assert "not judged" not in capsys.readouterr().out and not of_bob.exists()


# ------------------------------------------------------------------------------------------------ judges' processes


NEXT_JUDGE = """import sys
print('{"confinement": ""}', flush=True)
for submission in sys.stdin:
    print('{"results": ["the next"]}', flush=True)
"""


def test_judge_process_that_ends_is_replaced_for_the_next():
    try:
        refuse_unconfined()
    except OSError as error:
        pytest.skip(str(error).partition(",")[0])
    submission = Submission(None, "ada.py", cells=[Cell(f"print('noise')\n{RIGHT}")])
    with JudgeProcess(Limits(seconds=100), seed=1) as judge:
        found = {result["exercise"]: result["status"] for result in judge.grade(submission)}
        assert found.pop("3.2") == "correct" and set(found.values()) == {"missing"}
        judge.process.kill()
        judge.process.wait()
        judge.command = sys.executable, "-c", NEXT_JUDGE  # quicker than another that imports all
        assert judge.grade(submission) is None
        assert judge.grade(submission) == ["the next"]
        process = judge.process
    assert process.poll() is not None


def test_several_judges_share_the_work(tmp_path, monkeypatch, capsys):
    names = []

    class Quick(JudgeHere):
        def grade(self, submission):
            names.append(submission.name)
            return [submission.name]

    monkeypatch.setattr(grade_class, "JudgeProcess", Quick)
    same = [Submission("ada", f"{i}.py", digest="the same") for i in range(12)]
    results, _ = grade_class.grade_all(same, tmp_path, Limits(), jobs=3, unconfined=True)
    assert results == {(one.digest, one.path): [one.name] for one in same} and len(names) == 12
    assert "12/12" in capsys.readouterr().err, "how far it is"


def test_nothing_runs_without_bubblewrap_unless_asked(tmp_path, monkeypatch, capfd):
    (tmp_path / "ada.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n{RIGHT}")
    monkeypatch.setenv("PATH", "")
    assert main([str(tmp_path)]) == 1
    said = capfd.readouterr().err
    assert said.startswith("Nothing was graded: ") and "--unconfined" in said
    assert not (tmp_path / "ran").exists() and not (tmp_path / "graded").exists()


def test_missing_confinement_is_said_before_any_code_runs(judge_here, tmp_path, monkeypatch, capfd):
    def grade(self, submission):
        assert "within limits" in capfd.readouterr().err
        return []

    monkeypatch.setattr(judge_here, "__init__", lambda self, *_: vars(self).update(confinement="within limits"))
    monkeypatch.setattr(judge_here, "grade", grade)
    (tmp_path / "ada.py").write_text(RIGHT)
    assert main([str(tmp_path), "--unconfined"]) == 0
