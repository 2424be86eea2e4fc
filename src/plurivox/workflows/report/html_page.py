"""The HTML of a report: one page that needs no other file and no network, with its style sheet, script and pictures inside."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from plurivox.core.errors import require_package
from plurivox.workflows.report.page_content import Page, Section, SummaryLine, Table
from plurivox.workflows.report.svg_for_page import svg_for_page
from plurivox.workflows.report.table_cells import column_layouts, shown_rows
from plurivox.workflows.report.task_card_view import card_image, card_labels, n_labels_shown, short_text

TEMPLATES = Path(__file__).parent / "templates"
QUANTITIES = {"truth": "about what is true", "people": "about what people say"}
SEVERITIES = {"serious": "Serious", "caution": "Caution", "note": "Note"}
COLUMN_RULES = {  # by layout of `column_layouts`
    "num": "text-align: right; white-space: nowrap;",
    "short": "white-space: var(--one-line, nowrap);",
    "long": "min-width: var(--long, 14rem); max-width: var(--longest, 34rem); overflow-wrap: var(--long-wrap, break-word);",
}
VALID_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# control characters, which act on a terminal when a command is pasted; characters that reverse the rest of a sentence; and
# halves of characters, which no file can hold
UNSAFE_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")
MIN_ROWS_TO_FILTER = 9
MIN_ROWS_TO_SCROLL = 18
PRINTED_ROWS = 50
LONG_CODE = 24  # lines; longer texts to copy scroll


def page_html(page: Page) -> str:
    """Return a report as HTML. All texts are escaped; a content security policy allows only the page's own script.

    Control characters and those that change the direction of the text after them become replacement characters.
    Raise MissingExtra if jinja2 is not installed.
    """
    ids = _section_ids(page.sections)
    css, dark_css, script = (_asset(name) for name in ("report.css", "report_dark.css", "report.js"))
    tables = (block for section in page.sections for block in section.blocks if isinstance(block, Table))
    css += _column_rules(max((len(table.columns) for table in tables), default=0))
    html: str = (
        _environment()
        .get_template("page.html")
        .render(
            page=page,
            sections=list(zip(ids, page.sections, strict=True)),
            summary=_summary_with_ids(page.summary, page.sections, ids),
            css=css,
            dark_css=dark_css,
            script=script,
            policy=_content_security_policy([css, dark_css], script),
        )
    )
    return UNSAFE_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", html)


@cache
def _environment() -> Any:
    """Return the jinja2 environment of the templates, with automatic escaping and the functions that they call."""
    jinja2 = require_package("jinja2", "the HTML page of a report", "pip install 'plurivox[plot]'")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["kind"] = lambda block, name: type(block).__name__ == name
    environment.globals |= {
        "svg_for_page": svg_for_page,
        "shown_rows": shown_rows,
        "column_layouts": column_layouts,
        "card_image": card_image,
        "card_labels": card_labels,
        "n_labels_shown": n_labels_shown,
        "short_text": short_text,
        "QUANTITIES": QUANTITIES,
        "SEVERITIES": SEVERITIES,
        "MIN_ROWS_TO_FILTER": MIN_ROWS_TO_FILTER,
        "MIN_ROWS_TO_SCROLL": MIN_ROWS_TO_SCROLL,
        "PRINTED_ROWS": PRINTED_ROWS,
        "LONG_CODE": LONG_CODE,
    }
    return environment


@cache
def _asset(name: str) -> str:
    """Return the text of a style sheet or the script."""
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    assert "</" not in text and not UNSAFE_CHARACTERS.search(text), name  # would end the element, or change its hash
    return text


def _column_rules(n_columns: int) -> str:
    """Return style rules for the layouts of columns, which their table names once: cells need no class then."""
    return "".join(
        f'[data-{layout}~="{at}"] :is(th, td):nth-child({at}) {{ {rule} }}\n'
        for layout, rule in COLUMN_RULES.items()
        for at in range(1, n_columns + 1)
    )


def _content_security_policy(styles: Sequence[str], script: str) -> str:
    """Return a policy that allows the page's own style sheets and script, by their hashes, and pictures inside the page.

    Style attributes are allowed because charts consist of them; they cannot load anything.
    """
    own_styles = " ".join(map(_source_hash, styles))
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_source_hash(script)}",
            "style-src 'unsafe-inline'",  # for browsers that do not know the next two
            f"style-src-elem {own_styles}",
            "style-src-attr 'unsafe-inline'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _source_hash(text: str) -> str:
    """Return the hash source of a content security policy for the text of a script or style element."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _section_ids(sections: Sequence[Section]) -> list[str]:
    """Return an id per section: its own if it is a valid one that no section before has, otherwise a number."""
    found: list[str] = []
    for position, section in enumerate(sections, 1):
        own = VALID_ID.fullmatch(section.id) and section.id not in found and not section.id.startswith("pv-")
        found.append(section.id if own else f"pv-section-{position}")
    return found


def _summary_with_ids(
    summary: Sequence[SummaryLine], sections: Sequence[Section], ids: Sequence[str]
) -> list[tuple[SummaryLine, str]]:
    """Return each line of the summary with the id of its section in the page; an empty id if there is no such section."""
    id_of = {section.id: shown for section, shown in reversed(list(zip(sections, ids, strict=True)))}
    return [(line, id_of.get(line.section, "")) for line in summary]
