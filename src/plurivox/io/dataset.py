"""Dataset: everything one folder or file holds about one crowd."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.core.votes import Votes
from plurivox.io.features import Features
from plurivox.io.tabular.column_values import code

PARTS = ("votes", "answers", "counts", "gold", "soft_labels", "items", "features", "workers", "images")
CROWD_PARTS = ("answers", "votes", "counts")  # the parts that hold what people said
AS_READ = ("votes_as_read",)  # tables with what people said before it was cleaned

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
        found = self._part(self.crowd_part(part))
        assert isinstance(found, Votes)
        return found

    def crowd_part(self, part: str | None = None) -> str:
        """Which part `crowd` takes, "votes" or "counts"; raises InputError where it is not there."""
        if part is not None and part not in ("votes", "counts"):
            raise InputError(f"the crowd speaks in votes or counts, not in {part!r}")
        there = [one for one in ("votes", "counts") if self.has(one) and part in (one, None)]
        if not there:
            hint = (
                "it holds answers: turn them into votes first (plurivox elicit as-asked)"
                if self.has("answers")
                else f"it holds {self._held()}"
            )
            raise InputError(f"{self.name} has no {part or 'votes'}; {hint}")
        if len(there) == 1:
            return there[0]  # not read
        return max(there, key=lambda one: self._part(one).n_tasks)  # the votes where both cover as many tasks

    def without(self, *names: str, **parts: Part) -> "Dataset":
        """The data set without the parts and tables of these names, and with `parts`; the rest is read when needed."""
        kept = {one: partial(getattr, self, one) for one in self.parts() if one not in names}
        tables = {name: table for name, table in self.tables.items() if name not in names}
        return Dataset(self.name, about=self.about, tables=tables, path=self.path, **kept, **parts)

    def with_crowd(self, said: Mapping[str, Answers | Votes]) -> "Dataset":
        """The data set with these answers, votes or counts in the place of all it had."""
        made = self.without(*CROWD_PARTS, *AS_READ, **said)
        if "audit" in made.tables:  # of an earlier cleaning: kept beside the new one
            number = next(n for n in range(1, 10**6) if f"audit_{n}" not in made.tables)
            made.tables[f"audit_{number}"] = made.tables.pop("audit")
        return made

    def _held(self) -> str:
        further = [name for name in self.tables if not self.has(name)]
        return ", ".join([*self.parts(), *further]) or "nothing we know"

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {self._held()}>"
