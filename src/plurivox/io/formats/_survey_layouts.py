"""How survey tools lay out their tables: which columns they add, and which rows are not responses."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError
from plurivox.io.tabular.column_roles import find_column
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.time_email_and_ip_columns import holds_emails, holds_times
from plurivox.io.tabular.usual_column_names import bare_name, has_name_of_numbered_worker

GOOGLE_TIMESTAMPS = (  # the first column, in the language of the form's owner
    *("Timestamp", "Zeitstempel", "Horodateur", "Marca temporal", "Carimbo de data/hora", "Informazioni cronologiche"),
    *("Tijdstempel", "Tidsstämpel", "Tidsstempel", "Sygnatura czasowa", "Отметка времени", "Zaman damgası"),
    *("タイムスタンプ", "时间戳记", "時間戳記", "타임스탬프"),
)
QUALTRICS = ("StartDate", "EndDate", "ResponseId")
QUALTRICS_OTHER = (
    *("Status", "IPAddress", "Progress", "Finished", "RecordedDate", "RecipientLastName", "RecipientFirstName"),
    *("RecipientEmail", "ExternalReference", "LocationLatitude", "LocationLongitude", "DistributionChannel"),
)
QUALTRICS_TRAITS = ("Duration (in seconds)", "UserLanguage")
NOT_RESPONSES = ("1", "2", "8", "9", "12", "17")  # numbers of Status for previews, tests and spam
WORDS_OF_NOT_RESPONSES = ("preview", "test", "spam")
IMPORT_ID = '{"ImportId"'
MICROSOFT = ("ID", "Start time", "Completion time")
MICROSOFT_OTHER = ("Email", "Name", "Last modified time")
ROW_PER_WORKER = "a table with one row per worker"
NAMES_OF_LABELLERS = frozenset(  # not participants or users, who may be what is labelled
    f"{name}{end}"
    for name in ("worker", "annotator", "rater", "coder", "labeler", "labeller", "turker", "crowdworker", "respondent")
    for end in ("", "id", "name")
)
SCORES = (" [Score]", " [Feedback]")  # of a quiz, after the question
TOTALS = ("Score", "Total points", "Quiz feedback")


@dataclass(frozen=True)
class Survey:
    """The columns that a survey tool adds to the questions."""

    tool: str
    worker: tuple[str, ...]  # columns that may name the people, the best first
    when: str  # column with the time of the response
    other: tuple[str, ...] = ()  # further columns that are neither questions nor traits: times, addresses, places
    traits: tuple[str, ...] = ()  # further columns that are traits of the people

    @property
    def known(self) -> frozenset[str]:
        """The names of all columns that are not questions."""
        return frozenset((*self.worker, self.when, *self.other, *self.traits))

    def is_score(self, column: str) -> bool:
        """Return whether a column has the points of a quiz."""
        return column in TOTALS or column.endswith(SCORES)

    def split_headings(self, columns: Mapping[str, Sequence[Any]]) -> tuple[list[int], dict[str, str]]:
        """Return (the rows after further rows of headings, texts of the questions in them): Qualtrics has two such rows."""
        n = len(next(iter(columns.values())))
        first = columns.get(QUALTRICS[-1], [None] * n)
        at = next((row for row in range(min(n, 3)) if str(first[row] or "").startswith(IMPORT_ID)), None)
        if self.tool != "Qualtrics" or at is None:
            return list(range(n)), {}
        return list(range(at + 1, n)), {name: str(values[0] or "") for name, values in columns.items()} if at else {}

    def responses_to_keep(
        self, columns: Mapping[str, Sequence[Any]], rows: Sequence[int]
    ) -> tuple[list[int], list[str]]:
        """Return the rows that are finished responses of people, and notes on previews and unfinished ones."""
        if self.tool != "Qualtrics":
            return [row for row in rows if any(values[row] is not None for values in columns.values())], []
        status = [str(one or "") for one in columns.get("Status", [None] * (max(rows, default=-1) + 1))]
        finished = [str(one).lower() for one in columns.get("Finished", ["true"] * len(status))]
        tests = [row for row in rows if _is_test_or_spam(status[row])]
        partial = [row for row in rows if not _is_test_or_spam(status[row]) and finished[row] in ("false", "0")]
        notes = {
            f"{count_text(len(tests), 'preview, test or spam response', 'preview, test and spam responses')} left out "
            "(Status)": tests,
            f"{count_text(len(partial), 'unfinished response')} left out; to keep them, set Finished to True in the "
            "file": partial,
        }
        out = {*tests, *partial}
        return [row for row in rows if row not in out], [note for note, found in notes.items() if found]


def _is_test_or_spam(status: str) -> bool:
    """Return whether a status of Qualtrics, a text or a number, is that of a preview, a test or spam."""
    return status in NOT_RESPONSES or any(word in status.lower() for word in WORDS_OF_NOT_RESPONSES)


def find_survey(table: Columns) -> Survey | None:
    """Return how the table of a survey is laid out, None if the table is not a survey by the names of its columns."""
    names = table.names
    if len(names) < 3:
        return None
    if set(QUALTRICS) <= set(names) and {"Status", "Finished", "Progress", "RecordedDate"} & set(names):
        when = "RecordedDate" if "RecordedDate" in names else "EndDate"
        return Survey("Qualtrics", ("ResponseId",), when, (*QUALTRICS, *QUALTRICS_OTHER), QUALTRICS_TRAITS)
    if names[:3] == [*MICROSOFT]:
        by_email = ("Email",) if "Email" in names and holds_emails(table["Email"]) else ()
        return Survey("Microsoft Forms", (*by_email, "ID"), "Completion time", (*MICROSOFT, *MICROSOFT_OTHER))
    if names[0] in GOOGLE_TIMESTAMPS and holds_times(table[names[0]]) and not _has_columns_of_votes(table):
        emails = tuple(name for name in names[1:3] if holds_emails(table[name]))
        if emails or sum(not name.isidentifier() for name in names[1:]) >= len(names) / 2:  # headings, not names
            return Survey("Google Forms", emails, names[0])
    if bare_name(names[0]) in NAMES_OF_LABELLERS and not _has_columns_of_votes(table):
        workers_in_columns = any(has_name_of_numbered_worker(name) for name in names[1:])
        if not workers_in_columns and table[names[0]].n_unique() == len(table[names[0]]) > 1:
            return Survey(ROW_PER_WORKER, (names[0],), "")
    return None


def _has_columns_of_votes(table: Columns) -> bool:
    """Return whether a table has columns of tasks and labels by their names: one row per vote."""
    with suppress(InputError):  # several columns that may be the task, or the label
        return find_column(table, "task") is not None and find_column(table, "label") is not None
    return True
