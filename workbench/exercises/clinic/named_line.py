"""Which line of a source an answer names: by its number, by its code, or in words."""

import re

MADE = 2  # what a word counts that is the name which a line gives; one for what it does counts 1
STEMS = {  # what stands in a line → how words for it begin
    r"sqrt|size\(-1\)|\*\* ?-?0?\.5": ("scal", "divi", "root", "sqrt", "temperature"),
    r"softmax": ("softmax", "weight", "normali"),
    r"mask|tril|triu": ("mask", "causal", "triang", "tril", "future"),
    r"rotary": ("turn", "rope", "rotat", "position"),
    r"seen|start": ("position", "seen", "count", "offset", "start"),
    r"cache": ("cache",),
    r"\bcat\(": ("concat", "append", "kept", "longer"),
    r"merge_heads|reshape|transpose|flatten": ("merg", "transpos", "reshap", "join", "put"),
    r"split_heads|chunk|view": ("split", "cut"),
    r"share_heads|repeat": ("shar", "repeat", "group", "neighb"),
    r"norm\(": ("norm",),
    r"@ W_o|out_proj": ("project", "w_o"),
    r"return": ("return", "result"),
}


def lines_named(answer, *sources):
    """The numbers of the lines that an answer names, of sources that have the same lines but for the wrong ones.

    Empty where none can be read in it. A number may be outside of the source.
    """
    if isinstance(answer, bool) or not isinstance(answer, int | float | str):
        return set()
    if not isinstance(answer, str):
        return {int(answer)} if float(answer).is_integer() else set()
    if number := re.fullmatch(r"(?:line|row|l\.?|no\.?)?\s*#?(\d+)(?:[\s.:,].*)?", answer.strip(), re.I | re.S):
        return {int(number[1])}
    texts = [[_squeezed(line) for line in source.splitlines()] for source in sources]
    code = _squeezed(answer)
    quoted = {k for lines in texts for k, line in enumerate(lines, 1) if code and code in line}
    if len(quoted) == 1 and len(code) > 2:
        return quoted
    return _lines_fitting(re.findall(r"\w+", answer.casefold()), sources) or quoted


def _squeezed(code):
    """Code without spaces and without its comment."""
    return re.sub(r"\s+|#.*", "", code)


def _lines_fitting(words, sources):
    """The numbers of the lines that most of the words fit."""
    counts = {}
    for source in sources:
        for k, line in enumerate(source.splitlines(), 1):
            counts[k] = max(counts.get(k, 0), _count(words, line.partition("#")[0]))
    most = max(counts.values(), default=0)
    return {k for k, count in counts.items() if count == most > 0}


def _count(words, line):
    left_side, _, _ = line.partition(" = ")
    names = set(re.findall(r"\w+", left_side.casefold())) if " = " in line else set()
    stems = [stem for code, stems in STEMS.items() if re.search(code, line) for stem in stems]
    return sum(MADE * (word in names) + word.startswith(tuple(stems)) for word in dict.fromkeys(words))


def lines_in_words(numbers):
    """As "line 4", or "lines 4, 5 and 6"."""
    *most, last = map(str, sorted(numbers))
    return f"lines {', '.join(most)} and {last}" if most else f"line {last}"
