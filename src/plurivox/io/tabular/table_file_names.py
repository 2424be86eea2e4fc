"""File name extensions of tables (.csv, .parquet, ...), and the parts of a file name. Does not import polars."""

from pathlib import Path

UNCOMPRESSED_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".feather")
TABLE_SUFFIXES = (*UNCOMPRESSED_SUFFIXES, ".csv.gz", ".tsv.gz", ".jsonl.gz", ".ndjson.gz", ".json.gz")


def suffix_of(path: str | Path) -> str:
    """Return the extension of a file name in lower case, both parts of `.csv.gz`; "" if there is none.

    >>> suffix_of("Votes.CSV.gz"), suffix_of("my.votes.csv"), suffix_of("soft.NPZ"), suffix_of("votes")
    ('.csv.gz', '.csv', '.npz', '')
    """
    parts = Path(path).name.lower().split(".")[1:]
    return "".join(f".{part}" for part in parts[-2 if parts[-1:] == ["gz"] else -1 :])


def stem_of(file: Path) -> str:
    """Return the name of a table: its file name up to the first dot."""
    return file.name.split(".")[0]
