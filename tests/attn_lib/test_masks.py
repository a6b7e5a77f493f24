"""padding_mask and causal_mask: True = may attend."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_refused

from attn_lib import causal_mask, padding_mask


@given(st.lists(st.integers(0, 6), max_size=5), st.integers(6, 9))
def test_padding_hides_what_lies_behind_the_end(lengths, max_len):
    mask = padding_mask(lengths, max_len)
    assert mask.shape == (len(lengths), 1, max_len) and mask.dtype == torch.bool
    assert [row[0] for row in mask.tolist()] == [[j < length for j in range(max_len)] for length in lengths]


def test_the_longest_sequence_gives_the_length():
    assert padding_mask([1, 4, 2]).shape == (3, 1, 4)
    assert padding_mask(torch.tensor([2, 0])).tolist() == [[[True, True]], [[False, False]]]
    assert padding_mask([]).shape == (0, 1, 0)


@given(st.integers(0, 6), st.integers(0, 6))
def test_the_last_query_sees_every_key(n_queries, n_keys):
    mask = causal_mask(n_queries, n_keys)
    expected = [[j <= i + n_keys - n_queries for j in range(n_keys)] for i in range(n_queries)]
    assert mask.tolist() == expected


def test_a_whole_number_may_be_numpys_or_a_tensors():
    lengths = torch.tensor([1, 3])
    assert torch.equal(causal_mask(np.int64(3), torch.tensor(4)), causal_mask(3, 4))
    assert torch.equal(padding_mask(lengths, lengths.max()), padding_mask([1, 3]))
    assert torch.equal(padding_mask(np.array([1, 3]), np.int32(4)), padding_mask([1, 3], 4))


BAD = {
    "max_len of a tensor": (lambda: padding_mask([7], torch.tensor(5)), ValueError, ["lengths[0]=7", "max_len=5"]),
    "a tensor of 2.5": (lambda: causal_mask(torch.tensor(2.5)), TypeError, ["n_queries", "2.5"]),
    "too long": (lambda: padding_mask([2, 7], 5), ValueError, ["lengths[1]=7", "max_len=5"]),
    "negative": (lambda: padding_mask([-1]), ValueError, ["lengths[0]=-1", "0.."]),
    "floats": (lambda: padding_mask([1.5, 2.0]), TypeError, ["lengths", "float32"]),
    "bools": (lambda: padding_mask(torch.tensor([True])), TypeError, ["lengths", "bool"]),
    "a matrix": (lambda: padding_mask([[1, 2]]), ValueError, ["lengths", "(1, 2)"]),
    "causal float": (lambda: causal_mask(3, 2.0), TypeError, ["n_keys", "2.0"]),
}


@pytest.mark.on_cpu
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_with_both_numbers(name):
    assert_refused(*BAD[name])
