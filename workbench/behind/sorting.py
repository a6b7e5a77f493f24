"""What the head of notebook 7 learns to sort by: lists of six numbers, as who asks, who stands there, and the wish."""

import torch
import torch.nn.functional as F

START = 10  # who asks first, as nothing has been written yet; the numbers are 0 to 9


def lists_of_six():
    """All sets of six of the ten numbers, each in one order that is not sorted; every second one is for a test.

    Shapes: returns (105, 6) and (105, 6), whole numbers: the lists to learn from, and those to test on.
    """
    lists = torch.combinations(torch.arange(10), 6)[:, [3, 0, 5, 1, 4, 2]]  # (210, 6)
    return lists[::2], lists[1::2]


def questions_of(lists):
    """Each list as matrices: who asks, who stands where, and to whom each question is to point.

    Shapes: lists (n, 6); returns (n, 6, 11), (n, 6, 10) and (n, 6, 6), float64, a single 1 in each row.
    """
    ordered = lists.sort(dim=1).values  # (n, 6)
    before = F.pad(ordered[:, :-1], (1, 0), value=START)  # (n, 6): the start mark, then all but the greatest
    asking = F.one_hot(before, 11).double()
    standing = F.one_hot(lists, 10).double()
    wished = (ordered[:, :, None] == lists[:, None]).double()  # question i wants the number that is i-th by size
    return asking, standing, wished


def write(scores, numbers):
    """The numbers in the order in which they are pointed at: each asks for the next, the start mark for the first.

    Shapes: scores (11, 10), a row for whoever asks; numbers (n,); returns a list of n numbers.
    """
    last, written = START, []
    for _ in numbers:
        last = numbers[scores[last, numbers].argmax()].item()
        written.append(last)
    return written
