"""The HTML of a report as text: what is escaped, what the content security policy allows, ids, size, texts."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from plurivox.workflows.report.html_page import PRINTED_ROWS, TEMPLATES, page_html
from plurivox.workflows.report.page_content import Column, Fact, Page, Paragraph, Section, SummaryLine, Table
from report_pages import HOSTILE, empty_page, hostile_page, realistic_page

PAGES = {"realistic": realistic_page, "hostile": hostile_page, "empty": empty_page}
ACTIVE = {"iframe", "object", "embed", "link", "base", "form", "foreignobject", "animate", "set"}
LARGEST = 150_000  # characters of a page without its pictures


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of each script and style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem in self.raw:
            self.raw[self.cdata_elem].append(data)

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] or "" for _, attributes in self.found if attribute in attributes]


@pytest.fixture(scope="module", params=PAGES)
def html(request: pytest.FixtureRequest) -> str:
    return page_html(PAGES[request.param]())


def page_of(*blocks: object, **fields: object) -> str:
    section = Section("one", "One", "An answer.", blocks)  # type: ignore[arg-type]
    return page_html(
        Page(**({"title": "A", "subtitle": "", "facts": (), "summary": (), "sections": (section,)} | fields))
    )  # type: ignore[arg-type]


def test_names_never_become_elements_or_attributes(html: str) -> None:
    elements = Elements(html)
    assert len(elements.raw["script"]) == 1 and len(elements.raw["style"]) == 2
    for tag, attributes in elements.found:
        assert tag not in ACTIVE and not any(name.startswith("on") for name in attributes), (tag, attributes)


def test_nothing_refers_to_another_file(html: str) -> None:
    elements = Elements(html)
    assert all(one.startswith("data:image/") for one in elements.values("src"))
    assert all(one.startswith("#") for one in (*elements.values("href"), *elements.values("xlink:href")))
    assert not re.search(r"@import|url\((?!#)", "".join(elements.raw["style"]) + "".join(elements.values("style")))


def test_the_policy_allows_exactly_the_style_sheets_and_the_script_of_the_page(html: str) -> None:
    elements = Elements(html)
    policy = next(one["content"] for tag, one in elements.found if one.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    rules = dict(one.split(" ", 1) for one in policy.split("; "))
    source = lambda text: f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"  # noqa: E731
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"] == source(elements.raw["script"][0])
    assert rules["style-src-elem"].split() == [source(one) for one in elements.raw["style"]]
    assert rules["img-src"] == "data:"


def test_ids_differ(html: str) -> None:
    ids = Elements(html).values("id")
    assert len(ids) == len(set(ids))


def test_every_hostile_name_is_there_as_text() -> None:
    html = page_html(hostile_page())
    for name in HOSTILE:
        shown = re.sub(r"[\x00\u202e\ud800]", "\ufffd", name)
        for raw, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&#34;"), ("'", "&#39;")):
            shown = shown.replace(raw, escaped)
        assert shown in html


def test_a_page_can_be_written_and_pasted_into_a_terminal() -> None:
    html = page_of(Paragraph("a\x1b[2Jb\x03c\x9bd\ud800e\u202ef\tg\nh\r\ni"))
    html.encode("utf-8")
    assert "a�[2Jb�c�d�e�f\tg\nh\r\ni" in html


def test_the_same_page_gives_the_same_text() -> None:
    assert page_html(realistic_page()) == page_html(realistic_page())


def test_a_page_without_pictures_is_small() -> None:
    html = re.sub(r"<svg.*?</svg>|data:image/[^\"]*", "", page_html(realistic_page()), flags=re.DOTALL)
    assert len(html) < LARGEST


def test_a_cell_takes_little_space() -> None:
    columns = tuple(Column(str(at), "number") for at in range(10))
    rows = [tuple((row * 7 + at) / 13 for at in range(10)) for row in range(100)]
    cells = len(page_of(Table("", columns, rows, 100))) - len(page_of(Table("", columns, rows[:50], 100)))
    assert cells / 500 < 50


def test_a_table_names_the_layouts_of_its_columns() -> None:
    columns = (Column("worker"), Column("votes", "number"), Column("why"), Column("text among numbers", "number"))
    html = page_of(Table("", columns, [("ann", 3, "agrees with nobody, " * 3, "much longer than a number")] * 2, 2))
    assert 'data-num="2 4" data-short="1" data-long="3"' in html
    assert '[data-num~="4"] :is(th, td):nth-child(4) { text-align: right' in html and "nth-child(5) {" not in html


def test_summary_and_contents_lead_to_sections() -> None:
    sections = tuple(Section(name, f"Title of {name}", "", ()) for name in ("data", "no id!", "data", "pv-main"))
    lines = (SummaryLine("Q", "A", "no id!"), SummaryLine("lost", "A", "nowhere"), SummaryLine("twice", "A", "data"))
    html = page_of(sections=sections, summary=lines)
    ids = re.findall(r'<section id="([^"]+)" class="section"', html)
    assert ids == ["data", "pv-section-2", "pv-section-3", "pv-section-4"]
    assert '<a href="#pv-section-2">Q</a>' in html and "<dt>lost</dt>" in html and '<a href="#data">twice</a>' in html


def test_a_table_says_what_it_leaves_out_and_how_to_get_it() -> None:
    rows = [(f"w{at}", at) for at in range(60)]
    columns = (Column("worker"), Column("votes", "number", "What they gave."))
    html = page_of(Table("Workers", columns, rows, 1234, command="plurivox x -o x.csv"))
    assert "Shown: 60 of 1,234 rows. This command writes them all:" in html and "plurivox x -o x.csv" in html
    assert f"Printed: the first {PRINTED_ROWS} of 60 rows." in html
    whole = page_of(Table("Workers", columns, rows[:PRINTED_ROWS], PRINTED_ROWS))
    assert "Shown:" not in whole and "Printed:" not in whole
    assert f"tbody tr:nth-child(n + {PRINTED_ROWS + 1}) {{ display: none" in (TEMPLATES / "report.css").read_text(
        "utf-8"
    )


def test_a_section_says_which_question_its_labels_answer() -> None:
    for quantity, text in (("truth", "about what is true"), ("people", "about what people say")):
        assert text in page_of(sections=(Section("a", "A", "", (), quantity),))  # type: ignore[arg-type]


def test_details_are_in_the_metadata() -> None:
    html = page_of(details={"seed": "0", "command": "plurivox report 'a b.csv'"}, facts=(Fact("votes", "3"),))
    found = {one.get("name"): one.get("content") for tag, one in Elements(html).found if tag == "meta"}
    assert found["plurivox:seed"] == "0" and found["plurivox:command"] == "plurivox report 'a b.csv'"


PAIRS = [(text, ground) for text in ("ink", "muted", "accent") for ground in ("paper", "ground")]
PAIRS += [(tone, f"{tone}-ground") for tone in ("truth", "people", "serious", "caution", "note")]
PAIRS += [("ink", f"{tone}-ground") for tone in ("serious", "caution", "note")]


@pytest.mark.parametrize("text", ["report.css", "report_dark.css"])
def test_texts_stand_out_from_their_grounds(text: str) -> None:
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", (TEMPLATES / text).read_text("utf-8")))
    faint = [(a, b) for a, b in PAIRS if contrast(colors[a], colors[b]) < 4.5]
    faint += [
        (bar, "paper") for bar in ("votes", "soft", "series", "edge") if contrast(colors[bar], colors["paper"]) < 3
    ]
    assert faint == []


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours by WCAG 2.2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    shares = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
