"""What a page of a report consists of: sections of paragraphs, facts, tables, pictures, task cards, warnings and next steps."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Cell = str | int | float | None  # of a table; None and nan are shown as "-"
ColumnKind = Literal["text", "number", "percent", "flag"]  # flag: a short word that is shown as a badge
Severity = Literal["serious", "caution", "note"]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True)
class Fact:
    """A number with its name, and what it means."""

    name: str
    value: str
    meaning: str = ""


@dataclass(frozen=True)
class Facts:
    """A list of facts."""

    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Column:
    """A column of a table; `meaning` says what it is and how it is computed."""

    title: str
    kind: ColumnKind = "text"
    meaning: str = ""
    digits: int | None = None  # decimals; None: 2 of a number that is not an integer, none of a percent


@dataclass(frozen=True)
class Table:
    """A table that readers can sort and filter; the first column names the row.

    `rows` are those shown, `n_rows` how many there are in all, and `command` the command that writes them all.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    n_rows: int
    note: str = ""
    command: str = ""
    sorted_by: int | None = None  # index of the column that the rows are sorted by
    descending: bool = False


@dataclass(frozen=True)
class Picture:
    """A chart as SVG with its caption, and the command that draws it."""

    title: str
    svg: str  # ids start with a prefix of their own
    caption: str
    command: str = ""


@dataclass(frozen=True)
class TaskCard:
    """One task as people saw it, with its votes and its soft label."""

    task: str
    image: bytes | None = None  # a small JPEG or PNG file
    text: str = ""
    votes: tuple[tuple[str, float], ...] = ()  # label and number of votes, most first
    soft: tuple[tuple[str, float], ...] = ()  # label and probability, most probable first
    gold: str = ""
    facts: tuple[tuple[str, str], ...] = ()  # such as (entropy, 1.04)
    remark: str = ""


@dataclass(frozen=True)
class TaskCards:
    """Several tasks side by side; `soft_title` says by which method and of what the soft labels are."""

    title: str
    cards: tuple[TaskCard, ...]
    soft_title: str = ""
    note: str = ""


@dataclass(frozen=True)
class Warning:
    """Something that may make the results wrong, and what to do about it."""

    severity: Severity
    text: str
    advice: str = ""
    command: str = ""


@dataclass(frozen=True)
class Warnings:
    """Warnings, the most serious first."""

    warnings: tuple[Warning, ...]


@dataclass(frozen=True)
class Step:
    """Something to do next: what, why, and the command that does it."""

    text: str
    why: str
    command: str = ""


@dataclass(frozen=True)
class Steps:
    """What to do next, the most useful first."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class CopyText:
    """Text to copy, such as BibTeX entries, a paragraph for a paper, or commands."""

    title: str
    text: str
    is_code: bool = True


Block = Paragraph | Facts | Table | Picture | TaskCards | Warnings | Steps | CopyText


@dataclass(frozen=True)
class Section:
    """A section of the report: a question as title, its answer in a sentence or two, and the evidence."""

    id: str
    title: str
    answer: str
    blocks: tuple[Block, ...]
    quantity: Literal["", "truth", "people"] = ""  # whether its labels are about what is true or about what people say


@dataclass(frozen=True)
class SummaryLine:
    """A question, its answer, and the section with the evidence."""

    question: str
    answer: str
    section: str


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    subtitle: str  # what the data are, when and by what the page was made
    facts: tuple[Fact, ...]  # the sizes, shown large at the top
    summary: tuple[SummaryLine, ...]
    sections: tuple[Section, ...]
    footer: str = ""
    details: dict[str, str] = field(default_factory=dict)  # version, seed, command: written into the page's metadata
