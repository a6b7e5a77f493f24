"""The tests' own helpers: what they let pass unseen, no test that uses them would see."""

import math
import pickle
import sys
from types import SimpleNamespace

import board_actions
import nbformat
import ports
import pytest
import record_outputs
import torch
from board_page import assert_close
from hypothesis import find, settings
from lab_page import TOO_SMALL, Lab, wait_for
from refusals import assert_refused
from strategies import attention_inputs, masks, normal

import conftest


def refuse(*words):
    raise ValueError(" ".join(words))


def test_a_refusal_needs_the_error_and_all_of_the_words():
    assert_refused(lambda: refuse("q has 3", "k has 4"), ValueError, ["q", "3", "4"])
    with pytest.raises(AssertionError):
        assert_refused(lambda: refuse("q has 3"), ValueError, ["q", "4"])
    with pytest.raises(ValueError):
        assert_refused(lambda: refuse("q"), TypeError, ["q"])
    with pytest.raises(pytest.fail.Exception):
        assert_refused(lambda: None, ValueError, [])


@pytest.mark.parametrize(
    "theirs", [[[1.0, 2.1]], [[1.0]], [[1.0, 2.0, 3.0]], [], [[1.0, math.nan]], [[1.0, math.inf]], [[1.0, -2.0]]]
)
def test_numbers_of_a_page_that_are_others_are_noticed(theirs):
    with pytest.raises(AssertionError):
        assert_close(theirs, torch.tensor([[1.0, 2.0]]), "here")


def test_numbers_of_a_page_that_are_the_same_are_let_pass():
    ours = torch.tensor([[math.nan, math.inf], [-math.inf, 1e6]], dtype=torch.float64)
    assert_close([["nan", "inf"], ["-inf", 1e6 + 1e-5]], ours, "here")
    for theirs in ([["inf", "inf"], ["-inf", 1e6]], [["nan", "inf"], ["inf", 1e6]], [["nan", 1], ["-inf", 1e6]]):
        with pytest.raises(AssertionError):
            assert_close(theirs, ours, "here")


@pytest.mark.parametrize(
    "wanted",
    [
        lambda q, k, v, mask: mask is None,
        lambda q, k, v, mask: mask is not None and not mask.any(-1).all(),
        lambda q, k, v, mask: mask is not None and mask.all(),
        lambda q, k, v, mask: mask is not None and mask.ndim < q.ndim,
        lambda q, k, v, mask: mask is not None and mask.ndim == q.ndim == 4,
        lambda q, k, v, mask: mask is not None and mask.size(-1) == 1 < k.size(-2),
        lambda q, k, v, mask: mask is not None and mask.size(-2) == 1 < q.size(-2),
        lambda q, k, v, mask: q.ndim == 2,
        lambda q, k, v, mask: q.size(-2) > k.size(-2),
        lambda q, k, v, mask: q.size(-2) < k.size(-2),
        lambda q, k, v, mask: q.size(-1) != v.size(-1),
        lambda q, k, v, mask: q.shape == k.shape == v.shape and not (q.equal(k) or k.equal(v) or q.equal(v)),
    ],
)
def test_attention_is_tried_on_inputs_of_every_kind(wanted):
    found = find(attention_inputs(), lambda drawn: bool(wanted(*drawn)), settings=settings(max_examples=1000))
    assert wanted(*found)


def test_a_mask_that_is_asked_for_is_there_and_so_are_gradients():
    for masked in (True, False):
        drawn = find(attention_inputs(masked=masked, grad=True), lambda drawn: True)
        assert (drawn[3] is not None) == masked and all(tensor.requires_grad for tensor in drawn[:3])
    assert find(masks((2, 3, 4)), lambda mask: mask.shape == (2, 3, 4)).dtype == torch.bool
    assert not normal(4, seed=1).equal(normal(4, seed=2)) and normal(4, seed=1).equal(normal(4, seed=1))
    assert normal(4).dtype == torch.float64 and normal(4, dtype=torch.float16).dtype == torch.float16


def test_examples_are_the_same_in_every_run_however_slow_the_machine_is():
    ours = settings()
    assert ours.derandomize and ours.deadline is None and ours.max_examples == 60


def test_ports_in_a_row_are_all_free(monkeypatch):
    taken, firsts, asked = {11, 22}, iter([10, 20, 30]), []

    class Server:
        def __init__(self, port):
            self.port = port

        def getsockname(self):
            return "127.0.0.1", self.port

        def __enter__(self):
            return self

        def __exit__(self, *_): ...

    def create_server(address):
        asked.append(address)
        port = address[1] or next(firsts)
        if port in taken:
            raise OSError("taken")
        return Server(port)

    monkeypatch.setattr(ports.socket, "create_server", create_server)
    assert ports.free_ports(3) == 30
    assert [port for _, port in asked] == [0, 11, 0, 21, 22, 0, 31, 32] and {host for host, _ in asked} == {"127.0.0.1"}


def test_a_server_that_has_ended_is_told_at_once_with_what_it_said_last(tmp_path, monkeypatch):
    monkeypatch.setattr("lab_page.time.sleep", None)  # nobody waits for it
    (tmp_path / "log").write_text("port taken")
    with pytest.raises(pytest.fail.Exception, match="port taken"):
        wait_for("http://127.0.0.1:1", lambda: False, tmp_path / "log")


def test_what_is_built_once_is_built_once_unless_building_failed(built_once):
    built = []

    def build(folder):
        built.append(folder)
        (folder / "page").write_text("x")
        if len(built) == 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        built_once("a made-up site", build)
    for _ in range(2):
        assert (built_once("a made-up site", build) / "page").read_text() == "x"
    assert len(built) == 2


@pytest.mark.parametrize("turn", [1, 2])
def test_a_folder_of_its_own_is_empty_for_each_test(own_folder, turn):
    assert list(own_folder.iterdir()) == [] and own_folder == own_folder.cwd()
    (own_folder / "file").touch()
    (own_folder / "folder/inner").mkdir(parents=True)


@pytest.fixture
def the_same_as_before():
    import workbench.board

    yield
    assert sys.modules["workbench.board"] is workbench.board and "authors.unheard_of" not in sys.modules


def test_what_is_imported_afresh_is_not_there_yet_and_then_as_it_was(the_same_as_before, imported_afresh):
    assert not [name for name in sys.modules if name.startswith(("attn_lib", "workbench", "authors"))]
    import workbench

    sys.modules["authors.unheard_of"] = workbench


def test_without_a_browser_tests_are_skipped_but_never_where_nobody_would_notice(monkeypatch):
    look = conftest.chromium._get_wrapped_function()
    monkeypatch.setattr(conftest, "find_browser", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="CHROMIUM"):
        look()
    monkeypatch.setenv("CI", "true")
    with pytest.raises((pytest.fail.Exception, pytest.skip.Exception), match="chromium") as caught:
        look()
    assert caught.type is pytest.fail.Exception  # else this test would be skipped itself
    monkeypatch.setattr(conftest, "find_browser", lambda: "/here")
    assert look() == "/here"


def test_files_that_take_long_begin_first_and_all_others_stay_in_order():
    names = ["test_arrows", "test_deck", "test_wire", "test_site", "test_board"]
    items = [SimpleNamespace(parent=None, path=conftest.Path(f"{name}.py")) for name in names]
    conftest.pytest_collection_modifyitems(None, items)
    assert [item.path.stem for item in items] == ["test_site", "test_deck", "test_arrows", "test_board", "test_wire"]


ALL_RUN = """script => [["[ ]", "x"], ["[*]", "x"], ["[12]", "x"], ["[ ]", " "]].map(([prompt, source]) => {
  document.body.innerHTML = `<div class="jp-CodeCell"><i class="jp-InputPrompt">[1]</i><i class="cm-content">y</i></div>
    <div class="jp-CodeCell"><i class="jp-InputPrompt">${prompt}</i><i class="cm-content">${source}</i></div>`;
  return eval(script)();
})"""


def test_a_notebook_has_run_when_every_cell_that_is_not_empty_has_its_number(browser):
    page, lab, waits = browser.new_page(), Lab.__new__(Lab), []
    lab.page = SimpleNamespace(wait_for_function=waits.append)
    lab.wait_until_run()
    assert page.evaluate(ALL_RUN, waits[0]) == [False, False, True, True]
    page.close()


EACH_SPOILT = """([script, arg]) => {
  const seen = eval(script), cells = [...document.querySelectorAll("b")], passed = [];
  for (const [i, cell] of cells.entries()) {
    const text = cell.textContent, said = cell.ariaLabel, label = said.slice(0, -text.length);
    const more = (Number(text.replace("−", "-")) * 1.01 + 0.02).toFixed(2).replace("-", "−");
    for (const [shown, named] of [[more, more], [more, text], [text, more]]) {
      cell.textContent = shown;
      cell.ariaLabel = label + named;
      if (seen(arg)) passed.push([i, shown, named]);
    }
    cell.textContent = text;
    cell.ariaLabel = said;
  }
  return [seen(arg), passed, cells.length];
}"""


def test_a_board_that_shows_one_wrong_result_or_says_another_is_not_what_is_waited_for(browser):
    page, tokens = browser.new_page(), board_actions.TOKENS
    matrices = [
        matrix.double() for matrix in (board_actions.X, board_actions.W_q, board_actions.W_k, board_actions.W_v)
    ]
    steps = board_actions.self_attention_steps(*matrices, scale=1)
    names = {f"weights {a} → {b}": steps.weights[i, j] for i, a in enumerate(tokens) for j, b in enumerate(tokens)}
    names |= {f"outputs {a}, column {j + 1}": steps.outputs[i, j] for i, a in enumerate(tokens) for j in range(3)}
    shown = [(name, f"{number:.2f}".replace("-", "−")) for name, number in names.items()]
    cells = "".join(f'<b aria-label="{name}: {text}">{text}</b>' for name, text in shown)
    page.set_content(f"<div id=board>{cells}</div>")
    seen = []
    once = SimpleNamespace(wait_for_function=lambda script, arg: seen.append((script, arg)))
    board = SimpleNamespace(page=once, element_handle=lambda: page.query_selector("#board"))
    board_actions.see_results(board)
    board_actions.see_results(board, W_q=board_actions.changed(board_actions.W_q, 1, 1, 9.0))
    assert page.evaluate(EACH_SPOILT, list(seen[0])) == [True, [], len(names)]
    assert page.evaluate(*seen[1]) is False and board_actions.W_q[0, 0] != 9
    page.close()


def test_what_a_notebook_has_shown_is_kept_by_its_cells_and_no_other_cells_pass_for_them(tmp_path, monkeypatch):
    heard = []
    shell = SimpleNamespace(events=SimpleNamespace(register=lambda event, hear: heard.append((event, hear))))
    monkeypatch.setattr(record_outputs, "get_ipython", lambda: shell)
    monkeypatch.setitem(sys.modules, "authors.deck.live", SimpleNamespace(shown=lambda value: value and [value]))
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != record_outputs.ROOT])
    cells = [("code", "1 + 1", 2), ("markdown", "words", None), ("code", "", None), ("code", "x = 3", None)]
    made = [getattr(nbformat.v4, f"new_{kind}_cell")(source, id=f"id{i}") for i, (kind, source, _) in enumerate(cells)]
    nbformat.write(nbformat.v4.new_notebook(cells=made), tmp_path / "a.ipynb")
    record_outputs.begin()
    ((event, hear),) = heard
    for kind, source, value in cells:
        if kind == "code" and source:
            hear(SimpleNamespace(info=SimpleNamespace(raw_cell=source), result=value))
    path = list(sys.path)
    record_outputs.keep(tmp_path / "a.ipynb", tmp_path / "kept")
    assert event == "post_run_cell" and pickle.loads((tmp_path / "kept").read_bytes()) == {"id0": [2]}
    assert sys.path == path and not list(tmp_path.glob("*.kernel"))
    shell.came[1] = ("x = 4", None)
    with pytest.raises(AssertionError, match="id3"):
        record_outputs.keep(tmp_path / "a.ipynb", tmp_path / "kept")


@pytest.mark.parametrize("cores, arguments, workers", [(1, (), 2), (2, (), 3), (64, (), 4), (64, ("-k", "mask"), 2)])
def test_there_is_one_worker_more_than_cores_but_no_more_than_what_is_long_and_two_for_a_part(
    monkeypatch, cores, arguments, workers
):
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    config = SimpleNamespace(invocation_params=SimpleNamespace(args=arguments))
    assert conftest.pytest_xdist_auto_num_workers(config) == workers


SMALL = """<style>body { font-size: 12px } .big { font-size: 20px }</style>
<p class="a">small</p> <p class="big">large <i style="font-size: 10px"> </i></p> <aside>note</aside>
<p hidden>hidden</p> <div class="big"><b class="c" style="font-size: 17px">inner</b></div>
<p class="d big" style="zoom: 0.5">shrunk</p>"""


def test_letters_that_nobody_reads_are_found_and_no_others(browser):
    page = browser.new_page()
    page.set_content(SMALL)
    found = f"(scale) => {{ {TOO_SMALL} return tooSmall([...document.body.querySelectorAll('*')], scale) }}"
    assert [line.split()[0] for line in page.evaluate(found, 1)] == ["a", "c", "d"]
    assert [line.split()[0] for line in page.evaluate(found, 1.1)] == ["a", "d"]
    assert [line.split()[0] for line in page.evaluate(found, 0.8)] == ["a", "big", "c", "d"]
    assert page.evaluate(found, 1)[0] == "a 12px: small"
    page.close()
