"""Files and frames in, nouns out, and back. A part is imported when it is asked for: the shelf alone needs no polars."""

from plurivox.core.lazy_import import lazy_getattr

EXPORTS = {
    "Dataset": "dataset",
    "answers": "answer_frames",
    "convert": "conversion",
    "counts": "frames",
    "frame_of": "tabular.column_values",
    "join_frames": "tabular.column_values",
    "read": "dataset_reader",
    "read_labels": "dataset_reader",
    "read_confusion": "confusion_files",
    "read_soft": "soft_files",
    "read_table": "tabular.table_files",
    "shelf": "dataset_catalog:",
    "votes": "frames",
    "write": "folder_writer",
    "write_saved": "tabular.table_files",
    "write_soft": "soft_files",
    "write_table": "tabular.table_files",
}
__all__ = sorted(EXPORTS)
__getattr__ = lazy_getattr(__name__, EXPORTS)


def __dir__() -> list[str]:
    return __all__
