"""What a page needs to judge a learner's own line without Python: recorded where the notebook runs for the page.

Of each line that ends in `blank(…)`: the names it may use with their values and dtypes, the right value, and each named
wrong one with its sentence. authors/pages/lines/ works a line out and compares it; what it cannot do is in limits.js.
"""

import ast
import builtins
import html
import inspect
import json
import math
import re
import struct
import types

import torch
from torch import nn

from attn_lib import Cache
from workbench.display.show import marked
from workbench.questions import second_input

KINDS = {torch.bool: "bool", torch.int64: "int64", torch.float32: "float32", torch.float64: "float64"}
MODULES = {"torch": torch, "math": math, "torch.nn.functional": nn.functional, "torch.nn": nn}
LARGE = 64  # numbers of a tensor that is recorded only where the line's text or the course's own line names it
LARGEST = 3000  # and of one that is recorded at all
LOGITS = 8000  # and of one that the course's own line uses
MANY = 500  # numbers of a tensor that is rounded, and with which the page works out the answers itself
PARTS = 1000  # of 1 to which it is rounded where one number is asked for
EVENED_OUT = {"11.my-cost", "13.my-place"}  # lines that add many numbers up to one: they may be rounded more
OF_MODULES = 1000  # numbers of modules or lists of tensors
NOT_HERE = {  # lines that a page cannot try, and why, as a sentence
    "06.my-weights": "This line runs a patient of the clinic, so it is written in the notebook.",
    "09.my-mean": "This line reads 128,000 numbers of a model that is trained in the notebook, so it is written there.",
    "09.my-on-the-first": "This line reads 320,000 weights of a model that is trained in the notebook, so it is "
    "written there.",
    "12.my-output": "This line reads 18,000 numbers that the notebook draws, so it is written there.",
}


class OwnLines:
    """The lines of one lesson, as its notebook runs: `after` is called behind each cell, `judged` with a comparison."""

    def __init__(self):
        self.lines, self.sources, self.tensors, self.library = {}, {}, [], {}
        self.by_cell, self.by_name = {}, {}  # id of the cell where a line is written, and its name → the line's id
        self._before, self._cell, self._text = {}, None, ""
        self._parts, self._arithmetic = PARTS, {}  # name → the arithmetic that made its value

    def after(self, cell, names):
        """Note what a cell that has run leaves for the lines below it; names are the notebook's, name → value."""
        for node in ast.parse(cell.source).body if cell.cell_type == "code" else []:
            if isinstance(node, ast.FunctionDef):
                self.sources[node.name] = ast.get_source_segment(cell.source, node)
            self._arithmetic |= _makes(node)
        if "blank" in cell.metadata.get("tags", []):
            self._before, self._cell = dict(names), cell
        elif cell.cell_type == "markdown":
            self._text = cell.source

    def judged(self, cell, blank):
        """Record the line that this cell, the course's own, has compared."""
        id = blank.question.id
        self.by_cell[self._cell.id] = id
        if id in NOT_HERE:
            return
        statements = ast.parse(cell.source).body
        (call,) = (node.value for node in statements if _is_blank(node))
        name = call.args[1].id
        names_used = self._used(cell.source) - {name, "blank"}
        tensors = [blank.truth, *(self._before[one] for one in names_used & self._before.keys())]
        is_tensor = blank.question.form == "tensor"
        is_worked_out = is_tensor and max(map(_how_many, tensors)) > MANY
        course = "\n".join(ast.unparse(node) for node in statements if not _is_blank(node))
        self._parts = round(1 / blank.question.within) if is_tensor else PARTS
        if id in EVENED_OUT:
            self._parts = self._fewest_parts(blank, f"{course}\nagain = {ast.unparse(call.args[2])}", names_used)
        names = self._names(name, names_used)
        answers = dict(self._answers(blank, call, is_worked_out))
        code = "\n".join([course, *(one["code"] for one in answers.values())]) if is_worked_out else ""
        if lacks := self._lacks(code, names):
            raise ValueError(f"{id}: so many numbers are worked out in the page, which lacks {lacks}; see NOT_HERE")
        self.lines[id] = {
            "name": name,
            "dtype": KINDS[torch.get_default_dtype()],
            "names": {one: data for one, data in names.items() if data is not None},
            "missing": sorted(one for one, data in names.items() if data is None),
            "goesOn": sorted(names_used & names.keys()),
            "question": self._question(blank),
            "course": course if is_worked_out else "",
            "right": answers[None],
            "slips": [
                {
                    "name": slip,
                    "says": marked(blank.question.slips[slip].says),
                    "value": answers[slip],
                }
                for slip, _ in blank.wrong_slips()
            ],
        }
        if blank.question.second:
            self.lines[id]["second"] = [self._second_input(blank, other) for other in blank.question.second]
        self.by_name[name] = id

    def made(self):
        """All that was recorded."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def lesson(self):
        """The lines of the lesson as `attnLines` takes them."""
        checks = sorted(set(re.findall(r"\bcheck_\w+", "\n".join(self.library.values()))))
        return {
            "tensors": self.tensors,
            "library": "\n\n".join(self.library.values()),
            "checks": checks,
            "cache": list(Cache._fields),
            "lines": self.lines,
        }

    def script(self):
        """The same as a script that sets `attnLesson`."""
        data = self.lesson()
        return f"window.attnLesson = {json.dumps(data, ensure_ascii=False, separators=(',', ':'))};\n"

    def _answers(self, blank, call, is_worked_out):
        """Pairs of a slip's name, or None for what is right, and its value or the page's code for it."""
        code = {one.arg: one.value for one in call.keywords} | {None: call.args[2]}
        values = {slip: blank.raw_slips[slip] for slip, _ in blank.wrong_slips()} | {None: blank.truth}
        for name, value in values.items():
            yield name, {"code": ast.unparse(code[name])} if is_worked_out else self.data(value, LOGITS)

    def _fewest_parts(self, blank, code, used):
        """The fewest parts of 1 to which the numbers are rounded with which what is right stays as good as the same."""
        most = round(1 / blank.question.within)
        for parts in range(100, most, 20):
            names = {one: _rounded(value, parts) for one, value in self._before.items()}
            made = [one for one in used & self._arithmetic.keys() if _is_many(names[one])]
            exec("\n".join([*(f"{one} = {self._arithmetic[one]}" for one in made), code]), names)
            if (names["again"] - blank.truth).abs().max() < blank.question.within / 10:
                return parts
        return most

    def _question(self, blank):
        """What the page has to know of the question: a tensor is compared, a number is read as a guess is."""
        if blank.question.form == "tensor":
            return {"form": "tensor", "within": blank.question.within, "constant": blank.question.constant}
        return blank.for_a_page() | {"answer": ""}

    def _second_input(self, blank, other):
        """The other numbers with which a line is tried again, the right result, and the sentence on a wrong one."""
        numbers = dict(other)
        always = numbers.pop("always", False)
        numbers.pop("with", None)
        gives = torch.as_tensor(second_input.right_with(numbers, numbers.pop("gives"), self._before))
        gives = self.data(gives if gives.dtype == torch.bool else gives.double(), LARGEST)
        others = second_input.other_names(self._before, numbers)
        return {
            "names": {one: self.data(rows, LARGEST) for one, rows in others.items()},
            "gives": gives,
            "always": always,
            "says": blank.by_chance(other),
        }

    # ---------------------------------------------------------------------------------------------- names and values

    def _lacks(self, source, names):
        """The names that code reads and the page has not: neither of Python or the notebook, nor made in the code."""
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
        made_in_code = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
        return sorted(one for one in self._used(source) - made_in_code - set(dir(builtins)) if names.get(one) is None)

    def _names(self, of_line, used):
        """What the notebook's names hold before the line of this name, as the page reads it; None for what it lacks.

        used: the names that the course's own line needs. A function lacks too if a default of its arguments does.
        """
        mentioned = used | set(re.findall(r"\w+", self._cell.source + self._text))
        names = {}
        for one, value in self._before.items():
            if not one.startswith("__") and one != of_line:
                code = self._code_of(one, value, names)
                names[one] = code or self._as_data(one, value, one in used, one in mentioned)
        for one in [one for one, data in names.items() if data and "source" in data]:
            if any(names.get(other, True) is None for other in _defaults(names[one]["source"])):
                names[one] = None
        return names

    def _code_of(self, name, value, names):
        """The code that makes the many numbers of a tensor from names that the page has, or None."""
        code = self._arithmetic.get(name)
        if not code or not isinstance(value, torch.Tensor) or value.numel() <= MANY:
            return None
        plain = {one: data for one, data in names.items() if data and "code" not in data}
        is_so = not self._lacks(code, plain) and torch.equal(eval(code, {}, self._before), value)
        return {"code": code} if is_so else None

    def _used(self, source, seen=()):
        """The names that code reads, and the notebook's functions in it."""
        tree = ast.parse(source)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        for name in names & self.sources.keys() - set(seen):
            names |= self._used(self.sources[name], (*seen, name))
        return names

    def _as_data(self, name, value, is_used, is_mentioned):
        if name in self.by_name:
            return {"own": self.by_name[name]}
        if isinstance(value, types.FunctionType):
            return self._function(name, value)
        largest = LOGITS if is_used else LARGEST if is_mentioned else LARGE
        if not isinstance(value, torch.Tensor):
            largest = min(largest, OF_MODULES)
        return self.data(value, largest) if _how_many(value) <= largest else None

    def _function(self, name, function):
        if (function.__module__ or "").startswith("attn_lib"):
            self._take(function)
            return {"library": function.__name__}
        return {"source": self.sources[name]} if name in self.sources else None

    def _take(self, function):
        """Put a function of attn_lib, and those that it calls, into the library."""
        if function.__name__ in self.library:
            return
        (tree,) = ast.parse(inspect.getsource(function)).body
        tree.body = tree.body[1:] if ast.get_docstring(tree) else tree.body
        tree.decorator_list = []
        self.library[function.__name__] = ast.unparse(tree)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        others = [function.__globals__.get(name) for name in sorted(names)]
        for other in others:
            if isinstance(other, types.FunctionType) and not other.__name__.startswith("check_"):
                self._take(other)

    def data(self, value, largest):
        """A value as the page reads it, or None for one that it cannot have."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value, largest)
        if isinstance(value, bool | str) or value is None:
            return {"v": value}
        if isinstance(value, int):
            return {"i": value if abs(value) < 2**53 else str(value)}
        if isinstance(value, float):
            return {"v": _short(value, "float64"), "f": 1}
        if isinstance(value, torch.dtype):
            return {"d": KINDS[value]} if value in KINDS else None
        if isinstance(value, list | tuple | nn.ModuleList):
            return self._several(value, largest)
        if _is_dictionary(value):
            return {"y": {name: self.data(part, largest) for name, part in value.items()}}
        if isinstance(value, types.ModuleType):
            return next(({"m": name} for name, module in MODULES.items() if module is value), None)
        if isinstance(value, nn.Module):
            return self._module(value, largest)
        if inspect.isclass(value) and issubclass(value, tuple) and hasattr(value, "_fields"):
            return {"class": list(value._fields), "of": value.__name__}
        return None

    def _several(self, value, largest):
        parts = [self.data(part, largest) for part in value] if len(value) <= 64 else [None]
        if None in parts:
            return None
        fields = {"fields": list(value._fields), "of": type(value).__name__} if hasattr(value, "_fields") else {}
        return {"u" if isinstance(value, tuple) else "l": parts} | fields

    def _module(self, module, largest):
        plain = {name: x for name, x in vars(module).items() if not name.startswith("_") and isinstance(x, bool | int)}
        inside = {**plain, **dict(module.named_parameters(recurse=False)), **dict(module.named_children())}
        data = {name: self.data(part, largest) for name, part in inside.items()}
        return {"o": {name: one for name, one in data.items() if one is not None}}

    def _tensor(self, value, largest):
        if value.dtype not in KINDS or value.numel() > largest or value.layout != torch.strided:
            return None
        kind = KINDS[value.dtype]
        strides = [] if value.is_contiguous() else [list(value.stride())]
        is_many = value.numel() > (MANY if kind == "float32" else LARGEST)
        if is_many and value.isfinite().all():
            data = [kind, list(value.shape), *_packed(value.detach().double(), self._parts), *strides]
        else:
            data = [kind, list(value.shape), [_short(x, kind) for x in value.detach().flatten().tolist()], *strides]
        if data not in self.tensors:
            self.tensors.append(data)
        return {"t": self.tensors.index(data)}


def line_form(cell, id, name):
    """The field for the line that a cell asks for, with what it begins with; line_field.js has it answer."""
    beginning, _, how = cell.source.partition("  # ") if "\n" not in cell.source else (cell.source, "", "")
    beginning = re.sub(r"= \.\.\.$", "= ", beginning)
    how = f"{how[0].upper()}{how[1:]}." if how else ""
    return (
        f'<form class="own-line carded" id="line-{cell.id}" data-line="{id}" data-name="{name}">'
        f'<label for="line-{cell.id}-text">Your line</label><p class="how">{marked(how)}</p>'
        f'<textarea id="line-{cell.id}-text" rows="1" wrap="soft" autocomplete="off" autocapitalize="off"'
        f' autocorrect="off" spellcheck="false" translate="no">{html.escape(beginning)}</textarea>'
        '<div class="signs" role="group" aria-label="Signs"></div>'
        '<button>Check</button> <button type="button" class="copy">Copy</button>'
        '<div class="told"><p class="verdict" role="status"></p><p class="more"></p><div class="both"></div></div>'
        "</form>"
    )


def _how_many(value):
    """How many numbers a value holds."""
    if isinstance(value, torch.Tensor):
        return value.numel()
    if isinstance(value, nn.Module):
        return sum(one.numel() for one in value.parameters())
    if _is_dictionary(value):
        value = list(value.values())
    return sum(map(_how_many, value)) if isinstance(value, list | tuple) and len(value) <= LARGEST else 1


def _is_dictionary(value):
    """Whether a value has tensors by their names, as queries, keys and values."""
    return isinstance(value, dict) and all(
        isinstance(name, str) and isinstance(part, torch.Tensor) for name, part in value.items()
    )


def _defaults(source):
    """The names that a function needs as soon as it is defined: those of its arguments' defaults."""
    arguments = ast.parse(source).body[0].args
    defaults = [one for one in (*arguments.defaults, *arguments.kw_defaults) if one]
    return {node.id for one in defaults for node in ast.walk(one) if isinstance(node, ast.Name)}


def _makes(node):
    """Name → the code of its value, where a statement assigns what arithmetic alone makes of other names."""
    if not isinstance(node, ast.Assign) or any(isinstance(part, ast.Call) for part in ast.walk(node)):
        return {}
    (target, *_), value = node.targets, node.value
    are_several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
    both = zip(target.elts, value.elts, strict=False) if are_several else [(target, value)]
    return {name.id: ast.unparse(part) for name, part in both if isinstance(name, ast.Name)}


def _is_blank(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "blank"


def _rounded(value, parts):
    """A value as the page has it where it is a tensor of many numbers."""
    return (value * parts).round() / parts if _is_many(value) and value.is_floating_point() else value


def _is_many(value):
    return isinstance(value, torch.Tensor) and MANY < value.numel() <= LOGITS


def _packed(value, parts):
    """A tensor's numbers as a text and what is needed to read it: the parts of 1 to which they are rounded, and the
    least.

    The last axis is outermost, so that what a causal mask hides is in one place. First stand all first digits of base
    64, then all second ones, and so on: that packs to half of the length. Rows that sum to 1 still do when rounded.
    """
    units, ends = value * parts, value.cumsum(dim=-1)
    if value.min() >= 0 and (ends[..., -1] - 1).abs().max() < 1e-4:
        units = (ends * parts).round().diff(dim=-1, prepend=torch.zeros_like(ends[..., :1]))
    units = units.round().long().permute(*reversed(range(value.ndim))).flatten()
    least, rest, digits = units.min().item(), units - units.min(), []
    while not digits or rest.any():
        digits.append("".join(chr(48 + x) for x in (rest % 64).tolist()))
        rest //= 64
    return ["".join(reversed(digits)), [parts, least]]


def _short(x, kind):
    """As few digits as are read as the same number of its kind."""
    if isinstance(x, bool | int):
        return int(x)
    if not math.isfinite(x):
        return str(x)
    if kind == "float32":
        as_bytes = struct.pack("f", x)
        x = next(y for n in range(1, 10) if struct.pack("f", y := float(f"{x:.{n}g}")) == as_bytes)
    return int(x) if x == int(x) and abs(x) < 2**53 and str(x) != "-0.0" else x
