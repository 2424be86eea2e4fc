"""Files and frames in, nouns out, and back."""

from plurivox.io import shelf
from plurivox.io.columns import frame_of
from plurivox.io.converting import convert
from plurivox.io.dataset import Dataset
from plurivox.io.entered import answers
from plurivox.io.folder import write
from plurivox.io.frames import counts, votes
from plurivox.io.reading import read
from plurivox.io.soft import read_soft, write_soft
from plurivox.io.tables import read_table, write_table

__all__ = [
    "Dataset",
    "answers",
    "convert",
    "counts",
    "frame_of",
    "read",
    "read_soft",
    "read_table",
    "shelf",
    "votes",
    "write",
    "write_soft",
    "write_table",
]
