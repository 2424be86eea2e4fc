"""From one form of a data set to another."""

from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError
from plurivox.core.votes import Votes
from plurivox.io.dataset import Dataset
from plurivox.io.formats import peerannot
from plurivox.io.frames import tell, vote_columns
from plurivox.io.reading import read
from plurivox.io.tables import ENDINGS, ending_of, write_table
from plurivox.io.writing import write

FORMS = ("plurivox", "peerannot")


def convert(
    source: str | Path, target: str | Path, *, form: str = "plurivox", replace: bool = False, **how: Any
) -> Dataset:
    """Read a data set and write it elsewhere: a table by its ending, `.npz` as the noun itself, anything else as a folder.

    A table holds the votes (or counts, or answers) alone; a folder holds everything, in our form or in peerannot's.
    """
    data, out = read(source, **how), Path(target)
    if form not in FORMS:
        raise InputError(f"a folder is written in the form {' or '.join(FORMS)}, not {form!r}")
    if out.suffix == ".npz":
        _main_part(data).save(out)
    elif ending_of(out) in ENDINGS:
        write_table(_main_columns(data), out)
    elif out.suffix and not out.is_dir():
        raise InputError(f"{out.name} ends in none of {', '.join(ENDINGS)}, .npz; a folder has no ending")
    elif form == "peerannot":
        splits = {str(task): split for split, tasks in data.splits.items() for task in tasks.tolist()}
        gold = data.gold if data.images else None
        tell(
            peerannot.write(
                data.crowd(), out, name=data.name, gold=gold, images=data.images, splits=splits, replace=replace
            )
        )
    else:
        write(data, out, replace=replace)
    return data


def _main_columns(data: Dataset) -> dict[str, Any]:
    main = _main_part(data)
    return vote_columns(main) if isinstance(main, Votes) and main.n_workers else main.columns()


def _main_part(data: Dataset) -> Any:
    """What a single file holds of a data set."""
    for part in ("answers", "votes", "counts", "soft_labels"):
        if data.has(part):
            return getattr(data, part)
    raise InputError(f"{data.name} has neither votes nor answers to put in one file")
