"""Grading a class: what comes in is judged once, nothing becomes 0 unjudged, and each file finds its student."""

import csv
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from grading import RIGHT, TOP_LEFT, JudgeHere, notebook_with, result, table_of, texts
from paths import ROOT

from authors.grade import grade_class
from authors.grade.__main__ import main
from authors.grade.grade_answer import RUN_ENDINGS
from authors.grade.judge_process import JudgeProcess
from authors.grade.sandbox.host import Limits, refuse_unconfined
from authors.grade.submissions.extract import Cell
from authors.grade.submissions.submission import Submission
from workbench.exercises.engine.exercise import EXERCISES

MOODLE = "{}_assignsubmission_file_"
BY_HAND = "answer = [1.5105, 3.3094, 2.2658]  # größer\n"
CORNER = "def my_causal_mask(q, k):\n    return torch.ones(q, k).tril().bool()  # größer\n"
FAILS = "def my_causal_mask(q, k):\n    return q.no\n"
CALLS = "import attn_lib\nmy_causal_mask = attn_lib.causal_mask\n"
ROSTER = """id,name,e-mail
1001,Anna Schmidt,anna1@x.org
1002,Anna Schmidt,anna2@x.org
3,Jürgen Müller,jm@x.org
4,王小明,w@x.org
5,Ben Late,b@x.org
6,Old Windows,o@x.org
7,Carla Empty,c@x.org
8,Dan Pdf,d@x.org
9,Lena Locked,l@x.org
10,Kim Lee,k1@x.org
11,Kim Lee,k2@x.org
12,Nobody Came,n@x.org
13,Vera Twice,v@x.org
"""


def messy_class(folder):
    """What a lecturer finds in a download; returns the state that each student of the roster is to have."""
    decomposed = "Ju\u0308rgen Mu\u0308ller"  # as a Mac names files
    files = {
        f"{MOODLE.format('Anna Schmidt_1001')}/01_by_hand.py": BY_HAND.encode(),
        f"{MOODLE.format('Anna Schmidt_1002')}/03_masking.py": CORNER.encode(),
        f"{decomposed}/answers.py": BY_HAND.encode(),
        "王小明.py": BY_HAND.encode("utf-16"),
        "lateben_LATE_55_66_01_by_hand.py": BY_HAND.encode(),
        "Old Windows.py": CORNER.encode("cp1252"),
        "Carla Empty.ipynb": b"",
        "Dan Pdf.ipynb": b"%PDF-1.7 \xff\xff",
        "Kim Lee/01_by_hand.py": BY_HAND.encode(),
        "Kim Lee.py": CALLS.encode(),
        "Zoe Unknown.py": FAILS.encode(),
        "Vera Twice/old/01_by_hand.py": b"answer = [...]\n",
        "Vera Twice/new.py": BY_HAND.encode(),
        "Vera Twice/newest.ipynb": b'{"cells": [{"cell_type": "code", "sou',
        "what I shall say.docx": b"PK\x03\x04",
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    locked = io.BytesIO()
    with zipfile.ZipFile(locked, "w") as archive:
        archive.writestr("01_by_hand.py", BY_HAND)
    locked = bytearray(locked.getvalue())
    locked[locked.rindex(b"PK\x01\x02") + 8] |= 1  # as it says of an entry in its table of contents
    (folder / "Lena Locked.zip").write_bytes(locked)
    (folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    judged, unreadable = "judged", "handed in, unreadable"
    return {
        "1001": judged, "1002": judged, "3": judged, "4": judged, "5": judged, "6": judged, "7": unreadable,
        "8": unreadable, "9": unreadable, "10": "handed in, unassigned", "11": "handed in, unassigned", "12": "nothing",
        "13": judged,
    }  # fmt: skip


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


def test_messy_class_is_graded_as_it_comes_in(judge_here, tmp_path, capsys):
    states, out = messy_class(tmp_path), tmp_path / "graded"
    assert main([str(tmp_path), "--jobs", "1"]) == 0
    found = column(out / "handed-in.csv", "state", of="id")
    assert {id: found[id] for id in states} == states
    each = [int(n) for n in re.findall(r"\d+", capsys.readouterr().out.splitlines()[0])]
    assert each[0] == sum(each[1:]) == len(states)
    points = {line[0]: "".join(line[3:]) for line in table_of(out / "gradebook-moodle.csv")[1:]}
    judged = {id for id, state in states.items() if state == "judged"}
    assert {id for id in points if points[id]} == judged, "zero only for what was judged"
    assert points["1001"] == "1" and points["1002"] == points["6"] == "0"
    for number, said in {
        "7": "Carla Empty.ipynb of 0 bytes",
        "8": "it is a PDF",
        "9": "password",
        "13": "cut off",
    }.items():
        assert said in page_of(out, number)
    assert "late" in page_of(out, "5") and column(out / "handed-in.csv", "late", of="id")["5"] == "late"
    soup = BeautifulSoup((out / "class.html").read_text(encoding="utf-8"), "html.parser")
    assert "Ben Late" in soup.select_one(".late").parent.get_text()
    kinds = [line[1] for line in texts(soup.select("table.list")[0], "tbody tr")]
    assert kinds[0] in soup.select_one("h1 + p").get_text(), "it begins with what the class can be told"
    assert [mistake_of(kind) for kind in kinds] == ["top-left", "librarys-own", "raises"]
    _, *asked = table_of(out / "who.csv")
    assert {line[0] for line in asked} == {"Kim Lee", "Kim Lee.py", "Zoe Unknown.py"}


def mistake_of(name):
    known = {mistake: known.name for mistake, known in EXERCISES["3.2"].misconceptions.items()} | RUN_ENDINGS
    return next(mistake for mistake, words in known.items() if words == name)


def put(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{BY_HAND}# {name}")


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
    assert back == {"Ada Lovelace": "judged", "Bob": "nothing"}
    assert column(tmp_path / "graded/handed-in.csv", "e-mail", of="student")["Ada Lovelace"] == mail
    back = (tmp_path / "graded/grading-worksheet.csv").read_text(encoding="utf-8-sig")
    back, was = (list(csv.reader(table.splitlines(), delimiter=comma)) for table in (back, text))
    assert back == [was[0], [*was[1][:-3], "33,33", *was[1][-2:]], was[2]]


def test_notebook_that_nobody_answered_counts_for_nobody(judge_here, tmp_path):
    blank = "answer = [...]\ncheck('1.1', answer)\n"
    for name, text in {"Ada/03.py": CORNER, "Bob/03.py": CORNER, "Bob/01_by_hand.py": blank}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "Eve.py").write_text(blank)
    assert main([str(tmp_path), "--jobs", "1"]) == 0
    out = tmp_path / "graded"
    assert table_of(out / "gradebook-moodle.csv")[0][3:] == ["Attention 03 masking"]
    assert "1.1" not in page_of(out, "Ada") and "1.1" not in page_of(out, "Bob")
    nothing = "handed in, nothing answered"
    assert column(out / "handed-in.csv", "state", of="student") == {"Ada": "judged", "Bob": "judged", "Eve": nothing}
    assert column(out / "gradebook-moodle.csv", "Attention 03 masking", of="Full name")["Eve"] == ""
    assert "Nothing is answered" in page_of(out, "Eve") and nothing in (out / "class.html").read_text(encoding="utf-8")
    (tmp_path / "Ada/01.py").write_text(BY_HAND, encoding="utf-8")
    assert main([str(tmp_path), "--jobs", "1"]) == 0
    assert column(out / "gradebook-moodle.csv", "Attention 01 by hand", of="Full name") == {
        "Ada": "1", "Bob": "0", "Eve": "0",
    }  # fmt: skip
    assert column(out / "handed-in.csv", "state", of="student")["Eve"] == nothing


@pytest.mark.parametrize(
    ("roster", "judged"),
    [
        ("1001,Anna Schmidt\n1002,Anna Schmidt\n", {"1001", "1002"}),
        ("1001,Anna Schmidt\n77,Anna Schmidt\n", {"1001"}),  # whose is the other? Not for a program to say
        ("77,Anna Schmidt\n", set()),  # two people of this name, of whom one is not on the roster
        ("1001,Bob\n77,Anna Schmidt\n", set()),  # a platform's number may be another's id
        ("77,Anna Schmidt\n78,Anna Schmidt\n", set()),
    ],
)
def test_namesakes_files_are_given_to_nobody_by_guess(quick, tmp_path, roster, judged):
    put(tmp_path, *(f"{MOODLE.format(f'Anna Schmidt_{number}')}/01_by_hand.py" for number in (1001, 1002)))
    (tmp_path / "roster.csv").write_text(f"id,name\n{roster}")
    quick(tmp_path)
    states = column(tmp_path / "graded/handed-in.csv", "state", of="files")
    assert sum(state == "judged" for state in states.values()) == 2, (
        "both are judged, and neither is the other's version"
    )
    points = column(tmp_path / "graded/gradebook-moodle.csv", "Attention 01 by hand", of="ID number")
    assert {id for id, reached in points.items() if reached} == judged and "0" not in points.values()


def test_two_assignments_of_a_student_are_one_student(quick, tmp_path):
    put(tmp_path, f"{MOODLE.format('Ada Lovelace_1')}/01_by_hand.py", "Ada Lovelace.py")
    (tmp_path / MOODLE.format("Ada Lovelace_2")).mkdir()
    (tmp_path / MOODLE.format("Ada Lovelace_2") / "02.py").write_text("def my_softmax(scores):\n    return 1\n")
    (tmp_path / "roster.csv").write_text("id,name\n7,Ada Lovelace\n")
    quick(tmp_path)
    assert [line[:2] for line in table_of(tmp_path / "graded/handed-in.csv")[1:]] == [["Ada Lovelace", "7"]]


def test_nothing_handed_in_is_0_only_with_zeros(quick, tmp_path):
    put(tmp_path, "Ada.py")
    (tmp_path / "Bob.ipynb").touch()
    (tmp_path / "roster.csv").write_text("id,name\n1,Ada\n2,Bob\n3,Eve\n")
    cells = []
    for options in ((), ("--zeros",)):
        quick(tmp_path, *options)
        cells.append([line[-1] for line in table_of(tmp_path / "graded/gradebook-moodle.csv")[1:]])
    assert cells == [["1", "", ""], ["1", "", "0"]]


def test_names_zipped_on_a_mac_are_read(quick, tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("Xu\u0308/01_by_hand.py", BY_HAND)
    data = (tmp_path / "all.zip").read_bytes()
    (entry,) = zipfile.ZipFile(tmp_path / "all.zip").infolist()
    unmarked = data.replace(b"\x00\x08", b"\x00\x00")  # it does not say that names are UTF-8
    assert entry.flag_bits & 0x800 and unmarked != data
    (tmp_path / "all.zip").write_bytes(unmarked)
    (tmp_path / "roster.csv").write_text("id,name\n1,Xü\n", encoding="utf-8")
    quick(tmp_path / "all.zip")
    assert column(tmp_path / "graded/handed-in.csv", "state", of="id") == {"1": "judged"}


# ----------------------------------------------------------------------------------------------- what was judged once


def test_folder_becomes_tables_and_pages(judge_here, tmp_path, capsys):
    notebook_with(tmp_path / "ada" / "03_masking.ipynb", e2=RIGHT)
    notebook_with(tmp_path / "ada" / "old.ipynb")
    notebook_with(tmp_path / "03_masking_bob.ipynb", e2=TOP_LEFT)
    notebook_with(tmp_path / "zoe.ipynb", e2=RIGHT)
    (tmp_path / "eve.ipynb").write_text("{", encoding="utf-8")
    (tmp_path / "roster.csv").write_text("id,name\n1,Ada\n2,Bob\n3,Eve\n4,王小明\n", encoding="utf-8")
    (tmp_path / "points.csv").write_text("exercise,points\n3.2,10\n", encoding="utf-8")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main([str(tmp_path)]) == 0
    assert {path: path.read_bytes() for path in before} == before
    said = capsys.readouterr().out
    assert "4 on the roster: 2 judged, 1 handed in but unreadable, 1 with nothing handed in" in said
    assert "eve.ipynb: cannot be read: it is cut off" in said and "zoe.ipynb: not on the roster" in said
    assert "ada/old.ipynb: does not count: ada/03_masking.ipynb answers more exercises" in said
    assert [line[2:] for line in table_of(tmp_path / "graded/gradebook-moodle.csv")[1:]] == [
        ["Ada", "10"], ["Bob", "0"], ["Eve", ""], ["王小明", ""],
    ]  # fmt: skip


def test_judged_submission_is_kept_until_something_changes(judge_here, tmp_path, monkeypatch):
    def judged_by(*options):
        judge_here.asked.clear()
        assert main([str(tmp_path), *options]) == 0
        return sorted(judge_here.asked)

    (tmp_path / "ada.py").write_text(RIGHT)
    assert judged_by() == ["ada.py"] and judged_by() == []
    (tmp_path / "bob.py").write_text(TOP_LEFT)
    assert judged_by() == ["bob.py"]
    assert judged_by("--again") == ["ada.py", "bob.py"]
    assert judged_by("--seconds", "60") == ["ada.py", "bob.py"], "it might come to something else"
    for path in (tmp_path / "graded").rglob("*.json"):
        path.write_text("[", encoding="utf-8")  # a disk that was full
    assert judged_by() == ["ada.py", "bob.py"]
    monkeypatch.setattr(grade_class, "edition_of_the_course", lambda: "another")
    with monkeypatch.context() as ended:
        ended.setattr(judge_here, "grade", lambda self, submission: None)  # its process ended
        assert judged_by() == []
    assert judged_by() == ["ada.py", "bob.py"]


IMPORTED = """
import sys, authors.grade.__main__, authors.grade.judge_process, authors.grade.sandbox.worker
print(*filter(None, (getattr(module, "__file__", None) for module in sys.modules.values())), sep="\\n")
"""


def test_edition_covers_every_file_that_judging_imports(tmp_path, monkeypatch):
    found = subprocess.run([sys.executable, "-c", IMPORTED], cwd=ROOT, check=True, capture_output=True, text=True)
    rooms = [ROOT / room for room in ("attn_lib", "workbench", "authors/grade")]
    imported = {Path(line) for line in found.stdout.splitlines() if any(map(Path(line).is_relative_to, rooms))}
    assert {"worker.py", "remote.py", "extract.py"} <= {path.name for path in imported} and len(imported) > 50
    assert imported <= set(grade_class.sources())
    monkeypatch.setattr(grade_class, "ROOT", tmp_path)
    editions = [grade_class.edition_of_the_course()]
    for name in ("attn_lib/masks.py", "authors/grade/sandbox/worker.py", "workbench/x/y/z.py", "notebooks/01.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(name)
        editions.append(grade_class.edition_of_the_course())
    assert len(set(editions)) == 5


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


def test_judge_process_that_ends_is_replaced_for_the_next():
    try:
        refuse_unconfined()
    except OSError as error:
        pytest.skip(str(error).partition(",")[0])
    submission = Submission(None, "ada.py", cells=[Cell(f"print('noise')\n{RIGHT}")])
    with JudgeProcess(Limits(seconds=100), seed=1) as judge:
        found = {result["exercise"]: result["status"] for result in judge.grade(submission)}
        assert found == {"3.1": "missing", "3.2": "correct", "3.3": "missing"}
        judge.process.kill()
        judge.process.wait()
        assert judge.grade(submission) is None
        assert len(judge.grade(submission)) == 3
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
