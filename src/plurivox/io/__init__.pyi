# made by `make stubs`
from plurivox.io import shelf as shelf
from plurivox.io.columns import frame_of as frame_of
from plurivox.io.columns import join_frames as join_frames
from plurivox.io.confusions import read_confusion as read_confusion
from plurivox.io.converting import convert as convert
from plurivox.io.dataset import Dataset as Dataset
from plurivox.io.entered import answers as answers
from plurivox.io.frames import counts as counts
from plurivox.io.frames import votes as votes
from plurivox.io.reading import read as read
from plurivox.io.soft import read_soft as read_soft
from plurivox.io.soft import write_soft as write_soft
from plurivox.io.tables import read_table as read_table
from plurivox.io.tables import write_table as write_table
from plurivox.io.writing import write as write

HOMES: dict[str, str]
