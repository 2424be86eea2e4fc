# made by `make stubs`
from plurivox.io import dataset_catalog as dataset_catalog
from plurivox.io.answers_from_tables import answers as answers
from plurivox.io.confusion_matrix_reader import read_confusion as read_confusion
from plurivox.io.counts_from_tables import counts as counts
from plurivox.io.dataset import Dataset as Dataset
from plurivox.io import dataset_catalog as _dataset_catalog
from plurivox.io.dataset_conversion import convert as convert
from plurivox.io.dataset_reader import read as read
from plurivox.io.dataset_reader import read_soft_labels_or_dataset as read_soft_labels_or_dataset
from plurivox.io.formats.label_studio_predictions import (
    write_label_studio_predictions as write_label_studio_predictions,
)
from plurivox.io.plurivox_folder_writer import write as write
from plurivox.io.soft_label_files import read_soft as read_soft
from plurivox.io.soft_label_files import write_soft as write_soft
from plurivox.io.tabular.column_conversion import frame_of as frame_of
from plurivox.io.tabular.column_conversion import stack_frames_by_rows as stack_frames_by_rows
from plurivox.io.tabular.table_files import read_table as read_table
from plurivox.io.tabular.table_files import save_npz_or_write_table as save_npz_or_write_table
from plurivox.io.tabular.table_files import write_table as write_table
from plurivox.io.votes_from_tables import votes as votes

shelf = _dataset_catalog
EXPORTS: dict[str, str]
