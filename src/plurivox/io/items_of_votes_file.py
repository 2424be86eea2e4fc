"""Items in a file of votes: its further columns with one value per task, such as a text, one row per task."""

from pathlib import Path
from typing import Any

import polars as pl

from plurivox.core.errors import InputError
from plurivox.io.optional_vote_columns import OPTIONAL_COLUMNS
from plurivox.io.soft_label_layouts import frame_of_columns
from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES, file_suffix
from plurivox.io.tabular.table_files import Columns, read_table
from plurivox.io.tabular.usual_column_names import has_name_of_gold_or_consensus
from plurivox.io.votes_table_layout import find_vote_columns, recognise_wide_table


def items_of_votes_file(path: Path, options: dict[str, Any]) -> pl.DataFrame | None:
    """Return the column task and the further columns with one value per task of a table of votes; None if there are none.

    Columns of gold labels, or of a consensus of the workers, are not among them.

    `options` are those with which the votes were read: names of columns.
    """
    if not path.is_file() or file_suffix(path) not in TABLE_SUFFIXES or options.get("wide"):
        return None
    names = {role: options.get(role, role) for role in ("task", "worker", "label")}
    try:
        layout = find_vote_columns(Columns.from_frame_mapping_or_parquet(read_table(path), path.name), **names)
    except InputError:  # such as an export of another program in a table
        return None
    wide = recognise_wide_table(layout, is_task_named=names["task"] != "task")
    task, workers_or_votes = (layout.task, [layout.worker, layout.label]) if wide is None else wide
    table, own = layout.table, {task, *workers_or_votes, layout.gold, "task", *OPTIONAL_COLUMNS}
    extra = [name for name in table.names if name not in own and not has_name_of_gold_or_consensus(name)]
    if task is None or task not in table or not extra:
        return None
    frame = frame_of_columns(table, path).rename({task: "task"})
    kinds = frame.group_by("task").agg(pl.col(extra).n_unique()).select(pl.col(extra).max())
    constant = [name for name in extra if kinds[name][0] == 1]
    return frame.select("task", *constant).unique("task", maintain_order=True) if constant else None
