"""Recommendation: the result of `recommend`, as text for a terminal, Markdown, and columns of all candidates."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Bools, Floats, Names
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import unknown_name_error
from plurivox.core.recipe_tables import Table
from plurivox.engine.beta_intervals import jeffreys_interval_95

TITLES = {"nll": "NLL", "brier": "Brier score", "ece": "ECE", "jsd": "JSD", "manhattan": "Manhattan distance"}
GOALS = {
    "truth": "the probability that a label is right",
    "people": "what share of the people would say each label",
    "training": "labels to train a classifier on that is evaluated by right labels",
}
LINE_WIDTH = 110  # of the text for a terminal
BACKED_BY_GOLD = 20  # gold tasks from which measured quality is used


@dataclass(frozen=True, eq=False, repr=False)
class Recommendation(DataType):
    """Which aggregation method suits a crowd, how good it is expected to be, and how sure that is."""

    question: str  # truth, people or training
    recommended: str  # spec of the method
    default: str
    method: Names  # (n_methods,) the candidates
    measures: tuple[str, ...]
    decided_by: str  # the measure that decides; lower is better
    noise: float  # candidates within this of the best cannot be told apart from it
    world: Names  # (n_crowds,) the model that each simulated crowd was drawn from
    misread: Floats  # (n_crowds,) share of tasks that the simulated crowd misreads as a whole
    weight: Floats  # (n_crowds,) sums to 1; equal without gold
    simulated: Floats  # (n_crowds, n_methods, n_measures)
    gain: Floats  # (n_gain_crowds, 3) change of the first three measures by one more vote per task
    gain_at_least_certain: float  # share of the gain on the fifth of the tasks with the lowest confidence
    least_certain: Names  # tasks, least certain first
    least_confidence: Floats
    hidden: Floats | None  # (n_methods, 3) log loss of hidden votes, difference to the default, its standard error
    n_hidden: int
    measured: Floats | None  # (n_methods, 3) accuracy, NLL and Brier score on gold tasks
    measured_error: Floats | None  # (n_methods, 3) standard errors
    n_gold: int
    crowd: Mapping[str, str]  # description: name -> value
    problems: tuple[str, ...]
    worlds: Mapping[str, str]  # name -> what it assumes, with fitted values
    notes: tuple[str, ...] = ()

    @property
    def at(self) -> int:
        """The place of the recommended method among the candidates."""
        return self.method.tolist().index(self.recommended)

    def expected(self, measure: str, method: str | None = None) -> tuple[float, float, float]:
        """Return the mean of a measure over simulated crowds, and the interval in which 90% of them are."""
        for what, one, known in (("measure", measure, self.measures), ("candidate", method, self.method.tolist())):
            if one is not None and one not in known:
                raise unknown_name_error(what, one, known)
        at = self.at if method is None else self.method.tolist().index(method)
        values = self.simulated[:, at, self.measures.index(measure)]
        finite = np.isfinite(values)
        if not finite.any():
            return np.nan, np.nan, np.nan
        values, weight = values[finite], self.weight[finite] / self.weight[finite].sum()
        order = np.argsort(values)
        up_to = np.cumsum(weight[order])
        low, high = (values[order][min(int((up_to < q).sum()), len(values) - 1)] for q in (0.05, 0.95 - 1e-9))
        mean = float(weight @ values)
        return mean, min(float(low), mean), max(float(high), mean)

    @cached_property
    def _losses(self) -> Floats:
        """(n_crowds, n_methods) the measure that decides."""
        return np.asarray(self.simulated[:, :, self.measures.index(self.decided_by)])

    @property
    def within_noise(self) -> Bools:
        """(n_crowds,) whether the recommended method is best, or within noise of the best, in each simulated crowd."""
        return np.asarray(self._losses[:, self.at] <= np.nanmin(self._losses, 1) + self.noise)

    @property
    def sureness(self) -> float:
        """Weighted share of simulated crowds in which the recommended method is best or within noise of the best."""
        return float(self.weight @ self.within_noise)

    @property
    def worlds_won(self) -> tuple[int, int]:
        """Number of worlds in which the mean loss of the method is within noise of the best, and the number of worlds."""
        names = list(dict.fromkeys(self.world.tolist()))
        means = np.array([self._losses[self.world == name].mean(0) for name in names])
        return int((means[:, self.at] <= np.nanmin(means, 1) + self.noise).sum()), len(names)

    @property
    def rivals(self) -> list[str]:
        """Other candidates whose mean loss over simulated crowds is at most the noise above that of the recommended one."""
        mean = self.weight @ self._losses
        near = [i for i in np.argsort(mean).tolist() if mean[i] < mean[self.at] + self.noise and i != self.at]
        return [str(self.method[i]) for i in near]

    # ---- output

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per candidate: expected and measured values, hidden votes, share of crowds near the best."""
        names = self.method.tolist()
        table: dict[str, NDArray[Any]] = {"method": self.method, "recommended": self.method == self.recommended}
        for measure in self.measures:
            found = np.array([self.expected(measure, name) for name in names])
            table |= {measure: found[:, 0], f"{measure}_low": found[:, 1], f"{measure}_high": found[:, 2]}
        near = self._losses <= np.nanmin(self._losses, 1, keepdims=True) + self.noise
        table["within_noise"] = self.weight @ near
        if self.hidden is not None:
            table |= {"hidden_log_loss": self.hidden[:, 0], "hidden_difference": self.hidden[:, 1]}
            table["hidden_difference_se"] = self.hidden[:, 2]
        if self.measured is not None and self.measured_error is not None:
            for i, measure in enumerate(("accuracy", "nll", "brier")):
                table |= {f"gold_{measure}": self.measured[:, i], f"gold_{measure}_se": self.measured_error[:, i]}
        return table

    def csv(self) -> str:
        """Return the candidates as CSV text."""
        return Table("", self.columns()).csv()

    def summary_values(self) -> dict[str, object]:
        return {
            "for": self.question,
            "recommended": self.recommended,
            "candidates": len(self.method),
            "simulated crowds": len(self.world),
            "best or within noise": f"{self.sureness:.0%}",
        }

    def lines(self) -> list[tuple[str, str]]:
        """Return the recommendation as (heading, sentence) pairs."""
        chosen = "the default" if self.recommended == self.default else f"instead of the default, {self.default}"
        found = [
            ("use", f"{self.recommended} ({chosen}), for {GOALS[self.question]}"),
            ("your crowd", "; ".join(f"{name} {value}" for name, value in self.crowd.items())),
            ("expected", self._expected_text()),
        ]
        if (measured := self._measured_text()) is not None:
            found.append(("measured", measured))
        found.append(("how sure", self._sureness_text()))
        if (hidden := self._hidden_text()) is not None:
            found.append(("hidden votes", hidden))
        found += [("one more vote", self._gain_text()), ("least certain", self._least_certain_text())]
        return found + [("may go wrong" if i == 0 else "", text) for i, text in enumerate(self.problems)]

    def text(self) -> str:
        """Return the recommendation as lines for a terminal."""
        heads = [head for head, _ in self.lines()]
        indent = " " * (max(map(len, heads)) + 2)
        return "\n".join(
            fill(
                text,
                LINE_WIDTH,
                initial_indent=f"{head:<{len(indent)}}",
                subsequent_indent=indent,
                break_on_hyphens=False,
            )
            for head, text in self.lines()
        )

    def markdown(self) -> str:
        """Return the recommendation as Markdown: the sentences, and a table of all candidates."""
        lines = [f"- **{head or 'may go wrong'}**: {text}" for head, text in self.lines()]
        notes = [f"- {note}" for note in self.notes]
        notes += [f"- world of simulated crowds, *{name}*: {about}" for name, about in self.worlds.items()]
        table = Table("Candidates", self.columns(), digits=3).markdown()
        return "\n".join([f"# Recommended for {self.question}: {self.recommended}", "", *lines, *notes, "", table])

    def _expected_text(self) -> str:
        parts = []
        for measure in self.measures:
            mean, low, high = self.expected(measure)
            parts.append(f"{TITLES.get(measure, measure)} {mean:.3f} ({low:.3f} to {high:.3f})")
        after = " of a linear classifier trained on the labels" if self.question == "training" else ""
        return (
            ", ".join(parts)
            + f"{after}: mean of {len(self.world)} simulated crowds like yours, and where 90% of them are"
        )

    def _measured_text(self) -> str | None:
        if self.measured is None or self.measured_error is None or self.question == "people":
            return None
        values, errors = self.measured[self.at], self.measured_error[self.at]
        low, high = np.maximum(values - 1.96 * errors, 0), values + 1.96 * errors
        low[:1], high[:1] = jeffreys_interval_95(values[:1], self.n_gold)
        rows = zip(("accuracy", "NLL", "Brier score"), values, low, high, strict=True)
        about = " (of the labels, not of a classifier)" if self.question == "training" else ""
        used = "" if self.n_gold >= BACKED_BY_GOLD else f"; fewer than {BACKED_BY_GOLD}, so not used for the choice"
        texts = [f"{name} {value:.3f} ({begin:.3f} to {end:.3f})" for name, value, begin, end in rows]
        return f"{', '.join(texts)} on {self.n_gold:,} gold tasks{about}, 95% intervals{used}"

    def _sureness_text(self) -> str:
        won, worlds = self.worlds_won
        title = TITLES.get(self.decided_by, self.decided_by)
        rivals = ", ".join(self.rivals) or "none"
        weighted = " (weighted by the gold labels)" if np.ptp(self.weight) > 1e-9 else ""
        return (
            f"best, or within {self.noise:g} in {title}, in {self.sureness:.0%} of the simulated crowds{weighted} and in {won} "
            f"of {worlds} worlds; cannot be told apart from: {rivals}"
        )

    def _hidden_text(self) -> str | None:
        if self.hidden is None:
            return None
        names, loss = self.method.tolist(), self.hidden[:, 0]
        best = int(np.nanargmin(loss))
        use = (
            ""
            if self.question == "people"
            else " This says how well votes are predicted, not what is true: it does not decide."
        )
        other = "" if best == self.at else f"; lowest: {names[best]} {loss[best]:.3f}"
        return f"{self.recommended} predicts them with a log loss of {loss[self.at]:.3f}{other} ({self.n_hidden:,} votes).{use}"

    def _gain_text(self) -> str:
        at = 0 if self.question != "people" else 1
        name = "accuracy" if at == 0 else "Manhattan distance"
        low, mean, high = self.gain[:, at].min(), self.gain[:, at].mean(), self.gain[:, at].max()
        about = " of the labels" if self.question == "training" else ""
        where = (
            f"; {self.gain_at_least_certain:.0%} of the gain is on the fifth of the tasks that are least certain"
            if np.isfinite(self.gain_at_least_certain)
            else ""
        )
        return f"on every task changes the {name}{about} by {mean:+.3f} ({low:+.3f} to {high:+.3f} by world){where}"

    def _least_certain_text(self) -> str:
        pairs = zip(self.least_certain.tolist(), self.least_confidence.tolist(), strict=True)
        return ", ".join(f"{task} ({p:.2f})" for task, p in list(pairs)[:6])
