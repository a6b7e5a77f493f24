"""predict: shows guess and truth, hides the truth until there is a guess, and never raises."""

import pytest
import torch

from attn_lib.predict import predict


@pytest.mark.parametrize("guess", [..., None, [...], [1, ...], [[..., 2]]])
def test_without_a_guess_the_answer_is_folded_away(guess):
    shown = predict(guess, torch.tensor([1.5, 2.0]))
    assert shown.status == "none"
    html = shown._repr_html_()
    assert "[1.5, 2]" in html[html.index("<details>") : html.index("</details>")]
    assert html.count("[1.5, 2]") == 1


@pytest.mark.parametrize(
    "guess, truth",
    [
        (2, 2),
        (0.47, torch.tensor(0.4683)),
        ([1, 0, 2], torch.tensor([1.0, 0.0, 2.0])),
        (torch.tensor([1, 0]), torch.tensor([1.0, 0.0], requires_grad=True)),
        ((2, 3, 4), torch.Size([2, 3, 4])),
        ([2, 3, 4], (2, 3, 4)),
        (" Yes ", "yes"),
        (float("nan"), "nan"),
        (True, True),
        ("true", True),
    ],
)
def test_a_right_guess(guess, truth):
    shown = predict(guess, truth)
    assert shown.status == "right" and "✓" in shown._repr_html_() and "Right" in repr(shown)


@pytest.mark.parametrize(
    "guess, truth, status, words",
    [
        (10, torch.tensor(12.0), "wrong", "Off by −2"),
        ([1, 2, 3], torch.tensor([1.0, 5.0, 3.0]), "wrong", "1 of 3 numbers differ"),
        ((2, 3), torch.Size([3, 2]), "wrong", "2 of 2"),
        ([1, 2], torch.tensor([1.0, 2.0, 3.0]), "unlike", "2 numbers, the answer 3 numbers"),
        (1, torch.ones(2, 2), "unlike", "1 number, the answer 2 × 2"),
        ("many", torch.tensor(3.0), "unlike", "could not be read"),
        (object(), 3, "unlike", "could not be read"),
        ([[1], [1, 2]], torch.ones(2, 2), "unlike", "could not be read"),
        ("no", "yes", "wrong", "why"),
    ],
)
def test_another_guess_says_how_it_differs(guess, truth, status, words):
    shown = predict(guess, truth)
    assert shown.status == status and words in repr(shown) and words in shown._repr_html_()


def test_within_is_how_far_off_a_guess_may_be_and_how_many_digits_are_shown():
    assert predict(0.7, torch.tensor(0.7634), within=0.1).status == "right"
    assert predict(0.7, torch.tensor(0.7634)).status == "wrong"
    assert "0.8" in repr(predict(..., torch.tensor(0.7634), within=0.1))
    assert "251" in repr(predict(..., torch.tensor(250.9381), within=20))


def test_what_is_shown_is_text_and_never_markup():
    assert "<script>" not in predict("<script>", "yes")._repr_html_()
