"""How attention learns: the gradients of softmax and of the whole of attention, as notebook 7 builds them."""

import math

from .checks import check_attention, check_grad_output, check_weights
from .functional import masked_softmax


def softmax_backward(weights, grad_weights):
    """The gradient of the scores, from the gradient of the weights, which is compared with its row's weighted mean.

    Shapes: weights (…, n_queries, n_keys), rows that softmax or `masked_softmax` made; grad_weights the same; returns
    (…, n_queries, n_keys). Each row sums to 0; where a weight is 0, masked or in a dead row, the gradient is 0.
    Raises: TypeError for tensors that hold no floating-point numbers, ValueError for shapes that differ.
    Source: Bridle 1990, https://doi.org/10.1007/978-3-642-76153-9_28; as in Dao et al. 2022, FlashAttention,
    https://arxiv.org/abs/2205.14135, appendix B.2.
    """
    check_weights(weights, grad_weights)
    shared = (weights * grad_weights).sum(dim=-1, keepdim=True)  # (…, n_queries, 1): each row's weighted mean
    return weights * (grad_weights - shared)  # (…, n_queries, n_keys), rows sum to 0


def attention_backward(query, key, value, grad_output, mask=None, *, scale=None):
    """The gradients of query, key and value from that of the output of `scaled_dot_product_attention`, by hand.

    Shapes: query (…, n_queries, d_k), key (…, n_keys, d_k), value (…, n_keys, d_v), grad_output
    (…, n_queries, d_v), mask and scale as in the attention itself; returns three gradients of the shapes of query, key
    and value. A query that may attend to nothing gets a gradient of 0 and gives none.
    Raises: TypeError or ValueError, naming the argument and both numbers, for dtypes or shapes that do not fit.
    Source: Dao et al. 2022, FlashAttention, https://arxiv.org/abs/2205.14135, appendix B.2.
    """
    check_attention(query, key, value, dropout_p=0.0)
    check_grad_output(query, value, grad_output)
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    weights = masked_softmax((query * scale) @ key.mT, mask)  # as in attention itself
    grad_value = weights.mT @ grad_output  # (…, n_keys, d_v)
    grad_weights = grad_output @ value.mT  # (…, n_queries, n_keys)
    grad_scores = softmax_backward(weights, grad_weights) * scale
    return grad_scores @ key, grad_scores.mT @ query, grad_value
