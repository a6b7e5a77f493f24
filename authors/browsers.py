"""The browser of this machine, in which pages are looked at as a reader does, and printed."""

import os
import shutil

# The whole Chromium first: it has drawn the stills in the notebooks, and the small one draws their edges otherwise.
BROWSERS = "chromium", "chromium-browser", "chromium-headless-shell", "google-chrome", "chrome", "msedge"


def browser_here(first=""):
    """Where Chromium or one like it is; None without one: for Playwright, its own.

    What the variable CHROMIUM names goes before all, then the one of BROWSERS that is asked for `first`.
    """
    names = os.environ.get("CHROMIUM", ""), first, *BROWSERS
    return next((path for name in names if (path := shutil.which(name))), None)
