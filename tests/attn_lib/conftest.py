"""`--device cuda` runs the library's tests on a graphics card: what they make is made there.

There it takes torch with numpy, pytest and hypothesis, nothing else: with the repository and tests/helpers on
PYTHONPATH, `pytest -c /dev/null --confcutdir tests/attn_lib tests/attn_lib`. Tests marked on_cpu stay on the processor:
those of arguments, whose values are looked at there alone.
"""

import contextlib

import pytest
import torch
from hypothesis import settings


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu", help="where the library's tests make their tensors: cuda")


def pytest_configure(config):
    config.addinivalue_line("markers", "on_cpu: stays on the processor whatever --device says")
    on_device = config.getoption("--device", default="cpu") != "cpu"
    if on_device or not config.pluginmanager.hasplugin("shared"):  # alone; a first call to a device takes seconds
        settings.register_profile("device", derandomize=True, deadline=None, max_examples=30 if on_device else 60)
        settings.load_profile("device")


@pytest.fixture(autouse=True)
def device(request):
    """Where this test's tensors are made unless it says otherwise."""
    device = torch.device(request.config.getoption("--device", default="cpu"))
    if request.node.get_closest_marker("on_cpu"):
        device = torch.device("cpu")
    with contextlib.nullcontext() if device.type == "cpu" else device:
        yield device
