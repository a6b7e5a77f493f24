"""A GGUF file: what it says of its model, and its numbers, made floats again. NumPy is all that it needs."""

import math
import mmap
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

PLAIN = dict(enumerate("BbHhIif?")) | dict(enumerate("Qqd", 10))  # kind of value → its letter in struct
TEXT, LIST = 8, 9
VERSIONS = 2, 3


class GGUF:
    """The file at path: fields, name → a text, a number, or a list of them; shapes, name of an array → its shape.

    Raises: OSError where there is no file, ValueError, in a sentence, for one that is no GGUF, or that ends too early.
    """

    def __init__(self, path):
        self.path = Path(path)
        with self.path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ValueError(f"{self.path} is no GGUF file.")
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self._read_head()
        except (struct.error, IndexError, UnicodeDecodeError, KeyError) as error:
            raise ValueError(f"{self.path} ends or breaks off where its head is read ({error}).") from error

    def _read_head(self):
        self._at = 4
        (version,) = self._take("<I")
        if version not in VERSIONS:
            raise ValueError(f"{self.path} is GGUF of version {version}; versions 2 and 3 can be read.")
        tensors, fields = self._take("<QQ")
        self.fields = {self._text(): self._value(*self._take("<I")) for _ in range(fields)}
        self.shapes, self._kinds = {}, {}
        for _ in range(tensors):
            name, (dimensions,) = self._text(), self._take("<I")
            self.shapes[name] = self._take(f"<{dimensions}Q")[::-1]  # the file names the last axis first
            self._kinds[name] = self._take("<IQ")  # how its numbers are kept, and where they begin
        step = self.fields.get("general.alignment", 32)
        self._start = math.ceil(self._at / step) * step

    def _take(self, form):
        values = struct.unpack_from(form, self._bytes, self._at)
        self._at += struct.calcsize(form)
        return values

    def _text(self):
        (size,) = self._take("<Q")
        self._at += size
        return self._bytes[self._at - size : self._at].decode()

    def _value(self, kind):
        if kind == TEXT:
            return self._text()
        if kind == LIST:
            of, count = self._take("<IQ")
            if of in PLAIN:
                return list(self._take(f"<{count}{PLAIN[of]}"))
            return [self._value(of) for _ in range(count)]
        return self._take("<" + PLAIN[kind])[0]

    def numbers(self, name):
        """The array of this name, float32, in the shape that torch gives a weight: (outputs, inputs).

        Raises: ValueError for numbers that are kept in a way which is not read here, or that are not all there.
        """
        blocks = self.blocks(name)
        return KINDS[self._kinds[name][0]].as_floats(blocks).reshape(self.shapes[name])

    def release(self):
        """Give back the memory in which the file's bytes lie; what is wanted again is read again."""
        if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
            self._bytes.madvise(mmap.MADV_DONTNEED)

    def blocks(self, name):
        """The array of this name as its bytes lie in the file. Raises: ValueError, as numbers does."""
        shape, (kind, offset) = self.shapes[name], self._kinds[name]
        if kind not in KINDS:
            readable = ", ".join(known.label for known in KINDS.values())
            raise ValueError(f"{self.path.name} keeps {name} as GGUF's kind {kind}; {readable} can be read.")
        layout = KINDS[kind].layout
        count, rest = divmod(math.prod(shape), KINDS[kind].together)
        begin = self._start + offset
        if rest or begin + count * layout.itemsize > len(self._bytes):
            raise ValueError(f"{self.path.name} is not whole: {name} is cut off.")
        return np.frombuffer(self._bytes, layout, count, begin)


# ------------------------------------------------------------------------------------- numbers of a few bits each


def from_four_bits(blocks):
    """Q4_1: 32 numbers share a step d and a smallest m; each is m and 0 to 15 steps. Low halves are the first 16."""
    low, high = blocks["q"] & 15, blocks["q"] >> 4
    numbers = np.concatenate([low, high], axis=1).astype(np.float32)  # (blocks, 32)
    numbers *= wide(blocks["d"])  # in place: the largest array has 113 MB
    numbers += wide(blocks["m"])
    return numbers


def from_eight_bits(blocks):
    """Q8_0: 32 numbers share a step d; each is −127 to 127 steps."""
    numbers = blocks["q"].astype(np.float32)
    numbers *= wide(blocks["d"])
    return numbers


def from_bfloat16(blocks):
    """The upper half of a float32 each."""
    return (blocks.astype(np.uint32) << 16).view(np.float32)


def as_float32(blocks):
    return blocks.astype(np.float32)


def wide(column):
    return column.astype(np.float32)[:, None]  # (blocks, 1)


FOUR_BITS = np.dtype([("d", "<f2"), ("m", "<f2"), ("q", "u1", 16)])
EIGHT_BITS = np.dtype([("d", "<f2"), ("q", "i1", 32)])


class Kind(NamedTuple):
    """How numbers are kept: its name, how many stand together, in which bytes, and what makes floats of them."""

    label: str
    together: int
    layout: np.dtype
    as_floats: Callable


KINDS = {
    0: Kind("F32", 1, np.dtype("<f4"), as_float32),
    1: Kind("F16", 1, np.dtype("<f2"), as_float32),
    3: Kind("Q4_1", 32, FOUR_BITS, from_four_bits),
    8: Kind("Q8_0", 32, EIGHT_BITS, from_eight_bits),
    30: Kind("BF16", 1, np.dtype("<u2"), from_bfloat16),
}
