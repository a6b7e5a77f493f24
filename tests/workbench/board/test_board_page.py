"""The page computes what Python computes: every operation, every board, on random numbers and random actions."""

import json
import math
import re

import pytest
import torch
from board_page import assert_close, open_page, traits, values_of
from boards import ALL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.board import Board, Control, Input, random_matrix
from workbench.board import operations as op
from workbench.board.board import CONDITIONS

A, B, SQUARE, MASK, ROW, PAIRS = "a", "b", "square", "mask", "row", "pairs"
SHAPES = {A: (3, 4), B: (4, 2), SQUARE: (3, 4), MASK: (3, 4), ROW: (1, 3), PAIRS: (3, 2), "w_k": (4, 2), "wish": (3, 3)}
CASES = {  # every operation of the vocabulary, with every option that changes what it does
    "product": [op.product(A, B), op.product(A, SQUARE, transpose="b"), op.product(A, SQUARE, transpose="a")],
    "scale": [op.scale(A, by=-2.5), op.scale(A, powers={"n": -0.5, "m": 2})],
    "add": [op.add(A, SQUARE), op.add("positive", "sums"), op.add("columns", A)],
    "subtract": [op.subtract(A, SQUARE), op.subtract("sums", A)],
    "multiply": [op.multiply(A, MASK), op.multiply("nothing", "one")],
    "divide": [op.divide(A, "positive")],
    "exp": [op.exp(A)],
    "outer": [op.outer(ROW, ROW), op.outer("sums", ROW)],
    "weigh": [op.weigh(ROW, A)],
    "total": [op.total(A), op.total(A, over="column")],
    "largest": [op.largest(A)],
    "running_maximum": [op.running_maximum(A)],
    "rounded": [op.rounded(A), op.rounded(A, digits=0), op.rounded("halves", digits=0)],
    "preset": [op.preset(which=w, queries=3, keys=4, length=2) for w in (0, 1, 2, 3)],
    "both": [op.both(MASK, "shut")],
    "any_open": [op.any_open(MASK)],
    "fill": [op.fill(A, MASK), op.fill(A, MASK, value=-1e9), op.fill(A, "alive", value=0.0)],
    "softmax": [op.softmax(A), op.softmax(A, over="column"), op.softmax("filled")],
    "masked": [op.masked(A, MASK)],
    "entropy": [op.entropy("shares"), op.entropy("certain"), op.entropy(A)],
    "cross_entropy": [
        op.cross_entropy(wish, of) for wish, of in ((SQUARE, "shares"), (MASK, "shares"), (MASK, "broken"))
    ],
    "learned": [
        op.learned(B, "w_k", A, "wish", steps=steps, rate="n", keys_too=too, which=which)
        for steps, too, which in ((0, 0, 0), (1, 0, 0), ("m", 1, 0), ("m", 1, 1), (50, 0, 1))
    ],
    "choose": [op.choose(A, SQUARE, A, chosen="n")],
    "row": [op.row(A, chosen="n")],
    "film": [op.film("frames", chosen="n")],
    "cut": [op.cut(A, at="n", part=0), op.cut(A, at=3, part=1)],
    "columns": [op.columns(A, step=2), op.columns(A, first=1, step=2)],
    "head": [op.head(A, heads="m", which=1), op.head(A, heads=1, which=1)],
    "view_alone": [op.view_alone(A, heads="m", which=1), op.view_alone(A, heads=1, which=1)],
    "transposed": [op.transposed(A)],
    "stack": [op.stack(A, SQUARE)],
    "beside": [op.beside(A, PAIRS)],
    "numbered": [op.numbered(tokens="m", features=("m", "m"))],
    "rotate": [op.rotate(A, angle=30, start="m"), op.rotate(A, angle=30, every="m")],
    "remembered": [
        op.remembered(tokens=7, read=read, chunk=chunk, window=window, fault=fault)
        for read, chunk, window in ((7, "m", 3), (5, 2, 9), (6, 3, 2))
        for fault in range(6)
    ],
    "kept": [op.kept(B, read=3, window="m"), op.kept(B, read=3, window=3, fault=5), op.kept(B, read="n", window=9)],
    "shared_outputs": [
        op.shared_outputs(A, SQUARE, A, "corner", heads=2, stored=2),
        *(op.shared_outputs("eight", A, SQUARE, "barred", heads=4, stored=2, fault=f) for f in (0, 4)),
    ],
    "shared_weights": [
        *(op.shared_weights(A, PAIRS, "corner", heads=2, stored=1, of=token, read="n") for token in (0, 1)),
        *(op.shared_weights("eight", A, "barred", heads=4, stored=2, of=2, fault=fault) for fault in (0, 4)),
    ],
    "apart": [op.apart(A, SQUARE), op.apart(A, SQUARE, read="n")],
    "amount": [op.amount(A, "two rows")],
    "arrows": [op.arrows(PAIRS, PAIRS)],
    "arcs": [op.arcs("shares")],
    "python": [op.python(lambda a: a.cumsum(dim=1), A)],
}
HELPERS = {
    "positive": op.exp(A),
    "sums": op.total(A),
    "columns": op.total(A, over="column"),
    "halves": op.scale(MASK, by=2.5),
    "tenths": op.scale(A, by=0.25),
    "to 7": op.numbered(tokens=1, features=8),
    "to 8": op.numbered(tokens=1, features=9),
    "shut": op.preset(which=2, queries=3, keys=4, length=2),
    "alive": op.any_open(MASK),
    "nothing": op.head(A, heads=1, which=1),
    "one": op.total(ROW),
    "filled": op.fill(A, MASK),
    "shares": op.softmax(SQUARE),
    "corner": op.preset(which=2, queries=3, keys=3, length=3),
    "barred": op.cut(MASK, at=3, part=0),
    "eight": op.beside(A, SQUARE),
    "two rows": op.kept(A, read=2, window=9),
    "certain": op.masked(A, MASK),  # with zeros
    "broken": op.softmax("filled"),  # nan where nothing is open
}


@pytest.fixture(scope="module")
def page(browser):
    page = open_page(browser)
    yield page
    page.close()


def board_of(operations, seed=0, **inputs):
    generator = torch.Generator().manual_seed(seed)
    made = {name: torch.randn(shape, generator=generator, dtype=torch.float64).mul(3) for name, shape in SHAPES.items()}
    made[MASK] = (torch.rand(SHAPES[MASK], generator=generator) < 0.5).double()
    made |= inputs
    given = {name: Input(tensor, toggle=name == MASK) for name, tensor in made.items()}
    given["frames"] = torch.rand(3, 2, 2, generator=generator)
    steps = [*HELPERS.items(), *((f"step {k}", operation) for k, operation in enumerate(operations))]
    controls = [Control("n", "n", (1, 2), 1), Control("m", "m", (2, 4), 2)]
    return Board(given, steps, controls)


def test_every_operation_has_a_case():
    assert CASES.keys() == op.OPERATIONS.keys()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_an_operation_is_the_same_in_the_page(page, name, seed):
    numbers = {}
    if seed:  # a dead row, and numbers that make infinities
        mask = torch.tensor([[0.0, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]])
        numbers = {MASK: mask, A: torch.tensor([[800.0, -800, 0, 1], [0, 0, 0, 0], [-1, 1e6, -0.05, 0.25]])}
    board = board_of(CASES[name], seed, **numbers)
    texts, results = [], []
    for settings_now in ({"n": 1, "m": 2}, {"n": 2, "m": 4}):
        board.change(**settings_now)
        texts.append(traits(board))
        results.append(board.results)
    for theirs, ours in zip(values_of(page, *texts), results, strict=True):
        for step, tensor in ours.items():
            assert_close(theirs[step], tensor, (name, step))


# Every cell's arithmetic: worth what the cell holds, true as it is written, and its sources are what moves it.
ARITHMETIC = """(text) => {
  const engine = engineOf(text), wrong = [];
  const close = (a, b) => Object.is(a, b) || a === b || Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b));
  for (const step of engine.steps) {
    const cells = [];
    engine.values[step.name].forEach((row, i) => Array.from(row).forEach((value, j) => {
      const tree = engine.arithmetic(step.name, i, j);
      if (!tree) return;
      const exact = evaluate(tree);
      if (Number.isFinite(value) && !close(exact, value)) wrong.push([step.name, i, j, exact]);
      cells.push({ i, j, value, named: new Set(sources(tree).map((at) => at.join("/"))) });
    }));
    for (const of of cells.length ? new Set(step.of) : []) {
      if (engine.panel[of].shape?.length === 3) continue;
      engine.values[of].forEach((r, k) => r.forEach((x, l) => {
        const moved = structuredClone(engine.values[of]);
        moved[k][l] = engine.panel[of].toggle ? 1 - x : x + 0.37;
        const matrices = step.of.map((name) => (name === of ? moved : engine.values[name]));
        const after = OPERATIONS[step.does].does(matrices, step.now, []);
        for (const { i, j, value, named } of cells)
          if (!close(after[i]?.[j] ?? value, value) && !named.has(`${of}/${k}/${l}`))
            wrong.push([step.name, i, j, "source", of, k, l]);
      }));
    }
  }
  return wrong;
}"""


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("arrows", "arcs", "python")])
def test_the_arithmetic_of_every_cell_is_what_it_holds_and_names_every_source(page, name):
    assert page.evaluate(ARITHMETIC, traits(board_of(CASES[name]))) == []


@pytest.mark.parametrize("name", ALL)
def test_the_arithmetic_of_every_board_is_true(page, name):
    assert page.evaluate(ARITHMETIC, traits(ALL[name]())) == []


# What stands in place of a sum, or before it, and what a step says of itself while it is played.
SAID = """(text) => {
  const engine = engineOf(text), step = engine.steps.at(-1), tree = engine.arithmetic(step.name, 0, 0);
  const line = plainText(spelledOut(tree, engine.values[step.name][0][0]));
  return [line, OPERATIONS[step.does].says(step.of, step.now)];
}"""
ONE = {A: torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8], [0, 0, 0, 0]]), ROW: torch.tensor([[2.0, 3, 5]])}
WITH_A_DEAD_ROW = ONE | {MASK: torch.tensor([[0.0, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]])}
WITH_TWO_OPEN = ONE | {MASK: torch.tensor([[1.0, 0, 1, 0], [1, 0, 1, 0], [1, 1, 1, 1]])}
SHUT_FIRST = ONE | {MASK: torch.tensor([[0.0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 1, 1]])}
WISH = ONE | {"wish": torch.tensor([[0.0, 0, 0], [0, 1, 0], [0, 0, 1]]), "w_k": torch.zeros(4, 2), B: torch.ones(4, 2)}
NO_WISH = ONE | {SQUARE: torch.zeros(3, 4)}


@pytest.mark.parametrize(
    "operation, inputs, line, sentence",
    [
        (op.product(A, B), WISH, "1·1 + 2·1 + 3·1 + 4·1 = 10",
         "a times b: each row of a meets each column of b; multiply entry by entry and add up."),
        (op.product(A, SQUARE, transpose="b"), NO_WISH, "1·0 + 2·0 + 3·0 + 4·0 = 0",
         "a times square: each row of a meets each row of square; multiply entry by entry and add up."),
        (op.product(A, SQUARE, transpose="a"), NO_WISH, "1·0 + 5·0 + 0·0 = 0",
         "a times square: each column of a meets each column of square; multiply entry by entry and add up."),
        (op.scale(A, by=3, powers={"m": -1}), ONE, "1·1.5 = 1.5", "Every entry of a times 1.5."),
        (op.add("columns", A), ONE, "6 + 1 = 7", "columns plus a, entry by entry."),
        (op.subtract("sums", A), ONE, "10 − 1 = 9", "sums minus a, entry by entry."),
        (op.multiply(A, "sums"), ONE, "1·10 = 10", "a times sums, entry by entry."),
        (op.divide(A, "sums"), ONE, "1 / 10 = 0.1", "a divided by sums, entry by entry."),
        (op.exp(A), ONE, "e^1 ≈ 2.72", "e to the power of each entry of a."),
        (op.exp(A), {A: torch.full((3, 4), 0.993)}, "e^0.993 ≈ 2.70", "e to the power of each entry of a."),
        (op.outer(ROW, ROW), ONE, "2·2 = 4", "Every entry of row times every entry of row."),
        (op.weigh(ROW, A), ONE, "2·1 = 2", "Each row of a times its entry of row."),
        (op.total(A), ONE, "1 + 2 + 3 + 4 = 10", "The sum of each row of a."),
        (op.total(A), {A: torch.tensor([[-0.001, 5, 0, 0]] * 3)}, "0 + 5 + 0 + 0 = 5", "The sum of each row of a."),
        (op.total("to 7"), {}, "0 + 1 + 2 + 3 + 4 + 5 + 6 + 7 = 28", "The sum of each row of to 7."),
        (op.total("to 8"), {}, "0 + 1 + 2 + 3 + 4 + 5 + 6 + … = 36", "The sum of each row of to 8."),
        (op.total(A, over="column"), ONE, "1 + 5 + 0 = 6", "The sum of each column of a."),
        (op.largest(A), ONE, "max(1, 2, 3, 4) = 4", "The largest entry of each row of a."),
        (op.running_maximum(A), ONE, "max(1) = 1", "The largest entry of each row of a so far, from left to right."),
        (op.rounded("tenths"), ONE, "rounded: 0.25 = 0.2", "tenths, rounded to 1 digit."),
        (op.rounded(A, digits=2), ONE, "rounded: 1 = 1", "a, rounded to 2 digits."),
        (op.preset(which=2, queries=3, keys=3, length=2), ONE, "open 1 = 1", "A mask that is made, not computed."),
        (op.preset(which=1, queries=3, keys=3, length=0), ONE, "closed 0 = 0", "A mask that is made, not computed."),
        (op.both(MASK, "shut"), WITH_TWO_OPEN, "1·1 = 1", "Open where mask and shut are both open."),
        (op.any_open(MASK), WITH_TWO_OPEN, "max(1, 0, 1, 0) = 1", "Whether a row of mask has anything open."),
        (op.fill(A, MASK), WITH_TWO_OPEN, "may attend, it stays: 1 = 1", "a where mask is open, elsewhere −∞."),
        (op.fill(A, MASK), WITH_A_DEAD_ROW, "may not attend: −∞ = −∞", "a where mask is open, elsewhere −∞."),
        (op.softmax(ROW), ONE, "e^2 / (e^2 + e^3 + e^5) ≈ 0.042",
         "Softmax of each row of row: e to the power of each entry, divided by their sum; shares that sum to 1."),
        (op.softmax(ROW, over="column"), ONE, "e^2 / e^2 = 1",
         "Softmax of each column of row: e to the power of each entry, divided by their sum; shares that sum to 1."),
        (op.masked(A, MASK), WITH_TWO_OPEN, "e^1 / (e^1 + e^3) ≈ 0.12",
         "Softmax over the keys that mask leaves open; a row with none gets zeros."),
        (op.masked(A, MASK), WITH_A_DEAD_ROW, "nothing to attend to, so 0 = 0",
         "Softmax over the keys that mask leaves open; a row with none gets zeros."),
        (op.masked(A, MASK), SHUT_FIRST, "may not attend, so 0 = 0",
         "Softmax over the keys that mask leaves open; a row with none gets zeros."),
        (op.entropy(MASK), WITH_TWO_OPEN, "−(1·ln 1 + 1·ln 1) = 0", "How spread each row of mask is."),
        (op.cross_entropy(SQUARE, "shares"), NO_WISH, "nothing is wished for, so 0 = 0",
         "How far each row of shares is from square: wished shares times the logarithm of the weights, added up, "
         "with the sign turned."),
        (op.learned(B, "w_k", A, "wish", steps=0, rate=0.5, keys_too=0, which=0), WISH, "no step yet: 1 = 1",
         "b after 0 steps at a learning rate of 0.5: each time, the weights are computed anew, and the gradient times "
         "the rate is taken away."),
        (op.learned(B, "w_k", A, "wish", steps=1, rate=0.5, keys_too=1, which=1), WISH,
         "at the start, less one step: 0 − (−39) = 39",
         "w_k after 1 step at a learning rate of 0.5: each time, the weights are computed anew, and the gradient times "
         "the rate is taken away."),
        (op.choose(A, "sums", chosen="n"), ONE, "10 = 10", "sums, as chosen."),
        (op.row(A, chosen=1), ONE, "5 = 5", "One row of a."),
        (op.cut(A, at=2, part=1), ONE, "3 = 3", "A part of the features of a."),
        (op.head(A, heads=2, which=1), ONE, "3 = 3", "Head 1: its share of the features of a, of every token."),
        (op.view_alone(A, heads=2, which=1), ONE, "7 = 7", "Head 1 by view alone: the numbers of a in their order."),
        (op.transposed(A), ONE, "1 = 1", "Rows of a become columns."),
        (op.stack(A, SQUARE), ONE, "1 = 1", "The tokens of a, then those of square."),
        (op.beside(A, "sums"), ONE, "1 = 1", "The features of a, then those of sums."),
        (op.columns(A, first=1, step=2), ONE, "2 = 2", "One of every 2 columns of a."),
        (op.amount(A, ROW), ONE, "12 + 3 = 15", "How many numbers a and row hold."),
        (op.apart(A, SQUARE), NO_WISH, "at its largest: 4 − 0 = 4",
         "The largest difference between a and square in each row."),
        (op.apart(SQUARE, A), NO_WISH, "at its largest: 4 − 0 = 4",
         "The largest difference between square and a in each row."),
        (op.remembered(tokens=3, read=3, chunk=1, window=2), ONE, "heard 1 = 1",
         "Who hears whom: chunks of 1, and a window of 2."),
        (op.shared_weights(A, PAIRS, "corner", heads=2, stored=1, of=0), ONE | {PAIRS: torch.ones(3, 2)},
         "e^2.12 / e^2.12 = 1",
         "Weights of one token in each head: its part of a against the stored part of pairs that the head shares."),
        (op.shared_outputs(A, SQUARE, A, "corner", heads=2, stored=2), ONE, "1·1 = 1",
         "Of each head: weights times its rows of a, added up."),
        (op.kept(A, read=2, window=9), ONE, "1 = 1", "The rows of a that are kept."),
        (op.kept(A, read=3, window=2), ONE, "not kept: nan = nan", "The rows of a that are kept."),
        (op.numbered(tokens=2, features=3), ONE, "10·0 + 0 = 0", "Each entry is 10 · token + feature."),
        (op.rotate(A, angle=90, start=1), ONE, "1·0 − 2·1 = −2", "Each pair of features of a, turned by its position."),
        (op.python(lambda a: a + 41, A), ONE, "Python says 42 = 42", "This step is done by Python."),
    ],
    ids=lambda part: part.does if isinstance(part, op.Operation) else "",
)  # fmt: skip
def test_what_is_said_of_a_cell_and_of_a_step(page, operation, inputs, line, sentence):
    assert page.evaluate(SAID, traits(board_of([operation], **inputs))) == [line, sentence]


def test_as_code_a_matrix_has_a_name_that_python_takes(page):
    made = {}
    exec(page.evaluate("(text) => engineOf(text).code()", traits(Board({"W of q": torch.eye(2)}, []))), made)
    assert torch.equal(made["W_of_q"], torch.eye(2, dtype=torch.float64))


def test_a_right_angle_is_exact(page):
    board = board_of([op.rotate(A, angle=90, start=1)], **ONE)
    (theirs,) = values_of(page, traits(board))
    assert theirs["step 0"] == board.results["step 0"].tolist() == [[-2, 1, -4, 3], [-5, -6, -7, -8], [0, 0, 0, 0]]


def test_a_zero_that_gets_a_minus_sign_has_not_moved(page):
    board = board_of([op.multiply(A, SQUARE)], **{A: torch.full((3, 4), -1.0), SQUARE: torch.zeros(3, 4)})
    moved = page.evaluate("(text) => engineOf(text).moves('a', 0, 0)", traits(board))
    assert ["sums", 0, 0] in moved and ["step 0", 0, 0] not in moved


def test_what_changes_nothing_is_no_step_of_undo(page):
    steps = """(text) => {
      const engine = engineOf(text);
      engine.set("n", 1); engine.edit("row", [[0, 0, "2"]]);
      return engine.past.length;
    }"""
    assert page.evaluate(steps, traits(board_of([], **ONE))) == 0


# What is written is true: whoever computes with the digits that stand there gets the digits that stand there.
WRITTEN = """(text) => {
  const engine = engineOf(text), lines = [];
  for (const step of engine.steps) engine.values[step.name].forEach((row, i) => Array.from(row).forEach((value, j) => {
    const tree = engine.arithmetic(step.name, i, j);
    if (tree) lines.push(plainText(spelledOut(tree, value)));
  }));
  return lines;
}"""


@pytest.mark.parametrize("seed", range(3))
def test_a_line_is_true_as_it_is_written(page, seed):
    operations = [*CASES["product"], *CASES["softmax"][:1], *CASES["scale"], *CASES["divide"], *CASES["entropy"][:1]]
    checked = 0
    for line in page.evaluate(WRITTEN, traits(board_of(operations, seed))):
        sum_, _, result = line.replace("−", "-").rpartition(" ≈ " if " ≈ " in line else " = ")
        if not set(sum_) <= set("0123456789.·+-/() e^ln"):
            continue
        code = sum_.replace("·", "*").replace("e^(", "math.exp(")
        code = re.sub(r"e\^([\d.]+)", r"math.exp(\1)", code)
        code = re.sub(r"ln ([\d.]+)", r"math.log(\1)", code)
        decimals = len(result.partition(".")[2])
        assert abs(eval(code, {"math": math}) - float(result)) <= 0.5000001 * 10**-decimals, line
        checked += 1
    assert checked > 50


@pytest.mark.parametrize("seed", [1, 2, 77, 2**31])
def test_a_seed_means_the_same_numbers_in_the_page_and_in_python(page, seed):
    for draw in ((-1, 1, 0.5), (0, 1, 1), (-3, 3, 1)):
        theirs = page.evaluate("([s, d]) => randomMatrix(5, 7, s, 3, d)", [seed, list(draw)])
        assert torch.equal(torch.tensor(theirs, dtype=torch.float64), random_matrix((5, 7), seed, 3, draw))


# ------------------------------------------------------------------------------------------- boards, moved at random


def actions(board):
    """What a person at the board may do, in any order: calls of the page's engine."""
    choices = [st.sampled_from([["undo"], ["redo"], ["reset"], ["random"]])]
    for control in board.spec["controls"]:
        choices.append(st.sampled_from(control["values"]).map(lambda v, c=control: ["set", c["name"], v]))
    for panel in board.spec["panels"]:
        if panel.get("editable"):
            rows, columns = panel["shape"]
            number = st.floats(-20, 20).map("{:.3f}".format)
            text = st.sampled_from(["0", "1"]) if panel["toggle"] else st.one_of(number, st.sampled_from(["", "1,5"]))
            cell = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1), text).map(list)
            choices += [cell.map(lambda c, p=panel: ["edit", p["name"], [c]])] * 3
    return st.lists(st.one_of(choices), min_size=1, max_size=6)


MOVED = """([text, all]) => JSON.stringify(all.map((actions) => {
  const engine = engineOf(text);
  for (const [what, ...how] of actions) engine[what](...how);
  const { proof, answer } = engine;
  return [{ revision: 7, ...engine.now, proof, answer, fresh: !proof }, valuesOf(engine), engine.reached];
}))"""


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_board_moved_at_random_says_to_python_what_python_computes(page, name, data):
    board = ALL[name]()
    start = {"revision": 6, **board.spec["start"], "proof": None, "answer": None, "fresh": True}
    five = data.draw(st.lists(actions(board), min_size=5, max_size=5))
    for said, values, done in json.loads(page.evaluate(MOVED, [traits(board), five])):
        board.set_state({"now": start})
        assert not board._reached
        board.set_state({"now": said})
        assert board.heard["revision"] == 7 and board.heard["problem"] == ""
        for step, tensor in board.results.items():
            assert_close(values[step], tensor, (name, step))
        assert board._reached == done


# ------------------------------------------------------------------------------------------- what a task asks for

THERE = {"a": [[1.0, 2]], "near": [[1.0, 2.0001]], "more": [[1.0, 2], [3, 4]], "broken": [[math.nan, 1]]}
THERE["film"] = [[[0.5, 0.5], [0.9, 0.1]], [[0.51, 0.49], [1.0, 0.0]]]
BEGAN = {"a": [[1.0, 1]], "more": [[1.0, 2], [3, 4]]}
HOLDS = [
    (("above", "a", 0, 1, 1.9), True), (("above", "a", 0, 1, 2), False),
    (("below", "a", 0, 1, 2.1), True), (("below", "a", 0, 1, 2), False),
    (("changed", {"a": 1}), True), (("changed", {"a": 2}), False), (("changed", {}), False),
    (("set", "n", 1), True), (("set", "n", 0), False),
    (("at_least", "n", 1), True), (("at_least", "n", 2), False),
    (("has_nan", "broken"), True), (("has_nan", "a"), False),
    (("equal", "a", "a"), True), (("equal", "a", "near"), False), (("equal", "a", "near", 0.01), True),
    (("equal", "a", "more"), False), (("equal", "more", "a"), False),
    (("differ", "a", "near", 0.00001), True), (("differ", "a", "near", 0.01), False),
    (("most_even", "film", "zero", "zero"), True), (("most_even", "film", "n", "zero"), False),
]  # fmt: skip


def test_a_task_is_done_in_the_page_when_it_is_done_in_python(page):
    numbers = {"n": 1, "zero": 0}
    asked = (
        "([now, numbers, start, all]) => all.map(([kind, ...rest]) => CONDITIONS[kind](now, numbers, start, ...rest))"
    )
    theirs = page.evaluate(asked, [THERE, numbers, BEGAN, [list(condition) for condition, _ in HOLDS]])
    values, start = ({name: torch.tensor(rows) for name, rows in given.items()} for given in (THERE, BEGAN))
    ours = [CONDITIONS[kind](values, numbers, start, *rest) for (kind, *rest), _ in HOLDS]
    assert theirs == ours == [holds for _, holds in HOLDS]
    assert {kind for (kind, *_), _ in HOLDS} == CONDITIONS.keys()


# ------------------------------------------------------------------------------------------------------------ lines

WIRE = """([from, to, ...others]) => {
  const box = ([left, top, title = 0]) => // whose title reaches so much further than its table, to both sides
    ({ left, right: left + 40, edge: left - title, far: left + 40 + title, top, bottom: top + 40, y: top + 20 });
  return wire(box(from), box(to), others.map(box), false);
}"""


@pytest.mark.parametrize(
    "to, others, turns",
    [
        ((200, 0), [], "H"),
        ((200, 13), [], "H"),  # about the same height
        ((200, 15), [], "HVH"),
        ((200, 0), [(100, 80)], "H"),
        ((200, 100), [], "HVH"),
        ((200, 100), [(100, 100)], "HVH"),  # first along its own height, where nothing stands
        ((200, 0), [(100, 0)], "HVHVH"),  # beneath what stands between
        ((0, 100), [], "V"),
        ((0, 200), [(0, 100)], "HVH"),
    ],
)
def test_a_line_turns_no_more_often_than_it_must(page, to, others, turns):
    assert re.sub("[^HV]", "", page.evaluate(WIRE, [(0, 0), to, *others])) == turns


def test_lines_from_above_and_from_below_arrive_beside_each_other(page):
    assert page.evaluate(WIRE, [(0, 0), (200, 100)]).endswith("V114 H195")  # its middle is at 120
    assert page.evaluate(WIRE, [(0, 200), (200, 100)]).endswith("V126 H195")


def test_a_line_down_arrives_on_a_table_that_stands_further_aside(page):
    assert [page.evaluate(WIRE, [(0, 0), (x, 100)]) for x in (30, -30)] == ["M42,41 V95", "M-2,41 V95"]


@pytest.mark.parametrize(
    "to, other, turn",
    [
        ((300, 100), (0, 50, 20), 63),  # beside the one below, 3 px from its title
        ((300, 100), (230, 90, 20), 207),  # before the one that stands in the way
        ((0, 200), (0, 100, 20), -26),  # around all that stands between
    ],
)
def test_a_line_keeps_away_from_titles_that_reach_further_than_their_tables(page, to, other, turn):
    assert re.search(r" H(-?[\d.]+) V", page.evaluate(WIRE, [(0, 0), to, other]))[1] == str(turn)


# ----------------------------------------------------------------------------------------------------- what is asked

ASKED = """(text) => {
  const engine = engineOf(text), view = { engine, panels: engine.panel, shows: (panel) => engine.shows(panel) };
  const said = [], wrong = [];
  const ask = () => {
    for (const panel of engine.panels.filter(view.shows)) {
      const matrix = engine.values[panel.name];
      if (panel.shape?.length === 3) continue; // heads to choose from
      matrix.forEach((row, i) => row.forEach((x, j) => {
        if (panel.sparse && Number.isNaN(x)) return; // an empty cell
        try {
          const found = explained(view, panel.name, i, j);
          said.push(found ? found.text : counted(view, engine.moves(panel.name, i, j)));
        } catch (error) {
          wrong.push(`${engine.label(panel.name, i, j)} ${JSON.stringify(engine.now.settings)}: ${error}`);
        }
      }));
    }
  };
  const menus = engine.controls.filter(({ slider }) => !slider);
  const each = ({ name }, values, others = [{}]) =>
    others.flatMap((other) => values.map((value) => ({ ...other, [name]: value })));
  const all = menus.reduce((others, menu) => each(menu, menu.values, others), [{}]);
  const few = all.length < 50 ? all : menus.flatMap((menu) => each(menu, menu.values));
  const sliders = engine.controls.filter(({ slider }) => slider);
  const ends = sliders.flatMap((slider) => each(slider, [slider.values[0], slider.values.at(-1)]));
  for (const settings of [...few, ...ends]) {
    engine.now = { ...engine.now, settings: { ...engine.start.settings, ...settings } };
    engine.compute();
    ask();
  }
  return [said.length, wrong.slice(0, 5)];
}"""


@pytest.mark.parametrize("name", ALL)
def test_every_cell_can_be_asked_at_every_setting(page, name):
    said, wrong = page.evaluate(ASKED, traits(ALL[name]()))
    assert wrong == [] and said > 10


# ------------------------------------------------------------------------------------------- numbers, read and written


NUMBERS_AS_WRITTEN = {
    **{"0.375": 0.375, " −2 ": -2, "- 2": -2, "1e-3": 1e-3, ".5": 0.5, "+7.": 7, "-1E6": -1e6, "1/4": 0.25, "½": 0.5},
    **{"1,5": 1.5, "-,5": -0.5, "47 %": 0.47, "7 percent": 0.07, "5 050": 5050, "5\u202f050": 5050, "5,050": 5.05},
    **{"1½": 1.5, "1,234.5": 1234.5, "1.234,5": 1234.5, "1,234,567": 1234567},
    **dict.fromkeys(("", "abc", "0x10", "1 2", "1,2,3", "1/0", "--1", "1.2.3", "e5", "nan", "∞"), None),
}
LISTS_AS_WRITTEN = {
    (1, 2, 3): ("1 2 3", "1, 2, 3", "1,2,3", "[1,2, 3]", "{1, 2, 3}", "torch.Size([1, 2, 3])"),
    (0.5, 0.25): ("0,5; 0,25", "0,5 0,25", "0,5, 0,25", "50 %, 25 %", "50% and 25%", "1/2, 1/4"),
    (3, 4): ("(3,4)", "3 x 4", "3 × 4", "3;4", "torch.tensor([[3., 4.]])"),
    ((1, 2), (30, 4)): ("[[1, 2], [30, 4]]", "[[1,2],[30,4]]", "(1,2), (30,4)", "1\t2\r\n30\t4"),
    ((1.5, 2), (3, 4)): ("X = torch.tensor([\n    [1.5, 2],\n    [3, 4],\n], dtype=torch.float64)", "1,5\t2\n3\t4"),
    None: ("", "abc", "1 2 x", "1\t\t2", "[1, 2", "[1, [2, 3]]", "0x10"),
}


def test_a_number_is_read_as_people_write_it(page):
    found = page.evaluate("(texts) => texts.map((text) => readNumber(text) ?? null)", list(NUMBERS_AS_WRITTEN))
    assert dict(zip(NUMBERS_AS_WRITTEN, found, strict=True)) == NUMBERS_AS_WRITTEN


def test_several_numbers_are_read_as_people_write_them(page):
    for numbers, texts in LISTS_AS_WRITTEN.items():
        found = page.evaluate("(texts) => texts.map((text) => readNumbers(text) ?? null)", texts)
        assert found == [json.loads(json.dumps(numbers))] * len(texts)


def test_what_a_comma_means_can_follow_from_the_question(page):
    read = "(texts) => texts.map((text) => readNumber(text, { thousands: true }))"
    assert page.evaluate(read, ["5,050", "5,05"]) == [5050, 5.05]
    assert page.evaluate("[1, 2].map((count) => readNumbers('3,4', { count }))") == [[3.4], [3, 4]]
    assert page.evaluate("readNumbers('nan −∞', { words: true }).map(String)") == ["NaN", "-Infinity"]


def test_a_number_is_given_back_as_it_was_typed(page):
    assert page.evaluate("[0.1 + 0.2, 123456.789, -1e-7].map(exact)") == ["0.3", "123456.789", "-1e-7"]


def test_of_what_is_no_number_the_beginning_is_told(page):
    for text in ("much too long to be repeated in full", "1" * 40):
        (nothing, complaint) = page.evaluate("(text) => read(text)", text)
        assert nothing is None and text[:20] in complaint and text[:21] not in complaint


@pytest.mark.parametrize(
    "number, text",
    [
        (0.0004, "≈0"), (0.0006, "0.001"), (0.004, "0.004"), (0.125, "0.13"), (-1.21, "−1.21"), (12.34, "12.3"),
        (-0.0, "0"), (99.5, "99.5"), (123.4, "123"), (250_000, "250k"), (2_500_000, "2.5M"), (1e10, "1e10"),
        (1 - 2**-53, "1"), (0.9999, "1.00"), (1e-15, "≈0"), (-9.9996, "−10.0"), (99.96, "100"), (-0.0042, "−.004"),
        (-12_345, "−12k"), (12_345, "12345"), (-99.96, "−100"), (999_700, "1.0M"), (-9_960_000, "−10M"),
        (9e9, "9e9"), (-9999.7, "−10k"),
    ],
)  # fmt: skip
def test_a_cell_writes_a_number_in_at_most_five_signs(page, number, text):
    assert page.evaluate("(number) => written(number)", number) == text
    assert len(text) <= 5


def test_no_number_is_wider_than_its_cell(page):
    """Around every place where the form changes, and everywhere between."""
    widest = """() => [1, -1].flatMap((sign) => [...Array(2600).keys()].flatMap((k) => {
      const size = 10 ** (k / 200 - 4);
      return [size, size * 0.99999, Math.ceil(size)].map((x) => written(sign * x));
    })).filter((text) => text.length > 5)"""
    assert page.evaluate(widest) == []
