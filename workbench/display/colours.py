"""One place for colours: of things in prose, diagrams, heatmaps and boards alike, of frames and of cells."""

# What a thing is; each ≥ 4.5:1 on white, so that it can be the colour of a word.
COLOURS = {
    "input": "#475569",
    "query": "#B0125B",
    "key": "#A34700",
    "value": "#540D77",
    "weights": "#1F5FBF",
    "output": "#056125",
}

# The edge of a frame says what is in it; each ≥ 3:1 on white and on a dark page.
FRAMES = {"plain": "#3B7DD8", "right": "#2A8653", "wrong": "#C2571A", "open": "#737F90"}

# A cell goes from LIGHT to ABOVE as its number grows and to BELOW as it falls; INK is read on all of them at ≥ 7:1.
LIGHT, ABOVE, BELOW, NO_NUMBER = "#F7FAFF", "#8DB3EC", "#E9A87C", "#D5DAE1"
INK, LINE = "#10203A", "#C9D3E3"
RULE = "rgba(127, 127, 127, 0.4)"  # between the rows of a table, on a white page and on a dark one

# In a picture a weight goes from 0 to 1 along these, and every shade is darker than the one before.
WEIGHTS = [LIGHT, "#A9C6F2", COLOURS["weights"], "#0B2E66"]
BELOW_ZERO = ["#5E2600", "#C2571A", "#EDB48F"]  # and these lead up to LIGHT, which is 0, where numbers have both signs
PAPER, TYPE = "#FFFFFF", "#000000"  # on every shade one of the two is told apart by 4.58:1 or more


def contrast(one, other):
    """How well one colour can be read on another, 1 to 21; each is "#RRGGBB" or three shares from 0 to 1.

    Source: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
    """
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour):
    if isinstance(colour, str):
        colour = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
