"""The browser of this machine, in which authors look at pages as a reader does."""

import shutil

BROWSERS = "chromium", "chromium-browser", "google-chrome", "chrome", "msedge"


def browser_here():
    """Where Chromium or one like it is; None without one, which stands for Playwright's own."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)
