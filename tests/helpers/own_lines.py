"""What tests of a learner's own lines share: PyTorch's verdict on a line, and the page's."""

import json
import math
import sys
import types
from functools import cache

import torch
import torch.nn.functional as F

import attn_lib
from authors.pages import boards_in_pages, packages
from workbench import predict, questions
from workbench.questions import second_input

MODULES = {"torch": torch, "math": math, "torch.nn.functional": F, "torch.nn": torch.nn}


def in_page(folder, calls, lessons):
    """What a page's `attnLines` answers to calls: (lesson, line, source), the lesson by its place in lessons.

    A source is judged as the line of this id; or worked out, where its name is "worked", as if it stood there.
    """
    script = folder / "asked.cjs"
    data = json.dumps({"calls": calls, "lessons": list(lessons)})
    script.write_text(
        f"{boards_in_pages.lines_script()};{boards_in_pages.guess_script()};const data = {data};"
        "const said = data.calls.map(([place, id, source]) => {"
        " const lesson = data.lessons[place], line = lesson.lines[id];"
        " return id === 'worked' ? attnLines.worked(source, line, lesson)"
        " : attnLines.judge(id, attnLines.completed(source, line.name), lesson, new Set(), attnGuess.judge); });"
        f"require('fs').writeFileSync({json.dumps(str(folder / 'said.json'))}, JSON.stringify(said));",
        encoding="utf-8",
    )
    assert packages.node(script).returncode == 0
    return json.loads((folder / "said.json").read_text(encoding="utf-8"))


def recorded(script):
    """The lesson that a page's script of own lines holds."""
    return json.loads(script.removeprefix("window.attnLesson = ").rstrip().removesuffix(";"))


def names_of(line, lesson):
    """The notebook's names where a line stands, from what was recorded of them."""
    names = {"Cache": attn_lib.Cache}
    late = []
    for name, data in line["names"].items():
        if "source" in data or "code" in data:
            late.append(data.get("source", f"{name} = {data.get('code')}"))
        elif "own" not in data:
            names[name] = revived(data, lesson)
    for source in late:
        exec(source, names)
    return names


def answer_of(data, line, lesson):
    """An answer of a line, which may be recorded as code."""
    if "code" not in data:
        return revived(data, lesson)
    names = names_of(line, lesson)
    exec(line["course"], names)
    return eval(data["code"], names)


def revived(data, lesson):
    if "t" in data:
        return tensor_of(*lesson["tensors"][data["t"]])
    if "i" in data:
        return int(data["i"])
    if "v" in data:
        return float(data["v"]) if data.get("f") else data["v"]
    if "d" in data:
        return getattr(torch, data["d"])
    if "m" in data:
        return MODULES[data["m"]]
    if "library" in data:
        return library()[data["library"]]
    if "class" in data:
        return attn_lib.Cache
    if "o" in data:
        return types.SimpleNamespace(**{name: revived(part, lesson) for name, part in data["o"].items()})
    if "y" in data:
        return {name: revived(part, lesson) for name, part in data["y"].items()}
    parts = [revived(part, lesson) for part in data.get("l", data.get("u"))]
    if "fields" in data:
        return attn_lib.Cache(*parts)
    return tuple(parts) if "u" in data else parts


@cache
def library():
    """Each name of attn_lib's modules and what it is."""
    own = [module for name, module in sorted(sys.modules.items(), reverse=True) if name.startswith("attn_lib")]
    return {name: value for module in own for name, value in vars(module).items()}


def tensor_of(kind, shape, numbers, *more):
    if isinstance(numbers, str):
        (parts, least), *more = more
        digits = (torch.tensor(list(numbers.encode())) - 48).view(-1, math.prod(shape))
        units = sum(row * 64**k for k, row in enumerate(digits.flip(0))) + least
        numbers = (units.double() / parts).view(shape[::-1]).permute(*reversed(range(len(shape)))).flatten().tolist()
    tensor = torch.tensor([float(x) for x in numbers], dtype=torch.float64).to(getattr(torch, kind))
    tensor = tensor.reshape(shape)
    (strides,) = more or [None]
    if not strides:
        return tensor
    places = sum(
        torch.arange(size).reshape(-1, *[1] * (len(shape) - d - 1)) * strides[d] for d, size in enumerate(shape)
    )
    memory = torch.zeros(int(places.max()) + 1, dtype=tensor.dtype)
    memory[places.flatten()] = tensor.flatten()
    return memory.as_strided(shape, strides)


def in_kernel(id, line, lesson, source, monkeypatch):
    """The status, slip and words with which `blank` judges a line."""
    torch.set_default_dtype(getattr(torch, line["dtype"]))
    try:
        names = names_of(line, lesson)
        truth = answer_of(line["right"], line, lesson)
        slips = {slip["name"]: answer_of(slip["value"], line, lesson) for slip in line["slips"]}
        exec(source, names)
        names["In"] = [source]
        notebook = types.SimpleNamespace(user_ns=names)  # where a second input is tried
        monkeypatch.setattr(second_input, "get_ipython", lambda: notebook)
        found = predict.Blank(questions.question(id), names[line["name"]], truth, slips)
        return found.status, found.slip, found.comment
    except Exception as error:
        return "error", None, repr(error)
    finally:
        torch.set_default_dtype(torch.float32)
