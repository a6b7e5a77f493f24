"""Who is in the class, and whose a file is."""

import contextlib

import pytest

from classroom.grade.submissions import class_list, owners
from classroom.grade.submissions.class_list import Person
from classroom.grade.submissions.submission import Owner, Submission


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("id,name,e-mail\n7,Ada Lovelace,ada@x.org\n,,\n", [Person("Ada Lovelace", "7", "ada@x.org")]),
        ("\ufeffname;id\n王小明;7\n", [Person("王小明", "7")]),
        (
            "First name,Surname,ID number,Email address\nAda,Lovelace,7,ada@x.org\n",
            [Person("Ada Lovelace", "7", "ada@x.org")],
        ),
        (
            "Student,ID,SIS User ID,SIS Login ID,Section,Old\n    Points Possible,,,,,3\n"
            '"Lovelace, Ada",31,7,ada@x.org,A,2\n"Student, Test",99,,,A,\n,,,,,Manual Posting\n',
            [Person("Lovelace, Ada", "7", "ada@x.org", "31", "A")],
        ),
        ('Student,ID,Section\n"Lovelace, Ada",31,A\n', [Person("Lovelace, Ada", "", "", "31", "A")]),
        ("id\tname\n7\tŠárka Lovelacé\n", [Person("Šárka Lovelacé", "7")]),
        ("id;name;\n7;L, A, t, h, e, f, i, r, s, t\n;;a note\n", [Person("L, A, t, h, e, f, i, r, s, t", "7")]),
        ("sep=;\nName;Vorname;Matrikel-Nr.\nLovelace;Ada;7\n", [Person("Ada Lovelace", "7")]),
        ('"Name, Vorname";Matr.-Nr.\n"Lovelace, Ada";7\n', [Person("Lovelace, Ada", "7")]),
        ("N° étudiant;Nom;Prénom\n7;Lovelace;Ada\n", [Person("Ada Lovelace", "7")]),
        ("Name,First name,ID\nAda Lovelace,Ada,7\n", [Person("Ada Lovelace", "7")]),
        ("id,mail\n7,ada@x.org\n8,\n", [Person("ada@x.org", "7", "ada@x.org"), Person("8", "8")]),
    ],
)
def test_roster_is_read_as_teachers_and_platforms_have_it(tmp_path, text, people):
    for encoding in ("utf-8", "utf-16", "cp1252"):  # what spreadsheets call text, Unicode text and CSV
        with contextlib.suppress(UnicodeEncodeError):  # 王 is in no cp1252
            (tmp_path / "r.csv").write_text(text if encoding == "utf-8" else text.lstrip("\ufeff"), encoding=encoding)
            assert class_list.read_roster(tmp_path / "r.csv") == people, encoding


@pytest.mark.parametrize(("text", "said"), [("a,b\n1,2\n", "no column for names"), ("id,name\n,\n", "lists nobody")])
def test_table_that_is_no_roster_is_refused(tmp_path, text, said):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"x\.csv.*{said}"):
        class_list.read_roster(tmp_path / "x.csv")


def given_to(people, *names, **numbered):
    """{name: to whom its file goes} of files that these names, or names and Canvas's numbers, stand on."""
    whose = [Owner(name) for name in names]
    whose += [Owner(name, "canvas", number) for name, number in numbered.items()]
    found = [Submission(None, f"{owner.name}.py", owner=owner, place=owner.name) for owner in whose]
    questions = owners.assign_students(found, people)
    return {submission.owner.name: submission.student for submission in found}, [
        (q.person.name, q.among) for q in questions
    ]


def test_files_find_their_students_by_name_id_or_number():
    ada, wang = Person("Lovelace, Ada", "7", "ada.l@x.org", "31"), Person("王小明", "8", "w@x.org")
    twins = [Person("Kim Lee", "9"), Person("Lee Kim", "10")]
    names = ("ada lovelace", "AdaLovelace", "7", "ada.l")
    found, asked = given_to([ada, wang, *twins], *names, "王小明", "kim lee", "nobody", lovelaceada="31", who="31")
    assert {found[name] for name in (*names, "lovelaceada", "who")} == {ada} and found["王小明"] == wang
    assert not found["nobody"].listed and not found["kim lee"].listed
    assert asked == [("kim lee", twins), ("nobody", [])]
    assert given_to([], "ada") == ({"ada": Person("ada", listed=False)}, [])
    bjorn = Person("Bj\u00f6rn", "12")  # a .zip made on a Mac has the dots as a character of their own
    assert set(given_to([bjorn], "Bjo\u0308rn", "Ｂｊöｒｎ", "１２")[0].values()) == {
        bjorn
    }  # wide: East Asian keyboards
    anna = Person("Anna Maria Berg", "11")
    assert set(given_to([ada, anna], "Berg, Maria Anna", "bergannamaria")[0].values()) == {anna}
    first, second = Person("Kim Lee", "kim.lee"), Person("Kim Lee", "kim.lee2")
    assert given_to([first, second], "kim.lee") == ({"kim.lee": first}, []), "an id is nobody's name"
