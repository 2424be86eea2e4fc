"""Find the column of gold labels in a table of votes that is given as gold labels: `gold`, `consensus`, ..."""

from plurivox.core.errors import InputError, first_few
from plurivox.io.tabular.column_roles import find_column
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.usual_column_names import has_name_of_gold_or_consensus
from plurivox.io.votes_table_layout import find_vote_columns, recognise_wide_table


def task_and_gold_column_of_votes(table: Columns) -> tuple[str, str | None] | None:
    """Return (task column, gold column or None) of a table of votes, long or wide; None if a table is not one of votes.

    The gold column is called gold, truth, ..., or it is the only one called consensus, adjudicated, final, expert, ...

    >>> rows = {"id": ["a", "b"], "rater1": ["x", "y"], "rater2": ["x", "x"], "consensus": ["x", None]}
    >>> task_and_gold_column_of_votes(Columns.from_frame_mapping_or_parquet(rows))
    ('id', 'consensus')
    """
    roles = find_vote_columns(table)
    wide = recognise_wide_table(roles)
    if wide is not None:
        task, workers = wide
    else:
        task, workers = roles.task if roles.task in table else None, []
        if find_column(table, "worker", [task, roles.label]) is None:
            return None
    if task is None or task not in table:
        return None
    if (gold := find_column(table, "gold", [task])) is not None:
        return task, gold
    found = [name for name in table.names if name not in (task, *workers) and has_name_of_gold_or_consensus(name)]
    if len(found) > 1:
        raise InputError(f"{table.where}: the columns {first_few(found)} may each be the gold labels; keep one of them")
    return task, found[0] if found else None
