"""In-memory columns of an append-only table: each row is read once, by increasing id."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select

from plurivox.web.store.database import current_unix_time
from plurivox.web.store.report.answer_counters import COMMIT_SECONDS

BATCH_ROWS = 5_000  # rows parsed together
Columns = dict[str, Any]  # name -> (n_rows,) array


class RowCache:
    """In-memory cache of all rows of a database query as column arrays; `append_new_rows_and_return_count` reads later ones.

    The query selects the columns of `types` in order, among them `id`, which increases, and `at`, when the row was written.
    """

    def __init__(self, query: Select[Any], types: Mapping[str, Any]) -> None:
        self._query, self._types = query, types
        self.clear_cache()

    def clear_cache(self) -> None:
        """Empty the in-memory cache, in place; the database is not changed."""
        self.columns: Columns = {name: np.zeros(0, kind) for name, kind in self._types.items()}

    def __len__(self) -> int:
        return len(self.columns["id"])

    def append_new_rows_and_return_count(self, connection: Connection) -> int:
        """Read the rows of the query that are new in the database and append them to the cache; return their number."""
        ids, since = self.columns["id"], self._id_after_which_next_read_begins(connection)
        known = set(ids[ids > since].tolist())
        key = self._query.selected_columns["id"]
        found = connection.execute(self._query.where(key > since).order_by(key).execution_options(yield_per=BATCH_ROWS))
        fresh = ([row for row in rows if row[0] not in known] for rows in found.partitions())
        parts = [self._convert_query_columns_to_arrays([*zip(*rows, strict=True)]) for rows in fresh if rows]
        if parts:
            self.columns = {
                name: np.concatenate([column, *(part[name] for part in parts)]) for name, column in self.columns.items()
            }
        return sum(len(part["id"]) for part in parts)

    def _convert_query_columns_to_arrays(self, query_columns: Sequence[Sequence[Any]]) -> Columns:
        """Return the columns of a query's result as name -> array, each with its configured type."""
        return {name: np.array(one, kind) for (name, kind), one in zip(self._types.items(), query_columns, strict=True)}

    def _id_after_which_next_read_begins(self, connection: Connection) -> int:
        """Return the id after which the next read begins; on PostgreSQL an older one, as small ids may be committed late."""
        stable = self.columns["id"]
        if connection.dialect.name != "sqlite":
            stable = stable[self.columns["at"] < current_unix_time() - 2 * COMMIT_SECONDS]
        return int(stable.max(initial=0))
