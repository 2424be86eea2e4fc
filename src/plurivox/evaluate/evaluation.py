"""Judgement: what was measured of one prediction, and its faces as a table."""

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.base import DataType
from plurivox.core.errors import unknown_name
from plurivox.core.types import Floats, Ints, Names
from plurivox.evaluate.statistics import Interval

COLUMNS = ("measure", "value", "low", "high", "baseline", "better", "n", "against")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(DataType):
    """How good a prediction is: a row a measure, with its interval over tasks and what a constant prediction gets."""

    measure: Names  # (n_measures,)
    value: Floats  # (n_measures,)
    low: Floats  # (n_measures,) the interval; nan where there is none
    high: Floats  # (n_measures,)
    baseline: Floats  # (n_measures,) of the prediction that says the label frequencies of every task
    better: Names  # (n_measures,) higher or lower; empty where it judges the votes and not the prediction
    n: Ints  # (n_measures,) tasks
    against: Names  # (n_measures,) what it was measured against: truth, votes or reference
    majority_label: str  # the most frequent true label
    majority_share: float  # the accuracy of always saying it
    repeats: int = 1000  # of the bootstrap
    level: float = 0.95
    seed: int = 0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.measure)

    def __getitem__(self, measure: str) -> Interval:
        """One measure with its interval."""
        names = self.measure.tolist()
        if measure not in names:
            raise unknown_name("measure in this judgement called", measure, names)
        at = names.index(measure)
        return Interval(float(self.value[at]), float(self.low[at]), float(self.high[at]))

    def columns(self) -> dict[str, NDArray[Any]]:
        """measure, value, low, high, baseline, better, n, against."""
        return {name: getattr(self, name) for name in COLUMNS}

    def info(self) -> dict[str, object]:
        best = f"always {self.majority_label!r}: {self.majority_share:.4f}"
        return {"measures": len(self), "tasks": int(self.n.max(initial=0)), "majority baseline": best}

    @property
    def majority(self) -> str:
        """The majority baseline in words."""
        return f"always {self.majority_label!r}, the most frequent label: accuracy {self.majority_share:.4f}"

    def cells(self, digits: int = 4) -> list[tuple[str, str, str, str, str, str, str]]:
        """What to show a person, a row a measure: measure, value, interval, baseline, better, tasks, against."""
        return [
            (
                measure,
                _number(value, digits),
                "" if np.isnan(low) else f"{_number(low, digits)} to {_number(high, digits)}",
                _number(baseline, digits),
                better,
                f"{n:,}",
                against,
            )
            for measure, value, low, high, baseline, better, n, against in zip(
                *(column.tolist() for column in self.columns().values()), strict=True
            )
        ]

    def heads(self) -> tuple[str, str, str, str, str, str, str]:
        """The heads of `cells()`."""
        return ("measure", "value", f"{100 * self.level:g}% interval", "baseline", "better", "tasks", "against")

    def csv(self) -> str:
        """The rows of `columns()` as comma separated text, every digit kept."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(zip(*(column.tolist() for column in self.columns().values()), strict=True))
        return text.getvalue()

    def json(self) -> str:
        """The rows, the majority baseline and how the intervals were made, as one JSON document; nan becomes null."""
        rows = [
            {
                name: None if isinstance(cell, float) and np.isnan(cell) else cell
                for name, cell in zip(COLUMNS, row, strict=True)
            }
            for row in zip(*(column.tolist() for column in self.columns().values()), strict=True)
        ]
        about = {"majority_label": self.majority_label, "majority_share": self.majority_share}
        how = {"repeats": self.repeats, "level": self.level, "seed": self.seed, "notes": list(self.notes)}
        return json.dumps({"rows": rows, **about, **how}, indent=2, ensure_ascii=False) + "\n"

    def markdown(self, digits: int = 4) -> str:
        """A Markdown table with the majority baseline and the notes below it."""
        rows = [self.heads(), ("---", *["---:"] * 3, "---", "---:", "---"), *self.cells(digits)]
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        return "\n".join([*lines, "", f"{self._how()}.", *[f"- {note}" for note in self.notes]]) + "\n"

    def latex(self, digits: int = 3, caption: str = "") -> str:
        r"""A LaTeX table with rules of booktabs; arrows say which way is better, the interval stands in brackets."""
        lines = [r"\begin{table}", r"\centering", r"\begin{tabular}{lrlr}", r"\toprule"]
        lines += [rf"measure & value & {100 * self.level:g}\% interval & baseline \\", r"\midrule"]
        for measure, value, low, high, baseline, better in zip(
            self.measure.tolist(), self.value, self.low, self.high, self.baseline, self.better.tolist(), strict=True
        ):
            arrow = {"higher": r" $\uparrow$", "lower": r" $\downarrow$"}.get(better, "")
            within = "" if np.isnan(low) else f"[{_number(low, digits)}, {_number(high, digits)}]"
            lines.append(rf"{measure}{arrow} & {_number(value, digits)} & {within} & {_number(baseline, digits)} \\")
        words = " ".join(filter(None, [caption, f"{self._how()}."]))
        lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{_tex(words)}}}", r"\end{table}"]
        return "\n".join(lines) + "\n"

    def _how(self) -> str:
        tasks = int(self.n.max(initial=0))
        drawn = f"; {100 * self.level:g}% intervals of {self.repeats:,} resamples of tasks" if self.repeats else ""
        return f"{tasks:,} tasks{drawn}; {self.majority}"


def _number(value: float, digits: int) -> str:
    return "" if np.isnan(value) else f"{value:.{digits}f}"


def _tex(text: str) -> str:
    """Text with the signs that LaTeX takes for itself set as themselves.

    >>> print(_tex("50% of a_b"))
    50\\% of a\\_b
    """
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(sign, f"\\{sign}" if sign in "&%$#_{}" else sign) for sign in text)
