"""What pages need of a browser: the one place in which it is looked up whether they may take something for granted.

Pages work in browsers of five years ago, WORKS_FROM. What is younger stands in NEEDS, with the versions that brought it
and what happens without it: older.js gives it, or the page does without and says in one sentence that it looks plainer.
AVOIDED are names that are younger too and that no page uses yet: who needs one gives it a row.
Versions: https://github.com/web-platform-dx/web-features, data of 3.40.0.
"""

import json
import re
from dataclasses import dataclass
from functools import cache

from workbench.board import modules

from . import packages

WORKS_FROM = {"chrome": 96, "firefox": 94, "safari": 15}  # November 2021
TARGET = ",".join(f"{browser}{version}" for browser, version in WORKS_FROM.items())  # as esbuild names them
OLD = (
    f"a newer browser: Chrome or Edge {WORKS_FROM['chrome']}, Firefox {WORKS_FROM['firefox']}, Safari "
    f"{WORKS_FROM['safari']}, or later"
)


@dataclass(frozen=True)
class Need:
    """Something younger than WORKS_FROM in at least one browser.

    uses is a regular expression for it in scripts, or in style sheets where `supports`, what CSS.supports is asked, says
    that it is of those; without says what happens where it is missing; take is JavaScript that takes it away, as a
    browser that has it becomes one that does not. Of a style sheet the name alone is enough: another is not understood.
    """

    name: str
    uses: str
    chrome: float
    firefox: float
    safari: float
    without: str
    take: str = ""
    supports: str = ""


GIVEN = "older.js gives it"
PLAIN = "said in one sentence; "
NEEDS = (
    Need("Array.at", r"\.at\(", 92, 90, 15.4, GIVEN, "delete Array.prototype.at; delete Object.getPrototypeOf(Int8Array.prototype).at"),
    Need("Array.findLast", r"\.findLast\(", 97, 104, 15.4, GIVEN, "delete Array.prototype.findLast; delete Object.getPrototypeOf(Int8Array.prototype).findLast"),
    Need("Array.findLastIndex", r"\.findLastIndex\(", 97, 104, 15.4, GIVEN, "delete Array.prototype.findLastIndex; delete Object.getPrototypeOf(Int8Array.prototype).findLastIndex"),
    Need("Object.hasOwn", r"\.hasOwn\(", 93, 92, 15.4, GIVEN, "delete Object.hasOwn"),
    Need("structuredClone", r"\bstructuredClone\(", 98, 94, 15.4, GIVEN, "delete window.structuredClone"),
    Need("checkVisibility", r"\.checkVisibility\(", 105, 106, 17.4, GIVEN, "delete Element.prototype.checkVisibility"),
    Need("dialog", r"\.showModal\(|\"dialog\"", 37, 98, 15.4, GIVEN, "delete HTMLDialogElement.prototype.showModal; delete HTMLDialogElement.prototype.close; delete HTMLDialogElement.prototype.open"),
    Need("popover", r"Popover\(", 114, 125, 17, GIVEN, "for (const name of ['popover', 'showPopover', 'hidePopover', 'togglePopover']) delete HTMLElement.prototype[name]"),
    Need("light-dark()", r"\blight-dark\(", 123, 120, 17.5, "colours.tokens() writes both sets of colours out", supports="color: light-dark(#000, #fff)"),
    Need("color-mix()", r"\bcolor-mix\(", 111, 113, 16.2, PLAIN + "shades and thin lines are missing", supports="color: color-mix(in srgb, red, blue)"),
    Need(":has()", r":has\(", 105, 121, 15.4, PLAIN + "parts stand one below another", supports="selector(:has(a))"),
    Need("@container", r"@container|\bcontainer(-type)?:", 105, 110, 16, PLAIN + "cards keep three columns", supports="container-type: inline-size"),
    Need("dvh, svh", r"\d[ds]vh\b", 108, 101, 15.4, PLAIN + "a menu may be longer than a phone's screen", supports="height: 1dvh"),
    Need("overflow: clip", r"overflow[\w-]*:[^;}]*\bclip\b", 90, 81, 16, PLAIN + "a wide thing may move the page sideways", supports="overflow: clip"),
    Need("zoom", r"(?<![\w-])zoom:", 1, 126, 3.1, PLAIN + "a slide's words keep one size", supports="zoom: 2"),
    Need("mask-image", r"(?<![\w-])mask(-image)?:", 120, 53, 15.4, "an edge that goes on does not fade", supports="mask-image: none"),
    Need("text-wrap", r"text-wrap:", 114, 121, 17.4, "lines of a heading differ in length", supports="text-wrap: balance"),
    Need("accent-color", r"accent-color:", 93, 92, 15.4, "sliders have the system's colour", supports="accent-color: red"),
    Need("color-scheme", r"color-scheme:", 81, 96, 13, "fields and scroll bars stay light on a dark page", supports="color-scheme: dark"),
    Need(":focus-visible", r":focus-visible", 86, 85, 15.4, "the browser's own ring shows where the keyboard is", supports="selector(:focus-visible)"),
    Need("::backdrop", r"::backdrop", 37, 98, 15.4, "what lies behind a dialog is not darkened", supports="selector(::backdrop)"),
    Need("forced-colors", r"forced-color", 89, 113, 16, "there are none where it is missing", supports="forced-color-adjust: none"),
    Need("print-color-adjust", r"(?<!-webkit-)print-color-adjust:", 136, 97, 15.4, "the prefixed name stands beside it", supports="print-color-adjust: exact"),
    Need("overflow-anchor", r"overflow-anchor:", 56, 66, 27, "none of its effects are needed", supports="overflow-anchor: none"),
    Need("scroll-behavior", r"scroll-behavior:", 61, 36, 15.4, "the page jumps", supports="scroll-behavior: smooth"),
    Need("user-select", r"(?<!-webkit-)user-select:", 54, 69, 99, "the prefixed name stands beside it", supports="user-select: none"),
    Need("appearance", r"(?<!-webkit-)appearance:", 84, 80, 15.4, "a field has the system's arrows", supports="appearance: none"),
    Need("paint-order", r"paint-order:", 123, 60, 11, "letters over a line have no rim", supports="paint-order: stroke"),
    Need("nesting", r"[{;]\s*&", 120, 117, 17.2, "esbuild writes it out as a page is built", supports="selector(&)"),
)  # fmt: skip
AVOIDED = {
    "scripts": (
        r"AbortSignal\.(timeout|any)|\.(toSorted|toReversed|toSpliced|withResolvers|fromAsync|groupBy|randomUUID|canParse"
        r"|startViewTransition|requestIdleCallback|isWellFormed|toWellFormed|setHTMLUnsafe|getHTML|symmetricDifference"
        r"|isSubsetOf|isSupersetOf|isDisjointFrom|intersection|hasStorageAccess|requestClose|moveBefore|caretPositionFromPoint"
        r"|throwIfAborted|getSetCookie|toBase64|fromBase64|getOrInsert)\b|\b(aria[A-Z]\w+|OffscreenCanvas|CompressionStream"
        r"|URLPattern|Temporal|Iterator|CloseWatcher|scheduler|Segmenter|DurationFormat|adoptedStyleSheets|beforetoggle"
        r"|scrollend|Float16Array|attachInternals|SharedArrayBuffer)\b|\(\?<[=!]|/\w*[v]\w*\.(test|exec)\(|\bstatic \{"
    ),
    "styles": (
        r"@(layer|scope|property|starting-style|view-transition|font-palette-values|position-try)\b|\b(oklch|oklab|lch|lab"
        r"|hwb|anchor|calc-size|contrast-color|round|mod|rem|abs|sign|hypot|sqrt|pow|exp|sin|cos|tan|atan2?|image-set)\("
        r"|:(user-valid|user-invalid|popover-open|modal|open|state|details-content)\b|(?<![\w-])(anchor-name"
        r"|position-anchor|field-sizing|content-visibility|scrollbar-gutter|scrollbar-color|scrollbar-width|white-space"
        r"-collapse|interpolate-size|view-transition-name|transition-behavior|animation-timeline|animation-composition"
        r"|contain-intrinsic-size|hyphenate-character|backdrop-filter|text-box|offset-path|inset-area|reading-flow):"
        r"|\bsubgrid\b|\d(lvh|dvw|svw|lvw|cqw|cqh|cqi|cqb|lh|rlh|cap|ic)\b|\b(from|of) (var\(--\w+\)|#\w+) r g b"
    ),
}


def script(path, name=""):
    """A script for pages, from the module at path and all that it imports; what it exports is called `name`."""
    looks = [need.supports for need in NEEDS if need.without.startswith(PLAIN)]
    return modules.script(path, name).replace("const LOOKS = [];", f"const LOOKS = {json.dumps(looks)};")


@cache
def style(text):
    """A style sheet as browsers from WORKS_FROM on read it, as far as it can be said in their words."""
    options = ["--loader=css", f"--target={TARGET}", "--charset=utf8", "--log-level=warning"]
    return packages.run("esbuild", *options, input=text, capture_output=True, encoding="utf-8", check=True).stdout


def uses(pattern, text):
    """Whether a script or a style sheet uses it, comments left out."""
    without_comments = re.sub(r"/\*.*?\*/|(?<![:\"'\w])//[^\n]*", "", text, flags=re.S)
    return re.search(pattern, without_comments)
