"""From one form of a data set to another."""

from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError
from plurivox.core.votes import Votes
from plurivox.io.dataset import Dataset
from plurivox.io.dataset_reader import read
from plurivox.io.folder_check import keep_apart, may_replace
from plurivox.io.folder_writer import count_columns, vote_columns, write
from plurivox.io.formats import peerannot
from plurivox.io.frames import tell
from plurivox.io.tabular.file_names import ENDINGS, suffix_of
from plurivox.io.tabular.table_files import write_saved, write_table

FORMS = ("plurivox", "peerannot")


def convert(
    source: str | Path,
    target: str | Path,
    *,
    form: str = "plurivox",
    part: str | None = None,
    replace: bool = False,
    **how: Any,
) -> Dataset:
    """Read a data set and write it elsewhere: a table by its ending, `.npz` as the noun itself, anything else as a folder.

    A table holds the votes (or counts, or answers) alone; a folder holds everything, in our form or, as far as there is
    a place for it, in peerannot's. `part` says which to take where there are votes and counts. `replace` replaces a
    folder that is a data set itself, and nothing else. What is left behind is told by a PlurivoxWarning.
    """
    out = Path(target)
    is_file = _is_one_file(out, form)
    data = read(source, **how)
    keep_apart(data.path, out)
    if part is not None:
        data = _narrowed(data, part)
    if is_file:
        main = _main_part(data, part)
        _tell_left_out(data, (main,), f"{out.name} holds the {main} alone", "a folder keeps them")
        _write_file(getattr(data, main), out)
        return data
    if replace:
        may_replace(out)
    if form == "peerannot":
        _write_peerannot(data, out, replace=replace)
    else:
        write(data, out, replace=replace)
    return data


def _is_one_file(out: Path, form: str) -> bool:
    """Whether the name is a file's; an ending that nobody knows is an error."""
    if form not in FORMS:
        raise InputError(f"a folder is written in the form {' or '.join(FORMS)}, not {form!r}")
    known = suffix_of(out) in (*ENDINGS, ".npz")
    if known and form != "plurivox":
        raise InputError(f"the form {form} is a folder, and {out.name} is a file; name a folder, or leave the form out")
    if not known and out.suffix and not out.is_dir():
        raise InputError(f"{out.name} ends in none of {', '.join(ENDINGS)}, .npz; a folder has no ending")
    return known


def _narrowed(data: Dataset, part: str) -> Dataset:
    """The data set with its votes or its counts, not both."""
    data.crowd(part)  # complains where it is not there
    return data.without("counts" if part == "votes" else "votes")


def _write_file(main: Any, out: Path) -> None:
    if isinstance(main, Votes) and suffix_of(out) != ".npz":
        write_table(vote_columns(main) if main.n_workers else count_columns(main), out)
    else:
        write_saved(main, out)


def _write_peerannot(data: Dataset, out: Path, *, replace: bool) -> None:
    if data.crowd_part() == "counts":
        hint = "; take the votes of named people instead: part='votes' (--part votes)" if data.has("votes") else ""
        raise InputError(f"peerannot keeps one plain label per worker and task; {data.name} has counts{hint}")
    crowd, images = data.crowd("votes"), data.images
    splits = {str(task): split for split, tasks in data.splits.items() for task in tasks.tolist()} if images else {}
    gold = data.gold if images else None
    notes = peerannot.write(crowd, out, name=data.name, gold=gold, images=images, splits=splits, replace=replace)
    held = ("votes", "gold", "images") if images else ("votes",)
    _tell_left_out(
        data, held, "peerannot's form holds votes, and gold with image files", "the form plurivox keeps them"
    )
    tell(notes)


def _main_part(data: Dataset, part: str | None) -> str:
    """What a single file holds of a data set."""
    for one in (part,) if part else ("answers", "votes", "counts", "soft_labels"):
        if data.has(one):
            return one
    raise InputError(f"{data.name} has neither votes nor answers to put in one file")


def _tell_left_out(data: Dataset, held: tuple[str, ...], why: str, hint: str) -> None:
    """Say which parts and further tables have no place in what is written."""
    further = [name for name in data.tables if not data.has(name)]
    empty = [one for one in ("items", "workers") if data.has(one) and getattr(data, one) is None]
    lost = [one for one in data.parts() if one not in (*held, *empty)] + further
    if lost:
        tell([f"{why}; left out: {', '.join(lost)} ({hint})"])
