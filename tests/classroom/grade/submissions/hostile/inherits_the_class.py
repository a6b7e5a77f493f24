# 4.5 wrong librarys-own
# %%
from attn_lib import MultiHeadAttention
class MyMultiHeadAttention(MultiHeadAttention):
    def forward(self, *given):
        return super().forward(*given)
