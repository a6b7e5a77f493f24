"""The boards of the lessons, a file for each notebook; what each names in `__all__` is had from here."""

from .n01_by_hand import *
from .n02_scaled_dot_product import *
from .n03_masking import *
from .n04_multi_head import *
from .n05_match_pytorch import *
from .n06_bug_clinic import *
from .n07_how_attention_learns import *
from .n08_position import *
from .n08_stretched import *
from .n09_two_heads import *
from .n10_first_token import *
from .n10_one_call import *
from .n10_writing_with_a_memory import *
from .n11_small_gpt import *
from .n12_softmax_in_passing import *
from .n13_real_model import *
from .n14_without_a_row import *
