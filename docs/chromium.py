"""Where Chromium is installed: used for the screenshots of the documents and for the tests in a browser."""

import shutil

INSTALL = "apt-get install chromium-headless-shell"


def find_chromium() -> str | None:
    """Return the path of Chromium, or None; prefer its headless shell, which takes half the time of the full browser."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)
