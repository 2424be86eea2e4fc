"""Read Parquet files of Hugging Face `datasets` with one row per vote: the class labels have their names, in their order."""

from pathlib import Path

from plurivox.io import votes_from_tables
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.formats._table_columns import usual_names
from plurivox.io.tabular.huggingface_class_labels import class_names_by_column, features_of_parquet
from plurivox.io.tabular.table_file_names import table_name_of_file
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.usual_column_names import bare_name


def recognises(table: Columns) -> bool:
    """Return whether a table is a Parquet file with class labels of Hugging Face and a column with the workers."""
    if not isinstance(table.source, Path) or not any(bare_name(name) in usual_names("worker") for name in table.names):
        return False
    classes = class_names_by_column(features_of_parquet(table.source))
    return any(name in classes and not table[name].dtype.is_nested() for name in table.names)


def read_columns(table: Columns, names: FieldNames) -> ForeignContents:
    """Return the votes; all labels of the class label column are listed, in its order, if it has the votes."""
    columns = {role: name for role in ("task", "worker", "label") if (name := getattr(names, role)) is not None}
    assert isinstance(table.source, Path)
    class_names = class_names_by_column(features_of_parquet(table.source))
    votes, gold = votes_from_tables.votes_and_gold(table, where=table.where, labels=names.labels, **columns)
    found = {str(label) for label in votes.labels.tolist()}
    whole = next((labels for labels in class_names.values() if found <= set(labels)), None)
    if names.labels is None and whole is not None:
        votes = votes_from_tables.votes(votes.columns(), labels=whole, tasks=votes.tasks, workers=votes.workers)
    return ForeignContents(table_name_of_file(Path(table.where)), votes, gold)
