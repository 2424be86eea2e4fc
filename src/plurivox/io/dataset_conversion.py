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
from plurivox.io.formats.huggingface_soft_labels import write_huggingface_soft_labels, write_huggingface_votes
from plurivox.io.formats.label_studio_predictions import write_label_studio_predictions
from plurivox.io.plurivox_folder_writer import task_and_label_count_columns, vote_columns_with_rows_for_unvoted, write
from plurivox.io.soft_label_files import write_soft
from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES, file_suffix
from plurivox.io.tabular.table_files import write_table
from plurivox.io.votes_from_tables import warn_notes

FORMS = ("plurivox", "peerannot", "label-studio", "huggingface")


def convert(
    source: str | Path,
    target: str | Path,
    *,
    form: str = "plurivox",
    part: str | None = None,
    replace: bool = False,
    items: str | Path | None = None,
    from_name: str | None = None,
    to_name: str | None = None,
    **how: Any,
) -> Dataset:
    """Read a data set and write it as a table (`.csv`, `.parquet`, ...), as `.npz`, or as a folder.

    The extension of `target` selects the file format; a name without extension is a folder. A file contains only the votes
    (or counts, answers or soft labels), `.npy` only soft labels; a folder contains everything, with `form="peerannot"` as far
    as that format allows. `part` selects votes or counts if there are both. `replace` overwrites a folder only if it is a data
    set. A PlurivoxWarning lists what was not written. `how` are the options of `read`.

    `form="huggingface"` writes soft labels or votes as Parquet with the features of Hugging Face `datasets`. Soft labels with
    `form="peerannot"` go to the folder `labels` of a peerannot data set, for `peerannot train`.
    `form="label-studio"` writes soft labels to a JSON file of predictions for Label Studio. `items` is the project's export,
    from which the tasks and the names of the control and the object are taken; `from_name` and `to_name` name the latter
    otherwise.
    """
    out = Path(target)
    if form == "label-studio":
        return _write_label_studio(read(source, **how), out, items, from_name, to_name)
    if given := [name for name, value in (("items", items), ("from_name", from_name), ("to_name", to_name)) if value]:
        raise InputError(
            f"{given[0]} (--{given[0].replace('_', '-')}) is for form='label-studio' (--form label-studio)"
        )
    if form == "huggingface":
        return _write_huggingface(read(source, **how), out, part)
    is_file = _is_output_file_not_folder(out, form)
    data = read(source, **how)
    if form == "peerannot" and data.parts() == ["soft_labels"]:
        return _write_peerannot_labels(data, out)
    check_not_overwriting_input(data.path, out)
    if part is not None:
        data = _without_the_other_of_votes_and_counts(data, part)
    if is_file:
        write_main_part(data, out, part)
        return data
    if replace:
        check_replaceable(out)
    if form == "peerannot":
        _write_peerannot(data, out, replace=replace)
    else:
        write(data, out, replace=replace)
    return data


def name_of_main_part(data: Dataset, requested_part: str | None) -> str:
    """Return the name of the part of a data set that is written to a single file: answers, votes, counts or soft labels."""
    for one in (requested_part,) if requested_part else ("answers", "votes", "counts", "soft_labels"):
        if data.has(one):
            return one
    raise InputError(f"{data.name} has no votes, answers, counts or soft labels to write to one file; write a folder")


def write_main_part(data: Dataset, file: str | Path, part: str | None = None) -> None:
    """Write the answers, else votes, counts or soft labels of a data set to one file; warn about what the file leaves out."""
    out, main_part = Path(file), name_of_main_part(data, part)
    if file_suffix(out) == ".npy" and main_part != "soft_labels":
        raise InputError(f"{out.name}: a .npy file is a matrix of soft labels; write the {main_part} as .csv or .npz")
    lost = f"{out.name} contains only the {main_part}"
    _warn_about_unwritten_parts(data, (main_part,), lost, "write a folder to keep them")
    if main_part == "soft_labels":
        write_soft(getattr(data, main_part), out)
    elif file_suffix(out) == ".npz":
        getattr(data, main_part).save(out)
    else:
        write_table(columns_of_main_part(data, part), out)


def columns_of_main_part(data: Dataset, part: str | None = None) -> dict[str, Any]:
    """Return the table that `write_main_part` writes, as columns by name."""
    main: Any = getattr(data, name_of_main_part(data, part))
    if not isinstance(main, Votes):
        return dict(main.columns())
    return vote_columns_with_rows_for_unvoted(main) if main.n_workers else task_and_label_count_columns(main)


def _is_output_file_not_folder(output_path: Path, folder_format: str) -> bool:
    """Return whether the output path names a file, not a folder; raise InputError for an unsupported extension or format."""
    if folder_format not in FORMS:
        raise InputError(f"unknown folder format {folder_format!r}; use {' or '.join(FORMS)}")
    known = file_suffix(output_path) in (*TABLE_SUFFIXES, ".npy", ".npz")
    if known and folder_format != "plurivox":
        raise InputError(
            f"the format {folder_format} is a folder, but {output_path.name} is a file name; "
            "name a folder, or leave out the format"
        )
    if not known and output_path.suffix and not output_path.is_dir():
        raise InputError(
            f"unsupported file type {output_path.suffix} ({output_path.name}); "
            f"use {', '.join(TABLE_SUFFIXES)}, .npy, .npz, or a folder name without extension"
        )
    return known


def _without_the_other_of_votes_and_counts(data: Dataset, kept_part: str) -> Dataset:
    """Return the data set without its counts (`kept_part` "votes") or its votes ("counts"); raise InputError if absent."""
    data.crowd(kept_part)  # raises InputError if absent
    return data.without("counts" if kept_part == "votes" else "votes")


def _write_label_studio(
    data: Dataset, out: Path, items: str | Path | None, from_name: str | None, to_name: str | None
) -> Dataset:
    """Write the soft labels of a data set as Label Studio predictions; raise InputError if it has none."""
    if out.suffix != ".json":
        raise InputError(
            f"Label Studio imports predictions as JSON: give the output a name that ends in .json, not {out.name}"
        )
    check_not_overwriting_input(data.path, out)
    check_not_overwriting_input(None if items is None else Path(items), out)
    if data.soft_labels is None:
        raise InputError(
            f"{data.name} has no soft labels to write as predictions; compute them first (pv.fit, or plurivox aggregate "
            "votes.csv -o soft.csv)"
        )
    write_label_studio_predictions(data.soft_labels, out, items=items, from_name=from_name, to_name=to_name)
    return data


def _write_huggingface(data: Dataset, out: Path, part: str | None) -> Dataset:
    """Write the soft labels or votes of a data set as Parquet for Hugging Face `datasets`; warn about what is left out."""
    check_not_overwriting_input(data.path, out)
    main_part = "soft_labels" if data.has("soft_labels") and part is None else data.crowd_part(part)
    if isinstance(main := getattr(data, main_part), SoftLabels):
        write_huggingface_soft_labels(main, out)
    else:
        write_huggingface_votes(main, out)
    named = main_part.replace("_", " ")
    _warn_about_unwritten_parts(
        data, (main_part,), f"{out.name} contains only the {named}", "write a folder to keep them"
    )
    return data


def _write_peerannot_labels(data: Dataset, folder: Path) -> Dataset:
    """Write soft labels to the folder `labels` of a peerannot data set, as probabilities and as the most probable labels."""
    if not peerannot.recognises(folder):
        raise InputError(
            f"{data.name} has only soft labels: give a peerannot folder to add them to (it has an answers.json), not {folder}"
        )
    soft = data.soft_labels
    assert soft is not None
    files = [peerannot.write_labels(soft, folder, data.name, hard=hard) for hard in (False, True)]
    warn_notes(
        [f"wrote {' and '.join(str(file.relative_to(folder)) for file in files)}, in the task order of answers.json"]
    )
    return data


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


def _warn_about_unwritten_parts(data: Dataset, written: tuple[str, ...], why: str, hint: str) -> None:
    """Warn about the parts and further tables of a data set that the written format cannot store."""
    further = [name for name in data.tables if not data.has(name)]
    empty = [one for one in ("items", "workers") if data.has(one) and getattr(data, one) is None]
    lost = [one for one in data.parts() if one not in (*written, *empty)] + further
    if lost:
        warn_notes([f"{why}; not written: {', '.join(lost)} ({hint})"])
