"""Evaluation: the measures of one prediction with intervals and baselines, as columns, text, CSV, JSON, Markdown or LaTeX."""

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Bools, Floats, Ints, Names
from plurivox.core.count_text import count_text
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import unknown_name_error
from plurivox.evaluate.intervals_and_tests import Interval

COLUMNS = ("measure", "value", "low", "high", "baseline", "better", "n", "against")
UNFIT_MARK = " *"  # after the name of a measure that does not fit what the prediction estimates


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(DataType):
    """Measures of one prediction: one row per measure, with its interval over tasks and the value of a constant prediction."""

    measure: Names  # (n_measures,)
    value: Floats  # (n_measures,)
    low: Floats  # (n_measures,) lower end of the interval; NaN if there is none
    high: Floats  # (n_measures,) upper end
    baseline: Floats  # (n_measures,) the value of the constant prediction: the label frequencies for every task
    better: Names  # (n_measures,) higher or lower; empty for a property of the votes, not of the prediction
    n: Ints  # (n_measures,) number of tasks
    # (n_measures,) the reference: gold, votes, counts, soft labels, truth, reference; "(one-hot)" or "(top label)" of it
    against: Names
    majority_label: str  # the most frequent true label
    majority_share: float  # the accuracy of always predicting it
    repeats: int = 1000  # number of bootstrap resamples
    level: float = 0.95
    seed: int = 0
    notes: tuple[str, ...] = ()
    majority_n: int = 0  # number of tasks of `majority_share`; 0: not recorded
    # (n_measures,) false: the measure evaluates estimates of the truth and the prediction estimates people, or the reverse
    fits: Bools | None = None  # None: not recorded

    def __len__(self) -> int:
        return len(self.measure)

    def __getitem__(self, measure: str) -> Interval:
        """Return the value of one measure with its confidence interval; raise UnknownName if the measure was not computed."""
        names = self.measure.tolist()
        if measure not in names:
            raise unknown_name_error("measure in this evaluation called", measure, names)
        at = names.index(measure)
        return Interval(float(self.value[at]), float(self.low[at]), float(self.high[at]))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the table as columns: measure, value, low, high, baseline, better, n, against and, if recorded, fits."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        return columns if self.fits is None else {**columns, "fits": self.fits}

    def _rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of the table of measures, in the order of `columns()`."""
        return list(zip(*(column.tolist() for column in self.columns().values()), strict=True))

    def _names_with_unfit_marks(self) -> list[str]:
        """Return the names of the measures, with a mark after those that do not fit what the prediction estimates."""
        fits = np.ones(len(self), bool) if self.fits is None else self.fits
        return [f"{name}{'' if fit else UNFIT_MARK}" for name, fit in zip(self.measure, fits, strict=True)]

    def summary_values(self) -> dict[str, object]:
        best = f"always {self.majority_label!r}: {self.majority_share:.4f}"
        return {"measures": len(self), **self._n_tasks_by_reference(), "majority baseline": best}

    def _n_tasks_by_reference(self) -> dict[str, int]:
        """Return {"tasks": number of tasks}, or {"tasks against truth": ..., "tasks against votes": ...} if they differ."""
        n = dict(zip(self.against.tolist(), self.n.tolist(), strict=True))
        if len(set(n.values())) < 2:
            return {"tasks": int(self.n.max(initial=0))}
        return {f"tasks against {against}": tasks for against, tasks in n.items()}

    @property
    def majority_baseline_text(self) -> str:
        """A text with the most frequent true label and the accuracy of always predicting it."""
        text = f"always {self.majority_label!r}, the most frequent label: accuracy {self.majority_share:.4f}"
        return f"{text} on {count_text(self.majority_n, 'task')}" if self.majority_n else text

    def text_rows(self, digits: int = 4) -> list[tuple[str, str, str, str, str, str, str]]:
        """Return one row of texts per measure for display: measure, value, interval, baseline, better, tasks, against."""
        return [
            (
                name,
                _number_text_or_empty(value, digits),
                ""
                if np.isnan(low)
                else f"{_number_text_or_empty(low, digits)} to {_number_text_or_empty(high, digits)}",
                _number_text_or_empty(baseline, digits),
                better,
                f"{n:,}",
                against,
            )
            for name, (_, value, low, high, baseline, better, n, against, *_) in zip(
                self._names_with_unfit_marks(), self._rows(), strict=True
            )
        ]

    def column_titles_of_text_rows(self) -> tuple[str, str, str, str, str, str, str]:
        """Return the column titles of the table of measures that `text_rows()` returns."""
        return ("measure", "value", f"{100 * self.level:g}% interval", "baseline", "better", "tasks", "against")

    def csv(self) -> str:
        """Return the evaluation as CSV text: one row per measure, numbers with full precision."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(self.columns())
        table.writerows(self._rows())
        return text.getvalue()

    def json(self) -> str:
        """Return the evaluation as JSON text: one row per measure, baseline and interval settings; NaN becomes null."""
        rows = [
            {
                name: None if isinstance(cell, float) and np.isnan(cell) else cell
                for name, cell in zip(self.columns(), row, strict=True)
            }
            for row in self._rows()
        ]
        about = {"majority_label": self.majority_label, "majority_share": self.majority_share}
        how = {"repeats": self.repeats, "level": self.level, "seed": self.seed, "notes": list(self.notes)}
        return json.dumps({"rows": rows, **about, **how}, indent=2, ensure_ascii=False) + "\n"

    def markdown(self, digits: int = 4) -> str:
        """Return the evaluation as a Markdown table, one row per measure, with the majority baseline and the notes below."""
        rows = [
            self.column_titles_of_text_rows(),
            ("---", *["---:"] * 3, "---", "---:", "---"),
            *self.text_rows(digits),
        ]
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        return "\n".join([*lines, "", f"{self._table_footer_text()}.", *[f"- {note}" for note in self.notes]]) + "\n"

    def latex(self, digits: int = 3, caption: str = "") -> str:
        r"""Return the evaluation as a LaTeX table (booktabs), one row per measure; arrows show which direction is better."""
        lines = [r"\begin{table}", r"\centering", r"\begin{tabular}{lrlrl}", r"\toprule"]
        lines += [rf"measure & value & {100 * self.level:g}\% interval & baseline & against \\", r"\midrule"]
        for name, (_, value, low, high, baseline, better, _, against, *_) in zip(
            self._names_with_unfit_marks(), self._rows(), strict=True
        ):
            arrow = {"higher": r" $\uparrow$", "lower": r" $\downarrow$"}.get(better, "")
            within = (
                ""
                if np.isnan(low)
                else f"[{_number_text_or_empty(low, digits)}, {_number_text_or_empty(high, digits)}]"
            )
            lines.append(
                rf"{name}{arrow} & {_number_text_or_empty(value, digits)} & {within} & "
                rf"{_number_text_or_empty(baseline, digits)} & {_escape_latex(against)} \\"
            )
        words = " ".join(filter(None, [caption, f"{self._table_footer_text()}."]))
        lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{_escape_latex(words)}}}", r"\end{table}"]
        return "\n".join(lines) + "\n"

    def _table_footer_text(self) -> str:
        """Return the text below the table: the numbers of tasks, the interval settings and the majority baseline."""
        tasks = ", ".join(
            count_text(n, words.replace("tasks", "task", 1), words) for words, n in self._n_tasks_by_reference().items()
        )
        drawn = f"; {100 * self.level:g}% intervals of {self.repeats:,} resamples of tasks" if self.repeats else ""
        return f"{tasks}{drawn}; {self.majority_baseline_text}"


def _number_text_or_empty(value: float, digits: int) -> str:
    """Return `value` as text with `digits` decimals; "" if it is NaN."""
    return "" if np.isnan(value) else f"{value:.{digits}f}"


def _escape_latex(text: str) -> str:
    """Return text with the special characters of LaTeX escaped.

    >>> print(_escape_latex("50% of a_b"))
    50\\% of a\\_b
    """
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(sign, f"\\{sign}" if sign in "&%$#_{}" else sign) for sign in text)
