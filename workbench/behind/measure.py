"""What a computation takes: memory, by adding up the tensors that it makes (notebook 5 shows how), and time."""

import statistics
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Bytes(TorchDispatchMode):
    """Adds up the bytes of every new tensor; one that only looks into an operation's input is not new."""

    total = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        old = {t.untyped_storage().data_ptr() for t in args if isinstance(t, torch.Tensor)}
        for t in result if isinstance(result, tuple) else (result,):
            if isinstance(t, torch.Tensor) and t.untyped_storage().data_ptr() not in old:
                self.total += t.nbytes
        return result


def megabytes(attend, *tensors):
    """Return the megabytes of all tensors that `attend(*tensors)` makes on the way."""
    with Bytes() as counted:
        attend(*tensors)
    return counted.total / 2**20


def milliseconds(attend, *tensors, repeats=5):
    """Return how long `attend(*tensors)` takes, in milliseconds: the median of several runs, as machines are noisy."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        attend(*tensors)
        times.append(1000 * (time.perf_counter() - start))
    return sorted(times)[repeats // 2]


def shares_of_time(ways, *inputs, rounds=9):
    """The median processor time of each way but the first, as a share of the first's; ways: name → function of inputs.

    They take turns, so that what else the machine does disturbs all alike.
    """
    times = {name: [] for name in ways}
    for name in [*ways] * rounds:
        start = time.thread_time()  # of the processor: others disturb less
        ways[name](*inputs)
        times[name].append(time.thread_time() - start)
    first, *others = map(statistics.median, times.values())
    return [other / first for other in others]
