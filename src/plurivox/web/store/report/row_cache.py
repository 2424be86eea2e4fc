"""In-memory columns of an append-only table: each row is read once, by increasing id."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select

from plurivox.web.store.database import now
from plurivox.web.store.report.answer_counters import COMMIT_SECONDS

BATCH_ROWS = 5_000  # rows parsed together
Columns = dict[str, Any]  # name -> (n_rows,) array


class RowCache:
    """All rows of a query as columns, in the order in which they were read; `read_new` appends new rows.

    The query selects the columns of `types` in order, among them `id`, which increases, and `at`, when the row was written.
    """

    def __init__(self, query: Select[Any], types: Mapping[str, Any]) -> None:
        self._query, self._types = query, types
        self.clear()

    def clear(self) -> None:
        """Delete all cached rows, in place."""
        self.columns: Columns = {name: np.zeros(0, kind) for name, kind in self._types.items()}

    def __len__(self) -> int:
        return len(self.columns["id"])

    def read_new(self, connection: Connection) -> int:
        """Append the rows that are not cached yet, in place; return how many."""
        ids, since = self.columns["id"], self._last_stable_id(connection)
        known = set(ids[ids > since].tolist())
        key = self._query.selected_columns["id"]
        found = connection.execute(self._query.where(key > since).order_by(key).execution_options(yield_per=BATCH_ROWS))
        fresh = ([row for row in rows if row[0] not in known] for rows in found.partitions())
        parts = [self._parse([*zip(*rows, strict=True)]) for rows in fresh if rows]
        if parts:
            self.columns = {
                name: np.concatenate([column, *(part[name] for part in parts)]) for name, column in self.columns.items()
            }
        return sum(len(part["id"]) for part in parts)

    def _parse(self, columns: Sequence[Sequence[Any]]) -> Columns:
        """Return the columns of query rows as arrays of `types`."""
        return {name: np.array(one, kind) for (name, kind), one in zip(self._types.items(), columns, strict=True)}

    def _last_stable_id(self, connection: Connection) -> int:
        """Return the id after which rows are read again: on PostgreSQL rows with smaller ids may be committed late."""
        stable = self.columns["id"]
        if connection.dialect.name != "sqlite":
            stable = stable[self.columns["at"] < now() - 2 * COMMIT_SECONDS]
        return int(stable.max(initial=0))
