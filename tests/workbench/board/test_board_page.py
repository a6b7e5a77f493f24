"""The page computes what Python computes: every operation, every board, on random numbers and random actions."""

import itertools
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
from workbench.board.lessons import n08_stretched_operations as stretched
from workbench.board.lessons import n10_cache_operations as cache
from workbench.board.lessons import n10_call_operations as call
from workbench.board.lessons import n12_tiles_operations as tiles
from workbench.board.lessons import n14_state_operations as state
from workbench.board.lessons.n07_how_attention_learns import gradient_descent
from workbench.board.parts import CONDITIONS

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
    "weighted_rows": [op.weighted_rows(ROW, A)],
    "total": [op.total(A), op.total(A, over="column")],
    "largest": [op.largest(A)],
    "apart": [op.apart(A, "minus")],
    "running_maximum": [op.running_maximum(A)],
    "rounded": [op.rounded(A), op.rounded(A, digits=0), op.rounded("halves", digits=0)],
    "mask_preset": [op.mask_preset(which=w, queries=3, keys=4, length=2) for w in (0, 1, 2, 3)],
    "both": [op.both(MASK, "shut")],
    "any_open": [op.any_open(MASK)],
    "fill": [op.fill(A, MASK), op.fill(A, MASK, value=-1e9), op.fill(A, "alive", value=0.0)],
    "softmax": [op.softmax(A), op.softmax(A, over="column"), op.softmax("filled")],
    "masked": [op.masked(A, MASK)],
    "entropy": [op.entropy("shares"), op.entropy("certain"), op.entropy(A)],
    "cross_entropy": [
        op.cross_entropy(wish, of) for wish, of in ((SQUARE, "shares"), (MASK, "shares"), (MASK, "broken"))
    ],
    "gradient_descent": [
        gradient_descent(B, "w_k", A, "wish", steps=steps, rate="n", keys_too=too, which=which)
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
    "beside": [op.beside(A, PAIRS)],
    "numbered": [op.numbered(tokens="m", features=("m", "m"))],
    "rotate": [op.rotate(A, angle=30, start="m")],
    "slowed": [stretched.slowed(B, way=way, by="n", alone=alone) for way in stretched.Way for alone in (0, 2)],
    "scores_by_distance": [stretched.scores_by_distance("one of 8", B, tokens="m")],
    "shares_right": [
        stretched.shares_right("one of 4", "four more", MASK, "moments", "other moments"),
        stretched.shares_right("one of 12", "twelve more", "twelve words", "moments", "other moments"),
    ],
    "curves_by_distance": [stretched.curves_by_distance(*["one of 4"] * 4)],
    "rotate_in_chunks": [cache.rotate_in_chunks(A, angle=30, chunk="m", fault=fault) for fault in cache.Fault],
    "cache_mask": [
        cache.cache_mask(tokens=7, read=read, chunk=chunk, window=window, fault=fault)
        for read, chunk, window in ((7, "m", 3), (5, 2, 9), (6, 3, 2))
        for fault in cache.Fault
    ],
    "with_first": [cache.with_first(MASK, stays=stays) for stays in (0, 1)],
    "keys_for_the_next": [
        cache.keys_for_the_next(MASK, window=window, stays=stays) for window in (2, 4) for stays in (0, 1)
    ],
    "kept_rows": [
        *(cache.kept_rows(B, read=3, window=3, fault=fault) for fault in cache.Fault),
        cache.kept_rows(B, read="n", window=9),
    ],
    "shared_outputs": [
        cache.shared_outputs(A, SQUARE, A, "corner", heads=2, stored=2),
        *(cache.shared_outputs("eight", A, SQUARE, "barred", heads=4, stored=2, fault=f) for f in cache.Fault),
    ],
    "shared_weights": [
        *(cache.shared_weights(A, PAIRS, "corner", heads=2, stored=1, of=token, read="n") for token in (0, 1)),
        *(cache.shared_weights("eight", A, "barred", heads=4, stored=2, of=2, fault=f) for f in cache.Fault),
    ],
    "max_difference": [cache.max_difference(A, SQUARE), cache.max_difference(A, SQUARE, read="n")],
    "count": [cache.count(A, "two rows")],
    "who_hears": [tiles.who_hears(A, which=which) for which in tiles.Mask],
    "tiles_now": [tiles.tiles_now(A, MASK, "minus", rows=2, keys="n", order=order, read="m") for order in tiles.Order],
    "passing": [
        tiles.passing(A, B, MASK, "minus", query=query, rows="n", keys=2, order=order, read="m", fault=fault)
        for query, order in enumerate(tiles.Order)
        for fault in tiles.Fault
    ],
    "output_so_far": [tiles.output_so_far("tiles passed"), tiles.output_so_far("no tile")],
    "outputs_in_tiles": [
        tiles.outputs_in_tiles(A, B, MASK, "minus", rows="m", keys="n", order=order, fault=fault)
        for order in tiles.Order
        for fault in tiles.Fault
    ],
    "bytes_moved": [tiles.bytes_moved("some spared", B, rows="n")],
    "state_after": [
        state.state_after(A, "sums", writes=writes, pairs=pairs, rule=rule, gate=gate)
        for rule in state.Rule
        for writes, pairs, gate in ((0, 1, 1), (7, 3, 1), (5, 2, 0.5))
    ],
    "read_by_each": [state.read_by_each(A, "state", pairs=pairs) for pairs in (1, 3)],
    "lines_and_path": [state.lines_and_path(A, "sums", "state", writes=2, pairs=2, rule=state.Rule.SUM, gate=1)],
    "arcs": [op.arcs("shares")],
    "bars": [op.bars("shares")],
    "bytes_read": [call.bytes_read(prompt=9, texts="n", stored=8, window=window, bits=4) for window in (4, 99)],
    "products_made": [call.products_made(prompt=9, texts=2, tokens="n", window=window) for window in (4, 99)],
    "milliseconds": [call.milliseconds(ROW, ROW)],
    "longer": [call.longer(A)],
}
EVERY = [(name, operation) for name, operations in CASES.items() for operation in operations]
WHOLE = [name for name in ALL if "," not in name]  # those whose steps are not a part of another's
HELPERS = {
    "positive": op.exp(A),
    "minus": op.scale(A, by=-1),
    "sums": op.total(A),
    "state": state.state_after(A, "sums", writes=4, pairs=2, rule=state.Rule.HALF, gate=0.9),
    "columns": op.total(A, over="column"),
    "halves": op.scale(MASK, by=2.5),
    "tenths": op.scale(A, by=0.25),
    "to 7": op.numbered(tokens=1, features=8),
    "to 8": op.numbered(tokens=1, features=9),
    "shut": op.mask_preset(which=2, queries=3, keys=4, length=2),
    "alive": op.any_open(MASK),
    "nothing": op.head(A, heads=1, which=1),
    "one": op.total(ROW),
    "filled": op.fill(A, MASK),
    "shares": op.softmax(SQUARE),
    "corner": op.mask_preset(which=2, queries=3, keys=3, length=3),
    "barred": op.cut(MASK, at=3, part=0),
    "eight": op.beside(A, SQUARE),
    "one of 4": op.row(SQUARE, chosen=0),
    "four more": op.row(SQUARE, chosen=1),
    "eight columns": op.beside(SQUARE, "shares"),
    "one of 8": op.row("eight columns", chosen=2),
    "twelve": op.beside("eight columns", SQUARE),
    "one of 12": op.row("twelve", chosen=0),
    "twelve more": op.row("twelve", chosen=1),
    "eight words": op.beside(MASK, MASK),
    "twelve words": op.beside("eight words", MASK),
    "moments": op.product("eight columns", "eight columns", transpose="a"),
    "other moments": op.scale("moments", by=-1),
    "two rows": cache.kept_rows(A, read=2, window=9),
    "tiles passed": tiles.passing(A, B, MASK, "minus", query=2, rows=1, keys=2, order="forwards", read="m"),
    "some spared": tiles.tiles_now(A, MASK, "minus", rows="n", keys=2, order="forwards", read="m"),
    "no tile": tiles.passing(A, B, MASK, "minus", query=2, rows=1, keys=2, order="forwards", read=0),
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


@pytest.mark.parametrize("seed", [0, 1])
def test_every_operation_is_the_same_in_the_page(page, seed):
    numbers = {}
    if seed:  # a dead row, and numbers that make infinities
        mask = torch.tensor([[0.0, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]])
        numbers = {MASK: mask, A: torch.tensor([[800.0, -800, 0, 1], [0, 0, 0, 0], [-1, 1e6, -0.05, 0.25]])}
    board = board_of([operation for _, operation in EVERY], seed, **numbers)
    names = {f"step {k}": name for k, (name, _) in enumerate(EVERY)}
    texts, results = [], []
    for settings_now in ({"n": 1, "m": 2}, {"n": 2, "m": 4}):
        board.change(**settings_now)
        texts.append(traits(board))
        results.append(board.results)
    for theirs, ours in zip(values_of(page, *texts), results, strict=True):
        for step, tensor in ours.items():
            assert_close(theirs[step], tensor, names.get(step, step))


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
        const after = OPERATIONS[step.does].does(matrices, step.resolved);
        for (const { i, j, value, named } of cells)
          if (!close(after[i]?.[j] ?? value, value) && !named.has(`${of}/${k}/${l}`))
            wrong.push([step.name, i, j, "source", of, k, l]);
      }));
    }
  }
  return wrong;
}"""


def test_arithmetic_of_every_operation_names_its_sources(page):
    wrong = page.evaluate(ARITHMETIC, traits(board_of([operation for _, operation in EVERY])))
    assert [(EVERY[int(step.split()[1])][0] if "step" in step else step, *rest) for step, *rest in wrong] == []


@pytest.mark.parametrize("name", WHOLE)
def test_arithmetic_of_a_board_names_its_sources(page, name):
    assert page.evaluate(ARITHMETIC, traits(ALL[name]())) == []


# What each step says of itself while it is played.
SAYS = """(text) => {
  const engine = engineOf(text), played = engine.steps.filter(({ role }) => role === "computed" || role === "choice");
  return played.map((step) => OPERATIONS[step.does].says(step.of, step.resolved));
}"""


def test_every_step_says_what_it_does_in_a_sentence(page):
    said = page.evaluate(SAYS, traits(board_of([operation for _, operation in EVERY])))
    assert len(said) > 80
    assert [words for words in said if not re.fullmatch(r"[^\n]{10,}\.", words)] == []
    assert [words for words in said if re.search("undefined|NaN|null|object", words)] == []


LINE = """(text) => {
  const engine = engineOf(text), { name } = engine.steps.at(-1);
  return plainText(spelledOut(engine.arithmetic(name, 0, 0), engine.values[name][0][0]));
}"""
SMALL = {A: torch.tensor([[-0.001, 2, 3, 4], [5, 6, 7, 8], [0, 0, 0, 0]]), MASK: torch.zeros(3, 4)}


LINES = [
    (op.subtract("columns", A), "5 − 0 = 5"),
    (op.scale(A, by=-1), "−0.001·(−1) = 0.001"),
    (op.total(A), "0 + 2 + 3 + 4 = 9"),
    (op.total("to 7"), "0 + 1 + 2 + 3 + 4 + 5 + 6 + 7 = 28"),
    (op.total("to 8"), "0 + 1 + 2 + 3 + 4 + 5 + 6 + … = 36"),
    (op.fill(A, MASK), "may not attend: −∞ = −∞"),
    (op.masked(A, MASK), "nothing to attend to, so 0 = 0"),
]


def test_arithmetic_is_spelled_out(page):
    for operation, line in LINES:
        assert page.evaluate(LINE, traits(board_of([operation], **SMALL))) == line


def test_as_code_a_matrix_has_a_name_that_python_takes(page):
    made = {}
    exec(page.evaluate("(text) => engineOf(text).code()", traits(Board({"W of q": torch.eye(2)}, []))), made)
    assert torch.equal(made["W_of_q"], torch.eye(2, dtype=torch.float64))


def test_a_right_angle_is_exact(page):
    board = board_of([op.rotate(A, angle=90, start=1)], **SMALL)
    (theirs,) = values_of(page, traits(board))
    assert theirs["step 0"] == board.results["step 0"].tolist()
    assert theirs["step 0"][1] == [-5, -6, -7, -8]


def test_a_zero_that_gets_a_minus_sign_has_not_moved(page):
    board = board_of([op.multiply(A, SQUARE)], **{A: torch.full((3, 4), -1.0), SQUARE: torch.zeros(3, 4)})
    moved = page.evaluate("(text) => engineOf(text).moves('a', 0, 0)", traits(board))
    assert ["sums", 0, 0] in moved and ["step 0", 0, 0] not in moved


# What is written is true: whoever computes with the digits that stand there gets the digits that stand there.
WRITTEN = """(text) => {
  const engine = engineOf(text), lines = [];
  for (const step of engine.steps) engine.values[step.name].forEach((row, i) => Array.from(row).forEach((value, j) => {
    const tree = engine.arithmetic(step.name, i, j);
    if (tree) lines.push(plainText(spelledOut(tree, value)));
  }));
  return lines;
}"""


def test_a_line_is_true_as_it_is_written(page):
    operations = [*CASES["product"], *CASES["softmax"][:1], *CASES["scale"], *CASES["divide"], *CASES["entropy"][:1]]
    operations += CASES["passing"]
    checked = 0
    for line in page.evaluate(WRITTEN, traits(board_of(operations))):
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


def test_a_seed_means_the_same_numbers_in_the_page_and_in_python(page):
    for seed, draw in itertools.product((1, 77, 2**31), ((-1, 1, 0.5), (0, 1, 1), (-3, 3, 1))):
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
        elif panel.get("pin"):
            rows, columns = board.results[panel["name"]].shape
            cell = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1), st.floats(-20, 20).map(str))
            choices += [cell.map(lambda c, p=panel: ["edit", p["name"], [[*c]]]), st.just(["letGo", panel["name"]])]
    return st.lists(st.one_of(choices), min_size=1, max_size=6)


MOVED = """([text, all]) => JSON.stringify(all.map((actions) => {
  const engine = engineOf(text);
  for (const [what, ...how] of actions) engine[what](...how);
  const { proof, answer } = engine;
  return [{ revision: 7, ...engine.state, proof, answer, fresh: !proof }, valuesOf(engine), engine.reached];
}))"""


@pytest.mark.parametrize("name", WHOLE)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_board_moved_at_random_agrees_with_python(page, name, data):
    board = ALL[name]()
    start = {"revision": 6, **board.spec["start"], "proof": None, "answer": None, "fresh": True}
    five = data.draw(st.lists(actions(board), min_size=5, max_size=5))
    for said, values, done in json.loads(page.evaluate(MOVED, [traits(board), five])):
        board.set_state({"state": start})
        assert not board.reached
        board.set_state({"state": said})
        assert board.reply["revision"] == 7 and board.reply["problem"] == ""
        for step, tensor in board.results.items():
            assert_close(values[step], tensor, (name, step))
        assert board.reached == done


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
    (("differ", "broken", "a", 0.5), True), (("differ", "broken", "a", 1), False),
    (("most_even", "film", "zero", "zero"), True), (("most_even", "film", "n", "zero"), False),
]  # fmt: skip


def test_a_task_is_done_in_the_page_when_it_is_done_in_python(page):
    numbers = {"n": 1, "zero": 0}
    asked = "([there, all]) => all.map(([kind, ...rest]) => CONDITIONS[kind](there, ...rest))"
    there = {"values": THERE, "numbers": numbers, "start": BEGAN}
    theirs = page.evaluate(asked, [there, [list(condition) for condition, _ in HOLDS]])
    values, start = ({name: torch.tensor(rows) for name, rows in given.items()} for given in (THERE, BEGAN))
    ours = [CONDITIONS[kind](values, numbers, start, *rest) for (kind, *rest), _ in HOLDS]
    assert theirs == ours == [holds for _, holds in HOLDS]
    assert {kind for (kind, *_), _ in HOLDS} == CONDITIONS.keys()


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
          wrong.push(`${engine.label(panel.name, i, j)} ${JSON.stringify(engine.state.settings)}: ${error}`);
        }
      }));
    }
  };
  const menus = engine.controls.filter(({ slider }) => !slider);
  const each = ({ name }, values, others = [{}]) =>
    others.flatMap((other) => values.map((value) => ({ ...other, [name]: value })));
  const all = menus.reduce((others, menu) => each(menu, menu.values, others), [{}]);
  const few = all.length < 20 ? all : menus.flatMap((menu) => each(menu, menu.values));
  const sliders = engine.controls.filter(({ slider }) => slider);
  const ends = sliders.flatMap((slider) => each(slider, [slider.values[0], slider.values.at(-1)]));
  for (const settings of [...few, ...ends]) {
    engine.state = { ...engine.state, settings: { ...engine.start.settings, ...settings } };
    engine.compute();
    ask();
  }
  return [said.length, wrong.slice(0, 5)];
}"""


@pytest.mark.parametrize("name", WHOLE)
def test_every_cell_can_be_asked_at_every_setting(page, name):
    said, wrong = page.evaluate(ASKED, traits(ALL[name]()))
    assert wrong == [] and said >= 10


# ------------------------------------------------------------------------------------------- numbers, read and written


NUMBERS_AS_WRITTEN = {
    **{"0.375": 0.375, " −2 ": -2, "- 2": -2, "1e-3": 1e-3, ".5": 0.5, "+7.": 7, "-1E6": -1e6, "1/4": 0.25, "½": 0.5},
    **{"1,5": 1.5, "-,5": -0.5, "47 %": 0.47, "7 percent": 0.07, "5 050": 5050, "5\u202f050": 5050, "5,050": 5.05},
    **{"1½": 1.5, "1,234.5": 1234.5, "1.234,5": 1234.5, "1,234,567": 1234567},
    **dict.fromkeys(("", "abc", "0x10", "1 2", "1,2,3", "1/0", "--1", "1.2.3", "e5", "nan", "∞"), None),
}
ROWS_AS_WRITTEN = {
    ((1, 2, 3),): ("1 2 3", "1, 2, 3", "1,2,3", "[1,2, 3]", "torch.tensor([1., 2., 3.])", "1;2;3"),
    ((0.5, 0.25),): ("0,5; 0,25", "0,5 0,25", "0,5, 0,25", "1/2, 1/4", "[[0.5, 0.25]]"),
    ((1, 2), (30, 4)): ("[[1, 2], [30, 4]]", "[[1,2],[30,4]]", "(1,2), (30,4)", "1\t2\r\n30\t4", "[[ 1  2]\n [30  4]]"),
    ((1.5, 2), (3, 4)): ("X = torch.tensor([\n    [1.5, 2],\n    [3, 4],\n], dtype=torch.float64)", "1,5\t2\n3\t4"),
    None: ("", "abc", "1 2 x", "1\t\t2", "[1, 2", "[1, [2, 3]]", "0x10", "1\n\n2"),
}


def test_a_number_is_read_as_people_write_it(page):
    found = page.evaluate("(texts) => texts.map((text) => readNumber(text) ?? null)", list(NUMBERS_AS_WRITTEN))
    assert dict(zip(NUMBERS_AS_WRITTEN, found, strict=True)) == NUMBERS_AS_WRITTEN


def test_pasted_rows_are_read_as_sheets_and_python_have_them(page):
    for rows, texts in ROWS_AS_WRITTEN.items():
        found = page.evaluate("(texts) => texts.map((text) => readRows(text) ?? null)", texts)
        assert found == [json.loads(json.dumps(rows))] * len(texts)


def test_a_number_is_given_back_as_it_was_typed(page):
    assert page.evaluate("[0.1 + 0.2, 123456.789, -1e-7].map(exact)") == ["0.3", "123456.789", "-1e-7"]


def test_of_what_is_no_number_the_beginning_is_told(page):
    for text in ("much too long to be repeated in full", "1" * 40):
        (nothing, complaint) = page.evaluate("(text) => readCell(text)", text)
        assert nothing is None and text[:20] in complaint and text[:21] not in complaint


WRITTEN_SHORT = [
    (0.0004, "≈0"), (0.0006, "0.001"), (0.004, "0.004"), (0.125, "0.13"), (-1.21, "−1.21"), (12.34, "12.3"),
    (-0.0, "0"), (99.5, "99.5"), (123.4, "123"), (250_000, "250k"), (2_500_000, "2.5M"), (1e10, "1e10"),
    (1 - 2**-53, "1"), (0.9999, "1.00"), (1e-15, "≈0"), (-9.9996, "−10.0"), (99.96, "100"), (-0.0042, "−.004"),
    (-12_345, "−12k"), (12_345, "12345"), (-99.96, "−100"), (999_700, "1.0M"), (-9_960_000, "−10M"),
    (9e9, "9e9"), (-9999.7, "−10k"),
]  # fmt: skip


def test_a_cell_writes_a_number_in_at_most_five_signs(page):
    found = page.evaluate("(all) => all.map(([number]) => written(number))", WRITTEN_SHORT)
    assert found == [text for _, text in WRITTEN_SHORT] and max(map(len, found)) <= 5
