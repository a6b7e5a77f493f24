"""Read what was entered, as the question asks for it; authors/pages/reading.js mirrors this file."""

import copy
import math
import numbers
import re

from . import expression

LONGEST, DEEPEST = 10_000, 8  # numbers in a row, and lists in each other
SIGNS = {"−": "-", "–": "-", "∞": "inf", "’": "'", "≅": "≈", "≃": "≈", "⟨": "(", "⟩": ")"}
SIGNS |= {"½": " 1/2", "⅓": " 1/3", "⅔": " 2/3", "¼": " 1/4", "¾": " 3/4", "⅕": " 1/5", "⅙": " 1/6"}
SIGNS = str.maketrans(SIGNS | dict.fromkeys("\u00a0\u2009\u202f", " "))
BEFORE = (  # what is said before an answer: I think 12; the answer is 12; n = 12; ca. 12
    re.compile(
        r"^((i (think|guess|believe)|maybe|perhaps|probably|exactly|(my |the )?(answer|guess))\b( is\b|:|,)?\s+)+(?=\S)"
    ),
    re.compile(r"^[a-z]\w*\s*=\s*(?=\S)"),
    re.compile(r"\b(ca?|appro?x?)\.\s*(?=[\d.-])"),
)
AFTER = re.compile(r"(?<=\S),?\s+(i (think|guess|believe)|or so|in (total|all)|altogether)$")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
GROUPED = re.compile(r"[+-]?\d{1,3}((,\d{3})+|(\.\d{3})+)")
OPEN, CLOSE = "[({", "])}"
TYPES = re.compile(r"\b(torch\.|np\.|numpy\.)?(size|shape|tensor|array|tuple|set)\b|[\[\](){}\"]")
WAYS = (  # in which numbers and words stand beside each other: 0,06; 0,47 | 1, 2 | 0,06, 0,47 | 1,2 3
    r"[;\n]",
    r"[;\n,]",
    r"[;\n]|,\s+|\s+",
    r"[;\n,\s]+",
)


class Unreadable(ValueError):
    """An answer that is none of those that are asked for."""


def read(question, thing, size=None):
    """An answer as a list of numbers or words; of a matrix or a tensor, nested lists. size is how many there should be.

    Raises: Unreadable, or whatever a strange object raises.
    """
    if isinstance(thing, str) and question.form != "tensor":
        return _rows(question, thing, size) if question.form == "matrix" else _in_text(question, thing, size)
    if hasattr(thing, "tolist"):  # of torch and of numpy
        thing = thing.detach().tolist() if hasattr(thing, "detach") else thing.tolist()
    if question.form == "tensor":
        return _nested(thing)
    if isinstance(thing, set | frozenset):
        if question.form != "set" and len(thing) != 1:
            raise Unreadable("a set has no order")
        thing = list(thing)
    if not isinstance(thing, list | tuple | range):
        thing = [thing]
    if len(thing) > LONGEST:
        raise Unreadable("too long")
    for _ in range(DEEPEST):
        if len(thing) == 1 and _is_list(thing[0]) and (question.form != "matrix" or any(map(_is_list, thing[0]))):
            thing = thing[0]
    if question.form == "matrix":
        return _even([[x for part in row for x in _one(question, part)] for row in thing])
    return _in_order(question, [x for part in thing for x in _one(question, part)])


def is_refused(question, thing, size=None):
    """Whether what cannot be read is one of numbers all the same, only not whole or out of the question's range."""
    laxer = copy.copy(question)
    laxer.whole, laxer.range = False, None
    try:
        return bool(read(laxer, thing, size))
    except Exception:  # whatever was entered
        return False


def _is_list(thing):
    return isinstance(thing, list | tuple)


def size(question, truth):
    """How many numbers or words there should be: of a matrix those of a row; None where that belongs to the answer."""
    if question.form in ("shape", "set", "tensor"):
        return None
    return len(truth[0] if question.form == "matrix" else truth)


def form(thing):
    """The sizes of nested lists, () for one number; raises ValueError if they are ragged."""
    if not isinstance(thing, list):
        return ()
    inner = {form(part) for part in thing}
    if len(inner) > 1:
        raise ValueError("ragged")
    return (len(thing), *(inner.pop() if inner else ()))


def phrase(text, skip=()):
    """Words as they are compared: lower case, without signs, plural and those that say nothing."""
    text = re.sub(r"(?<=\w)-(?=\w)", " ", _tidy(text).replace("'", ""))
    words = re.sub(r"[^\w√-]+", " ", text).split()
    return " ".join(word for word in map(singular, words) if word not in skip)


def singular(word):
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _tidy(text):
    """Text with one sign for each thing: -, inf, x, %, commas."""
    text = re.sub(r"(?<=\d)½", ".5", text).translate(SIGNS).lower().strip()
    text = re.sub(r"(?<=[\w)\].])\s*\|\s*(?=[\w(\[.+-])", "; ", text)
    for pattern in BEFORE:
        text = pattern.sub("", text)
    text = re.sub("^<(.*)>$", r"(\1)", text)
    text = AFTER.sub("", text.rstrip(".!"))
    text = re.sub(r"\s*(%|per ?cent\b|pct\b)", "%", text)
    text = re.sub(r"\bminus\s+|(?<![\d.])-\s+(?=[\d.])", "-", text)
    return re.sub(r"(?<=\d)\s*/\s*(?=\d)", "/", text).strip()


def _rows(question, text, size):
    if not _balanced(text):
        raise Unreadable("a bracket is missing")
    rows = re.findall(r"[\[({]([^\[\](){}]*)[\])}]", text)
    if len(rows) < 2:
        rows = re.split(r"[;\n]", "".join(rows) or _tidy(text))
    rows_read = [_in_text(question, row, size) for row in rows if row.strip(" ,")]
    if len(rows_read) == 1 and size and len(rows_read[0]) % size == 0:  # all numbers in one line, row by row
        rows_read = [rows_read[0][at : at + size] for at in range(0, len(rows_read[0]), size)]
    return _even(rows_read)


def _even(rows):
    if len({len(row) for row in rows}) != 1:
        raise Unreadable("rows of different lengths")
    return rows


def _in_text(question, text, size):
    """The numbers or words of a text: the first way to part them that makes as many as there should be."""
    if (whole := phrase(text, question.skip)) in question.names:
        return question.names[whole]
    if not _balanced(text):
        raise Unreadable("a bracket is missing")
    if question.form == "number":
        text = re.sub(r"^.*[=≈]\s*(?=\S)", "", text)  # 64 * 64 = 4096
        if question.whole and question.range:
            text = re.sub(rf"(?<=\d)\s*(/|(out )?of)\s*{question.range[1]}$", "", text)  # 10 of 16
    as_entered = text
    text = TYPES.sub(" ", _tidy(text))
    text = re.sub(r"\b(and|then)\b|&|(?<=\d)\s*([x×*·]|by)\s*(?=\d)", ", ", text)
    if question.form in ("set", "words"):
        text = re.sub(r"\bboth\s+(?=\S)", "", re.sub(r"[/+]", ", ", text))
    is_shared = size != 1 and not question.whole and re.fullmatch(r"[^%]*\d%", text.strip())  # 6, 47, 47 %
    text = text.replace("%", "").strip(" ,;:") if is_shared else text.strip(" ,;:")
    if question.form == "set" and not text and as_entered.strip():  # brackets with nothing between them
        return []
    first_values = None
    for way in WAYS[:2] if re.search(r"\d\s+[-−–]\s+[\d.]", as_entered) else WAYS:  # 3 - 5 is hardly 3 and -5
        try:
            values = [x for part in re.split(way, text) if part.strip() for x in _one(question, part, size)]
        except Unreadable:
            continue
        if is_shared:
            values = [x / 100 if isinstance(x, float) else x for x in values]
        if values and (size is None or len(values) == size):
            return _in_order(question, values)
        first_values = first_values or values
    if size == 1 and not question.options:
        try:
            return _worked_out(question, as_entered)
        except (ValueError, ArithmeticError):
            pass
    if not first_values:
        raise Unreadable("none of the forms fits")
    return _in_order(question, first_values)


def _worked_out(question, text):
    """The one number of a product, a power, a sum, or of words."""
    return _one(question, expression.value(_without(text, question.skip), lambda part: _decimal(part, question.whole)))


def _balanced(text):
    waiting = []
    for sign in text:
        if sign in OPEN:
            waiting.append(sign)
        elif sign in CLOSE and (not waiting or OPEN.index(waiting.pop()) != CLOSE.index(sign)):
            return False
    return not waiting


def _one(question, part, size=1):
    """What one part stands for, as a list, since `all` is several."""
    if isinstance(part, bool):
        part = str(part)
    if isinstance(part, str):
        if (words := phrase(part, question.skip)) in question.names:
            return question.names[words]
        if question.options:
            raise Unreadable("none of the words")
        if size is None and re.search(r"\d[\s,_]+\d", part):  # 5 135 135, several numbers as likely as one
            raise Unreadable("not one number")
        number = _in_words(question, _without(part, question.skip))
    elif question.options:
        return _one(question, f"{part:g}" if isinstance(part, float) else str(part))
    elif isinstance(part, numbers.Real) or hasattr(part, "__float__"):
        number = float(part)
    else:
        raise Unreadable("neither a number nor a word")
    if question.whole and not number.is_integer():
        raise Unreadable("not a whole number")
    if question.range and not question.range[0] <= number <= question.range[1]:
        raise Unreadable("out of range")
    return ["nan"] if math.isnan(number) else [number]


def _in_words(question, text):
    """A number, or nan for 0/0; where several are asked for, also one that is worked out, as e^-2, or a word."""
    if text == "0/0" and "nan" in question.names:
        return math.nan
    try:
        return _number(text, thousands=question.whole)
    except Unreadable:
        if question.form not in ("numbers", "matrix"):
            raise
    try:
        return expression.value(text, lambda part: _decimal(part, question.whole))
    except (ValueError, ArithmeticError):
        raise Unreadable("no number") from None


def _without(text, skip):
    """A part without the words that say nothing of a number."""
    text = re.sub(r"[^\W\d_]{2,}", lambda word: "" if singular(word[0]) in skip else word[0], _tidy(text))
    return text.lstrip(" =≈~").rstrip(" .!")


def _number(text, thousands):
    if match := re.fullmatch(r"([+-]?)inf(inity)?", text):
        return -math.inf if match[1] == "-" else math.inf
    match = re.fullmatch(r"([^/%]+)(?:/([^/%]+))?(%?)", text)
    over, under = [_decimal(part or "1", thousands) for part in match.groups()[:2]] if match else (0, 0)
    if not under:
        raise Unreadable("no number")
    return over / under / (100 if match[3] else 1)


def _decimal(text, thousands):
    """Without / and %; of two kinds of signs the last is the decimal one, and the others part thousands."""
    text = re.sub(r"(\d)[ _'](?=\d{3}(?!\d))", r"\1", text)
    signs, last = re.findall("[.,]", text), max(text.rfind("."), text.rfind(","))
    if GROUPED.fullmatch(text) and (len(signs) > 1 or (thousands and signs[0] == ",")):
        text = re.sub("[.,]", "", text)
    elif len(signs) > 1 and GROUPED.fullmatch(text[:last]) and signs[0] != signs[-1]:
        text = f"{re.sub('[.,]', '', text[:last])}.{text[last + 1 :]}"
    elif len(signs) == 1:
        text = text.replace(",", ".")
    if not NUMBER.fullmatch(text):
        raise Unreadable("no number")
    return float(text)


def _in_order(question, read):
    """Of a set, each once and in order."""
    return sorted(set(read)) if question.form == "set" else read


def _nested(thing, depth=0):
    if depth > DEEPEST or isinstance(thing, str):
        raise Unreadable("no tensor")
    if hasattr(thing, "tolist"):
        thing = thing.detach().tolist() if hasattr(thing, "detach") else thing.tolist()
    if isinstance(thing, list | tuple | range) and len(thing) < LONGEST:
        return [_nested(part, depth + 1) for part in thing]
    if isinstance(thing, bool):
        return thing
    return float(thing)
