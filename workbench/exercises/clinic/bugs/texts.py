"""Bugs of places in a text: with padding before it, and with several texts in one row. They open after notebook 12."""

import functools

import torch

from attn_lib.functional import scaled_dot_product_attention
from attn_lib.masks import causal_mask

from ..blind_spots import arguments
from ..bug import bug
from ..correct import of_texts, places_in_texts
from ..interfaces import TEXTS

late_bug = functools.partial(
    bug,
    opens_after=12,
    section="08#text-table",
    counts=lambda output, x, table, texts: output.where(texts[..., None] > 0, output * 0),
)
IN_A_TEXT = "((texts[:, :, None] == texts[:, None, :]) & causal_mask(n)).sum(dim=-1) - 1"  # the place of each token


def padding_before(texts):
    """How many tokens of padding stand before each token."""
    return (texts == 0).cumsum(dim=1)


def starts(texts):
    """How many real tokens stand before the text of each token."""
    real = (texts > 0).cumsum(dim=1) - 1
    return real.clamp(min=0) - places_in_texts(texts)


def no_places(calls):
    """The table of the test is 0, or all its rows are equal.

    Then it makes no difference which row a token gets.
    """
    return all((table == table[:1]).all() for table in arguments(calls, "table"))


@late_bug(
    "6.38",
    TEXTS,
    fixes=[{3: ("torch.arange(n).expand_as(texts)", IN_A_TEXT)}],
    faults=("miscounted", "misaligned"),
    variants={
        "half of the padding is counted": of_texts(
            places=lambda texts: places_in_texts(texts) + (padding_before(texts) + 1) // 2
        ),
        "of any amount of padding, one token is counted": of_texts(
            places=lambda texts: places_in_texts(texts) + padding_before(texts).clamp(max=1)
        ),
    },
    hints=[
        "Where does a text begin if padding stands before it?",
        "A text alone, and the same text with two tokens of padding before it: what must be the same?",
        "Use two conditions: padding before a text changes its outputs, and with a table of zeros it does "
        "not. The second makes the test False for patients that attend to the padding.",
    ],
)
def padding_takes_places(x, table, texts):
    """Padding on the left is counted as positions, but a text begins where its padding ends.

    With padding on the right, the fault does not appear. Texts that a model has to continue are padded on the left, and
    then the same prompt gets other positions in each batch. (For example alpaca-lora, issue 315; TransformerLens, issue
    1609.)
    """
    n = x.size(1)
    places = torch.arange(n).expand_as(texts)
    h = x + table[places]
    together = (texts[:, :, None] == texts[:, None, :]) & (texts > 0)[:, None]
    return scaled_dot_product_attention(h, h, h, together & causal_mask(n))[0]


@padding_takes_places.blind_to
def nothing_before(calls):
    """No text of the test has padding before it, and no row has a second text.

    Then the index of each token in its row is its position. Put two tokens of padding before a text.
    """
    return all((texts[:, 0] > 0).all() and (texts <= 1).all() for texts in arguments(calls, "texts"))


padding_takes_places.blind_to(no_places)


@padding_takes_places.tested_by
def detects(attention):
    x, table = torch.randn(1, 5, 4), torch.randn(8, 4)

    def padding_matters(table):
        padded = attention(x, table, torch.tensor([[0, 0, 1, 1, 1]]))[:, 2:]
        return not torch.allclose(padded, attention(x[:, 2:], table, torch.ones(1, 3, dtype=torch.long)), atol=1e-4)

    return padding_matters(table) and not padding_matters(0 * table)


@late_bug(
    "6.39",
    TEXTS,
    fixes=[{3: ("((texts > 0).cumsum(dim=1) - 1).clamp(min=0)", IN_A_TEXT)}],
    faults=("miscounted", "not asked"),
    variants={
        "a later text begins at half of its start in the row": of_texts(
            places=lambda texts: places_in_texts(texts) + (starts(texts) + 1) // 2
        ),
        "each text begins one position later than the text before it": of_texts(
            places=lambda texts: places_in_texts(texts) + (texts - 1).clamp(min=0)
        ),
    },
    hints=[
        "Padding is not counted here. What else can stand before a text?",
        "Two texts in one row, and a mask separates them: which output must the second text get?",
        "Use three conditions. With another text before it, a text gets another output than alone; with a "
        "table of zeros it does not; and with padding before it, it does not either.",
    ],
)
def places_run_on(x, table, texts):
    """Positions continue from text to text, but each text has to begin again at 0.

    Several short texts are packed into one row. The mask separates them, but the positions do not: a short text is then
    read as the end of a long one. (For example LlamaFactory, issue 7318; Megatron-LM, issue 453.)
    """
    n = x.size(1)
    places = ((texts > 0).cumsum(dim=1) - 1).clamp(min=0)
    h = x + table[places]
    together = (texts[:, :, None] == texts[:, None, :]) & (texts > 0)[:, None]
    return scaled_dot_product_attention(h, h, h, together & causal_mask(n))[0]


@places_run_on.blind_to
def one_text_in_a_row(calls):
    """No row of the test holds two texts.

    Then there is no earlier text from which positions could continue. Number a row 1, 1, 2, 2, 2.
    """
    return all((texts <= 1).all() for texts in arguments(calls, "texts"))


places_run_on.blind_to(no_places)


@places_run_on.tested_by
def detects(attention):
    x, table = torch.randn(1, 5, 4), torch.randn(8, 4)

    def what_stands_before_matters(number, table):
        behind = attention(x, table, number + torch.tensor([[0, 0, 1, 1, 1]]))[:, 2:]
        return not torch.allclose(behind, attention(x[:, 2:], table, torch.ones(1, 3, dtype=torch.long)), atol=1e-4)

    of_a_text = what_stands_before_matters(1, table) and not what_stands_before_matters(1, 0 * table)
    return of_a_text and not what_stands_before_matters(0, table)
