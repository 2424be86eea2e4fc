"""Base of the logs: rows of the database as columns in memory, read incrementally."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection

from plurivox.core.types import Bools
from plurivox.web.store.database import now
from plurivox.web.store.report.counters import SETTLES

AT_ONCE = 5_000
Columns = dict[str, Any]  # (n_answers,) each; `marks` is (n_marks, 3): kind, label, typed


def concatenate(parts: Sequence[Columns]) -> Columns:
    """The rows of all parts, column by column."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def select_rows(columns: Columns, keep: Bools) -> Columns:
    """The rows where `keep` is true, with their marks."""
    marks = columns["marks"][np.repeat(keep, columns["n_marks"])]
    return {name: column[keep] for name, column in columns.items() if name != "marks"} | {"marks": marks}


def new_rows(parts: Sequence[Columns], held: Columns) -> Columns | None:
    """The rows whose id is not in `held`; None where there are none."""
    if not parts:
        return None
    new = concatenate(parts)
    fresh = ~np.isin(new["id"], held["id"])
    return {name: column[fresh] for name, column in new.items()} if fresh.any() else None


def since(connection: Connection, held: Columns) -> int:
    """The row after which all are read: on PostgreSQL some with smaller numbers may have been on their way."""
    if connection.dialect.name == "sqlite":
        return int(held["id"].max(initial=0))
    return int(held["id"][held["at"] < now() - 2 * SETTLES].max(initial=0))
