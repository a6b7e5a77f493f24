"""What comes out of a grading: points, tables for platforms, a page for the class and one for each student."""

import threading
import time

import nbformat
import pytest
import torch
from bs4 import BeautifulSoup
from grading import ADA, BOB, EVE, row, table_of, texts, told
from paths import NOTEBOOKS

from classroom.grade.report import dashboard, gradebooks, pages, report
from classroom.grade.report.points import BestOf, read_points
from classroom.grade.report.report import Report
from classroom.grade.submissions.class_list import Person
from classroom.grade.submissions.submission import Submission
from classroom.grade.tables import harmless
from workbench.exercises.api import verdict_on
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.sections import TITLES, section_in_words

CORNER = EXERCISES["3.2"].misconceptions["top-left"]


def test_every_exercise_has_points(tmp_path):
    points, (clinic,) = read_points()
    assert list(points) == list(EXERCISES) and all(value > 0 for value in points.values())
    assert (points["2.1"], points["4.3"], points["6.1"], points["6.3"]) == (2, 4, 3, 1)
    assert clinic == BestOf(tuple(id for id in EXERCISES if id.startswith("6.")), 10)
    (tmp_path / "p.csv").write_text("exercise;points\n3.2;2,5\n", encoding="utf-8")
    assert read_points(tmp_path / "p.csv") == ({"3.2": 2.5}, [])


def test_row_of_points_names_one_exercise_some_or_a_notebook(tmp_path):
    text = "exercise,points,best\n2.*,2,\n2.2,5,\n6.1 6.5 6.1,3,1\n3.*,1,2\n"
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    points, groups = read_points(tmp_path / "p.csv")
    second, third = (tuple(id for id in EXERCISES if id.startswith(lesson)) for lesson in ("2.", "3."))
    assert points == dict.fromkeys(second, 2) | {"2.2": 5, "6.1": 3, "6.5": 3} | dict.fromkeys(third, 1)
    assert groups == [BestOf(("6.1", "6.5"), 1), BestOf(third, 2)]


def test_impossible_row_of_points_is_refused_by_name(tmp_path):
    for line, said in (
        ("33,2,", "there is no exercise '33'"),
        ("33.*,2,", "there is no exercise '33"),
        (",2,", "there is no exercise ''"),
        ("3.2,many,", "'many' is no number of points"),
        ("3.2,-1,", "'-1' is no number of points"),
        ("3.1 3.2 3.3,1,4", "the best 4 of 3 cannot count"),
        ("3.1 3.2 3.3,1,two", "the best two of 3 cannot count"),
        ("3.1 4.1,1,1", "not across two"),
        ("4.*,1,1\n4.1 4.2,1,1", "4.1 is in two rows"),
    ):
        (tmp_path / "p.csv").write_text(f"exercise,points,best\n{line}\n", encoding="utf-8")
        with pytest.raises(ValueError, match=rf"p\.csv: .*{said}"):
            read_points(tmp_path / "p.csv")


@pytest.fixture
def small():
    code, difference = "def f():\n    return '<i>'", "First difference: `tril` <i>"
    rows = [
        row(ADA, "3.1", "correct", share=1.0),
        row(ADA, "3.2", "wrong", "top-left", message="It starts `there`.", code=code, difference=difference),
        row(BOB, "3.1", "missing"),
        row(BOB, "3.2", "wrong", "top-left", message="No <script>", note="stopped after <1> seconds"),
        row(BOB, "6.5", "wrong", share=2 / 3, message="2 of 3 right."),
        row(ADA, "6.5", "wrong", "wrong-line"),
    ]
    files = [("x.pdf", "not a <notebook>")]
    return Report(rows, [ADA, BOB, EVE], files, {"3.1": 2, "3.2": 2, "6.5": 2, "1.1": 5}, confinement="Confined.")


def test_only_the_best_of_a_group_count_everywhere(tmp_path):
    rows = [row(ADA, "6.1", "correct", share=0.5), row(ADA, "6.2", "correct", share=1), row(ADA, "6.5", "wrong")]
    rows += [row(ADA, "6.4", "correct", share=1), row(ADA, "3.1", "correct", share=1), row(BOB, "6.2", "wrong")]
    groups = [BestOf(("6.1", "6.2", "6.4", "6.5"), 2)]
    points = {"3.1": 2, "6.1": 2, "6.2": 2, "6.4": 2, "6.5": 2}
    one = Report(rows, [ADA, BOB], points=points, groups=groups)
    assert one.counted(ADA) == {"3.1": 2, "6.2": 2, "6.4": 2} and one.counted(BOB) == {"6.2": 0}
    gradebooks.write_tables(one, tmp_path)
    assert [line[3:] for line in table_of(tmp_path / "gradebook-moodle.csv")[1:]] == [["2", "4"], ["", "0"]]
    assert table_of(tmp_path / "gradebook-canvas.csv")[1][5:] == ["2", "4"]
    verdicts = [line for line in table_of(tmp_path / "verdicts.csv") if line[0] == "Ada"]
    assert [(line[4], line[7], line[9]) for line in verdicts] == [
        ("6.1", "1", "0"), ("6.2", "2", "2"), ("6.5", "0", "0"), ("6.4", "2", "2"), ("3.1", "2", "2"),
    ]  # fmt: skip
    pages.write_pages(one, tmp_path)
    adas, whole = page(tmp_path, f"feedback/{pages.file_of(ADA)}"), page(tmp_path, "class.html")
    said = "Of the 4 exercises of notebook 6 each student's best 2 count."
    assert adas.p.get_text().startswith(f"6 of 6 points. {said} A ✗")
    each = ["2 of 2", "1 of 2 others are better", "2 of 2", "2 of 2", "0 of 2"]
    assert [line[3] for line in texts(adas, "table.list tbody tr")] == each
    assert [line[-1] for line in texts(whole, "table.grid tbody tr")] == ["0", "6"] and said in whole.get_text()
    assert texts(whole, "table.grid thead tr")[0][-1] == "of 6"
    one.groups = [BestOf(("6.1", "6.2", "6.5"), 2), BestOf(("7.1", "7.2"), 1), BestOf(("3.1", "3.2"), 1)]
    assert list(one.best_in_words()) == ["Of 6.1, 6.2, 6.5 each student's best 2 count."]


def test_gradebooks_are_as_moodle_and_canvas_import_them(small, tmp_path):
    gradebooks.write_tables(small, tmp_path)
    titles = ["Attention 03 masking", "Attention 06 bug clinic"]
    assert table_of(tmp_path / "gradebook-moodle.csv") == [
        ["ID number", "Email address", "Full name", *titles],
        ["1", "ada@x.org", "Ada", "2", "0"],
        ["2", "", "<b>Bob", "0", "1.33"],
        ["3", "", "'=cmd()", "", ""],
    ]
    assert table_of(tmp_path / "gradebook-canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles],
        ["    Points Possible", "", "", "", "", "4", "2"],
        ["Ada", "31", "1", "ada@x.org", "A", "2", "0"],
        ["<b>Bob", "", "2", "", "", "0", "1.33"],
        ["'=cmd()", "", "3", "", "", "", ""],
    ]
    marked = [(tmp_path / f"{name}.csv").read_bytes().startswith(b"\xef\xbb\xbf")
              for name in ("gradebook-moodle", "verdicts", "gradebook-canvas")]  # fmt: skip
    assert marked == [True, True, False]  # by it Excel knows UTF-8; Canvas takes it for a part of the first head
    assert small.in_words().splitlines()[0] == "3 on the roster: 2 judged, 1 with nothing handed in"
    verdicts = table_of(tmp_path / "verdicts.csv")
    assert verdicts[2] == ["Ada", "1", "ada@x.org", "1.ipynb", "3.2", "wrong", "top-left", "0", "2", "0", "", "", ""]
    assert "'=cmd()" not in [line[0] for line in verdicts]
    assert table_of(tmp_path / "handed-in.csv")[-1] == ["'=cmd()", "3", "", "nothing", "", "", "", ""]
    small.people.append(Person("Zed", listed=False))
    small.rows.append(row(small.people[-1], "3.1", "correct", share=1.0))
    gradebooks.write_tables(small, tmp_path)
    assert "Zed" in [line[0] for line in table_of(tmp_path / "verdicts.csv")]
    for name, column in (("moodle", 2), ("canvas", 0)):  # a platform knows no such student
        assert "Zed" not in [line[column] for line in table_of(tmp_path / f"gradebook-{name}.csv")]
    without_a_roster = Report(small.rows[-1:], small.people[-1:], points=small.points)
    gradebooks.write_tables(without_a_roster, tmp_path)
    assert table_of(tmp_path / "gradebook-moodle.csv")[1:] == [["", "", "Zed", "2"]]


def test_text_that_begins_like_a_formula_is_defused():
    assert [harmless(text)[0] for text in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1")] == ["'"] * 6
    assert harmless("a=b") == "a=b"


def test_misconceptions_have_words_and_stand_in_the_courses_order():
    found = Report([row(ADA, "10.1", "wrong"), row(ADA, "2.1", "wrong")]).commonest()
    assert [id for id, _, _ in found] == ["2.1", "10.1"], "as many made each of them"
    for id, exercise in EXERCISES.items():
        for name, known in exercise.misconceptions.items():
            assert report.misconception_in_words(id, name) == (known.name, known.reread)


def soup(text):
    return BeautifulSoup(text, "html.parser")


def page(folder, name):
    return soup((folder / name).read_text(encoding="utf-8"))


def test_class_page_says_what_to_begin_with_and_shows_each_student(small, tmp_path):
    pages.write_pages(small, tmp_path)
    whole = page(tmp_path, "class.html")
    first, *others = texts(whole.select("table.list")[0], "tbody tr")
    assert first[:2] == ["3.2", CORNER.name] and "2 of 2" in first[3]
    assert first[2].startswith("03 slide ") and TITLES[CORNER.reread] in first[2]
    opening = whole.select_one("h1 + p").get_text()
    assert first[1] in opening and first[2] in opening
    assert [line[:2] for line in others] == [
        ["6.5", "Another line is named"], ["6.5", "A mistake without a name: see the code"],
    ]  # fmt: skip
    assert texts(whole, "table.grid tbody tr") == [
        ["<b>Bob", "–", "✗", "✗", "1.33"], ["=cmd()", "nothing"], ["Ada", "✓", "✗", "✗", "2"],
    ]  # fmt: skip
    heads = whole.select("th[scope=colgroup]")
    assert [(head.get_text(), head["colspan"]) for head in heads] == [("03 masking", "2"), ("06 bug clinic", "1")]
    assert texts(whole.select("table.list")[-1], "tbody tr") == [
        ["x.pdf", "not a <notebook>"], ["2.ipynb", "3.2: stopped after <1> seconds"],
    ]  # fmt: skip
    assert whole.select("main > p")[-1].get_text() == "Confined."
    sign = whole.select_one("table.grid td.wrong a[href$='e3.2']")
    assert sign["title"] == sign["aria-label"] == f"3.2 not yet right: {CORNER.name}"
    names = soup(pages.students(Report(people=[Person("Eve"), Person("ada"), Person("Bob")])))
    assert [line[0] for line in texts(names, "tbody tr")] == ["ada", "Bob", "Eve"]
    for link in whole.select("a[href^=feedback]"):
        file, _, place = link["href"].partition("#")
        assert not place or page(tmp_path, file).find(id=place)
    assert not whole.select("table.grid b") and not whole.find("script"), "no markup of students"
    assert whole.find("meta", {"http-equiv": "Content-Security-Policy"})["content"].startswith("default-src 'none';")


def test_slide_to_show_has_its_number_in_the_deck(small):
    from authors.pages import notes

    notebook = nbformat.read(NOTEBOOKS / "03_masking.ipynb", as_version=4)
    number = int(pages.slide(CORNER.reread).split()[2])
    assert notes.slides(notebook)[number - 1].source.startswith(f"## {TITLES[CORNER.reread]}")


def test_feedback_leads_from_each_cross_to_the_students_code(small, tmp_path):
    pages.write_pages(small, tmp_path)
    adas = page(tmp_path, f"feedback/{pages.file_of(ADA)}")
    assert not adas.find("i"), "no markup of students"
    lines = texts(adas, "table.list tbody tr")
    assert [line[0] for line in lines] == ["3.1", "3.2", "6.5"] and "2 of 6 points" in adas.get_text()
    assert lines[1][2].endswith(CORNER.name) and lines[1][3] == "0 of 2"
    place = adas.find(id=adas.select("table.list a")[1]["href"].removeprefix("#"))
    assert "Your code, from 1.ipynb:" in place.get_text()
    assert place.pre.get_text() == "1def f():\n2    return '<i>'"
    assert "It starts there." in place.get_text() and place.find("code").get_text() == "there"
    assert f"Read again: {section_in_words(CORNER.reread)}" in place.get_text()
    assert "First difference: tril <i>" in [p.get_text() for p in place.select("p")]
    assert "Read again" not in adas.find(id="e3.1").get_text()


def test_feedback_names_the_students_own_unreadable_and_late_files(small, tmp_path):
    broken = Submission(BOB, "in/old.ipynb", problem="cannot be read: it is a PDF", late=True)
    small.submissions, small.files = [broken], [*small.files, (broken.path, broken.problem)]
    pages.write_pages(small, tmp_path)
    adas, bobs = (page(tmp_path, f"feedback/{pages.file_of(person)}") for person in (ADA, BOB))
    assert "old.ipynb. It came late, as the platform says. It cannot be read: it is a PDF." in bobs.get_text()
    assert "PDF" not in adas.get_text() and "not a <notebook>" not in bobs.get_text()
    assert texts(bobs, "table.list tbody tr")[0][2:] == ["– not judged", "– of 2"] and not bobs.find(id="e3.1")
    assert "1.33 of 6 points" in bobs.get_text() and "stopped after <1> seconds" in bobs.get_text()


def test_feedback_says_once_where_to_read_again(tmp_path):
    for message in ("Not yet.", "Not yet.\n\nRead again: notebook 3, “No looking ahead”."):
        pages.write_pages(Report([row(ADA, "3.2", "wrong", message=message)], [ADA], points={"3.2": 2}), tmp_path)
        assert (tmp_path / "feedback" / pages.file_of(ADA)).read_text(encoding="utf-8").count("Read again") == 1


def test_page_shows_no_more_code_than_can_be_read():
    shown = soup(pages.numbered("x = 1\n" * 9000, "3.2"))
    assert len(shown.pre.get_text().splitlines()) <= 300 and "more characters" in shown.get_text()


def test_pages_of_earlier_gradings_go_and_names_make_no_paths(small, tmp_path):
    (tmp_path / "feedback").mkdir()
    (tmp_path / "feedback" / "old.html").write_text("old")
    pages.write_pages(small, tmp_path)
    assert len(list((tmp_path / "feedback").iterdir())) == 2
    for person in (Person("../../etc/passwd"), Person("a/b\\c:d"), Person(""), Person("王小明"), Person("x" * 500)):
        name = pages.file_of(person)
        assert len(name) < 60 and not set(name) & set('/\\:*?"<>| ') and name.endswith(".html")
    assert pages.file_of(Person("a b")) != pages.file_of(Person("a_b"))


BROKEN_WORDS = """
[...document.querySelectorAll("thead th, article td, article th")].flatMap(cell => {
  const words = [], walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), range = document.createRange();
  while (walker.nextNode()) for (const word of walker.currentNode.data.matchAll(/[^\\s-]+/g)) {
    range.setStart(walker.currentNode, word.index);
    range.setEnd(walker.currentNode, word.index + word[0].length);
    if (new Set([...range.getClientRects()].map(line => line.top)).size > 1) words.push(word[0]);
  }
  return words;
})
"""


def test_pages_fit_and_can_be_read_by_everybody(small, tmp_path, browser):
    from axe_playwright_python.sync_playwright import Axe

    page, axe = browser.new_page(), Axe()
    told(tmp_path, "ada", (time.time(), "3.2", "wrong", "top-left"))
    with dashboard.server(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.clock.install()
        page.goto(f"http://127.0.0.1:{server.server_port}")
        now = page.content().replace(dashboard.SCRIPT, "")
        (tmp_path / "ada.jsonl").unlink()
        for name in ("ada", "bob"):  # without times, so that minutes do not go on meanwhile
            (tmp_path / name).mkdir()
            (tmp_path / name / ".progress.json").write_text('{"3.2": "tried"}')
        page.clock.run_for(2000)
        stuck, quiet = page.get_by_role("region", name="who is stuck"), page.locator("#quiet")
        stuck.get_by_text("bob").wait_for()
        stuck.focus()
        for begins, ends in (
            (lambda: page.context.set_offline(True), lambda: page.context.set_offline(False)),
            (lambda: page.route("**/table", lambda route: route.fulfill(status=500)), lambda: page.unroute("**/table")),
        ):
            begins()
            page.clock.run_for(2000)
            quiet.filter(has_text="no longer served").wait_for()
            ends()
            page.clock.run_for(2000)
            quiet.filter(has_not_text="served").wait_for(state="attached")
            assert stuck.evaluate("e => e === document.activeElement"), "what is the same stays as it is"
        server.shutdown()
    (tmp_path / "live.html").write_text(now, encoding="utf-8")
    shown = verdict_on("3.2", lambda q, k: torch.ones(q, k).tril().bool())._repr_html_()
    long = {"code": "x = " + "1 + " * 60 + "1", "message": "`" + "x" * 200 + "`", "shown": shown}
    small.rows.append(row(ADA, "1.1", "wrong", **long))
    pages.write_pages(small, tmp_path)
    names = ("class.html", f"feedback/{pages.file_of(ADA)}", "live.html")
    for name in names:
        page.goto((tmp_path / name).as_uri())
        for scheme, options in (("light", None), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=scheme)
            found = axe.run(page, options=options)
            assert not found.response["violations"], found.generate_report()
    small.rows += [row(ADA, id, "wrong") for id in EXERCISES]  # the same, as wide as it can be
    small.points |= read_points()[0]
    pages.write_pages(small, tmp_path)
    for name in names:
        page.goto((tmp_path / name).as_uri())
        for width in (390, 1366):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            assert page.evaluate(BROKEN_WORDS) == [], (name, width)
        if name == "class.html":
            who = "[...document.querySelectorAll('.list td a')].every(a => a.getBoundingClientRect().right < 390)"
            page.set_viewport_size({"width": 390, "height": 800})
            assert page.evaluate(who), "who made a mistake is seen without scrolling sideways"
            page.set_viewport_size({"width": 1366, "height": 800})
        within = "[...document.querySelectorAll('.grid')].every(t => t.scrollWidth <= t.parentElement.clientWidth)"
        assert page.evaluate(within), name  # no table is scrolled at 1366
        reached = "[...document.querySelectorAll('.wide, pre')].every(e => e.tabIndex === 0 && e.ariaLabel)"
        assert page.evaluate(reached), name  # by keys alone, where the screen is smaller
    page.close()
