"""The 3×4 example: the numbers that every text on it gives, and the ones that some get wrong."""

import pytest
import torch
from refusals import assert_refused
from torch.testing import assert_close

import attn_lib
from attn_lib.examples import W_k, W_q, W_v, X, self_attention_steps

UNSCALED = [[1.9366, 6.6831, 1.5951], [2.0000, 7.9640, 0.0540], [1.9997, 7.7599, 0.3584]]
SCALED = [[1.8639, 6.3194, 1.7042], [1.9991, 7.8141, 0.2735], [1.9926, 7.4796, 0.7359]]


@pytest.mark.parametrize("scale, outputs", [(1, UNSCALED), (None, SCALED)])
def test_outputs(scale, outputs, device):
    steps = self_attention_steps(*(matrix.to(device) for matrix in (X, W_q, W_k, W_v)), scale=scale)
    assert_close(steps.outputs, torch.tensor(outputs), atol=5e-5, rtol=0)


def test_steps_agree_with_the_function():
    steps = self_attention_steps(X, W_q, W_k, W_v)
    output, weights = attn_lib.scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v)
    assert_close((steps.outputs, steps.weights), (output, weights))


@pytest.mark.on_cpu
@pytest.mark.parametrize(
    "arguments, exception, words",
    [
        ((X.int(), W_q, W_k, W_v), TypeError, ["x", "int32"]),
        ((X[0], W_q, W_k, W_v), ValueError, ["x", "(4,)"]),
        ((X, W_q[:3], W_k, W_v), ValueError, ["x has 4 features", "w_q has 3 rows"]),
        ((X, W_q, W_k[:, :2], W_v), ValueError, ["w_q makes 3", "w_k makes 2"]),
    ],
)
def test_bad_input_is_named_with_both_numbers(arguments, exception, words):
    assert_refused(lambda: self_attention_steps(*arguments), exception, words)
