"""File name extensions of tables (.csv, .parquet, ...), and the parts of a file name. Does not import polars."""

from pathlib import Path

UNCOMPRESSED_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".feather")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
TABLE_SUFFIXES = (*UNCOMPRESSED_SUFFIXES, ".csv.gz", ".tsv.gz", ".jsonl.gz", ".ndjson.gz", ".json.gz")
EXCEL_SUFFIX = ".xlsx"
READABLE_TABLE_SUFFIXES = (*TABLE_SUFFIXES, EXCEL_SUFFIX)
OTHER_SPREADSHEET_SUFFIXES = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")


def file_suffix(path: str | Path) -> str:
    """Return the extension of a file name in lower case, both parts of `.csv.gz`; "" if there is none.

    >>> file_suffix("Votes.CSV.gz"), file_suffix("my.votes.csv"), file_suffix("soft.NPZ"), file_suffix("votes")
    ('.csv.gz', '.csv', '.npz', '')
    """
    parts = Path(path).name.lower().split(".")[1:]
    return "".join(f".{part}" for part in parts[-2 if parts[-1:] == ["gz"] else -1 :])


def table_name_of_file(file: Path) -> str:
    """Return the name of the table in a file: the file name up to the first dot."""
    return file.name.split(".")[0]
