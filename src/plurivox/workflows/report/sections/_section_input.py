"""What every section of a report is made from, and texts that several sections use."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from unicodedata import bidirectional

from plurivox import identify
from plurivox.core.method import parse_spec
from plurivox.evaluate.train_test_leaks import Finding
from plurivox.workflows.report.commands import shell_name
from plurivox.workflows.report.hard_tasks import HardTasks
from plurivox.workflows.report.leaks import find_leaks_of_dataset
from plurivox.workflows.report.pictures import Pictures
from plurivox.workflows.report.report_inputs import ReportInputs
from plurivox.workflows.report.report_results import ReportResults
from plurivox.workflows.report.table_cells import percent_text

QUANTITY_TEXTS = {
    "truth": "the probability that a label is right",
    "people": "the share of people like these who would give a label",
}
QUESTIONS = {"truth": "what is true", "people": "what people say"}


@dataclass(frozen=True)
class SectionInput:
    """The inputs and results of a report, its pictures, and how many rows its tables may have."""

    inputs: ReportInputs
    results: ReportResults
    pictures: Pictures
    table_rows: int = 500
    seed: int = 0
    version: str = ""  # of plurivox
    command: str = ""  # that made the report
    remark: str = ""  # on where the votes come from

    @property
    def name(self) -> str:
        """How commands name the data."""
        return self.inputs.name_in_commands

    @cached_property
    def leaks(self) -> list[Finding]:
        """Tasks of one part of the data that are in another."""
        return find_leaks_of_dataset(self.inputs)

    @property
    def top_label(self) -> str:
        """What the first label of a task is called: the most probable one, or on pages about people the most frequent one."""
        return "most probable label" if self.results.quantity == "truth" else "most frequent label"

    @cached_property
    def hard_tasks(self) -> HardTasks:
        """The tasks in the order in which to look at them."""
        results = self.results
        return HardTasks(self.inputs.votes, results.fit, results.fits_for(results.quantity), self.inputs.gold)

    @staticmethod
    def summary_of_score(spec: str) -> str:
        """Return the first line of the help of a score."""
        return identify.methods.summary(parse_spec(spec)[0])


def names_text(names: Iterable[object], most: int = 10) -> str:
    """Return names in one line: "a, b and c", or "a, b, c and 4 more".

    A name in a script that is written from right to left is isolated, so that it does not reorder the names around it.

    >>> names_text("abc"), names_text("abcdef", 3), names_text(["a"])
    ('a, b and c', 'a, b, c and 3 more', 'a')
    """
    listed = [_isolated(str(name)) for name in names]
    if len(listed) > most:
        return f"{', '.join(listed[:most])} and {len(listed) - most:,} more"
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def _isolated(name: str) -> str:
    """Return a name between isolating marks if it contains letters that are written from right to left."""
    return f"\u2068{name}\u2069" if any(bidirectional(sign) in ("R", "AL") for sign in name) else name


def parts_text(given: SectionInput) -> str:
    """Return the parts that the data name, with their numbers of tasks; "" if they name none."""
    return ", ".join(f"{name} {len(tasks):,}" for name, tasks in given.inputs.dataset.splits.items())


def sampled_text(results: ReportResults) -> str:
    """Return a sentence on the random tasks that agreement rests on; "" if they rest on all."""
    if results.sampled is None:
        return ""
    return (
        f"Computed from the {len(results.sampled):,} votes on {results.sampled.n_tasks:,} random tasks, because all "
        f"{results.about.n_votes:,.0f} would take too long."
    )


__all__ = [
    "QUANTITY_TEXTS",
    "QUESTIONS",
    "SectionInput",
    "names_text",
    "parts_text",
    "percent_text",
    "sampled_text",
    "shell_name",
]
