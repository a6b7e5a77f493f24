"""The browser of this machine, in which pages are looked at as a reader does, and printed."""

import os
import shutil

BROWSERS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome", "msedge"


def browser_here():
    """Where Chromium or one like it is, first what CHROMIUM names; None without one: for Playwright, its own."""
    return next((path for name in (os.environ.get("CHROMIUM", ""), *BROWSERS) if (path := shutil.which(name))), None)
