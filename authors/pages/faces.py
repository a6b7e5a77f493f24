"""Source Serif 4 and Inter, the faces that tokens.css names first, for pages that bring them along."""

import base64
import shutil

from workbench.display.colours import face

from ..lessons import ROOT

FOLDER = ROOT / "workbench/display/faces"
# family, style, weights, file; what is seen first on a page comes first
FACES = [
    ("Source Serif 4", "normal", "200 900", "source-serif-4-latin-wght-normal.woff2"),
    ("Inter", "normal", "100 900", "inter-latin-wght-normal.woff2"),
    ("Source Serif 4", "italic", "200 900", "source-serif-4-latin-wght-italic.woff2"),
]
# What stands there until a face has come: the percent of its size that are as wide, measured on the lessons' text, so
# that lines break alike; and how much is above and below the foot of the face's letters, in percent: its `hhea`.
STAND_INS = {
    "Source Serif 4": ({"Georgia": 106, "Noto Serif": 94, "DejaVu Serif": 92}, 103.6, 33.5),
    "Inter": ({"Arial": 107, "Roboto": 107, "DejaVu Sans": 94}, 96.9, 24.1),
}
LEANING = 0.926  # of the upright face's width: the italic one's


def embedded():
    """A style sheet that holds the faces, for a page that is one file."""
    return style_sheet(lambda path: f"data:font/woff2;base64,{base64.b64encode(path.read_bytes()).decode()}")


def copied(folder):
    """A style sheet for this folder, into which the faces are copied with their licences."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    return style_sheet(lambda path: path.name) + stand_ins()


def stand_ins():
    """`@font-face` of what stands in for each face, "as wide Georgia", and Inter's named behind it.

    tokens.css names those of the first face; a stand-in is as wide at every weight, as the faces nearly are.
    """
    rules = [
        f'@font-face {{ font-family: "as wide {name}"; font-style: {style}; font-weight: {weights}; '
        f'src: local("{name}"); size-adjust: {size:.1f}%; ascent-override: {100 * above / size:.1f}%; '
        f"descent-override: {100 * below / size:.1f}%; line-gap-override: 0%; }}\n"
        for family, style, weights, _ in FACES
        for sizes, above, below in [STAND_INS[family]]
        for name, size in ((name, size * (LEANING if style == "italic" else 1)) for name, size in sizes.items())
    ]
    names = ", ".join(f'"as wide {name}"' for name in STAND_INS["Inter"][0])
    return "".join([*rules, f":root:root {{ --ui: {face('ui').replace('Inter,', f'Inter, {names},', 1)}; }}\n"])


def files():
    """Where the faces are, in the order of FACES."""
    return [FOLDER / file for *_, file in FACES]


def style_sheet(address):
    """`@font-face` of each face, whose file has this address."""
    return "".join(
        f'@font-face {{ font-family: "{family}"; font-style: {style}; font-weight: {weights}; font-display: swap; '
        f'src: url({address(path)}) format("woff2"); }}\n'
        for (family, style, weights, _), path in zip(FACES, files(), strict=True)
    )
