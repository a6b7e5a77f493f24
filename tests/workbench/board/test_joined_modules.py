"""Modules joined into one text: what a mistake in an import or export comes to, before a browser sees it."""

import pytest

from workbench.board import modules

FILES = {
    "numbers.js": "export const one = 1;\nconst own = 2;\n",
    "add.js": 'import { one as first } from "./numbers.js";\nexport function add(own) {\n  return own + first;\n}\n',
    "page.js": """import {
  add,
} from "./add.js";
import { one } from "./numbers.js";
export default { is: add(one) };
""",
    "circle.js": 'import { again } from "./again.js";\nexport const once = again;\n',
    "again.js": 'import { once } from "./circle.js";\nexport const again = once;\n',
    "lacks.js": 'import { two } from "./numbers.js";\n',
    "changes.js": "export let counter = 0;\n",
}


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_joined_modules_keep_their_own_names(files, browser):
    page = browser.new_page()
    load = "async (text) => (await import(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })))).default"
    assert page.evaluate(load, modules.joined(files / "page.js")) == {"is": 2}
    page.add_script_tag(content=modules.script(files / "add.js", "sum"))
    assert page.evaluate("sum.add(4)") == 5
    page.close()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("circle.js", "circle.js → again.js → circle.js"),
        ("lacks.js", "lacks.js imports two, which numbers.js does not export"),
        ("changes.js", "changes.js: .* cannot be joined: export let counter"),
    ],
)
def test_a_module_that_cannot_be_joined_is_named(files, name, says):
    with pytest.raises(ValueError, match=says):
        modules.joined(files / name)
