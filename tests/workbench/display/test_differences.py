"""By how much two results differ, as a lesson prints it."""

import math

import pytest
import torch

from workbench.display.differences import show_difference

A = torch.tensor([[1.0, -2.0], [0.5, math.inf]])


@pytest.mark.parametrize(
    ("ours", "theirs", "printed"),
    [
        (A, A.clone(), "largest difference below 1e-05"),
        (A, A + 7e-7, "largest difference below 1e-05"),
        (A.double(), A.double() + 3e-7, "largest difference below 1e-06"),
        (A.double(), A.double() + 3e-15, "largest difference below 1e-12"),
        (A, A + 4e-5, "largest difference below 1e-04"),
        (A, A - 0.25, "largest difference 0.25"),
        (A, A * math.nan, "largest difference nan"),
        (A, -A, "largest difference inf"),
        ((A, {"w": A}), (A, {"w": A + 0.5}), "largest difference 0.5"),
        (torch.tensor([1, 2]), torch.tensor([1, 2]), "largest difference 0"),
    ],
)
def test_difference_is_printed_in_words(ours, theirs, printed, capsys):
    show_difference(ours, theirs)
    show_difference(ours, theirs, "by hand")
    assert capsys.readouterr().out == f"{printed}\nby hand: {printed}\n"


def test_difference_is_held_against_the_bound_that_is_asked_for(capsys):
    show_difference(A, A, below=1e-6)
    show_difference(A, A + 2e-5, below=1e-6)
    assert capsys.readouterr().out == "largest difference below 1e-06\nlargest difference below 1e-04\n"


@pytest.mark.parametrize("theirs", [A[0], (A, A), {"w": A}])
def test_difference_of_unlike_results_is_an_error(theirs):
    with pytest.raises(ValueError, match="one has"):
        show_difference(A, theirs)
