"""Convert a data set: read it in any supported format and write it as a file or folder."""

from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.dataset import Dataset
from plurivox.io.dataset_folder_and_overwrite_checks import check_not_overwriting_input, check_replaceable
from plurivox.io.dataset_reader import read
from plurivox.io.formats import peerannot
from plurivox.io.plurivox_folder_writer import task_and_label_count_columns, vote_columns_with_rows_for_unvoted, write
from plurivox.io.soft_label_files import write_soft
from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES, file_suffix
from plurivox.io.tabular.table_files import save_npz_or_write_table, write_table
from plurivox.io.votes_from_tables import warn_notes

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
    """Read a data set and write it as a table (`.csv`, `.parquet`, ...), as `.npz`, or as a folder.

    The extension of `target` selects the file format; a name without extension is a folder. A file contains only the votes
    (or counts, or answers); a folder contains everything, with `form="peerannot"` as far as that format allows. `part`
    selects votes or counts if there are both. `replace` overwrites a folder only if it is a data set. A PlurivoxWarning lists
    what was not written. `how` are the options of `read`.
    """
    out = Path(target)
    is_file = _is_output_file_not_folder(out, form)
    data = read(source, **how)
    check_not_overwriting_input(data.path, out)
    if part is not None:
        data = _without_the_other_of_votes_and_counts(data, part)
    if is_file:
        main_part = _first_part_writable_to_single_file(data, part)
        _warn_about_unwritten_parts(
            data, (main_part,), f"{out.name} contains only the {main_part}", "write a folder to keep them"
        )
        _write_votes_answers_or_soft_labels(getattr(data, main_part), out)
        return data
    if replace:
        check_replaceable(out)
    if form == "peerannot":
        _write_peerannot(data, out, replace=replace)
    else:
        write(data, out, replace=replace)
    return data


def _is_output_file_not_folder(output_path: Path, folder_format: str) -> bool:
    """Return whether the output path names a file, not a folder; raise InputError for an unsupported extension or format."""
    if folder_format not in FORMS:
        raise InputError(f"unknown folder format {folder_format!r}; use {' or '.join(FORMS)}")
    known = file_suffix(output_path) in (*TABLE_SUFFIXES, ".npz")
    if known and folder_format != "plurivox":
        raise InputError(
            f"the format {folder_format} is a folder, but {output_path.name} is a file name; "
            "name a folder, or leave out the format"
        )
    if not known and output_path.suffix and not output_path.is_dir():
        raise InputError(
            f"unsupported file type {output_path.suffix} ({output_path.name}); "
            f"use {', '.join(TABLE_SUFFIXES)}, .npz, or a folder name without extension"
        )
    return known


def _without_the_other_of_votes_and_counts(data: Dataset, kept_part: str) -> Dataset:
    """Return the data set without its counts (`kept_part` "votes") or its votes ("counts"); raise InputError if absent."""
    data.crowd(kept_part)  # raises InputError if absent
    return data.without("counts" if kept_part == "votes" else "votes")


def _write_votes_answers_or_soft_labels(data: Any, output_file: Path) -> None:
    """Write votes, counts, answers or soft labels to one file."""
    if isinstance(data, SoftLabels):
        write_soft(data, output_file)
        return
    if isinstance(data, Votes) and file_suffix(output_file) != ".npz":
        write_table(
            vote_columns_with_rows_for_unvoted(data) if data.n_workers else task_and_label_count_columns(data),
            output_file,
        )
    else:
        save_npz_or_write_table(data, output_file)


def _write_peerannot(data: Dataset, out: Path, *, replace: bool) -> None:
    """Write a data set as a peerannot folder; raise InputError for counts, warn about what the format cannot store."""
    if data.crowd_part() == "counts":
        hint = "; select its votes instead: part='votes' (--part votes)" if data.has("votes") else ""
        raise InputError(f"peerannot stores one label per worker and task; {data.name} has counts{hint}")
    crowd, images = data.crowd("votes"), data.images
    splits = {str(task): split for split, tasks in data.splits.items() for task in tasks.tolist()} if images else {}
    gold = data.gold if images else None
    notes = peerannot.write_peerannot_folder(
        crowd, out, name=data.name, gold=gold, images=images, splits=splits, replace=replace
    )
    written = ("votes", "gold", "images") if images else ("votes",)
    _warn_about_unwritten_parts(
        data, written, "a peerannot folder stores votes, and gold with image files", "the format plurivox keeps them"
    )
    warn_notes(notes)


def _first_part_writable_to_single_file(data: Dataset, requested_part: str | None) -> str:
    """Return the name of the part of a data set that is written to a single file: answers, votes, counts or soft labels."""
    for one in (requested_part,) if requested_part else ("answers", "votes", "counts", "soft_labels"):
        if data.has(one):
            return one
    raise InputError(f"{data.name} has no votes, answers, counts or soft labels to write to one file; write a folder")


def _warn_about_unwritten_parts(data: Dataset, written: tuple[str, ...], why: str, hint: str) -> None:
    """Warn about the parts and further tables of a data set that the written format cannot store."""
    further = [name for name in data.tables if not data.has(name)]
    empty = [one for one in ("items", "workers") if data.has(one) and getattr(data, one) is None]
    lost = [one for one in data.parts() if one not in (*written, *empty)] + further
    if lost:
        warn_notes([f"{why}; not written: {', '.join(lost)} ({hint})"])
