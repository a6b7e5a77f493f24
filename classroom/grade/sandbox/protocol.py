"""What goes between the judge and a student's process: plain data, never pickle, bounded in size, depth and time.

A message is JSON and, behind it, the numbers of the tensors it speaks of. Whatever comes from the other side is only
ever read as that: None, ..., bools, numbers, texts, lists, tuples, dicts, tensors, arrays and
modules of three known kinds.
"""

import contextlib
import json
import math
import numbers
import select
import struct
import time

import numpy
import torch
from torch import nn

TEXT, NUMBERS, DEPTH, DIMS = 2**20, 2**26, 20, 16  # bytes of JSON, bytes of tensors, levels of nesting, axes
DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
)}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}
HEAD = struct.Struct(">QQ")


class Closed(Exception):
    """The other side is gone."""


class TimedOut(Exception):
    """Nothing came in time."""


class Malformed(Exception):
    """What came is no message."""


class NotData:
    """Something that is no plain data; `name` is what its type is called."""

    def __init__(self, name):
        self.name = name


# ------------------------------------------------------------------------------------------------------ writing


class Writer:
    """Turns values into JSON; the numbers of tensors are gathered in `storages`, shared memory once."""

    def __init__(self):
        self.storages, self._index, self._kept = [], {}, []

    def value(self, value, depth=0):
        """Return the value as JSON; anything but plain data becomes the name of its type."""
        if depth > DEPTH:
            return ["odd", "something nested too deep"]
        kind = type(value)
        if value is None or kind is bool or kind is float or (kind is int and abs(value) < 2**62):
            return value
        if value is Ellipsis:
            return ["..."]
        if kind is str:
            return ["str", value[:10_000]]
        if isinstance(value, list | tuple):
            return ["list" if isinstance(value, list) else "tuple", [self.value(part, depth + 1) for part in value]]
        if kind is dict:
            return ["dict", [[self.value(k, depth + 1), self.value(v, depth + 1)] for k, v in value.items()]]
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, nn.Module) and (settings := settings_of(value)) is not None:
            parameters = [[name, self._tensor(parameter)] for name, parameter in value.named_parameters()]
            return ["module", kind.__name__, settings, parameters, value.training]
        if isinstance(value, numpy.ndarray | numpy.generic):
            return self._array(value)
        if isinstance(value, numbers.Real):
            with contextlib.suppress(OverflowError):
                return float(value)
        return ["odd", kind.__name__[:60]]

    def _array(self, array):
        """An array or a number of numpy's, as the tensor of the same numbers."""
        try:
            tensor = self._tensor(torch.from_numpy(numpy.array(array)))
        except TypeError:  # an array of texts
            tensor = ["odd"]
        return ["array", tensor] if tensor[0] == "tensor" else ["odd", type(array).__name__[:60]]

    def _tensor(self, tensor):
        plain = type(tensor) in (torch.Tensor, nn.Parameter) and tensor.layout == torch.strided
        plain = plain and not tensor.is_nested and not tensor.is_quantized and tensor.device.type == "cpu"
        if not plain or tensor.dtype not in NAMES:
            return ["odd", _kind_of(tensor)]
        needs = tensor.requires_grad
        tensor = tensor.detach().resolve_conj().resolve_neg()
        storage = tensor.untyped_storage()
        if storage.nbytes() > 4 * tensor.numel() * tensor.element_size() + 4096:
            tensor = tensor.contiguous().clone()  # a small part of much
            storage = tensor.untyped_storage()
        key = storage.data_ptr(), storage.nbytes()
        if key not in self._index:
            self._index[key] = len(self.storages)
            self._kept.append(storage)
            as_bytes = torch.empty(0, dtype=torch.uint8).set_(storage)
            self.storages.append(as_bytes.numpy().tobytes())
        shape, stride, offset = list(tensor.shape), list(tensor.stride()), tensor.storage_offset()
        return ["tensor", NAMES[tensor.dtype], self._index[key], shape, stride, offset, needs]


def _kind_of(tensor):
    if type(tensor) not in (torch.Tensor, nn.Parameter):
        return type(tensor).__name__[:60]
    for sort in ("is_nested", "is_quantized", "is_sparse", "is_meta"):
        if getattr(tensor, sort):
            return f"{sort.removeprefix('is_')} tensor"
    return f"tensor of {str(tensor.dtype).removeprefix('torch.')}"


def settings_of(module):
    """How a module of a known kind was made, or None."""
    from attn_lib import MultiHeadAttention

    if type(module) is MultiHeadAttention:
        options = {"kdim": module.k_proj.in_features, "vdim": module.v_proj.in_features}
        options["bias"] = module.q_proj.bias is not None
        return [module.q_proj.in_features, module.num_heads, options]
    if type(module) is nn.MultiheadAttention:
        options = {"kdim": module.kdim, "vdim": module.vdim, "bias": module.in_proj_bias is not None}
        return [module.embed_dim, module.num_heads, {**options, "batch_first": module.batch_first}]
    if type(module) is nn.LayerNorm:
        options = {"elementwise_affine": module.weight is not None, "bias": module.bias is not None}
        return [list(module.normalized_shape), module.eps, options]
    return None


# ------------------------------------------------------------------------------------------------------ reading


class Reader:
    """Turns JSON and storages back into values; raises Malformed for anything else.

    `module` makes a module of a kind and settings; only the student's side has one.
    """

    def __init__(self, storages, module=None):
        self._storages, self._module = storages, module

    def value(self, data, depth=0):
        if depth > DEPTH + 2:
            raise Malformed("nested too deep")
        if data is None or isinstance(data, bool | int | float):
            return data
        match data:
            case ["..."]:
                return Ellipsis
            case ["str", str(text)]:
                return cleaned(text)
            case ["list", list(parts)]:
                return [self.value(part, depth + 1) for part in parts]
            case ["tuple", list(parts)]:
                return tuple(self.value(part, depth + 1) for part in parts)
            case ["dict", list(pairs)] if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
                return {_hashable(self.value(k, depth + 1)): self.value(v, depth + 1) for k, v in pairs}
            case ["tensor", *_]:
                return self.tensor(data)
            case ["array", tensor]:
                return self._array(tensor)
            case ["odd", str(name)]:
                return NotData(cleaned(name, 60))
            case ["module", str(kind), list(settings), list(parameters), bool(training)] if self._module:
                tensors = {name: self.tensor(tensor) for name, tensor in parameters}
                return self._module(kind, settings, tensors).train(training)
        raise Malformed("no plain data")

    def _array(self, data):
        try:
            return self.tensor(data).detach().numpy()[()]  # a number where it has no axes
        except TypeError:
            raise Malformed("no array") from None

    def tensor(self, data):
        match data:
            case ["tensor", str(dtype), int(index), list(shape), list(stride), int(offset), bool(needs)]:
                return self._view(dtype, index, shape, stride, offset).requires_grad_(needs)
        raise Malformed("no tensor")

    def _view(self, dtype, index, shape, stride, offset):
        sizes = [*shape, *stride, offset, index]
        if not all(type(size) is int and 0 <= size < 2**40 for size in sizes) or len(shape) != len(stride):
            raise Malformed("a tensor of impossible sizes")
        if dtype not in DTYPES or index >= len(self._storages) or len(shape) > DIMS:
            raise Malformed("a tensor of no known kind")
        dtype = DTYPES[dtype]
        size = dtype.itemsize
        numel = math.prod(shape)
        if numel == 0:
            if sum(shape) >= 2**20:  # rows without numbers, which whoever shows them would go through
                raise Malformed("a tensor of impossible sizes")
            return torch.empty(shape, dtype=dtype)
        last = offset + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))
        storage = self._storages[index]
        if numel * size > NUMBERS or (last + 1) * size > storage.numel():
            raise Malformed("a tensor larger than its numbers")
        return storage[: storage.numel() // size * size].view(dtype).as_strided(shape, stride, offset)


def cleaned(text, length=10_000):
    """Return a text from the other side without control characters and halves of characters, cut to `length`."""
    text = str(text)[:length].encode("utf-8", "replace").decode()
    return "".join(c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _hashable(key):
    if isinstance(key, str | int | float | bool) or key is None:
        return key
    raise Malformed("no key of a dict")


# ------------------------------------------------------------------------------------------------- on the socket


class Channel:
    """One end of the connection: whole messages in, whole messages out."""

    def __init__(self, end):
        self.end = end
        end.setblocking(False)

    def send(self, message, storages=(), deadline=None):
        """Write a dict and the numbers that it speaks of; raises Closed and TimedOut."""
        text = json.dumps({**message, "sizes": [len(numbers) for numbers in storages]}).encode()
        if len(text) > TEXT or sum(map(len, storages)) > NUMBERS:
            raise Malformed("too large a message")
        for part in (HEAD.pack(len(text), sum(map(len, storages))), text, *storages):
            view = memoryview(part)
            while view:
                try:
                    view = view[self.end.send(view) :]
                except BlockingIOError:
                    _wait(deadline)
                except OSError as error:
                    raise Closed from error

    def receive(self, deadline=None, meanwhile=lambda: None):
        """Return (dict, storages); raises Closed, Late and Malformed. While it waits it calls `meanwhile`."""
        text, numbers = HEAD.unpack(self._exactly(HEAD.size, deadline, meanwhile))
        if text > TEXT or numbers > NUMBERS:
            raise Malformed("too large a message")
        head, body = (self._exactly(size, deadline, meanwhile) for size in (text, numbers))
        try:
            message = json.loads(head.decode())
            sizes = message.pop("sizes")
            if not all(type(size) is int and size >= 0 for size in sizes) or sum(sizes) != numbers:
                raise ValueError("other sizes")
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            raise Malformed("no message") from error
        whole, storages, start = torch.frombuffer(body, dtype=torch.uint8) if numbers else torch.empty(0), [], 0
        for size in sizes:
            storages.append(whole[start : start + size].clone())  # of its own, and aligned
            start += size
        return message, storages

    def _exactly(self, size, deadline, meanwhile):
        read = bytearray(size)
        view = memoryview(read)
        while view:
            try:
                got = self.end.recv_into(view)
            except BlockingIOError:
                _wait(deadline, self.end)
                meanwhile()
                continue
            except OSError as error:
                raise Closed from error
            if got == 0:
                raise Closed
            view = view[got:]
            if view and deadline is not None and time.monotonic() > deadline:  # byte by byte is late too
                raise TimedOut
        return read

    def close(self):
        self.end.close()


def _wait(deadline, end=None):
    """Wait a moment for `end`, in Python so that Ctrl-C is heard; raises TimedOut."""
    if deadline is not None and time.monotonic() > deadline:
        raise TimedOut
    select.select([end] if end else [], [], [], 0.02 if end is None else 0.05)
