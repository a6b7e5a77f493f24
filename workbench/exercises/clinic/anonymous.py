"""Compile a bug under the name `attention`, so that neither its name nor its file tells more than its source."""

import linecache
import math

import torch
import torch.nn.functional as F
from torch import nn

from attn_lib.functional import masked_softmax, merge_heads, scaled_dot_product_attention, share_heads, split_heads
from attn_lib.masks import causal_mask, padding_mask, window_mask
from attn_lib.position import rotary
from workbench.smollm.model import rms_norm

NAMES_IN_SCOPE = {  # what the source of a bug may use; the notebook imports the same
    "F": F,
    "causal_mask": causal_mask,
    "masked_softmax": masked_softmax,
    "math": math,
    "merge_heads": merge_heads,
    "nn": nn,
    "padding_mask": padding_mask,
    "rms_norm": rms_norm,
    "rotary": rotary,
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "share_heads": share_heads,
    "split_heads": split_heads,
    "torch": torch,
    "window_mask": window_mask,
}


def compiled(source, file):
    """Return what a source defines as `attention`, compiled as if it stood in `file`."""
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file  # for traces and tracebacks
    names = {**NAMES_IN_SCOPE, "__name__": "clinic"}
    exec(compile(source, file, "exec"), names)
    return names["attention"]


def instance_of(code):
    """Return a new module if code is a class, else the function itself."""
    return code() if isinstance(code, type) else code
