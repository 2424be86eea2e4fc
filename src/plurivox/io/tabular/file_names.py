"""What the name of a file says: the format of its ending, and what its table is called. Needs no polars."""

from pathlib import Path

PLAIN = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".feather")
ENDINGS = (*PLAIN, ".csv.gz", ".tsv.gz", ".jsonl.gz", ".ndjson.gz", ".json.gz")


def suffix_of(path: str | Path) -> str:
    """The ending of a file's name in small letters, with what stands before `.gz`; "" where there is none.

    >>> suffix_of("Votes.CSV.gz"), suffix_of("my.votes.csv"), suffix_of("soft.NPZ"), suffix_of("votes")
    ('.csv.gz', '.csv', '.npz', '')
    """
    parts = Path(path).name.lower().split(".")[1:]
    return "".join(f".{part}" for part in parts[-2 if parts[-1:] == ["gz"] else -1 :])


def stem_of(file: Path) -> str:
    """What a table is called: its file's name up to the first dot."""
    return file.name.split(".")[0]
