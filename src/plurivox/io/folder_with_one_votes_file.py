"""Find the one file with the votes in a folder of another layout: an export beside side files, or beside gold labels."""

from dataclasses import dataclass
from pathlib import Path

from plurivox.io.dataset_folder_and_overwrite_checks import DATASET_TOML, MAIN_TABLES, is_table_file
from plurivox.io.tabular.table_file_names import table_name_of_file
from plurivox.io.tabular.usual_column_names import bare_name

GOLD_NAMES = {
    *("gold", "golds", "goldlabel", "goldlabels", "goldstandard", "truth", "truths", "truelabels", "groundtruth", "gt"),
    *("expertlabels", "expertanswers", "reference", "referencelabels"),
}
SIDE_FILES = {  # names of files that describe the data or the project
    *(
        "labelconfig",
        "config",
        "settings",
        "metadata",
        "datasetinfo",
        "info",
        "state",
        "package",
        "datapackage",
        "schema",
    ),
    *(
        "license",
        "readme",
        "croissant",
        "environment",
        "requirements",
        "project",
        "projectconfig",
        "manifest",
        "annotationconfig",
    ),
}
PARTS = {
    "items",
    "features",
    "images",
    "texts",
    "softlabels",
    "workers",
    "counts",
    "answers",
}  # of a folder of plurivox


@dataclass(frozen=True)
class VotesAndGoldFiles:
    """The file with the votes, and the one with the gold labels, if there is one."""

    votes: Path
    gold: Path | None


def find_votes_and_gold_files(folder: Path) -> VotesAndGoldFiles | None:
    """Return the only table or export of a folder and, by its name, a table of gold labels; None if there are several.

    A folder that has tables of plurivox beside them, such as gold and items, is not of this layout.
    """
    if (folder / DATASET_TOML).exists():
        return None
    tables = [file for file in sorted(folder.iterdir()) if is_table_file(file)]
    name = {file: bare_name(table_name_of_file(file)) for file in tables}
    gold = [file for file in tables if name[file] in GOLD_NAMES]
    votes = [file for file in tables if name[file] not in GOLD_NAMES | SIDE_FILES]
    if len(votes) != 1 or len(gold) > 1 or name[votes[0]] in PARTS | set(MAIN_TABLES):
        return None
    return VotesAndGoldFiles(votes[0], gold[0] if gold else None)
