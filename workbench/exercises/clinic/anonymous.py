"""Patients are run from their source, under one name for all: nothing about them tells more than the source does."""

import linecache
import math

import torch
import torch.nn.functional as F
from torch import nn

from attn_lib.functional import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads
from attn_lib.masks import causal_mask, padding_mask, window_mask
from attn_lib.position import rotary

INSTRUMENTS = {  # what the source of a patient may use; the notebook imports the same
    "F": F,
    "causal_mask": causal_mask,
    "masked_softmax": masked_softmax,
    "math": math,
    "merge_heads": merge_heads,
    "nn": nn,
    "padding_mask": padding_mask,
    "rotary": rotary,
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "split_heads": split_heads,
    "torch": torch,
    "window_mask": window_mask,
}


def compiled(source, file):
    """What a source defines as `attention`, with nothing about it that tells more than the source."""
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file  # for traces and tracebacks
    names = {**INSTRUMENTS, "__name__": "clinic"}
    exec(compile(source, file, "exec"), names)
    return names["attention"]


def fresh(code):
    """A module made afresh where code is a class, the function itself otherwise."""
    return code() if isinstance(code, type) else code
