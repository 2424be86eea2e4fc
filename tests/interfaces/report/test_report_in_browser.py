"""Reports opened from their files in Chromium; `tests/report_checks.py` says what every page must do there."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import plurivox as pv
from plurivox.workflows.report.html_page import page_html
from plurivox.workflows.report.page_content import Page
from report_checks import CHECKS, Check, is_accessible, is_complete_without_script
from report_pages import empty_page, hostile_page, realistic_page


def toy_page() -> Page:
    """Return the page of a whole report."""
    return pv.report("toy").page


PAGES = {"realistic": realistic_page, "hostile": hostile_page, "empty": empty_page, "toy": toy_page}


@pytest.fixture(scope="module", params=[*list(PAGES)[:3], pytest.param("toy", marks=pytest.mark.slow)])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The path of the file of a report."""
    path = tmp_path_factory.mktemp("report") / f"{request.param} 100%#.html"
    path.write_text(page_html(PAGES[request.param]()), encoding="utf-8")
    yield path


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_page_in_chromium(context: Callable[..., Any], report: Path, check: Check) -> None:
    check(context().new_page(), report)


def test_the_page_without_javascript(context: Callable[..., Any], report: Path) -> None:
    is_complete_without_script(context(java_script_enabled=False).new_page(), report)


@pytest.mark.slow
def test_axe_finds_nothing_serious(
    context: Callable[..., Any], report: Path, barriers: Callable[[Any], list[str]]
) -> None:
    is_accessible(context().new_page(), report, barriers)
