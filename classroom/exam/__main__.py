"""The command `python course.py exam`."""

import argparse
import csv
import secrets
import sys
from pathlib import Path

from . import canvas, gift, moodle, paper
from .bank import bank, mark_of
from .kinds import KINDS

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = "ABCDEF"


def main(argv):
    """Write an exam's versions, its key, and a bank for learning platforms; returns an exit code."""
    parser = argparse.ArgumentParser(
        prog="course.py exam",
        description="Exams on paper and question banks; wrong answers are misconceptions that the series knows.",
    )
    parser.add_argument("--kinds", type=names, default=list(KINDS), help=f"of {','.join(KINDS)} (default: all)")
    parser.add_argument("--lessons", type=numbers, help="take only what belongs to these: 1,3,10 (default: all)")
    parser.add_argument("--each", type=positive, default=2, help="questions of each kind on a sheet (default: 2)")
    parser.add_argument("--versions", type=positive, default=2, help="sheets with numbers of their own (default: 2)")
    parser.add_argument("--bank", type=positive, default=20, help="questions of each kind for platforms (default: 20)")
    parser.add_argument(
        "--seed",
        help="the same seed gives the same questions: a secret, and long enough not to be guessed (default: drawn)",
    )
    parser.add_argument("--out", type=Path, help="a folder (default: build/exam/SEED)")
    options = parser.parse_args(argv)
    if options.versions > len(VERSIONS):
        parser.error(f"at most {len(VERSIONS)} versions, not {options.versions}")
    seed = options.seed or secrets.token_hex(8)
    out = options.out or ROOT / "build" / "exam" / "".join(c if c.isalnum() else "_" for c in seed)
    out.mkdir(parents=True, exist_ok=True)
    how_many = max(options.bank, options.each * options.versions)
    items_of = bank(options.kinds, seed, how_many, options.lessons)
    items_of = {kind: items for kind, items in items_of.items() if items}
    if not items_of:
        print("Nothing was written: none of these kinds asks about these lessons.", file=sys.stderr)
        return 1
    versions = in_versions(items_of, VERSIONS[: options.versions], options.each)
    has_pdf = write_paper(versions, seed, out)
    write_key(versions, out / "key.csv")
    platforms = {kind: items[: options.bank] for kind, items in items_of.items()}
    moodle.write(platforms, out / "moodle.xml")
    gift.write(platforms, out / "bank.gift")
    canvas.write(platforms, out / "canvas.txt", out / "canvas.zip")
    print(summary(versions, platforms, seed, out, has_pdf))
    return 0


def in_versions(items_of, names, each):
    """{version: items}: of each kind so many, no two versions with the same; fewer where there are too few."""
    share = {kind: min(each, len(items) // len(names)) for kind, items in items_of.items()}
    return {
        name: [one for kind, items in items_of.items() for one in items[i * share[kind] : (i + 1) * share[kind]]]
        for i, name in enumerate(names)
    }


def write_paper(versions, seed, out):
    """Sheets and key as HTML and, where there is a browser, PDF; returns whether there was one."""
    pages = {f"{name}.html": paper.sheet(items, name, mark_of(seed)) for name, items in versions.items()}
    pages["key.html"] = paper.key(versions, seed)
    for name, text in pages.items():
        (out / name).write_text(text, encoding="utf-8")
    return paper.print_as_pdf([out / name for name in pages])


def write_key(versions, path):
    """A line for each question: version, number, id, right letter, and what each other letter is a mistake of."""
    with open(path, "w", newline="", encoding="utf-8-sig") as file:
        write = csv.writer(file).writerow
        write(("version", "question", "id", "right", *"abcdefgh"))
        for version, items in versions.items():
            for number, item in enumerate(items, start=1):
                mistakes = [option.mistake for option in item.options]
                write((version, number, item.id, item.letter(item.key), *mistakes))


def summary(versions, platforms, seed, out, has_pdf):
    """What was written, in sentences."""
    counts = ", ".join(f"{kind} {len(items)}" for kind, items in platforms.items())
    sheets = ", ".join(f"{name} with {len(items)} questions" for name, items in versions.items())
    where = out.relative_to(ROOT) if out.is_relative_to(ROOT) else out
    lines = [
        f"Seed {seed}: the same seed gives the same questions, so keep it as you keep the key.",
        f"On paper, in {where}: {sheets}; the key is apart, in key.html and key.csv.",
        f"For platforms: moodle.xml, bank.gift and, for Canvas, canvas.zip ({counts}).",
    ]
    if not has_pdf:
        lines.append("No browser was found, so there is no PDF: open the .html and print it.")
    return "\n".join(lines)


def names(text):
    """The kinds of `--kinds`. Raises: argparse.ArgumentTypeError for one that there is not."""
    kinds = text.split(",")
    if unknown := [name for name in kinds if name not in KINDS]:
        raise argparse.ArgumentTypeError(f"there is no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    return kinds


def numbers(text):
    """The lessons of `--lessons`, from 1 on. Raises: argparse.ArgumentTypeError for what is no number."""
    return [positive(part) for part in text.split(",")]


def positive(text):
    """A whole number from 1 on. Raises: argparse.ArgumentTypeError for another text."""
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
