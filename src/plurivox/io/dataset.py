"""Dataset: the votes, answers, gold labels, features, ... read from one folder or file."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from plurivox.core.answers import Answers
from plurivox.core.array_types import Names
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.features import Features
from plurivox.io.tabular.column_conversion import codes_names_and_notes_of_column

PARTS = ("votes", "answers", "counts", "gold", "soft_labels", "items", "features", "workers", "images")
CROWD_PARTS = ("answers", "votes", "counts")  # the parts that contain what annotators said
RAW_TABLES = ("votes_as_read",)  # tables of votes from before a cleaning

Part = Any  # a value, or a function without arguments that returns it on first use


class Dataset:
    """A data set: votes, answers, counts, gold, items, features, ...; absent parts are None, others are read on first use.

    >>> data = Dataset("pair", votes=Votes.of(task=["a"], worker=["w"], label=["x"]))
    >>> data
    <Dataset pair: votes>
    >>> data.crowd().n_tasks, data.gold
    (1, None)
    """

    def __init__(
        self,
        name: str,
        *,
        about: Mapping[str, Any] | None = None,
        tables: Mapping[str, Callable[[], pl.DataFrame]] | None = None,
        path: Path | None = None,
        gold_of_features: Callable[[], SoftLabels | None] | None = None,
        **parts: Part,
    ) -> None:
        unknown = sorted(set(parts) - set(PARTS))
        assert not unknown, unknown
        self.name, self.path = name, path
        self.ordered_by_caller = False  # read(..., ordered=True): not the data set says that its labels are ordered
        self.about = dict(about or {})  # the contents of dataset.toml
        self.tables = dict(tables or {})  # name -> function that reads the table
        self._read_gold_of_features = gold_of_features  # reads the true labels in the file of features
        self._parts = {part: value for part, value in parts.items() if value is not None}

    def has(self, part: str) -> bool:
        """Return whether the data set has the part of this name (votes, gold, features, ...), without reading it."""
        return part in self._parts

    def parts(self) -> list[str]:
        """Return the names of the parts the data set has, in the order of PARTS."""
        return [part for part in PARTS if part in self._parts]

    def _read_part_once(self, part: str) -> Any:
        """Return a part (votes, gold, ...) of the data set, read on first use and then stored; None if absent."""
        value = self._parts.get(part)
        if callable(value):
            value = self._parts[part] = value()
        return value

    @property
    def votes(self) -> Votes | None:
        """The votes of named workers in the data set; None if it has none."""
        return self._read_part_once("votes")

    @property
    def answers(self) -> Answers | None:
        """The answers as people entered them, before cleaning and elicitation; None if the data set has none."""
        return self._read_part_once("answers")

    @property
    def counts(self) -> Votes | None:
        """The number of unnamed people who chose each label of each task."""
        return self._read_part_once("counts")

    @property
    def gold(self) -> SoftLabels | None:
        """True labels; their tasks may be more or fewer than those of the votes."""
        return self._read_part_once("gold")

    def gold_covering(self, tasks: Names) -> SoftLabels | None:
        """Return the gold labels, or the true labels in the file of features if more of these tasks have one there.

        Rows of features whose task the data set does not name are tasks of their own, such as test-0: only the file of features
        has their true labels. None if the data set has neither.
        """
        if self._read_gold_of_features is None:
            return self.gold
        own, other = self.gold, self._read_gold_of_features()
        if own is None or other is None:
            return own if other is None else other
        covered = [int((positions(one.tasks, tasks) >= 0).sum()) for one in (own, other)]
        return own if covered[0] >= covered[1] else other

    @property
    def soft_labels(self) -> SoftLabels | None:
        """Soft labels that came with the data set; None if it has none."""
        return self._read_part_once("soft_labels")

    @property
    def items(self) -> pl.DataFrame | None:
        """Table of the labelled items, one row per task: text, image bytes, split; None if absent."""
        return self._read_part_once("items")

    @property
    def features(self) -> Features | None:
        """Feature vectors of the tasks, for classifiers; None if absent."""
        return self._read_part_once("features")

    @property
    def workers(self) -> pl.DataFrame | None:
        """Table of worker attributes, one row per worker; None if absent."""
        return self._read_part_once("workers")

    @property
    def images(self) -> Mapping[str, Path] | None:
        """{task: path} of the image files."""
        return self._read_part_once("images")

    @cached_property
    def splits(self) -> dict[str, Names]:
        """{split: task names} of the splits (train, test, ...) named in the items or the gold table."""
        found: dict[str, Names] = {}
        for table in (lambda: self.items, self.tables.get("gold")):
            frame = None if table is None or found else table()
            if frame is not None and {"task", "split"} <= set(frame.columns):
                named = frame.filter(pl.col("split").is_not_null() & (pl.col("split").cast(pl.String) != ""))
                for (split,), part in named.group_by("split", maintain_order=True):
                    codes, names, _ = codes_names_and_notes_of_column(part["task"], "task")
                    found[str(split)] = names[codes]
        return found

    def crowd(self, part: str | None = None) -> Votes:
        """Return the votes to aggregate: the part named, else the votes, or the counts if these cover more tasks."""
        found = self._read_part_once(self.crowd_part(part))
        assert isinstance(found, Votes)
        return found

    def crowd_part(self, votes_or_counts: str | None = None) -> str:
        """Return which part `crowd` uses, "votes" or "counts"; raise InputError if it is absent."""
        if votes_or_counts is not None and votes_or_counts not in ("votes", "counts"):
            raise InputError(f"unknown part {votes_or_counts!r}; use votes or counts")
        present = [one for one in ("votes", "counts") if self.has(one) and votes_or_counts in (one, None)]
        if not present:
            hint = (
                "it contains answers: turn them into votes first (pv.elicit_votes, or plurivox elicit form-column)"
                if self.has("answers")
                else f"it contains {self._part_and_table_names_text()}"
            )
            raise InputError(f"{self.name} has no {votes_or_counts or 'votes'}; {hint}")
        if len(present) == 1:
            return present[0]  # not read
        return max(present, key=lambda one: self._read_part_once(one).n_tasks)  # the votes if both cover as many tasks

    def without(self, *removed_names: str, **added_parts: Part) -> "Dataset":
        """Return a copy of the data set without the parts and tables named in `removed_names`, and with `added_parts`."""
        kept = {one: partial(getattr, self, one) for one in self.parts() if one not in removed_names}
        tables = {name: table for name, table in self.tables.items() if name not in removed_names}
        gold_of_features = None if "features" in removed_names else self._read_gold_of_features
        return Dataset(
            self.name,
            about=self.about,
            tables=tables,
            path=self.path,
            gold_of_features=gold_of_features,
            **kept,
            **added_parts,
        )

    def with_crowd(self, new_crowd_parts: Mapping[str, Answers | Votes]) -> "Dataset":
        """Return a copy of the data set whose answers, votes and counts are replaced by these."""
        made = self.without(*CROWD_PARTS, *RAW_TABLES, **new_crowd_parts)
        if "audit" in made.tables:  # from an earlier cleaning: renamed, so that both stay
            number = next(n for n in range(1, 10**6) if f"audit_{n}" not in made.tables)
            made.tables[f"audit_{number}"] = made.tables.pop("audit")
        return made

    def _part_and_table_names_text(self) -> str:
        """Return the names of the parts and tables of the data set as text, for messages."""
        further = [name for name in self.tables if not self.has(name)]
        return ", ".join([*self.parts(), *further]) or "no known table"

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {self._part_and_table_names_text()}>"
