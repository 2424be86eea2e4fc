"""Files and frames in, nouns out, and back. A part is imported when it is asked for: the shelf alone needs no polars."""

from plurivox.core.lazy import importer

HOMES = {
    "Dataset": "dataset",
    "answers": "entered",
    "convert": "converting",
    "counts": "frames",
    "frame_of": "columns",
    "join_frames": "columns",
    "read": "reading",
    "read_confusion": "confusions",
    "read_soft": "soft",
    "read_table": "tables",
    "shelf": "",
    "votes": "frames",
    "write": "writing",
    "write_soft": "soft",
    "write_table": "tables",
}
__all__ = sorted(HOMES)
__getattr__ = importer(__name__, HOMES)
