"""What all tests share is in tests/helpers/shared.py: several folders have a conftest, and a module one name."""

pytest_plugins = ["shared"]
