"""The questions' records, and how answers are read: by workbench.questions and by authors/pages/reading.js alike."""

import ast
import json
import math
import re
from collections import Counter

import nbformat
import pytest
from paths import ROOT

from authors.pages import boards_in_pages
from workbench import questions
from workbench.predict import Prediction
from workbench.questions import Question, question, reader, second_input

THREE_TOKENS = {"form": "set", "range": [0, 2], "names": {"I": 0, "like": 1, "tea": 2}}
SHARES, PAIRS, RANKS = [0.06, 0.47, 0.47], [[0, 1], [10, 11], [20, 21]], [0, 2]

# Texts that are read alike: the question, how many there should be, what they stand for (None: unreadable), the texts.
NUMBER, WHOLE = {"form": "number"}, {"form": "number", "whole": True}
LINE, NUMBERS = WHOLE | {"range": [1, 4]}, {"form": "numbers"}
MATRIX, SHAPE = {"form": "matrix", "whole": True}, {"form": "shape"}
ROOT_WORD, DEAD, WITH = question("02.reaction-answer"), question("05.dead"), question("07.writes")
READ = [
    (NUMBER, 1, [0.47], "0.47 | .47 | 0,47 | 47 % | 47% | 47 percent | 47 per cent | [0.47] | {.47} | ≈ 0.47"),
    (NUMBER, 1, [0.25], "1/4 | 1 / 4 | about 0.25 | it is 0.25 | 0.25 of them | 25e-2"),
    (NUMBER, 1, [1.5], "1½ | 3/2"),
    (NUMBER, 1, [1 / 3], "⅓ | a third | one third"),
    (NUMBER, 1, [0.001], "1e-3 | 10^-3 | 10**-3 | 10⁻³"),
    (NUMBER, 1, [math.exp(-2)], "e^-2 | exp(-2) | e**(-2)"),
    (NUMBER, 1, [0.5], "ca. 0,5 | I think 0.5 | the answer is .5 | x = 0.5 | 0.5, I guess | 1/4 + 1/4 = 0.5 | 0.5!"),
    (NUMBER, 1, ["nan"], "0/0 | torch.nan | float('nan')"),
    (NUMBER, 1, [-2.0], "-2 | −2 | - 2 | minus 2"),
    (NUMBER, 1, [5.05], "5,050 | 5.050"),
    (NUMBER, 1, ["nan"], "nan | NaN | not a number"),
    (NUMBER, 1, [-math.inf], "-inf | −∞ | minus infinity"),
    (NUMBER, 1, [1.0, 2.0], "1 2 | 1, 2 | [1, 2]"),
    (NUMBER, 1, [2360000.0], "2.36 million | 2,36 million | 2.36M | 2360 thousand | about 2.36 millions"),
    (NUMBER, 1, [4096.0], "64*64 | 64 × 64 | 64² | 64^2 | 2**12 | sqrt(4096 * 4096) | 4*(1000+24) | 2 * 2 * 1024"),
    (NUMBER, 1, [0.5], "half | a half | one half | 1 - 1/2 | .25 + .25"),
    (NUMBER, 1, [4.0], "4x | 4 x | four | 4 times | √16"),
    (WHOLE, 1, [12.0], "twelve | 3 · 4"),
    (NUMBER, 1, None, "3-4 | sqrt(-1) | sqrt((-8)^0.5) | 2^9^9^9^9 | 4 * | (4 + 1 | ln 0"),
    (NUMBER, 1, None, "many | 1 or 2 | (2 | 2) | 1/0 | true | ? | -"),
    (WHOLE, 1, [5050.0], "5050 | 5,050 | 5 050 | 5_050 | 5050.0 | 5050 keys"),
    (WHOLE, 1, [338350.0], "338,350 | 338 350 | 338'350 | 338’350"),
    (WHOLE | {"range": [0, 16]}, 1, [10.0], "10 of 16 | 10/16 | ten | 10 pairs"),
    (NUMBER, 1, [1234.5], "1,234.5 | 1.234,5 | 1 234,5"),
    (SHAPE, None, [5.0, 135.0, 135.0], "5 135 135 | 5,135,135"),
    (WHOLE, 1, [0.0], "0 | none | nobody"),
    (WHOLE, 1, None, "2.5 | 47 % | 5.050 | nan"),
    (LINE, 1, [2.0], "2 | line 2 | Line 2."),
    (LINE, 1, None, "5 | none"),
    (WHOLE | {"range": [0, 5], "which": True}, 1, None, "all | none | nobody"),
    (NUMBERS, 3, SHARES, "[.06, .47, .47] | 0,06; 0,47; 0,47 | 0,06, 0,47, 0,47 | 0,06 0,47 0,47 | 6%, 47%, 47%"),
    (NUMBERS, 3, SHARES, "6 %, 47 %, 47 % | 6 % 47 % 47 % | 6 percent, 47 percent and 47 percent"),
    (NUMBERS, 3, [1.0, 2.0, 3.0], "1,2,3 | 1, 2,3 | 1 2 3 | 1 and 2 and 3 | (1; 2; 3) | 1 x 2 x 3"),
    (NUMBERS, 3, [100.0, 200.0, 300.0], "100 200 300"),
    (NUMBERS, 3, SHARES, "6, 47, 47 % | np.array([0.06, 0.47, 0.47]) | w = <0.06, 0.47, 0.47>"),
    (NUMBERS, 2, [1.0, 3.0], "1,3 | 1;3 | 1|3 | one, three | one and three | 1, then 3 | 2 - 1, 9/3"),
    (NUMBERS, 2, [-2.0], "1 - 3"),
    (NUMBERS, 3, None, "[1, 2, 3 | 1, 2, many | (1, 2]"),
    (MATRIX, 2, PAIRS, "[[0,1],[10,11],[20,21]] | (0,1),(10,11),(20,21) | 0 1; 10 11; 20 21"),
    (MATRIX, 2, PAIRS, "0 1 10 11 20 21 | 0 1, 10 11, 20 21 | 0 and 1, 10 and 11, 20 and 21 | 0 1|10 11|20 21"),
    (MATRIX, 2, None, "[[0,1],[10]] | [[0,1],[10,11]"),
    (SHAPE, None, [2.0, 3.0, 4.0], "(2, 3, 4) | 2x3x4 | 2 × 3 × 4 | torch.Size([2, 3, 4]) | 2 3 4"),
    (SHAPE, None, [2.0, 3.0, 4.0], "2 by 3 by 4 | shape: 2, 3, 4 | 2·3·4"),
    (SHAPE, None, None, "2.5, 3"),
    (THREE_TOKENS, None, RANKS, "{0, 2} | [2, 0] | 0 and 2 | I and tea | [“I”, 'tea'] | token 2, token 0 | 0 0 2"),
    (THREE_TOKENS, None, RANKS, "both I and tea | I/tea | 0+2 | first and third | 0|2"),
    (THREE_TOKENS, None, [0, 1, 2], "all | all of them | everybody | {0, 1, 2}"),
    (THREE_TOKENS, None, [], "none | nobody | [] | { }"),
    (THREE_TOKENS, None, None, "both | 0 or 2 | 3 | 0.5 | you"),
    (ROOT_WORD, 1, ["root"], "root | √d_k | sqrt | sqrt(d_k) | Root. | the root | divided by √d_k"),
    (ROOT_WORD, 1, None, "nonsense | both | root or d_k | not the root"),
    (WITH, 1, ["with"], "with | with the mask | with mask | The one with the mask"),
    (WITH, 1, ["both"], "both | with and without"),
    (question("02.suspects"), 1, ["keys"], "keys | own keys | keys of their own"),
    (question("02.wrong-axis"), 1, ["columns"], "columns | along the columns | Column"),
    (question("04.parameters"), 1, ["equal"], "equal | the same"),
    (question("08.halves-relative"), 1, ["yes"], "yes | Yes, they are | True | y | no change | I think yes"),
    (question("08.halves-relative"), 1, None, "maybe | no idea | 2"),
    (question("10.never-again"), 1, ["queries"], "queries | the query | Q"),
    (DEAD, 3, ["nan", "finite", "nan"], "nan, finite, nan | nan finite nan | not a number, a number, NaN"),
    (DEAD, 3, None, "yes, no, no"),
]  # fmt: skip
ROWS = [(q, size, value, text) for q, size, value, texts in READ for text in texts.split(" | ")]


def asked(record):
    return record if isinstance(record, Question) else Question("made up", record)


def like_json(value):
    return json.loads(json.dumps(value).replace("-Infinity", '"−∞"').replace("Infinity", '"∞"'))


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.add_script_tag(content=f"{boards_in_pages.guess_script()}; window.attnGuess = attnGuess")
    yield page
    page.close()


def test_an_answer_is_read():
    for record, size, value, text in ROWS:
        try:
            read = reader.read(asked(record), text, size)
        except reader.Unreadable:
            read = None
        assert read == value, text


def test_the_page_reads_alike(page):
    data = [[asked(q).as_data([[0] * size] if q == MATRIX else [0] * (size or 1)), text] for q, size, _, text in ROWS]
    read = page.evaluate("(rows) => rows.map((row) => attnGuess.read(...row) ?? null)", data)
    assert [(text, found) for (*_, text), found in zip(ROWS, read, strict=True)] == [
        (text, like_json(value)) for *_, value, text in ROWS
    ]


SLIP = {"label": "a slip", "says": "A `slip` it is."}
JUDGED = [  # a question, what is right, and what the slip comes to
    (NUMBER, 0.47, 0.5), (NUMBER, math.nan, 3), (NUMBER, -math.inf, 0), (NUMBER | {"within": 20}, 251, 16),
    (WHOLE, 5050, 338350), (LINE, 2, 3), (NUMBERS, [0.06, 0.47, 0.47], [1, 2, 3]), (NUMBERS, [3, 3, 2, 2], [1, 2]),
    (MATRIX, PAIRS, [[0, 1], [2, 3], [4, 5]]), (SHAPE, (2, 3, 4), (3, 4)), (THREE_TOKENS, [0, 2], [1]),
]  # fmt: skip
OTHERS = {"47", "6, 47, 47", "-0.47", "1, 0", "12", "300 %", "[0, 1, 10]", "0.47, 0.47, 0.06", "7, 8, 9",
          "0.06, 8, 9", "[[1, 0], [3, 2], [5, 4]]", "(4, 3, 2)"}  # fmt: skip


def test_the_page_judges_as_a_notebook_does(page):
    def texts(form):
        return sorted({text for record, *_, text in ROWS if asked(record).form == form} | OTHERS)

    mine = [
        Prediction(Question("made up", record | {"slips": {"slip": SLIP}}), text, truth, {"slip": slip})
        for record, truth, slip in JUDGED
        for text in texts(record["form"])
    ]
    mine += [Prediction(ROOT_WORD, text, "root", {}) for text in texts("word")]
    data = [[prediction.for_a_page(), prediction.guess] for prediction in mine]
    judged = page.evaluate("(rows) => rows.map((row) => attnGuess.judge(...row))", data)
    for prediction, by_page in zip(mine, judged, strict=True):
        status = "right" if by_page.get("right") else "unreadable" if by_page.get("unread") else "wrong"
        assert (status, by_page.get("slip")) == (prediction.status, prediction.slip), (prediction, by_page)
        assert by_page["says"] in prediction._repr_html_(), (prediction, by_page)


def test_the_page_knows_what_is_only_written_down_as_a_notebook_does():
    judge = (ROOT / "authors/pages/lines/judge.js").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"^const WRITTEN =\s+/\^(.*)\$/;$", judge, re.M)
    assert pattern.replace("()[", r"()\[") == second_input.WRITTEN  # where JavaScript needs no backslash


# ------------------------------------------------------------------------------------------------------- records


def calls():
    """The calls of `predict` and `blank` in the notebooks: lesson, id, names of the slips."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for node in ast.walk(ast.parse(cell.source if cell.cell_type == "code" else "")):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in ("predict", "blank"):
                    id = node.args[0].value
                    slips = (
                        set(questions.recorded_answer(id)[1])
                        if len(node.args) == 2
                        else {word.arg for word in node.keywords}
                    )
                    yield path.stem[:2], id, slips


def test_each_question_is_asked_once_with_the_slips_it_knows():
    found = list(calls())
    assert Counter(id for _, id, _ in found) == Counter(questions.ids())
    for lesson, id, slips in found:
        known = question(id)
        assert id.startswith(f"{lesson}.") and slips == set(known.slips) - set(known.options), id


def test_a_record_is_short_and_says_each_thing_once():
    for record in map(question, questions.ids()):  # which raises where a word is two answers
        assert all(len(slip.label) <= 24 and slip.says.endswith((".", "?")) for slip in record.slips.values()), (
            record.id
        )
        once = all(record.names[reader.phrase(option, record.skip)] == [option] for option in record.options)
        assert once, record.id


def test_what_is_shared_is_shared_by_three_questions():
    every = [questions.records(lesson) for lesson in {id.partition(".")[0] for id in questions.ids()}]
    used = Counter(name for records in every for record in records.values() for name in record.get("common", []))
    assert {name: n for name in questions.records("common")["slips"] if (n := used[name]) < 3} == {}


@pytest.mark.parametrize(
    "record, words",
    [
        ({"slips": {}}, "its form is one of number,"),
        ({"form": "word"}, "no options"),
        ({"form": "set"}, "no range"),
        ({"form": "number", "slip": {"a": SLIP}}, "nothing is read under slip"),
        ({"form": "number", "slips": {"a": {"label": "a"}}}, "its slip a lacks says"),
        ({"form": "number", "common": ["numbr"]}, "common.toml has no slip numbr"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(record, words):
    with pytest.raises(ValueError, match=f"03.made-up: .*{words}"):
        Question("03.made-up", record)


def test_a_set_is_asked_for_in_the_words_of_its_question():
    asked = Question("03.these", THREE_TOKENS)
    assert "I, like, tea" in asked.asks(None) and "I, like, tea" in asked.refuses()
    assert "from 0 to 3" in Question("03.those", {"form": "set", "range": [0, 3]}).asks(None)
