"""Answers of CIFAR-10S, or simulated ones if the data set is missing, and the keys that enter them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from plurivox.core.parse_typed_percents import parse_percents
from plurivox.simulate import SoftAnswers


@dataclass(frozen=True)
class RecordedAnswer:
    """One answer: top label, second label, their percents, and further possible labels."""

    top: str
    percent: int
    second: str | None
    second_percent: int
    possible: tuple[str, ...]

    def keys(self, order: Sequence[str]) -> list[str]:
        """Return the keys that enter this answer in the also-possible form; Shift with a digit is one key."""
        key = {label: "1234567890"[at] for at, label in enumerate(order)}
        ticks = [f"Shift+{key[label]}" for label in self.possible]
        rest = 100 - self.percent - self.second_percent
        if self.second is None:
            typed = [] if self.percent == 100 else [".", *str(self.percent)]
            return [key[self.top], *typed, *ticks, "Enter"]
        other = [".", *str(self.second_percent)] if rest else []
        return [key[self.top], key[self.second], *str(self.percent), *other, *ticks, "Enter"]

    def looks_odd(self) -> bool:
        """Return whether the page warns and asks for a second Enter."""
        rest = 100 - self.percent - self.second_percent
        return max(self.second_percent, rest / max(len(self.possible), 1)) > self.percent

    def shares(self) -> list[tuple[str, str]]:
        """Return the (label, percent) pairs that the page must send as named marks."""
        named = [(self.top, str(self.percent))]
        return named if self.second is None else [*named, (self.second, str(self.second_percent))]


def resolve(
    top: str, percent: float, second: str, second_percent: float, never: set[str], labels: Sequence[str]
) -> RecordedAnswer:
    """Return an answer that the page accepts: correct invalid percents as plurivox does when it reads answers."""
    percent = percent or 100.0  # a top label with 0 percent is read as 100 percent
    there = bool(second) and second != top and second_percent > 0
    second_percent = second_percent if there else 0.0
    possible = tuple(label for label in labels if label not in never | {top, second if there else top})
    total = percent + second_percent
    if total > 100 or (total < 100 and not possible):
        percent, second_percent = 100 * percent / total, 100 * second_percent / total
    whole = min(max(round(percent), 1), 99 if there else 100)
    other = min(max(round(second_percent), 1), 100 - whole) if there else 0
    if not possible and there:
        other = 100 - whole
    return RecordedAnswer(top, whole, second if there else None, other, possible)


def crowd_answers() -> tuple[str, list[str], list[RecordedAnswer]]:
    """Return the name of the data source, the labels and the answers."""
    file = Path(os.environ.get("PLURIVOX_DATA") or "nowhere") / "cifar10s" / "answers.parquet"
    if file.is_file():
        table, name = pl.read_parquet(file), "cifar10s"
        columns = [
            table[one].fill_null("").to_list() for one in ("top", "top_percent", "second", "second_percent", "never")
        ]
    else:
        frame, name = (
            SoftAnswers(n_tasks=100, n_workers=40, n_labels=10, feedback=6).draw().answers.columns(),
            "simulated",
        )
        columns = [list(map(str, frame[one])) for one in ("top", "top_percent", "second", "second_percent", "never")]
    labels = sorted(set(columns[0]))
    shares = [parse_percents(columns[at]).value for at in (1, 3)]
    rows = zip(columns[0], shares[0], columns[2], shares[1], columns[4], strict=True)
    clean = lambda value: 0.0 if value != value else float(min(max(value, 0), 100))  # noqa: E731
    return (
        name,
        labels,
        [resolve(a, clean(p), b, clean(q), set(never.split("|")), labels) for a, p, b, q, never in rows if a],
    )
