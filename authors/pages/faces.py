"""Source Serif 4 and Inter, the faces that tokens.css names first, for pages that bring them along.

Without npm's packages there are none: pages then look for the other faces that tokens.css names.
"""

import base64
import shutil

from .packages import PACKAGES

FOLDER = PACKAGES / "@fontsource-variable"
# family, style, weights, file; what is seen first on a page comes first
FACES = [
    ("Source Serif 4", "normal", "200 900", "source-serif-4/files/source-serif-4-latin-wght-normal.woff2"),
    ("Inter", "normal", "100 900", "inter/files/inter-latin-wght-normal.woff2"),
    ("Source Serif 4", "italic", "200 900", "source-serif-4/files/source-serif-4-latin-wght-italic.woff2"),
]
# what stands there until the first has come, and how many percent of its size are as wide, so that lines break alike
STAND_INS = {"Georgia": 106, "Noto Serif": 94, "DejaVu Serif": 93}
ABOVE, BELOW = 103.6, 33.5  # and as high, in percent of its size, above and below the foot of its letters: its `hhea`


def embedded():
    """A style sheet that holds the faces, for a page that is one file."""
    return style_sheet(lambda path: f"data:font/woff2;base64,{base64.b64encode(path.read_bytes()).decode()}")


def copied(folder):
    """A style sheet for this folder, into which the faces are copied with their licences."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in files():
        package = path.parents[1]
        shutil.copy(path, folder)
        shutil.copy(package / "LICENSE", folder / f"LICENSE-{package.name}")
    return style_sheet(lambda path: path.name) + stand_ins()


def stand_ins():
    """`@font-face` of what stands in for the first face, "as wide Georgia"; tokens.css names them after it."""
    return "".join(
        f'@font-face {{ font-family: "as wide {name}"; src: local("{name}"); size-adjust: {size}%; '
        f"ascent-override: {100 * ABOVE / size:.1f}%; descent-override: {100 * BELOW / size:.1f}%; "
        f"line-gap-override: 0%; }}\n"
        for name, size in STAND_INS.items()
    )


def files():
    """Where the faces are, in the order of FACES."""
    paths = [FOLDER / file for *_, file in FACES]
    return paths if all(path.is_file() for path in paths) else []


def style_sheet(address):
    """`@font-face` of each face, whose file has this address."""
    return "".join(
        f'@font-face {{ font-family: "{family}"; font-style: {style}; font-weight: {weights}; font-display: swap; '
        f'src: url({address(path)}) format("woff2"); }}\n'
        for (family, style, weights, _), path in zip(FACES, files(), strict=False)
    )
