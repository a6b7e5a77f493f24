"""A number that is written as it is worked out: 4*768*769, 2^8, 2.36 million, two thirds, sqrt(256).

authors/pages/expression.js mirrors this file.
"""

import math
import operator
import re

COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
WORDS = {word: float(number) for number, word in enumerate(COUNTS)} | {"once": 1.0, "twice": 2.0}
FACTORS = {"half": 1 / 2, "halve": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fourth": 1 / 4}
FACTORS |= {"fifth": 1 / 5, "sixth": 1 / 6, "eighth": 1 / 8, "tenth": 1 / 10, "hundred": 1e2, "thousand": 1e3}
FACTORS |= {"k": 1e3, "million": 1e6, "mio": 1e6, "mln": 1e6, "m": 1e6, "billion": 1e9}
FUNCTIONS = {"sqrt": math.sqrt, "√": math.sqrt, "ln": math.log, "log": math.log, "exp": math.exp}
VALUES = WORDS | FACTORS | {"e": math.e, "π": math.pi, "pi": math.pi}
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
TOKEN = re.compile(r"\s*(?:([\d.,]*\d[\d.]*(?:e[+-]?\d+)?)|(\*\*|[-+*/^()×·√π%]|[a-z]+))")
DEEPEST = 20  # brackets in each other


def value(text, number_of):
    """The value of a text in lower case; number_of reads a number without signs.

    Raises: ValueError or ArithmeticError for what is no expression.
    """
    if re.search(r"\d-\d", text):  # from 3 to 4, more likely than 3 minus 4
        raise ValueError("a range is no number")
    text = re.sub("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda power: f"^{power[0].translate(RAISED)}", text)
    text = re.sub(r"(?<=[\d)])\s*(x|times|fold)$", "", text.strip())
    return _Expression(text, number_of).whole()


class _Expression:
    def __init__(self, text, number_of):
        self.tokens, at = [], 0
        while at < len(text):
            token = TOKEN.match(text, at)
            if not token:
                raise ValueError(f"{text[at:]!r} is no part of an expression")
            number, sign = token.groups()
            word = sign if sign in FACTORS or sign in WORDS or not sign else sign.removesuffix("s")
            self.tokens.append(number_of(number) if number else word)
            at = token.end()
        self.tokens = [token for token in self.tokens if token not in ("a", "of")][::-1]
        self.depth = 0

    def whole(self):
        result = self._sum()
        if self.tokens:
            raise ValueError("something is left")
        return result

    def _next(self, *signs):
        """The next token, taken off, if it is one of these."""
        return self.tokens.pop() if self.tokens and self.tokens[-1] in signs else None

    def _sum(self):
        return self._chain(self._product, {"+": operator.add, "-": operator.sub})

    def _product(self):
        times = dict.fromkeys(("*", "×", "·", "x", "time"), operator.mul)
        return self._chain(self._signed, times | {"/": operator.truediv})

    def _chain(self, part, operations):
        result = part()
        while sign := self._next(*operations):
            result = operations[sign](result, part())
        return result

    def _signed(self):
        if sign := self._next("-", "+"):
            return self._signed() * (-1 if sign == "-" else 1)
        return self._power()

    def _power(self):
        base = self._atom()
        result = base ** self._signed() if self._next("^", "**") else base
        if isinstance(result, complex):
            raise ValueError("a root of a number below 0")
        return result

    def _atom(self):
        self.depth += 1
        if not self.tokens or self.depth > DEEPEST:
            raise ValueError("a number is missing")
        token = self.tokens.pop()
        if token in FUNCTIONS:
            result = FUNCTIONS[token](self._atom())
        elif token == "(":
            result = self._sum()
            if not self._next(")"):
                raise ValueError("a bracket is missing")
        elif isinstance(token, float):
            result = token
        elif token in VALUES:
            result = VALUES[token]
        else:
            raise ValueError(f"{token} is no number")
        self.depth -= 1
        while factor := self._next(*FACTORS):
            result *= FACTORS[factor]
        return result
