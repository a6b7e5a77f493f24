"""On another device than the processor all is made there, and nothing waits for it: `meta` has no numbers to tell."""

import pytest
import torch
from every_path import paths, there_and_back
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attn_lib import fast

PATHS = paths("meta")


class AllOnMeta(TorchDispatchMode):
    """Nothing is computed with, or made, on the processor."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        elsewhere = [x for x in tree_leaves((args, kwargs, made)) if isinstance(x, torch.Tensor) and not x.is_meta]
        assert not elsewhere, f"{func} takes or makes {elsewhere}"
        return made


@pytest.mark.on_cpu  # a default device would take along what is handed over
@pytest.mark.parametrize("least", [0, 2**62], ids=["in place", "as taught"])
@pytest.mark.parametrize("name", PATHS)
def test_nothing_is_carried_over_and_nothing_waits_there_and_back(name, least, monkeypatch):
    monkeypatch.setattr(fast, "FAST_PATH_MIN_WEIGHTS", least)
    with AllOnMeta():
        made = there_and_back(PATHS[name])
    assert made and all(x.is_meta for x in made)
