"""JavaScript modules as one text, since a notebook's widget and a page opened as a file can load no second one.

Why not a bundler: learners have no Node.js, and what is needed of one is this page. A module names what it needs,
`import { a, b as c } from "./other.js";`, and what it offers, `export function a() …` or `export const`. No circles.
"""

import re
from pathlib import Path

IMPORT = re.compile(r'^import\s+(?:\{([^}]*)\}\s+from\s+)?"(\.[^"]+)";[^\n]*\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) +([\w$]+))", re.M)
DEFAULT = re.compile(r"^export default ", re.M)


def joined(path, before=()):
    """The module at `path` with all it imports, as the text of one module that exports what it exports.

    before: modules that nobody imports and that are run first, as they register what they have.
    """
    scopes, offers = _scopes(path, before)
    named = [name for name in offers if name != "default"]
    lines = [f"export const {{ {', '.join(named)} }} = {_scope(len(scopes) - 1)};\n"] if named else []
    lines += [f"export default {_scope(len(scopes) - 1)}.default;\n"] if "default" in offers else []
    return "".join([*scopes, *lines])


def script(path, name="", before=()):
    """The module at `path` with all it imports, as the text of a classic script: what it exports is `name`'s."""
    scopes, _ = _scopes(path, before)
    own, result = (f"const {name} = ", f"return {_scope(len(scopes) - 1)};\n") if name else ("", "")
    return f'{own}(() => {{\n"use strict";\n{"".join(scopes)}{result}}})();\n'


def _scopes(path, before):
    """The text of each module as a function of its own, those imported first; and what the last one exports."""
    scopes, places, offers = [], {}, {}

    def add(path, importers):
        if path in importers:
            circle = " → ".join(one.name for one in (*importers, path))
            raise ValueError(f"modules import each other in a circle: {circle}")
        if path in places:
            return

        def bind(match):
            other = (path.parent / match[2]).resolve()
            add(other, (*importers, path))
            wanted = re.findall(r"([\w$]+)(?:\s+as\s+([\w$]+))?", match[1] or "")
            if missing := [name for name, _ in wanted if name not in offers[other]]:
                raise ValueError(f"{path.name} imports {', '.join(missing)}, which {other.name} does not export")
            names = ", ".join(f"{name}: {own}" if own else name for name, own in wanted)
            return f"const {{ {names} }} = {_scope(places[other])};\n" if wanted else ""

        text = IMPORT.sub(bind, path.read_text(encoding="utf-8"))
        offers[path] = EXPORT.findall(text)
        text, defaults = DEFAULT.subn("const $default = ", EXPORT.sub("", text))
        if other_form := re.search(r"^(?:import|export)\b.*", text, re.M):
            raise ValueError(f"{path.name}: this form of import or export cannot be joined: {other_form[0]}")
        result = ", ".join([*offers[path], *defaults * ["default: $default"]])
        offers[path] += defaults * ["default"]
        places[path] = len(scopes)
        scope = _scope(places[path])
        scopes.append(f"const {scope} = (() => {{ // {path.name}\n{text}return {{ {result} }};\n}})();\n")

    entry = Path(path).resolve()
    for one in (*before, entry):
        add(Path(one).resolve(), ())
    return scopes, offers[entry]


def _scope(place):
    return f"$module{place}"
