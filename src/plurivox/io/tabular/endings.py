"""The endings of files that hold tables. Needs no polars, so that commands can check a name before anything is imported."""

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
