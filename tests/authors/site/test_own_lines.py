"""A line of the learner's own in a page: it says what the notebook says, or that it cannot try the line."""

import ast
import math

import line_forms
import nbformat
import pytest
import torch
from own_lines import in_kernel, in_page, names_of, recorded
from paths import LESSONS
from playwright.sync_api import expect

from authors.pages.own_lines import KINDS, NOT_HERE, OwnLines
from workbench.smollm import place

SAME = {"unread": "unreadable"}
OTHERWISE = ["05.my-layer", "11.my-normed"]  # here a learner writes what the course's cell finds, or under another name


@pytest.fixture(scope="module")
def lessons(built):
    files = sorted((built / "_static" / "lines").glob("*.js"))
    return {file.stem: recorded(file.read_text(encoding="utf-8")) for file in files}


def lines_of(lessons):
    return {id: (name, line) for name, lesson in lessons.items() for id, line in lesson["lines"].items()}


@pytest.mark.skipif(place.package_file() is None, reason="lines of lesson 13 are missing")
def test_every_line_is_tried_or_says_why_not(lessons):
    asked = [
        cell.id for path in LESSONS for cell in nbformat.read(path, as_version=4).cells if "blank" in tags_of(cell)
    ]
    assert len(lines_of(lessons)) + len(NOT_HERE) == len(asked)


def tags_of(cell):
    return cell.metadata.get("tags", [])


@pytest.mark.filterwarnings("ignore")
def test_page_and_kernel_say_the_same_of_every_form(lessons, tmp_path, monkeypatch):
    """Right lines and wrong ones, the course's own among them; what the page does not know it says."""
    lines, names = lines_of(lessons), list(lessons)
    own = [(id, source) for id, source in courses_own() if id in lines]
    wrong = [(id, source) for id, (_, line) in lines.items() for source in named_wrong(line)]
    asked = [*((id, source) for id, source in line_forms.forms() if id in lines), *wrong, *own]
    calls = [[names.index(lines[id][0]), id, source] for id, source in asked]
    untried = 0
    for (id, source), page in zip(asked, in_page(tmp_path, calls, lessons.values()), strict=True):
        if page["status"] == "unknown":
            untried += 1
            assert (id, source) not in own or id in OTHERWISE, f"{id}: the course's own is not tried: {page}"
            continue
        assert (id, source) not in own or id in OTHERWISE or page["status"] == "right", (
            f"{id}: the course's own: {page}"
        )
        assert (id, source) not in line_forms.IN_OTHER_WORDS or page["status"] == "right", f"{id}: {source}: {page}"
        assert (id, source) not in line_forms.BY_CHANCE or page["status"] == "wrong", f"{id}: right by chance: {source}"
        name, line = lines[id]
        status, slip, comment = in_kernel(id, line, lessons[name], source, monkeypatch)
        assert (SAME.get(page["status"], page["status"]), page.get("slip")) == (status, slip), f"{id}: {source}"
        if status == "wrong" and not slip:
            assert page["says"] == comment, f"{id}: {source}"
    assert len(asked) > 200 and untried < 0.06 * len(asked)


def named_wrong(line):
    """The named wrong lines that the page works out itself."""
    return [f"{line['name']} = {slip['value']['code']}" for slip in line["slips"] if "code" in slip["value"]]


def courses_own():
    """The course's own lines as a learner would write them, and the first named wrong ones."""
    for path in LESSONS:
        for cell in nbformat.read(path, as_version=4).cells:
            if "filled" in tags_of(cell) and cell.source.count("blank(") == 1:
                before, _, call = cell.source.partition("blank(")
                id, name, truth, *_ = ast.parse(f"blank({call}").body[0].value.args
                yield id.value, f"{before}\n{name.id} = {ast.unparse(truth)}"


@pytest.mark.parametrize("id", ["01.my-keys", "03.my-before", "07.my-grad-row", "11.my-normed", "12.my-l"])
def test_named_wrong_values_are_told_by_their_names(lessons, tmp_path, id):
    """Each named wrong value, written down number by number."""
    name, line = lines_of(lessons)[id]
    lesson = lessons[name]
    kinds = lesson["tensors"]
    calls, slips = [], []
    for slip in line["slips"]:
        kind, shape, numbers = kinds[slip["value"]["t"]][:3]
        data = f"torch.tensor({numbers}, dtype=torch.{kind}).reshape({shape})"
        data = data.replace("'nan'", "math.nan").replace("'-inf'", "-math.inf")
        calls.append([0, id, f"import math\nimport torch\n{line['name']} = {data}"])
        slips.append(slip["name"])
    assert [said.get("slip") for said in in_page(tmp_path, calls, [lesson])] == slips


# --------------------------------------------------------------------------------------------- PyTorch's operations

NUMBERS = torch.Generator().manual_seed(0)


def drawn(*shape, dtype=torch.float32):
    return (4 * torch.randn(shape, generator=NUMBERS)).round().div(4).to(dtype)


TENSORS = {
    "a": drawn(3, 4),
    "b": drawn(4, 3),
    "c": drawn(2, 3, 4),
    "v": drawn(4),
    "s": drawn(),
    "i": drawn(3, 4, dtype=torch.int64),
    "k": torch.tensor([2, 0, 1, 1]),
    "m": drawn(3, 4) > 0,
    "d": drawn(3, 4, dtype=torch.float64),
    "t": drawn(2, 4, 3).transpose(1, 2),
    "q": drawn(2, 2, 3, 4),
    "o": torch.tensor([[1.0, math.inf, -math.inf, math.nan], [0.0, 1.0, 2.0, 3.0], [-math.inf] * 4]),
}
DIMS = [-3, -2, -1, 0, 1, 2, 3]
ALONG = ["sum", "mean", "amax", "amin", "any", "all", "argmax", "logsumexp", "var", "std", "max", "min"]
LIKE = ["softmax", "log_softmax", "cumsum", "unsqueeze", "squeeze", "flatten", "size", "unbind", "flip"]
PLAIN = [
    *(
        "exp",
        "log",
        "sqrt",
        "square",
        "abs",
        "neg",
        "sin",
        "cos",
        "sigmoid",
        "relu",
        "isnan",
        "rsqrt",
        "nan_to_num",
        "t",
    ),
    *("flatten", "squeeze", "clone", "numel", "dim", "float", "double", "long", "bool", "tolist", "diagonal", "diag"),
    *("tril", "triu", "sum", "mean", "max", "softmax"),
]
ONE = (
    *(f".{name}()" for name in PLAIN),
    *(".T", ".mT", ".shape", ".ndim", "[0]", "[-1]", "[5]", "[None]", "[..., 0]", "[:, 1:]", "[::2]", "[:, None]"),
    *("[[0, 2]]", "[m]", "[:, [0, 1]]", "[..., [2, 0]]", "[[0, 1], [1, 0]]", "[0, ..., 1]", "[i > 0]", "[1.5]"),
    *(".tril(-1)", ".triu(1)", ".roll(1)", ".roll(-1, 0)", ".diagonal(1)", ".repeat(2, 1)", ".expand(2, 3, 4)"),
    *(".permute(1, 0)", ".permute(0, 2, 1)", ".masked_fill(m, -math.inf)", ".masked_fill(m, 0.5)"),
    *(".repeat_interleave(2, dim=1)", ".to(torch.float64)", ".chunk(2)[1]", ".item()"),
    *(" + 1", " - 0.5", " * 2", " / 2", " ** 2", " > 0", " == 1", " - True", " & m", " | True"),
)
SIZES = ["-1", "(3, 4)", "2, 6", "(2, -1)", "(2, 3, 4)", "(-1, 1)", "12", "(2, 2, 12)"]
TWO = ["+", "-", "*", "/", "@", "<", "==", "&", "**", "!="]
FUNCTIONS = (
    *("torch.matmul({x}, {y})", "torch.mm({x}, {y})", "torch.bmm({x}, {y})", "torch.outer({x}, {y})"),
    *("torch.cat([{x}, {y}])", "torch.cat(({x}, {y}), dim=-1)", "torch.stack([{x}, {y}], 1)"),
    "torch.maximum({x}, {y})",
    *("torch.where({x} > 0, {x}, {y})", "torch.einsum('ij,jk->ik', {x}, {y})", "({x} @ {y}).view(-1)", "{x}[{y}]"),
    *("torch.cosine_similarity({x}, {y}, dim=0)", "torch.cosine_similarity({x}, {y}, dim=-1)"),
    *("torch.einsum('bij,bkj->bik', {x}, {y})", "({x} * {y}).view(-1)", "{x} @ {y}.mT", "F.cross_entropy({x}, {y})"),
    *("{x}.gather(0, {y})", "{x}.gather(-1, {y}.abs())", "F.scaled_dot_product_attention({x}, {y}, {y})"),
    *("F.scaled_dot_product_attention({x}, {x}, {y}, is_causal=True)", "F.cross_entropy({x}, {y}[:, 0].abs())"),
)
MADE = (
    *("torch.arange(5)", "torch.arange(1, 5.)", "torch.ones(2, 3, dtype=torch.bool)", "torch.full((2,), 5.0)"),
    *("torch.full((2, 3), 5)", "torch.eye(3)", "torch.tensor([1, 2.5])", "torch.tensor([True, 2])", "torch.zeros(3)"),
    *("torch.tensor([[1], [2, 3]])", "torch.diag(torch.ones(2), -1)", "2 ** 3 ** 2", "-2 ** 2", "-7 % 3", "7 // -2"),
    *("1 < 2 < 3", "1 < 3 < 2", "[x for x in range(5) if x % 2]", "(1, 2) + (3,)", "a.T.view(12)", "c.T", "1 / 0"),
    *("(a.T + 1).view(12)", "a.T.flip(0).view(12)", "torch.cat([a.T, a.T]).view(24)", "c.sum(1).view(8)"),
    *("zip(a, a)[0]", "len(zip(a))", "reversed([1, 2])[0]", "torch.stack(reversed([v, v]))", "[*zip(a, v)][1][0]"),
    *("not True and False", "torch.tensor([v, v])", "torch.reshape(a, -1)", "a.flip()", "F.layer_norm(a, 4)"),
    *("a in [a]", "math.exp(710)", "0 ** -1", "2 % 5 ** -2", "[1, 2, 3][::2]", "torch.zeros_like(i)", "k << 1"),
    *("torch.cat(x for x in c)", "a.mean(dim=(0, 1))", "F.layer_norm(a, (4,))", "torch.softmax(a, axis=-1)"),
    "F.cosine_similarity(a, a + 1)",
    *("F.pad(a, (1, 0))", "F.pad(c, (0, 2, 1, 1), value=2.0)", "F.pad(m, (1, 1))", "F.pad(a, (0, 0, 0, 0, 1, 0))"),
    *("F.cross_entropy(c, k[:3].expand(2, 3))", "F.cross_entropy(c, torch.ones(2, 4, dtype=torch.long))"),
    *("F.scaled_dot_product_attention(q, q, q, m[:, :3])", "F.scaled_dot_product_attention(a, a, a, d[:, :3].float())"),
    *("F.scaled_dot_product_attention(a, a, a, scale=0.5)", "c.gather(1, k.view(1, 2, 2).expand(2, 2, 2))"),
)


def expressions():
    for x in TENSORS:
        yield from (x + end for end in ONE)
        for name in ALONG:
            for dim in DIMS:
                yield from (f"{x}.{name}({dim})", f"torch.{name}({x}, dim={dim}, keepdim=True)")
        yield from (f"{x}.{name}({dim})" for name in LIKE for dim in DIMS)
        yield from (f"{x}.transpose({one}, {other})" for one in DIMS for other in (0, -1, 1))
        for size in SIZES:
            yield from (f"{x}.view({size})", f"{x}.reshape({size})", f"{x}.transpose(0, 1).view({size})")
        for y in TENSORS:
            yield from (f"{x} {sign} {y}" for sign in TWO)
            yield from (function.format(x=x, y=y) for function in FUNCTIONS)
    yield from MADE


@pytest.mark.filterwarnings("ignore")
def test_operations_give_what_pytorchs_give(tmp_path):
    """The same kind, shape and numbers; an error where PyTorch has one, and nowhere else; or cannot be tried."""
    record = OwnLines()
    names = {name: record.data(value, 1000) for name, value in TENSORS.items()}
    names |= {"torch": {"m": "torch"}, "math": {"m": "math"}, "F": {"m": "torch.nn.functional"}}
    line = {"name": "x", "dtype": "float32", "names": names, "missing": []}
    lesson = {"tensors": record.tensors, "library": "", "checks": [], "cache": [], "lines": {"worked": line}}
    asked = list(dict.fromkeys(expressions()))
    scope = names_of(line, lesson)
    untried = 0
    for source, page in zip(asked, in_page(tmp_path, [[0, "worked", one] for one in asked], [lesson]), strict=True):
        if "unknown" in page:
            untried += 1
            continue
        try:
            ours = eval(source, scope)
        except Exception as error:
            assert "error" in page, f"{source} raises {error!r}, the page has {page}"
            continue
        assert not {"error", "crash"} & page.keys(), f"{source}: {page}"
        if isinstance(ours, torch.Tensor):
            assert (page["dtype"], page["shape"]) == (KINDS[ours.dtype], list(ours.shape)), source
            theirs = torch.tensor([float(x.replace("Infinity", "inf")) for x in page["numbers"]], dtype=torch.float64)
            theirs = theirs.reshape(ours.shape)
            assert theirs.allclose(ours.double(), rtol=2e-6, atol=2e-6, equal_nan=True), f"{source}: {theirs}, {ours}"
    assert len(asked) > 5000 and untried < 0.15 * len(asked)


# ------------------------------------------------------------------------------------------------------ on a phone


def write(page, text):
    field = page.locator("form.own-line").first
    field.locator("textarea").fill(text)
    field.get_by_role("button", name="Check").click()
    return field


def test_a_line_is_told_apart_kept_and_counted(reader):
    page = reader("01_by_hand", "phone, dark")
    field = write(page, "X @ W_q")
    expect(field.locator(".verdict")).to_contain_text("query")
    expect(field.locator("textarea")).to_have_value("my_keys = X @ W_q")
    expect(field.locator(".more a")).to_have_attribute("href", "#step-3-queries-keys-and-values")
    expect(field.locator("td.differs").first).to_be_visible()
    write(page, "my_keys = torch.foo(X)")
    expect(field.locator(".verdict")).to_contain_text("torch.foo")
    assert "wrong" not in field.locator(".verdict").get_attribute("class")
    write(page, "my_keys = X @ W_k.T")
    expect(field.locator(".verdict")).to_contain_text("(3, 4) and (3, 4)")
    write(page, "my_keys = (X @ W_k")
    expect(field.locator(".verdict")).to_contain_text("never closed")
    write(page, "my_keys = X @ W_k")
    expect(field.locator(".verdict.right")).to_be_visible()
    page.reload()
    expect(field.locator("textarea")).to_have_value("my_keys = X @ W_k")
    expect(field.locator(".verdict.right")).to_be_visible()
    dots = "#on-this-page a[href='#step-3-queries-keys-and-values'] .dots i.done"
    assert page.locator(dots).count() == 1
    assert page.locator(".so-far").first.text_content().startswith("0 of"), "a line is no guess"


@pytest.mark.skipif(place.package_file() is None, reason="lines of lesson 13 are missing")
def test_a_long_verdict_stays_in_its_card_and_says_what_it_leaves_out(reader):
    page = reader("13_real_model", "phone, dark")
    form = page.locator("form.own-line[data-line='13.my-keys']")
    form.locator("textarea").fill("my_keys = key.repeat(1, 3, 1, 1)")
    form.get_by_role("button", name="Check").click()
    form.get_by_text("Shown: ").wait_for()
    assert form.locator(".both tr").count() < 10
    assert form.locator(".both").bounding_box()["width"] < form.bounding_box()["width"]
    for table in form.locator(".value").all():
        assert table.evaluate("(node) => node.scrollWidth <= node.clientWidth") and table.locator("td.differs").count()


def test_a_sign_is_put_where_the_cursor_is(reader):
    page = reader("01_by_hand", "phone, dark")
    field = page.locator("form.own-line").first
    field.locator("textarea").fill("my_keys = X  W_k")
    field.locator("textarea").evaluate("(node) => node.setSelectionRange(12, 12)")
    field.locator(".signs button", has_text="@").evaluate("(node) => node.click()")
    expect(field.locator("textarea")).to_have_value("my_keys = X @ W_k")


def test_a_line_is_judged_in_a_page_opened_as_a_file(browser, built):
    page = browser.new_page()
    page.goto((built / "notebooks" / "03_masking.html").as_uri())
    field = write(page, "my_real = positions <= lengths[:, None]")
    expect(field.locator(".verdict")).to_contain_text("wrong by one position")
    assert field.locator("td.differs").count() == 2, "of each value one number"
    field = write(page, "my_real = positions[:, None] < lengths")
    expect(field.locator(".verdict")).to_contain_text("(3, 2)")
    assert not field.locator("td.differs").count(), "no number stands at a place of another shape"
    page.close()


def test_an_exercise_is_taken_along_for_later(reader):
    page = reader("02_scaled_dot_product")
    place = page.locator(".later:visible").first
    place.get_by_role("button").first.click()
    expect(place.locator("svg.qr")).to_be_visible()
    assert not page.evaluate("location.hash") and not page.locator("#run-it[open]").count(), "it leads nowhere"
    place.get_by_role("button", name="Copy the link").click()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith(f"02_scaled_dot_product.html#{place.get_attribute('id')}")
    assert place.get_by_role("link", name="Mail it").get_attribute("href").startswith("mailto:")
