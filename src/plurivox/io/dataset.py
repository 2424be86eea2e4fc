"""Dataset: everything one folder or file holds about one crowd."""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.core.votes import Votes
from plurivox.io.features import Features
from plurivox.io.tabular.table_columns import code

PARTS = ("votes", "answers", "counts", "gold", "soft_labels", "items", "features", "workers", "images")

Part = Any  # a value, or a function without arguments that makes it when it is first asked for


class Dataset:
    """What is known about one crowd. Every part is None where it is absent, and read when it is first asked for.

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
        **parts: Part,
    ) -> None:
        strangers = sorted(set(parts) - set(PARTS))
        assert not strangers, strangers
        self.name, self.path = name, path
        self.about = dict(about or {})  # what dataset.toml says
        self.tables = dict(tables or {})  # further tables by name: call one to read it
        self._parts = {part: value for part, value in parts.items() if value is not None}

    def has(self, part: str) -> bool:
        """Whether a part is there; nothing is read."""
        return part in self._parts

    def parts(self) -> list[str]:
        """The parts that are there, in the order of the walk."""
        return [part for part in PARTS if part in self._parts]

    def _part(self, part: str) -> Any:
        value = self._parts.get(part)
        if callable(value):
            value = self._parts[part] = value()
        return value

    @property
    def votes(self) -> Votes | None:
        """What the crowd said."""
        return self._part("votes")

    @property
    def answers(self) -> Answers | None:
        """What people entered, untouched."""
        return self._part("answers")

    @property
    def counts(self) -> Votes | None:
        """How many people, whose names are lost, chose each label."""
        return self._part("counts")

    @property
    def gold(self) -> SoftLabels | None:
        """True labels; perhaps of more tasks than the votes, perhaps of fewer."""
        return self._part("gold")

    @property
    def soft_labels(self) -> SoftLabels | None:
        """Soft labels that came with the data."""
        return self._part("soft_labels")

    @property
    def items(self) -> pl.DataFrame | None:
        """What was labelled, a row a task: text, image bytes, splits."""
        return self._part("items")

    @property
    def features(self) -> Features | None:
        """Numbers for every task, for classifiers."""
        return self._part("features")

    @property
    def workers(self) -> pl.DataFrame | None:
        """What is known of the people, a row a worker."""
        return self._part("workers")

    @property
    def images(self) -> Mapping[str, Path] | None:
        """Image files by task."""
        return self._part("images")

    @cached_property
    def splits(self) -> dict[str, Names]:
        """The tasks of each split, where gold or items name one."""
        found: dict[str, Names] = {}
        for table in (lambda: self.items, self.tables.get("gold")):
            frame = None if table is None or found else table()
            if frame is not None and {"task", "split"} <= set(frame.columns):
                named = frame.filter(pl.col("split").is_not_null() & (pl.col("split").cast(pl.String) != ""))
                for (split,), part in named.group_by("split", maintain_order=True):
                    codes, names, _ = code(part["task"], "task")
                    found[str(split)] = names[codes]
        return found

    def crowd(self, part: str | None = None) -> Votes:
        """The votes to aggregate: those of named people, or the counts where these cover more tasks; or the part named."""
        if part is not None and part not in ("votes", "counts"):
            raise InputError(f"the crowd speaks in votes or counts, not in {part!r}")
        if part is None and self.has("counts") and self.has("votes"):
            return self._wider()
        for one in ("votes", "counts") if part is None else (part,):
            if self.has(one):
                found = self._part(one)
                assert isinstance(found, Votes)
                return found
        hint = (
            "it holds answers: turn them into votes first (plurivox elicit as-asked)"
            if self.has("answers")
            else f"it holds {self._held()}"
        )
        raise InputError(f"{self.name} has no {part or 'votes'}; {hint}")

    def _wider(self) -> Votes:
        """Votes, unless they cover only a part of the tasks that the counts cover."""
        votes, counts = self.votes, self.counts
        assert votes is not None and counts is not None
        return counts if counts.n_tasks > votes.n_tasks else votes

    def _held(self) -> str:
        further = [name for name in self.tables if not self.has(name)]
        return ", ".join([*self.parts(), *further]) or "nothing we know"

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {self._held()}>"
