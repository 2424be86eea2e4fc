"""Read exports of Labelbox (NDJSON or JSON, export v2): classifications of data rows; benchmark labels are gold.

A radio answer is a label, the answers of a checklist are a soft answer with equal shares. Boxes, text answers and frames of
videos are left out. https://docs.labelbox.com/reference/export-quick-reference
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError, first_few
from plurivox.io.formats._annotations import (
    NAN,
    Annotation,
    annotations_to_votes,
    choose_question,
    gold_labels,
    iso_time_to_unix_time,
    items_table,
    label_option,
    only_choice_among_labels,
    sorted_labels,
)
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents, counted_notes

RADIO, CHECKLIST = "radio_answer", "checklist_answers"
IDS = ("global_key", "external_id", "id")  # names of a data row, the most readable first
NESTED = "/"  # between a question and one that follows an answer to it: Weather/Kind


@dataclass(frozen=True)
class _Label:
    """What one person said about a data row: the chosen labels by question."""

    row: int
    worker: Any
    labels: Mapping[str, list[str]]
    when: float
    seconds: float
    is_gold: bool


@dataclass
class _Export:
    """Parsed data rows: labels, and counts of what was left out."""

    labels: list[_Label] = field(default_factory=list)
    n: Counter[str] = field(default_factory=Counter)  # skipped labels, boxes, text answers, frames
    projects: set[str] = field(default_factory=set)  # names of the projects that have labels


def recognises(records: list[dict[str, Any]]) -> bool:
    """Return whether JSON records are data rows of Labelbox with their projects."""
    return all(isinstance(one.get("data_row"), dict) and isinstance(one.get("projects"), dict) for one in records)


def read_records(records: list[dict[str, Any]], where: str | Path, names: FieldNames) -> ForeignContents:
    """Return the votes on one classification of a Labelbox export, and the gold labels of benchmarks.

    Tasks are named by global key, external id or id, or by the field `names.task` of the data rows. `names.label` selects one
    of several classifications.
    """
    if names.worker not in (None, "created_by"):
        raise InputError(f"{where} is a Labelbox export: its workers are `created_by`; leave out worker=... (--worker)")
    export = _parse(records)
    n_answers = Counter(question for one in export.labels for question in one.labels)
    top = [question for question in n_answers if NESTED not in question]
    named = names.label or only_choice_among_labels(n_answers, top)
    unreadable = ", ".join(f"{export.n[kind]} {kind}" for kind in ("boxes", "texts", "frames") if export.n[kind])
    question = choose_question(n_answers, named, where, kind="classifications", unreadable=unreadable)
    tasks, note = _task_names(records, names.task, where)
    given = [one for one in export.labels if one.labels.get(question)]
    annotations = [
        Annotation(tasks[one.row], one.worker, one.labels[question], one.when, one.seconds)
        for one in given
        if not one.is_gold
    ]
    golds = {tasks[one.row]: one.labels[question] for one in given if one.is_gold}
    labels = names.labels or sorted_labels(annotations, golds.values())
    votes = annotations_to_votes(annotations, tasks=list(dict.fromkeys(tasks)), labels=labels)
    rows: dict[Any, dict[str, Any]] = {}
    for task, record in zip(tasks, records, strict=True):
        rows.setdefault(task, _data(record))
    return ForeignContents(
        Path(where).stem,
        votes,
        gold_labels(golds, votes),
        items=items_table(rows, where),
        notes=(*note, *_notes(export, annotations, question, sorted(n_answers), n_gold=len(golds))),
    )


def _parse(records: Sequence[dict[str, Any]]) -> _Export:
    """Return the labels in all projects of the data rows, and counts of what was left out."""
    export = _Export()
    for row, record in enumerate(records):
        for key, project in record["projects"].items():
            for label in project.get("labels") or ():
                export.projects.add(str(project.get("name", key)))
                details, performance = label.get("label_details") or {}, label.get("performance_details") or {}
                if performance.get("skipped"):
                    export.n["skipped"] += 1
                    continue
                content = label.get("annotations") or {}
                export.n["boxes"] += len(content.get("objects") or ())
                export.n["frames"] += bool(content.get("frames"))
                when, seconds = iso_time_to_unix_time(details.get("created_at")), performance.get("seconds_to_create")
                export.labels.append(
                    _Label(
                        row,
                        details.get("created_by"),
                        _labels_by_question(content.get("classifications") or (), export.n),
                        NAN if when is None else when,
                        float(seconds) if isinstance(seconds, int | float) else NAN,
                        bool(performance.get("benchmark_reference_label")),
                    )
                )
    return export


def _labels_by_question(classifications: Sequence[dict[str, Any]], n: Counter[str]) -> dict[str, list[str]]:
    """Return the labels that one person chose in each classification; count text answers in `n`.

    A classification that occurs several times is about parts, such as messages of a conversation, and is counted as well.
    """
    found: dict[str, list[str]] = {}
    repeated = set()
    for question, answers in _answers(classifications):
        if answers is None:
            n["texts"] += 1
        elif question in found:
            repeated.add(question)
        else:
            found[question] = list(dict.fromkeys(str(one.get("name") or one.get("value")) for one in answers))
    n["parts"] += len(repeated)
    return {question: labels for question, labels in found.items() if labels and question not in repeated}


def _answers(
    classifications: Sequence[dict[str, Any]], before: str = ""
) -> Iterator[tuple[str, Sequence[dict[str, Any]] | None]]:
    """Yield (question, chosen answers) of classifications and those nested in their answers; None for a text answer."""
    for one in classifications:
        question = before + str(one.get("name") or one.get("value"))
        if RADIO in one or CHECKLIST in one:
            chosen = [one[RADIO]] if one.get(RADIO) else one.get(CHECKLIST) or []
            yield question, chosen
            for answer in chosen:
                yield from _answers(answer.get("classifications") or (), question + NESTED)
        else:
            yield question, None


def _task_names(records: Sequence[dict[str, Any]], named: str | None, where: str | Path) -> tuple[list[Any], list[str]]:
    """Return the task of each data row, and a note on what names it: a field that every data row has."""
    rows: list[dict[str, Any]] = [record["data_row"] for record in records]
    shared = [name for name in rows[0] if all(isinstance(one.get(name), str) and one[name] for one in rows)]
    found = [name for name in ((named,) if named else IDS) if name in shared]
    if not found:
        raise InputError(
            f"{where} has data rows without {named or 'an id'}; name tasks by another field: task=... (--task); "
            f"fields of all data rows are {first_few(shared, 12)}"
        )
    note = [] if named or found[0] == "id" else [f"tasks are named by {found[0]}; task='id' (--task id) names another"]
    return [one[found[0]] for one in rows], note


def _data(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a task: its id and contents (text, or address of a file), and its metadata."""
    row = record["data_row"]
    data = {name: row[name] for name in (*IDS, "row_data") if row.get(name) is not None}
    fields = [one for one in record.get("metadata_fields") or () if isinstance(one, dict)]
    return data | {str(name): one.get("value") for one in fields if (name := one.get("schema_name") or one.get("name"))}


def _notes(
    export: _Export, annotations: Sequence[Annotation], question: str, questions: Sequence[str], *, n_gold: int
) -> tuple[str, ...]:
    """Return notes, with counts, on what was left out or is gold."""
    others = [one for one in questions if one != question]
    other = f"votes are the answers to {question!r}; other classifications are {first_few(others)}: "
    several = sum(len(one.labels) > 1 for one in annotations)
    unnamed = sum(one.worker is None for one in annotations)
    no_label = sum(not one.labels.get(question) for one in export.labels)
    projects = f"the labels of {len(export.projects)} projects are read together: {first_few(sorted(export.projects))}"
    texts = ((other + label_option(others[0]),) if others else ()) + ((projects,) if len(export.projects) > 1 else ())
    return texts + counted_notes(
        (n_gold, "benchmark label is gold, not a vote", "benchmark labels are gold, not votes"),
        (export.n["skipped"], "skipped label is not a vote", "skipped labels are not votes"),
        (no_label, f"label has no answer to {question!r}", f"labels have no answer to {question!r}"),
        (several, "answer has several labels, in equal shares", "answers have several labels, in equal shares"),
        (unnamed, "vote has no worker (export with label details)", "votes have no worker (export with label details)"),
        (export.n["boxes"], "box or text span was left out", "boxes or text spans were left out"),
        (export.n["texts"], "text answer was left out", "text answers were left out"),
        (export.n["frames"], "label of video frames was left out", "labels of video frames were left out"),
        (export.n["parts"], "answer about parts was left out", "answers about parts were left out"),
    )
