"""What every section of a report is made from, and texts that several sections use."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plurivox import identify
from plurivox.core.method import parse_spec
from plurivox.workflows.report.commands import shell_name
from plurivox.workflows.report.hard_tasks import HardTasks
from plurivox.workflows.report.pictures import Pictures
from plurivox.workflows.report.report_inputs import ReportInputs
from plurivox.workflows.report.report_results import ReportResults

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
    def hard_tasks(self) -> HardTasks:
        """The tasks in the order in which to look at them."""
        results = self.results
        return HardTasks(self.inputs.votes, results.fit, results.fits_for(results.quantity), self.inputs.gold)

    @staticmethod
    def summary_of_score(spec: str) -> str:
        """Return the first line of the help of a score."""
        return identify.methods.summary(parse_spec(spec)[0])


def percent_text(share: float, digits: int = 0) -> str:
    """Return a share as a percentage, such as "12%"; "-" if it is NaN, and "<1%" and ">99%" instead of 0% and 100% if rounded.

    >>> percent_text(0.123), percent_text(0.001), percent_text(0.0), percent_text(0.999)
    ('12%', '<1%', '0%', '>99%')
    """
    if np.isnan(share):
        return "-"
    least = 10.0**-digits / 100
    if 0 < share < least / 2:
        return f"<{least:.{digits}%}"
    if 1 - least / 2 < share < 1:
        return f">{1 - least:.{digits}%}"
    return f"{share:.{digits}%}"


def names_text(names: Iterable[object], most: int = 10) -> str:
    """Return names in one line: "a, b and c", or "a, b, c and 4 more".

    >>> names_text("abc"), names_text("abcdef", 3), names_text(["a"])
    ('a, b and c', 'a, b, c and 3 more', 'a')
    """
    listed = [str(name) for name in names]
    if len(listed) > most:
        return f"{', '.join(listed[:most])} and {len(listed) - most:,} more"
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def sampled_text(results: ReportResults) -> str:
    """Return a sentence on the random tasks that agreement rests on; "" if they rest on all."""
    if results.sampled is None:
        return ""
    return (
        f"Computed from the {len(results.sampled):,} votes on {results.sampled.n_tasks:,} random tasks, because all "
        f"{results.about.n_votes:,.0f} would take too long."
    )


__all__ = ["QUANTITY_TEXTS", "QUESTIONS", "SectionInput", "names_text", "percent_text", "sampled_text", "shell_name"]
