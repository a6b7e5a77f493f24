"""The cases of shown.md; run as a program, this file writes what trace shows of them anew."""

import re
from pathlib import Path

import torch
from cells import traced
from torch import nn

from attn_lib import split_heads

SHOWN = Path(__file__).with_name("shown.md")
CASE = re.compile(r"## ([^\n]*)\n\n```\n(.*?)\n```\n\n```\n(.*?)\n```", re.S)
CASES = {title: (cell, text) for title, cell, text in CASE.findall(SHOWN.read_text(encoding="utf-8"))}


def run_of(cell):
    layers = nn.Sequential(nn.Linear(3, 4), nn.Linear(3, 2))
    return traced(cell, torch.ones(2, 3), split_heads=split_heads, linear=nn.Linear(3, 4), layers=layers)


def write_shown():
    text = SHOWN.read_text(encoding="utf-8")
    for cell, was in CASES.values():
        text = text.replace(f"{cell}\n```\n\n```\n{was}\n```", f"{cell}\n```\n\n```\n{run_of(cell)!r}\n```")
    SHOWN.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_shown()
