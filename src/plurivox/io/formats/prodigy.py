"""Read Prodigy annotations (`prodigy db-out`): choices, accepted or rejected labels, and categories.

A record has an `answer` (accept, reject or ignore). In the `choice` interface, `accept` lists the chosen options: these are
the labels, several are a soft answer with equal shares. In binary interfaces people accept or reject the `label` that is
shown: the votes are accept and reject, and if there are several labels, each pair of input and label is a task. Workers are
`_annotator_id` or `_session_id`. https://prodi.gy/docs/api-interfaces
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError, first_few
from plurivox.io.formats._annotations import (
    NAN,
    Annotation,
    annotations_to_votes,
    choose_question,
    items_table,
    shell_word,
)
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents, counted_notes
from plurivox.io.formats._prodigy_task_names import content_of_record, names_of_inputs

ANSWERS = ("accept", "reject", "ignore")
OWN_FIELDS = ("_input_hash", "_task_hash", "_view_id", "_session_id", "_annotator_id")
SPAN_FIELDS = ("spans", "relations", "audio_spans")
CHOICE, CATEGORIES, BINARY = "accept", "cats", "label"  # the field that has the answer, in each kind of record
UNNAMED_SESSION = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d$")  # Prodigy's name of a session that nobody named


@dataclass
class Annotations:
    """Records of a Prodigy file whose answers can be votes, by kind, and counts of the others."""

    records: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # choice, categories or binary -> records
    n: Counter[str] = field(default_factory=Counter)  # number of records that are not votes, by reason
    spans: Counter[str] = field(default_factory=Counter)  # number of records with spans or boxes, by interface


def recognises(records: list[dict[str, Any]]) -> bool:
    """Return whether JSON records are Prodigy annotations: all have an `answer`, and Prodigy's own fields or options."""
    return all(
        record.get("answer") in ANSWERS
        and (any(name in record for name in OWN_FIELDS) or isinstance(record.get("options"), list))
        for record in records
    )


def read_records(records: list[dict[str, Any]], where: str | Path, names: FieldNames) -> ForeignContents:
    """Return the votes in Prodigy annotations.

    `names.task` and `names.worker` name a field of the records or of their `meta`. `names.label` selects one of several labels
    that were accepted or rejected, or one kind of answers (accept, cats, label).
    """
    found = _sort_by_kind(records)
    kind, label = _choose_kind_and_label(found, names.label, where)
    chosen = [one for one in found.records[kind] if label is None or one.get(BINARY) == label]
    inputs, note = names_of_inputs(chosen, names.task, where)
    workers = [_worker_of_record(record, names.worker) for record in chosen]
    if names.worker is not None and not any(workers):
        raise InputError(f"{where} has no field {names.worker!r} (worker) in its records or their meta")
    shown = sorted({str(one[BINARY]) for one in chosen if isinstance(one.get(BINARY), str)}) if kind == BINARY else []
    tasks = [
        f"{task} [{one[BINARY]}]" if len(shown) > 1 and BINARY in one else task
        for task, one in zip(inputs, chosen, strict=True)
    ]
    labels, known = _chosen_labels_and_all_labels(chosen, kind, where)
    annotations = [
        Annotation(task, worker, picked, when=_seconds(one.get("_timestamp")))
        for task, worker, picked, one in zip(tasks, workers, labels, chosen, strict=True)
        if picked
    ]
    if not annotations:
        raise InputError(f"{where} has no accepted choices to read as votes: every record was rejected or ignored")
    rows, n_data = _items(tasks, inputs, chosen, several=len(shown) > 1)
    notes = (
        *((note,) if note else ()),
        *_notes_on_kind(kind, shown),
        *_notes_on_counts(found, kind, annotations, n_empty=sum(not picked for picked in labels), n_data=n_data),
    )
    votes = annotations_to_votes(annotations, tasks=rows, labels=names.labels or known)
    return ForeignContents(Path(where).stem, votes, items=items_table(rows, where), notes=notes)


def _sort_by_kind(records: list[dict[str, Any]]) -> Annotations:
    """Return the records with answers that can be votes, by kind; ignored and rejected ones and spans are counted."""
    found = Annotations()
    for record in records:
        if record["answer"] == "ignore":
            found.n["ignored"] += 1
        elif (kind := _kind_of_record(record)) is None:
            found.spans[str(record.get("_view_id", "spans"))] += 1
        elif kind != BINARY and record["answer"] == "reject":
            found.n["rejected"] += 1
        else:
            found.records.setdefault(kind, []).append(record)
    return found


def _kind_of_record(record: dict[str, Any]) -> str | None:
    """Return which answer a record has: chosen options, categories, or accept and reject; None for spans and boxes."""
    if isinstance(record.get(CHOICE), list) or isinstance(record.get("options"), list):
        return CHOICE
    if isinstance(record.get(CATEGORIES), dict):
        return CATEGORIES
    if isinstance(record.get(BINARY), str):  # a label may come with the spans of the patterns that matched
        return BINARY
    return None if any(name in record for name in SPAN_FIELDS) else BINARY


def _choose_kind_and_label(found: Annotations, named: str | None, where: str | Path) -> tuple[str, str | None]:
    """Return the kind of records to read, and the label shown in them if the caller selected one (else None)."""
    shown = {one[BINARY] for one in found.records.get(BINARY, ()) if isinstance(one.get(BINARY), str)}
    if named in shown:
        return BINARY, named
    besides = f"spans or boxes ({first_few(found.spans)})" if found.spans else ""
    if not found.records:
        besides = besides or f"{found.n['rejected']} rejected and {found.n['ignored']} ignored records"
    if named is not None and named not in found.records and shown:
        raise InputError(
            f"{where} has no label {named!r} that was accepted or rejected; it has {first_few(sorted(shown), 12)}"
        )
    return choose_question(found.records, named, where, kind="kinds of answers", unreadable=besides), None


def _worker_of_record(record: dict[str, Any], worker_field: str | None) -> Any:
    """Return the annotator or session of a record, or its field `worker_field`; None if there is none."""
    if worker_field is not None:
        return content_of_record(record, worker_field)
    return record.get("_annotator_id") or record.get("_session_id")


def _chosen_labels_and_all_labels(
    records: Sequence[dict[str, Any]], kind: str, where: str | Path
) -> tuple[list[list[Any]], list[Any] | None]:
    """Return the labels chosen in each record, and all labels that could be chosen (None if they differ between records).

    A label is the `id` of an option, or its text if the ids of all records are the same numbers with a text.
    """
    if kind == BINARY:
        return [[one["answer"]] for one in records], list(ANSWERS[:2])
    if kind == CATEGORIES:
        if odd := {value for one in records for value in one[CATEGORIES].values() if value not in (0, 1)}:
            raise InputError(
                f"{where}: the values of 'cats' must be 0 or 1 to be votes; it has {first_few(sorted(odd))}"
            )
        known = dict.fromkeys(label for one in records for label in one[CATEGORIES])
        return [[label for label, value in one[CATEGORIES].items() if value] for one in records], list(known)
    options = [{option["id"]: option.get("text") for option in one.get("options") or ()} for one in records]
    chosen = [list(dict.fromkeys(one.get(CHOICE) or ())) for one in records]
    same = bool(options[0]) and all(one == options[0] for one in options)
    text_of = (
        options[0] if same and all(isinstance(one, int) for one in options[0]) and all(options[0].values()) else {}
    )
    labels = [[text_of.get(label, label) for label in picked] for picked in chosen]
    if not same:
        return labels, None
    return labels, list(
        dict.fromkeys([*(text_of.get(label, label) for label in options[0]), *chain.from_iterable(labels)])
    )


def _items(
    tasks: Sequence[Any], inputs: Sequence[Any], records: Sequence[dict[str, Any]], *, several: bool
) -> tuple[dict[Any, dict[str, Any]], int]:
    """Return {task: the data shown}, and the number of embedded files (data: URLs) that were left out.

    If `several` labels were shown, the data have the columns `input` and `label`.
    """
    rows: dict[Any, dict[str, Any]] = {}
    embedded = 0
    for task, name, record in zip(tasks, inputs, records, strict=True):
        if task in rows:
            continue
        shown = content_of_record(record)
        data = [key for key, value in shown.items() if isinstance(value, str) and value.startswith("data:")]
        embedded += len(data)
        pair = {"input": name, "label": record.get(BINARY)} if several else {}
        rows[task] = {**pair, **{key: value for key, value in shown.items() if key not in data}}
    return rows, embedded


def _seconds(timestamp: Any) -> float:
    """Return a Unix time as a float, NaN if it is missing."""
    return float(timestamp) if isinstance(timestamp, int | float) else NAN


def _notes_on_kind(kind: str, shown: Sequence[str]) -> tuple[str, ...]:
    """Return a note on what was voted on, if that is the acceptance of labels."""
    if kind != BINARY or not shown:
        return ()
    if len(shown) == 1:
        return (f"the votes accept or reject the label {shown[0]!r}",)
    return (
        f"{len(shown)} labels ({first_few(shown)}) were shown one at a time: every pair of input and label is a task, whose "
        f"votes accept or reject the label; label={shown[0]!r} (--label {shell_word(shown[0])}) reads one label",
    )


def _notes_on_counts(
    found: Annotations, kind: str, annotations: Sequence[Annotation], *, n_empty: int, n_data: int
) -> tuple[str, ...]:
    """Return notes, with counts, on what was left out, and on annotators without a name."""
    workers = {one.worker for one in annotations}
    dated = sum(isinstance(one, str) and UNNAMED_SESSION.search(one) is not None for one in workers)
    unnamed = sum(one.worker is None for one in annotations)
    others = sum(len(records) for other, records in found.records.items() if other != kind)
    interfaces = first_few(found.spans)
    several = sum(len(one.labels) > 1 for one in annotations)
    a_date = "named by the time of the session, so that one person may be several workers (?session=NAME in Prodigy names them)"
    return counted_notes(
        (found.n["ignored"], "ignored record is not a vote", "ignored records are not votes"),
        (
            found.n["rejected"],
            "rejected record has no label and was dropped",
            "rejected records have no label and were dropped",
        ),
        (n_empty, "record has no chosen option and was dropped", "records have no chosen option and were dropped"),
        (several, "record has several labels, in equal shares", "records have several labels, in equal shares"),
        (
            found.spans.total(),
            f"record has spans ({interfaces}) and was left out",
            f"records have spans ({interfaces}) and were left out",
        ),
        (
            others,
            "record has another kind of answer and was left out",
            "records have another kind of answer and were left out",
        ),
        (dated, f"worker is {a_date}", f"workers are {a_date}"),
        (unnamed, "vote has no worker", "votes have no worker"),
        (
            n_data,
            "embedded image or audio file was left out of the items",
            "embedded images or audio files were left out of the items",
        ),
    )
