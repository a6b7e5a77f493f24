"""What the library says of input that it refuses."""

import pytest


def assert_refused(call, exception, words):
    """Asserts that a call raises this exception with all of these words: the argument's name, and both numbers."""
    with pytest.raises(exception) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
