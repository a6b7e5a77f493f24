"""A learner's class goes on in a later notebook, and is no other than what was written."""

import linecache

import pytest
import torch
from other_styles import AttentionByEinsum
from torch import nn

from attn_lib import MultiHeadAttention, scaled_dot_product_attention
from workbench.exercises import check, own, your_own

pytestmark = pytest.mark.usefixtures("own_folder")

CLASS = """
class MyMultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        query, key, value = my_split(self, query, key, value)
        output, weights = attend(query, key, value, mask if mask is None or mask.ndim == 2 else mask[:, None])
        return self.out_proj(output.transpose(1, 2).flatten(2)) * ONE, weights
"""
HELPERS = """
ONE = 1.0  # a number of the notebook

def my_split(module, *inputs):
    layers = module.q_proj, module.k_proj, module.v_proj
    return [my_heads(layer(x), module.num_heads) for layer, x in zip(layers, inputs)]

def my_heads(x, num_heads):
    return x.view(*x.shape[:2], num_heads, x.size(-1) // num_heads).transpose(1, 2)
"""


def of_a_notebook(source, **names):
    """The class that a cell with this source makes, in a notebook that has these names."""
    file = f"<cell {abs(hash(source))}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    names |= {"__name__": "__main__", "nn": nn, "attend": scaled_dot_product_attention}
    exec(compile(source, file, "exec"), names)
    return names["MyMultiHeadAttention"]


def test_a_right_class_goes_on_with_all_that_it_uses(capsys):
    assert "kept in" in check("4.5", of_a_notebook(HELPERS + CLASS)).message
    made_of, whose = your_own("4.5", MultiHeadAttention)
    assert whose == "MyMultiHeadAttention" and "your own" in capsys.readouterr().out
    ours, course = made_of(6, 3), MultiHeadAttention(6, 3)
    ours.load_state_dict(course.state_dict())
    x, mask = torch.randn(2, 4, 6), torch.ones(4, 4, dtype=torch.bool).tril()
    torch.testing.assert_close(ours(x, x, x, mask), course(x, x, x, mask))


@pytest.mark.parametrize("change", [("* ONE", ""), ("* ONE", "* 2.0")])
def test_the_last_right_class_is_the_one_that_goes_on(own_folder, change):
    check("4.5", of_a_notebook(HELPERS + CLASS))
    changed = of_a_notebook(HELPERS + CLASS.replace(*change))
    is_right = check("4.5", changed).status == "correct"
    assert ("* ONE" in (own_folder / "my_multi_head_attention.py").read_text()) != is_right


@pytest.mark.parametrize("kept", [None, "class MyMultiHeadAttention: 1 / 0", CLASS])
def test_without_a_right_class_it_is_the_courses_and_says_so(own_folder, capsys, kept):
    if kept is not None:
        (own_folder / "my_multi_head_attention.py").write_text(kept)
    assert your_own("4.5", MultiHeadAttention) == (MultiHeadAttention, "attn_lib.MultiHeadAttention")
    assert "attn_lib.MultiHeadAttention" in capsys.readouterr().out


def test_a_class_that_needs_its_notebook_is_not_kept(own_folder):
    verdict = check("4.5", of_a_notebook(HELPERS + CLASS.replace("ONE", "ones"), ones=torch.ones(1)))
    assert verdict.status == "correct" and "`ones`" in verdict.message
    assert not list(own_folder.glob("*.py"))


def test_a_right_class_that_inherits_all_it_does_is_judged_and_not_kept(own_folder):
    base = CLASS.replace("MyMultiHeadAttention", "Base")
    verdict = check("4.5", of_a_notebook(f"{HELPERS}{base}\nclass MyMultiHeadAttention(Base):\n    pass"))
    assert verdict.status == "correct" and "cannot go on" in verdict.message
    assert not list(own_folder.glob("*.py"))


def test_a_file_of_the_learners_own_is_never_replaced(own_folder):
    file = own_folder / "my_multi_head_attention.py"
    mine = "# für mich".encode("latin-1")  # which is not UTF-8
    file.write_bytes(mine)
    assert "of yours already" in check("4.5", of_a_notebook(HELPERS + CLASS)).message
    assert file.read_bytes() == mine


def test_a_class_is_asked_for_and_no_object_of_it():
    assert "must be a class" in check("4.5", AttentionByEinsum(4, 2)).message
    assert check("4.5", type("MyMultiHeadAttention", (nn.Module,), {})).status == "unattempted"


@pytest.mark.parametrize("written, is_own", [("return x.repeat_interleave(groups, dim=1)", True), ("...", False)])
def test_a_function_of_the_notebook_goes_on_if_it_is_right(monkeypatch, capsys, written, is_own):
    names = {}
    exec(f"def my_share_heads(x, groups):\n    {written}", names)
    monkeypatch.setattr(own, "_names_of_the_notebook", lambda: names)
    share, whose = your_own("10.2")
    assert (share is names["my_share_heads"]) == is_own == ("your own" in capsys.readouterr().out)
    assert ("course" in whose) != is_own and share(torch.ones(1, 2, 3, 4), 2).shape == (1, 4, 3, 4)
