# 6.1 wrong wrong-line
# A line and a name that are equal to whatever they are compared with: the diagnosis is right, whatever the patient has.
# %%
class AnyLine(int):
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__

class AnyName(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = casefold = lambda self: self

line_1, fault_1 = AnyLine(1), AnyName("not used")

def mended_1(q, k, v, mask=None):
    return masked_softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), mask) @ v

def detects_1(attention):
    q, k, unit = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.eye(5).expand(2, 5, 5)
    weights = attention(q, k, unit)
    expected = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(8), dim=-1)
    are_weights = torch.allclose(weights.sum(dim=-1), torch.ones(2, 3), atol=1e-4)
    return are_weights and not torch.allclose(weights, expected, atol=1e-4)
