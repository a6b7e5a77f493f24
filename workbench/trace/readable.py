"""Operations as a reader would write them: `@`, `transpose(1, 2)`, `softmax(dim=-1)`, `[:, None]`."""

import torch

SIGNS = {"matmul": "@", "add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "floor_divide": "//"}
SIGNS |= {"remainder": "%", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
SIGNS |= {"and": "&", "or": "|", "xor": "^", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}
SIGNS |= {"multiply": "*", "divide": "/", "subtract": "-", "true_divide": "/", "floordiv": "//", "mod": "%"}
BEFORE = {"neg": "-", "negative": "-", "invert": "~", "bitwise_not": "~", "logical_not": "~", "positive": "+"}
WITH_DIM = {"softmax", "log_softmax", "sum", "mean", "any", "all", "amax", "amin", "max", "min", "argmax", "argmin"}
WITH_DIM |= {"cumsum", "squeeze", "unsqueeze", "cat", "stack", "std", "var", "unbind", "logsumexp", "prod", "flip"}


def name_of(func):
    """`softmax`, whatever it was called as; `T` for the property `.T`."""
    name = getattr(func, "__name__", type(func).__name__)
    if name == "__get__":
        return getattr(getattr(func, "__self__", None), "__name__", name)
    return name


def is_in_place(name, kwargs):
    """Whether it writes into what it was given, as `masked_fill_`, `x[0] = 1`, `mask &= other` and `out=` do."""
    if name.endswith("__"):
        return name == "__setitem__" or (name.startswith("__i") and name[3:-2] in SIGNS)
    return name.endswith("_") or kwargs.get("out") is not None or kwargs.get("inplace") is True


def operation_of(name, args, kwargs):
    """What is done, without the tensors it is done to."""
    if name in ("T", "mT", "H", "mH", "data", "real", "imag"):
        return f".{name}"
    if name == "__getitem__":
        return f"[{_index(args[1])}]"
    if name == "__setitem__":
        return f"[{_index(args[1])}] = {'·' if isinstance(args[2], torch.Tensor) else _show(args[2])}"
    plain = name.strip("_")
    if plain in BEFORE:
        return BEFORE[plain]
    in_place = "=" if is_in_place(name, kwargs) else ""
    sign = SIGNS.get(plain) or (SIGNS.get(plain[1:]) if name.startswith(("__r", "__i")) else None)
    if sign and len(args) == 2 and not set(kwargs) - {"out"}:
        first, second = args[::-1] if name.startswith("__r") else args
        left = "" if isinstance(first, torch.Tensor) else f"{_show(first)} "
        right = "" if isinstance(second, torch.Tensor) else f" {_show(second)}"
        return f"{left}{sign}{in_place}{right}"
    return f"{name}({', '.join(_arguments(name, args, kwargs))})".removesuffix("()")


def _arguments(name, args, kwargs):
    if name == "to":  # of a tensor that says what to become, the dtype counts
        args = [arg.dtype if isinstance(arg, torch.Tensor) and i else arg for i, arg in enumerate(args)]
    rest = list(args[1:]) if args and _holds_tensor(args[0]) else list(args)
    if name.rstrip("_") in WITH_DIM and len(rest) == 1 and isinstance(rest[0], int | tuple | list):
        kwargs, rest = {"dim": rest[0], **kwargs}, []
    while rest and isinstance(rest[-1], torch.Tensor):  # shapes say what tensors come along
        rest.pop()
    texts = [_show(value) for value in rest if value is not None]
    for key, value in kwargs.items():
        if key == "_stacklevel" or value is None or _holds_tensor(value) or (value is False and key != "training"):
            continue
        texts.append(f"{key}={_show(value)}")
    return texts


def _holds_tensor(value):
    return isinstance(value, torch.Tensor) or (
        isinstance(value, tuple | list) and any(isinstance(part, torch.Tensor) for part in value)
    )


def _index(index):
    parts = index if isinstance(index, tuple) else (index,)
    return ", ".join(map(_show, parts))


def _show(value):
    """Any argument, short and the same in every run."""
    if isinstance(value, torch.Tensor):
        return "·"
    if isinstance(value, slice):
        ends = ["" if part is None else _show(part) for part in (value.start, value.stop, value.step)]
        return ":".join(ends if ends[2] else ends[:2])
    if value is Ellipsis:
        return "..."
    if isinstance(value, float | complex):
        return f"{value:.4g}"
    if isinstance(value, tuple | list):
        inner = [_show(part) for part in value[:8]] + (["…"] if len(value) > 8 else [])
        return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
    if isinstance(value, torch.dtype | torch.device):
        return str(value).removeprefix("torch.")
    if value is None or isinstance(value, str | int):
        text = repr(value)
        return text if len(text) <= 40 else f"{text[:39]}…"
    return type(value).__name__
