"""What nbval leaves out when it compares a cell's outputs: kinds, pictures, their descriptions, boards' saved tables.

A picture may come from another font renderer: it is compared by the mean colour of each small square. Letters that are
drawn a little thinner or a pixel further move such a mean by some percent, a rectangle, a curve or a word elsewhere
by more than this.
"""

import base64
import binascii
import io
import json
import re

import numpy as np
from PIL import Image

from authors.refresh import as_saved

SQUARE = 12  # pixels, a little larger than a letter
NEAR = 0.18  # of the whole range from black to white, for the mean of a square
REPAINTED = 0.005  # the share of all pixels, where a curve may run elsewhere
GROWTH = 0.03  # letters of another width make a picture wider, as its margins are cut to what is drawn


def differences(cell, made):
    """What differs between a cell's saved outputs and those made, beyond what nbval compares, one line for each.

    A cell tagged `measured` draws another curve each time, and its description says so: of its picture only size and
    colours are compared, of its description the numbers may differ.
    """
    measured = "measured" in cell.metadata.get("tags", [])
    made = as_saved(made, *still_of(cell.outputs))
    saved, made = as_one_stream(cell.outputs), as_one_stream(made)
    if kinds(saved) != kinds(made):
        return [f"saved were {kinds(saved)}, made were {kinds(made)}"]
    found = []
    for before, after in zip(saved, made, strict=True):
        if metadata(before, measured) != metadata(after, measured):
            found.append(f"saved with {before['metadata']}, made with {after['metadata']}")
        if "image/png" in before.get("data", {}):
            found += picture_differences(before["data"]["image/png"], after["data"]["image/png"], measured)
        if "nbval-ignore-output" in cell.metadata.get("tags", []) and not measured:  # a board, which nbval leaves alone
            kept = [mime for mime in before.get("data", {}) if mime.startswith("text/")]
            found += [f"another {mime} was saved" for mime in kept if before["data"][mime] != after["data"][mime]]
    return found


def still_of(outputs):
    """The picture that stands for a board in saved outputs, and the line above it; None and "" where there is none."""
    if len(outputs) == 2 and list(outputs[1].get("data", {})) == ["image/png", "text/plain"]:
        above = outputs[0].get("data", {}).get("text/html", "")
        return outputs[1]["data"]["image/png"], above.removeprefix("<details><summary>").partition("</summary>")[0]
    return None, ""


def metadata(output, measured):
    """An output's metadata, which hold the description of a picture; with # for numbers where they are measured."""
    text = json.dumps(output.get("metadata", {}), sort_keys=True)
    return re.sub(r"\d+(\.\d+)?(e[+-]\d+)?", "#", text) if measured else text


def as_one_stream(outputs):
    """What was printed arrives in pieces of any size: of those that follow each other the first stands for all."""
    kept = []
    for output in outputs:
        again = kept and output["output_type"] == "stream" and kinds([output]) == kinds(kept[-1:])
        kept += [] if again else [output]
    return kept


def kinds(outputs):
    return [(output["output_type"], output.get("name"), *sorted(output.get("data", {}))) for output in outputs]


def picture_differences(saved, made, measured=False):
    """At most one line that says how far two PNGs in base64 are from each other."""
    try:
        before, after = picture(saved), picture(made)
    except (OSError, binascii.Error) as error:
        return [f"a picture that cannot be read: {error}"]
    sizes = np.array([before.size, after.size])
    if (abs(sizes[0] - sizes[1]) > GROWTH * sizes.max(0) + 2).any():
        return [f"a picture of {before.size} pixels was saved, one of {after.size} is made"]
    if measured:
        apart = abs(colours(before) - colours(after)).max()
        return [f"{apart:.1%} of the pixels have another colour"] if apart > REPAINTED else []
    pixels = [np.asarray(image.resize(before.size), float) / 255 for image in (before, after)]
    apart = abs(means_of_squares(pixels[0] - pixels[1])).max(-1)
    top, left = np.unravel_index(apart.argmax(), apart.shape)
    where = f"{left} pixels from the left and {top} from the top"
    return [f"pictures differ by {apart.max():.2f} {where}"] if apart.max() > NEAR else []


def means_of_squares(pixels):
    """The mean of every square of the picture, wherever it begins."""
    sums = np.pad(pixels, ((1, 0), (1, 0), (0, 0))).cumsum(0).cumsum(1)
    n = SQUARE
    return (sums[n:, n:] - sums[:-n, n:] - sums[n:, :-n] + sums[:-n, :-n]) / n**2


def picture(text):
    return Image.open(io.BytesIO(base64.b64decode(text, validate=False))).convert("RGBA").convert("RGB")


def colours(image):
    """The share of the pixels in each of 64 ranges of colour."""
    red, green, blue = np.asarray(image).reshape(-1, 3).T // 64
    return np.bincount(16 * red + 4 * green + blue, minlength=64) / red.size
