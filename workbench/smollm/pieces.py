"""A text cut into the pieces that a model knows, and back: byte pairs, joined in the order that its file lists (BPE).

The cuts are those of SmolLM2: each digit alone, then GPT-2's pattern.
"""

import re
import sys
import unicodedata
from functools import cache
from itertools import pairwise

MARK = 3  # GGUF's type of a piece that is no text, as <|im_end|>


class Pieces:
    """What a file's fields say of pieces: words, as they are kept; encode(text) → numbers; decode(numbers) → text."""

    def __init__(self, fields):
        self.words = fields["tokenizer.ggml.tokens"]
        self._numbers = {word: number for number, word in enumerate(self.words)}
        pairs = (tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"])
        self._ranks = {pair: rank for rank, pair in enumerate(pairs)}
        types = fields["tokenizer.ggml.token_type"]
        marks = [word for word, kind in zip(self.words, types, strict=True) if kind == MARK]
        longest_first = sorted(marks, key=len, reverse=True)
        self._marks = re.compile(f"({'|'.join(map(re.escape, longest_first))})" if marks else "(?!)()")
        self._joined = cache(lambda stretch: [*self.joins(stretch)][-1])  # most words come more than once

    def encode(self, text):
        """The numbers of the pieces of a text; a mark in it, as <|im_end|>, is one piece."""
        words = []
        for i, part in enumerate(self._marks.split(text)):
            is_mark = i % 2 == 1  # re.split puts what is between two marks at even places
            words += [part] if is_mark else [word for stretch in split(part) for word in self._joined(stretch)]
        return [self._numbers[word] for word in words if word in self._numbers]  # some bytes are in no piece

    def decode(self, numbers):
        """The text of these pieces; bytes that are no text yet, as half a letter, show as �."""
        return b"".join(self._bytes_of(number) for number in numbers).decode(errors="replace")

    def word(self, number):
        """The text of one piece."""
        return self.decode([number])

    def cut(self, text):
        """The pieces of a text as texts: "The keys" → ["The", " keys"]."""
        return [self.word(number) for number in self.encode(text)]

    def joins(self, stretch):
        """How a stretch becomes pieces: again and again the pair that stands first in the list is joined."""
        signs = [SIGNS[byte] for byte in stretch.encode(errors="replace")]
        yield signs
        while len(signs) > 1:
            first = min(pairwise(signs), key=lambda pair: self._ranks.get(pair, len(self._ranks)))
            if first not in self._ranks:
                break
            signs = join_pair(signs, first)
            yield signs

    def _bytes_of(self, number):
        word = self.words[number]
        return word.encode() if self._marks.fullmatch(word) else bytes(BYTES[sign] for sign in word)


def join_pair(signs, pair):
    """The same signs, with the two of this pair joined wherever they stand side by side."""
    joined, i = [], 0
    while i < len(signs):
        together = 2 if tuple(signs[i : i + 2]) == pair else 1
        joined.append("".join(signs[i : i + together]))
        i += together
    return joined


def split(text):
    """Each digit alone; then words with the space before them, other signs, white space: no piece goes across these."""
    return pattern().findall(text)


@cache
def pattern():
    """Python's re knows no \\p{L} and no \\p{N}: its digits are Nd alone, it takes Nl and No for letters, and four
    separators, \\x1c to \\x1f, for white space, which they are not in Unicode.
    """
    odd = "".join(sign for sign in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(sign) in ("Nl", "No"))
    letter, digit = rf"[^\W\d_{odd}]", rf"[\d{odd}]"
    separators = r"\x1c-\x1f"
    space, no_space, other = rf"[^\S{separators}]", rf"[\S{separators}]", rf"(?:[^\s\w]|[_{separators}])"
    endings = "'(?:s|t|re|ve|m|ll|d)"
    # a digit is cut off before GPT-2's pattern is used, so white space before it is the end of a stretch
    spaces = rf"{space}+(?!(?!{digit}){no_space})|{space}+"
    return re.compile(rf"{digit}|{endings}| ?{letter}+| ?{other}+|{spaces}")


def signs_of_bytes():
    """GPT-2's alphabet: a sign for each byte; those that cannot be seen get signs from 256 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in seen)
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + i) for i, byte in enumerate(others)}


SIGNS = signs_of_bytes()
BYTES = {sign: byte for byte, sign in SIGNS.items()}
