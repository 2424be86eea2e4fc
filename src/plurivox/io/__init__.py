"""Read and write files and DataFrames. Names are imported on first use: the dataset catalog works without polars."""

from plurivox.core.lazy_exports import lazy_getattr

EXPORTS = {
    "Dataset": "dataset",
    "answers": "answers_from_tables",
    "convert": "dataset_conversion",
    "counts": "counts_from_tables",
    "dataset_catalog": "",
    "frame_of": "tabular.column_conversion",
    "read": "dataset_reader",
    "read_confusion": "confusion_matrix_reader",
    "read_soft": "soft_label_files",
    "read_soft_labels_or_dataset": "dataset_reader",
    "read_table": "tabular.table_files",
    "save_npz_or_write_table": "tabular.table_files",
    "shelf": "dataset_catalog:",  # the name of dataset_catalog in 0.1
    "stack_frames_by_rows": "tabular.column_conversion",
    "votes": "votes_from_tables",
    "write": "plurivox_folder_writer",
    "write_label_studio_predictions": "formats.label_studio_predictions",
    "write_soft": "soft_label_files",
    "write_table": "tabular.table_files",
}
__all__ = sorted(EXPORTS)
__getattr__ = lazy_getattr(__name__, EXPORTS)


def __dir__() -> list[str]:
    return __all__
