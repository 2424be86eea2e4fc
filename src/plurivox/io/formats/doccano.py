"""Read doccano exports of text and image classification: JSONL, JSON and CSV, one file per annotator in a folder or `.zip`.

A record is {"id": 7, "text": "...", "label": ["positive"], "Comments": []}; several labels are a soft answer with equal
shares. A project whose members annotate separately is exported as one file per member, named after the member: these names
are the workers. The single file of a project with shared annotations (`all.jsonl`) does not say who chose a label. Older
versions write {"annotations": [{"label": 1, "user": 2}]}. https://doccano.github.io/doccano/tutorial/
"""

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError, first_few
from plurivox.io.formats._annotations import NAN, Annotation, annotations_to_votes, iso_time_to_unix_time, items_table
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents, counted_notes
from plurivox.io.tabular.read_csv_and_json import read_delimited_as_text_columns, read_json, read_json_lines

DATA_FIELDS = ("text", "data", "filename")  # what is shown; the name depends on the project and the version
LABEL_FIELDS = ("label", "cats", "labels", "annotations")
COMMENTS = "Comments"
NOBODY = ("all", "unknown")  # files of shared annotations, and of texts that nobody annotated
LABEL_CONFIG = "label_config.json"  # the project's labels: [{"id": 7, "text": "Relevant"}]
LABEL_SEPARATOR = "#"  # between the labels of a text in CSV
SUFFIXES = (".jsonl", ".json", ".csv")
SPLITS = (
    "train",
    "test",
    "val",
    "valid",
    "validation",
    "dev",
)  # files of these names are parts of a data set, not annotators
ADVICE = "export a project whose members annotate separately (without shared annotations), and read its .zip or folder"


# ---- one file


def recognises(source: Any) -> bool:
    """Return whether JSON records, a folder or a `.zip` file are a doccano export of classifications."""
    return _is_folder_or_zip_of_exports(source) if isinstance(source, Path) else _are_doccano_records(source)


def read_records(records: list[dict[str, Any]], where: str | Path, names: FieldNames) -> ForeignContents:
    """Return the votes in one doccano file; they have no worker, unless it is a file of an older version that names them."""
    path = Path(where)
    if any(isinstance(record.get("annotations"), list) for record in records):
        return _contents_of_annotation_lists(records, path, names)
    notes = (f"{path.name} does not say who chose a label, so its votes have no worker; {ADVICE}",)
    return _contents_of_files({None: records}, path, names, notes)


def _are_doccano_records(records: Sequence[dict[str, Any]]) -> bool:
    """Return whether all records have doccano's fields, and not the same number of labels, two or more, in each.

    Lists of the same length with repeated labels are votes by several people, written by another program.
    """
    if not all(_is_doccano_record(record) for record in records):
        return False
    if any(COMMENTS in record or "annotation_approver" in record or "annotations" in record for record in records):
        return True
    lists = [_label_list(record) or [] for record in records]
    sizes = {len(labels) for labels in lists}
    return all(labels == sorted(set(labels)) for labels in lists) and (len(sizes) > 1 or sizes <= {0, 1})


def _is_doccano_record(record: Mapping[str, Any]) -> bool:
    """Return whether a record has an id, one text or file, and a list of labels as text, or a list of annotations."""
    if "id" not in record or sum(isinstance(record.get(name), str) for name in DATA_FIELDS) != 1:
        return False
    if isinstance(found := record.get("annotations"), list):
        return all(isinstance(one, dict) and {"label", "user"} <= set(one) for one in found)
    labels = _label_list(record)
    return labels is not None and all(isinstance(label, str) for label in labels)


def _label_list(record: Mapping[str, Any]) -> list[Any] | None:
    """Return the list of labels of a record, None if it has none."""
    return next((record[name] for name in LABEL_FIELDS[:3] if isinstance(record.get(name), list)), None)


# ---- one file per annotator


def read_folder(source: Path, names: FieldNames) -> ForeignContents:
    """Return the votes in a folder or `.zip` of doccano exports; a worker is a file, such as `alice.jsonl`."""
    by_worker: dict[str | None, list[dict[str, Any]]] = {}
    for name, records in _records_of_each_file(source):
        if odd := [record for record in records if not _is_doccano_record(record)]:
            raise InputError(
                f"{source}: {name} is not a doccano export of classifications; it has {first_few(odd[0], 6)}"
            )
        worker = Path(name).stem
        by_worker.setdefault(None if worker in NOBODY else worker, []).extend(records)
    return _contents_of_files(by_worker, source, names, ())


def _is_folder_or_zip_of_exports(path: Path) -> bool:
    """Return whether a folder or `.zip` file contains doccano exports alone: `.jsonl`, `.json` or `.csv` files."""
    n_records = 0
    try:
        for name, records in _records_of_each_file(path):
            of_csv = name.endswith(".csv")  # needs the column of comments: many tables have id, text and label
            if Path(name).stem in SPLITS or not all(
                isinstance(one, dict) and _is_doccano_record(one) and (COMMENTS in one or not of_csv) for one in records
            ):
                return False
            n_records += len(records)
    except (InputError, OSError):
        return False
    return n_records > 0


def _records_of_each_file(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the name and the records of each file of a folder or `.zip`; raise InputError if a file is of another type."""
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if not file.name.startswith("."))
        if not files or any(not file.is_file() or file.suffix not in SUFFIXES for file in files):
            raise InputError(f"{path} is not a folder of doccano exports")
        for file in files:
            yield file.name, [] if not file.stat().st_size else _records_of_file(file)
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in sorted(name for name in archive.namelist() if not name.endswith("/")):
                if Path(name).suffix not in SUFFIXES:
                    raise InputError(f"{path} contains {name}, which is not a doccano export")
                yield Path(name).name, _records_of_text(archive.read(name), name, path)


def _records_of_file(file: Path) -> list[dict[str, Any]]:
    """Return the records in a file of a folder."""
    if file.suffix == ".csv":
        return _records_of_csv(read_delimited_as_text_columns(file).to_dicts())
    found = read_json(file) if file.suffix == ".json" else read_json_lines(file)
    return found if isinstance(found, list) else [found]


def _records_of_text(data: bytes, name: str, path: Path) -> list[dict[str, Any]]:
    """Return the records in a file of a `.zip`."""
    try:
        text = data.decode("utf-8-sig")
        if name.endswith(".csv"):
            return _records_of_csv(list(_csv_rows(text)))
        return (
            json.loads(text)
            if name.endswith(".json")
            else [json.loads(line) for line in text.splitlines() if line.strip()]
        )
    except ValueError as cause:
        raise InputError(f"{path}: {name} cannot be read ({cause})") from cause


def _csv_rows(text: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a CSV text as {column: value}."""
    import csv
    import io

    yield from csv.DictReader(io.StringIO(text))


def _records_of_csv(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a CSV export as the records of a JSONL export: `label` is a list."""
    return [{**row, "label": [one for one in (row.get("label") or "").split(LABEL_SEPARATOR) if one]} for row in rows]


# ---- records to votes


def _contents_of_files(
    by_worker: Mapping[str | None, list[dict[str, Any]]], path: Path, names: FieldNames, notes: tuple[str, ...]
) -> ForeignContents:
    """Return the contents of records in which each label was chosen by the worker of the file."""
    _check_options(names, path, "the name of a file")
    shown: dict[Any, dict[str, Any]] = {}
    annotations, empty = [], 0
    for worker, records in by_worker.items():
        for record in records:
            task = _name_of_task(record, names.task, path)
            shown.setdefault(task, _data_of_record(record))
            labels = list(dict.fromkeys(_label_list(record) or ()))
            empty += not labels
            if labels:
                annotations.append(Annotation(task, worker, labels))
    return _contents(annotations, shown, path, names, notes, empty)


def _contents_of_annotation_lists(records: list[dict[str, Any]], path: Path, names: FieldNames) -> ForeignContents:
    """Return the contents of records with a list of annotations, each with the number of its label and of its user."""
    _check_options(names, path, "the field 'user'")
    shown: dict[Any, dict[str, Any]] = {}
    annotations, empty = [], 0
    for record in records:
        task = _name_of_task(record, names.task, path)
        shown.setdefault(task, _data_of_record(record))
        by_user: dict[Any, list[dict[str, Any]]] = {}
        for one in record["annotations"]:
            if "start_offset" in one:
                raise InputError(f"{path} has spans of text; only classifications can be read as votes")
            by_user.setdefault(one["user"], []).append(one)
        empty += not by_user
        for user, given in by_user.items():
            when = iso_time_to_unix_time(given[-1].get("created_at"))
            labels = list(dict.fromkeys(one["label"] for one in given))
            annotations.append(Annotation(task, user, labels, NAN if when is None else when))
    annotations, notes = _with_label_names(annotations, path.with_name(LABEL_CONFIG))
    named = all(isinstance(label, str) for one in annotations for label in one.labels)
    notes += () if named else ("labels are doccano's numbers of labels, which the export does not name",)
    return _contents(annotations, shown, path, names, notes, empty)


def _with_label_names(annotations: list[Annotation], config: Path) -> tuple[list[Annotation], tuple[str, ...]]:
    """Return annotations with the names of labels in `label_config.json` beside the file, and a note; else unchanged."""
    try:
        given = read_json(config) if config.is_file() else []
    except InputError:
        return annotations, (f"{config.name} cannot be read: labels keep their numbers",)
    listed = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    name_of = {one.get("id"): one["text"] for one in listed if isinstance(one.get("text"), str)}
    if not annotations or not {label for one in annotations for label in one.labels} <= set(name_of):
        return annotations, ()
    named = [replace(one, labels=[name_of[label] for label in one.labels]) for one in annotations]
    return named, (f"the labels have their names in {config.name}",)


def _contents(
    annotations: Sequence[Annotation],
    shown: Mapping[Any, Mapping[str, Any]],
    path: Path,
    names: FieldNames,
    notes: tuple[str, ...],
    n_empty: int,
) -> ForeignContents:
    """Return the contents of annotations, with notes on texts without labels and annotations with several."""
    if not annotations:
        raise InputError(f"{path} has no labels to read as votes")
    several = sum(len(one.labels) > 1 for one in annotations)
    notes += counted_notes(
        (n_empty, "record has no label and was dropped", "records have no label and were dropped"),
        (several, "record has several labels, in equal shares", "records have several labels, in equal shares"),
    )
    votes = annotations_to_votes(annotations, tasks=shown, labels=names.labels)
    return ForeignContents(path.name.split(".")[0], votes, items=items_table(shown, path), notes=notes)


def _check_options(names: FieldNames, path: Path, worker: str) -> None:
    """Raise InputError if the caller named a field of workers or labels, which doccano's files do not have."""
    if names.worker not in (None, "user"):
        raise InputError(f"{path} is a doccano export: its workers are {worker}; leave out worker=... (--worker)")
    if names.label is not None and names.label not in LABEL_FIELDS:
        raise InputError(f"{path} is a doccano export: its labels are in 'label'; leave out label=... (--label)")


def _name_of_task(record: Mapping[str, Any], field: str | None, path: Path) -> Any:
    """Return the id of a record, or its field `field`; raise InputError if it is missing."""
    name = record.get(field or "id")
    if not isinstance(name, str | int):
        raise InputError(
            f"{path} has a record without the field {field or 'id'!r} (task); it has {first_few(record, 8)}"
        )
    return name


def _data_of_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text or file and the metadata of a record."""
    meta: dict[str, Any] = record["meta"] if isinstance(record.get("meta"), dict) else {}
    own = {key: value for key, value in record.items() if key not in ("id", "meta", COMMENTS, "Comment", *LABEL_FIELDS)}
    return {**own, **{key: value for key, value in meta.items() if key not in own}}
