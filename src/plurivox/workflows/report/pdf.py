"""A page as PDF: the Chromium of this computer prints it."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "chromium-headless-shell",
    "msedge",
    "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
BROWSER_VARIABLE = "PLURIVOX_CHROMIUM"
MAX_SECONDS = 120
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",  # in containers /dev/shm is often too small
    "--disable-extensions",
    "--disable-breakpad",
    "--no-first-run",
    "--disable-background-networking",  # this and the next four: no connection to any computer
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-pdf-header-footer",
    "--generate-pdf-document-outline",
    "--export-tagged-pdf",
)


def write_pdf(html_path: str | Path, pdf_path: str | Path, *, max_seconds: float = MAX_SECONDS) -> None:
    """Print an HTML file to a PDF file with Chromium, Chrome or Edge, in a temporary profile and without network.

    Raise InputError if there is no such browser, if it fails, or if it takes longer than `max_seconds`.
    """
    page = Path(html_path).resolve()
    if not page.is_file():
        raise InputError(f"{html_path} does not exist; write the page first")
    browser = find_browser()
    parent = Path(pdf_path).absolute().parent if _is_snap(browser) else None
    with (
        atomic_file(pdf_path) as part,
        tempfile.TemporaryDirectory(prefix="plurivox-pdf-", dir=parent, ignore_cleanup_errors=True) as folder,
    ):
        copy, made = Path(folder) / "page.html", Path(folder) / "page.pdf"
        shutil.copyfile(page, copy)  # the browser may see no other folder
        said = _run([browser, *_flags(Path(folder), made), copy.as_uri()], Path(folder) / "messages.txt", max_seconds)
        if not _is_complete_pdf(made):
            raise InputError(f"{browser} printed no PDF file of {html_path}: {_reason(said)}")
        shutil.copyfile(made, part)


def find_browser() -> str:
    """Return the path of the browser that prints pages: $PLURIVOX_CHROMIUM, or the first of `BROWSERS` that is installed.

    Raise InputError if there is none.
    """
    chosen = os.environ.get(BROWSER_VARIABLE)
    names = (chosen,) if chosen else BROWSERS
    for name in names:
        if path := shutil.which(name):
            return path
    missing = (
        f"{BROWSER_VARIABLE} names {chosen}, which is not a program"
        if chosen
        else "no Chromium, Chrome or Edge is installed"
    )
    raise InputError(
        f"{missing}, and a PDF file is printed by one of them; install one (Debian, Ubuntu: apt-get install chromium), set "
        f"{BROWSER_VARIABLE} to its path, or write .html and print it in any browser"
    )


def _is_snap(browser: str) -> bool:
    """Return whether a browser is a snap, as on Ubuntu: it sees no folder outside the home folder, such as /tmp."""
    return Path(browser).resolve().name == "snap" or (
        Path(browser).name == "chromium-browser" and Path("/snap/bin/chromium").exists()
    )


def _flags(folder: Path, pdf_path: Path) -> list[str]:
    """Return the browser's flags to print to `pdf_path` with a new profile in `folder`."""
    # Chromium's sandbox needs a user other than root. The page has no code but its own script, which loads nothing.
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [*FLAGS, *as_root, f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={pdf_path}"]


def _run(command: list[str], messages: Path, max_seconds: float) -> str:
    """Run the browser and return what it wrote to stderr; end all its processes if it takes longer than `max_seconds`.

    Its messages go to a file: a pipe would stay open as long as any of its processes lives.
    """
    try:
        with messages.open("wb") as stderr:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True
            )
    except OSError as cause:
        raise InputError(f"{command[0]} could not be started: {cause.strerror}") from cause
    try:
        process.wait(max_seconds)
    except subprocess.TimeoutExpired:
        raise InputError(f"{command[0]} did not print the page within {max_seconds:g} seconds") from None
    finally:
        if process.returncode is None:  # otherwise its other processes end by themselves
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return messages.read_text(encoding="utf-8", errors="replace")


def _is_complete_pdf(path: Path) -> bool:
    """Return whether a file is a PDF file with a beginning and an end."""
    content = path.read_bytes() if path.is_file() else b""
    return content.startswith(b"%PDF-") and b"%%EOF" in content[-1024:]


def _reason(said: str) -> str:
    """Return the line of the browser's messages that says why it failed: the first fatal one, else the last."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    fatal = [line for line in lines if "FATAL" in line or "--no-sandbox" in line or "usable sandbox" in line]
    return [*fatal, *lines[-1:], "it gave no reason"][0][:300]
