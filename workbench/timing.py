"""How long several ways to compute the same take on this machine."""

import statistics
import time


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
