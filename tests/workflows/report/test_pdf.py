"""The PDF of a page: printed by the browser of this computer, or an error that says what to do."""

import os
import time
from pathlib import Path

import pytest

from plurivox.core.errors import InputError
from plurivox.workflows.report.html_page import page_html
from plurivox.workflows.report.pdf import write_pdf
from report_pages import realistic_page


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "a report #1.html"
    path.write_text("<!doctype html><title>Votes</title><h1>Votes</h1>", encoding="utf-8")
    return path


def program(folder: Path, script: str) -> str:
    """Write a shell script, in the place of a browser, and return its path."""
    path = folder / "browser"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.browser
def test_a_report_becomes_a_tagged_pdf_of_several_pages(
    chromium: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLURIVOX_CHROMIUM", chromium)
    path = tmp_path / "100% ready.html"
    path.write_text(page_html(realistic_page()), encoding="utf-8")
    write_pdf(path, tmp_path / "report.pdf")
    content = (tmp_path / "report.pdf").read_bytes()
    assert content.startswith(b"%PDF-") and b"/StructTreeRoot" in content and b"/Outlines" in content
    assert 5 <= content.count(b"/Type /Page\n") <= 12
    assert sorted(one.name for one in tmp_path.iterdir()) == ["100% ready.html", "report.pdf"]


def test_without_a_browser_the_error_says_what_to_install(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurivox.workflows.report.pdf.BROWSERS", ("no-such-browser",))
    monkeypatch.delenv("PLURIVOX_CHROMIUM", raising=False)
    with pytest.raises(
        InputError, match=r"no Chromium, Chrome or Edge is installed.*apt-get install chromium.*write \.html"
    ):
        write_pdf(page, page.with_suffix(".pdf"))
    monkeypatch.setenv("PLURIVOX_CHROMIUM", "/no/such/program")
    with pytest.raises(InputError, match="PLURIVOX_CHROMIUM names /no/such/program, which is not a program"):
        write_pdf(page, page.with_suffix(".pdf"))


def test_a_browser_that_never_ends_is_ended_with_its_children(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLURIVOX_CHROMIUM", program(page.parent, f"sleep 60 & echo $! > {page.parent}/child; wait"))
    began = time.monotonic()
    with pytest.raises(InputError, match=r"did not print the page within 0\.5 seconds"):
        write_pdf(page, page.with_suffix(".pdf"), max_seconds=0.5)
    assert time.monotonic() - began < 10 and not page.with_suffix(".pdf").exists()
    child, end = int((page.parent / "child").read_text()), time.monotonic() + 20
    while is_running(child) and time.monotonic() < end:  # it has been told to end, and a busy machine takes a moment
        time.sleep(0.01)
    assert not is_running(child)


def is_running(pid: int) -> bool:
    """Return whether a process runs; one that has ended but was not waited for does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_browser_whose_children_live_on_is_not_waited_for(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "PLURIVOX_CHROMIUM", program(page.parent, "sleep 5 &\necho 'FATAL: no display' >&2\necho more >&2")
    )
    began = time.monotonic()
    with pytest.raises(InputError, match=r"printed no PDF file of .*: FATAL: no display$"):
        write_pdf(page, page.with_suffix(".pdf"))
    assert time.monotonic() - began < 4


def test_half_a_pdf_file_is_an_error_and_an_old_file_stays(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = 'for one in "$@"; do case $one in --print-to-pdf=*) echo "%PDF-1.4 half" > "${one#*=}";; esac; done'
    monkeypatch.setenv("PLURIVOX_CHROMIUM", program(page.parent, write))
    old = page.with_suffix(".pdf")
    old.write_bytes(b"old")
    with pytest.raises(InputError, match="printed no PDF file"):
        write_pdf(page, old)
    assert old.read_bytes() == b"old"


def test_a_program_that_cannot_be_started_and_a_page_that_is_not_there(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = page.parent / "text"
    path.write_text("no program")
    path.chmod(0o755)
    monkeypatch.setenv("PLURIVOX_CHROMIUM", str(path))
    with pytest.raises(InputError, match="could not be started"):
        write_pdf(page, page.with_suffix(".pdf"))
    with pytest.raises(InputError, match=r"nothing\.html does not exist; write the page first"):
        write_pdf(page.parent / "nothing.html", page.with_suffix(".pdf"))
