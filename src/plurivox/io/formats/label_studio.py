"""Read Label Studio exports: JSON (tasks with their annotations) and JSON-MIN (one record per annotation).

Choices, ratings, taxonomies and pairwise comparisons become votes. Several choices in one annotation are a soft answer with
equal shares. An annotation marked as ground truth is gold, not a vote; cancelled ones are skipped.
https://labelstud.io/guide/task_format
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, sort_distinct_names_by_value
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.formats._annotations import (
    Annotation,
    annotations_to_votes,
    choose_question,
    items_table,
    label_option,
    only_choice_among_labels,
    workers_table,
)
from plurivox.io.formats._data_read_from_other_program import (
    FieldNames,
    ForeignContents,
    counted_notes,
)
from plurivox.io.formats._label_studio_records import (
    RATING,
    Export,
    is_label_studio_json_min_record,
    is_label_studio_task_record,
    parse_label_studio_json_min_records,
    parse_label_studio_task_records,
)
from plurivox.io.formats._table_columns import leave_out_text_and_rare_questions


def recognises(records: list[dict[str, Any]]) -> bool:
    """Return whether JSON records are a Label Studio export, by the fields of the first record."""
    return is_label_studio_task_record(records[0]) or is_label_studio_json_min_record(records[0])


def read_records(records: list[dict[str, Any]], where: str | Path, names: FieldNames) -> ForeignContents:
    """Return the votes and gold labels of a Label Studio export.

    `names.label` (`from_name` in the file) selects one of several controls. Tasks are named by their id, or by a field
    of their data (`names.task`); workers by `completed_by`, or by one of its fields (`names.worker`, such as email).
    `names.labels` lists all labels, since the file contains only those that were chosen. `where` is the path of the file.
    """
    if all(is_label_studio_task_record(record) for record in records):
        export = parse_label_studio_task_records(records, names.task, where, names.worker)
    elif all(is_label_studio_json_min_record(record) for record in records):
        controls = None if names.label is None else [names.label]
        export = parse_label_studio_json_min_records(records, controls, names.task, where, names.worker)
        _leave_out_controls_with_free_text(export, names.label)
    else:
        raise InputError(f"{where} is not a Label Studio export: its records need 'annotations' or 'annotation_id'")
    return contents_of_export(export, names, where)


def _leave_out_controls_with_free_text(export: Export, named: str | None) -> None:
    """Leave out text areas and comments of a JSON-MIN export, in which they look like choices."""
    labels = {control: [one.labels.get(control, []) for one in export.answers] for control in export.kinds}
    for control in leave_out_text_and_rare_questions(labels, named)[1] if named is None else ():
        del export.kinds[control]
        export.other[control] += sum(map(bool, labels[control]))


def contents_of_export(export: Export, names: FieldNames, where: str | Path) -> ForeignContents:
    """Return the votes of one control of a parsed export, with gold labels, items, workers and notes on what was skipped."""
    control = _choose_control_for_votes(export, names.label, where)
    try:
        votes, gold = _votes_and_gold(export, control, names.labels)
    except InputError as cause:
        raise InputError(f"{where}: {cause}") from None
    return ForeignContents(
        Path(where).stem,
        votes,
        gold,
        items=items_table(export.shown, where),
        workers=workers_table(export.people, where),
        notes=_notes_on_skipped(export, control),
    )


def _choose_control_for_votes(export: Export, control_name: str | None, path: str | Path) -> str:
    """Return the name of the control (question) whose labels become votes; raise InputError if none or several are possible."""
    usable = sorted(set(export.kinds) - set(export.regions))
    if control_name in export.regions or (not usable and export.regions):
        control = control_name or sorted(export.regions)[0]
        raise InputError(
            f"{path}: task {export.regions[control]!r} has several answers to {control!r} in one annotation, or labels of "
            f"regions; labels of regions within a task cannot be votes on the task{_other_controls_hint(usable)}"
        )
    others = first_few(sorted({*export.other} - {""}), 12) or "no answers"
    if not usable:
        raise InputError(f"{path} has no choices or ratings to read as votes; it has {others}")
    if control_name is not None and control_name not in usable:
        raise InputError(
            f"{path} has no choices or ratings from the control {control_name!r}; it has {first_few(usable, 12)}"
        )
    if control_name is None:
        n_answers = {one: sum(bool(answer.labels.get(one)) for answer in export.answers) for one in usable}
        control_name = only_choice_among_labels(n_answers, (one for one in usable if export.kinds[one] != RATING))
    return choose_question(usable, control_name, path, kind="controls")


def _other_controls_hint(controls: list[str]) -> str:
    """Return the end of an error that names the controls which can be read as votes; "" if there are none."""
    return f"; the controls {first_few(controls, 12)} can: {label_option(controls[0])}" if controls else ""


def _votes_and_gold(export: Export, control: str, labels: Iterable[object] | None) -> tuple[Votes, SoftLabels | None]:
    """Return the votes of one control, and the gold labels from its ground-truth annotations (None if there are none)."""
    answers = [answer for answer in export.answers if answer.labels.get(control)]
    chosen = as_names(label for answer in answers for label in answer.labels[control])
    known = sort_distinct_names_by_value(chosen).tolist() if labels is None else list(labels)

    def votes_of(is_gold: bool) -> Votes:
        """Return the ground-truth annotations, or the others, as votes."""
        found = [
            Annotation(one.task, one.worker, one.labels[control], one.when, one.seconds)
            for one in answers
            if one.is_gold is is_gold
        ]
        return annotations_to_votes(found, tasks=export.shown, labels=known, ordered=export.kinds[control] == RATING)

    if not any(answer.is_gold for answer in answers):
        return votes_of(is_gold=False), None
    gold = votes_of(is_gold=True)
    gold = gold.on(gold.tasks_with_votes)
    shares = SoftLabels.shares(
        gold.sparse_vote_counts(),
        gold.tasks,
        gold.labels,
        scale=gold.scale,
        estimates="truth",  # ground-truth annotations are known labels
    )
    return votes_of(is_gold=False), shares


def _notes_on_skipped(export: Export, control: str) -> tuple[str, ...]:
    """Return notes, with counts, on what of a Label Studio export was skipped, merged or left out."""
    answers = [answer for answer in export.answers if answer.labels.get(control)]
    votes = [answer for answer in answers if not answer.is_gold]
    others = sorted(set(export.kinds) - set(export.regions) - {control})
    regions = sorted(export.regions)
    kinds, others_named, regions_named = (first_few(sorted(names)) for names in (export.other, others, regions))
    no_label, n_gold = len(export.answers) - len(answers), len(answers) - len(votes)
    several, unnamed = sum(len(one.labels[control]) > 1 for one in votes), sum(one.worker is None for one in votes)
    items = "about one item of a task with several: every item is a task, named <task>/<item>"
    regions_out = f"labels of regions within a task and was left out: {regions_named}"
    select = f"; {label_option(others[0])} selects it instead" if others else ""
    left_out = f"neither choices nor ratings ({kinds}) and"
    return counted_notes(
        (export.n["cancelled"], "cancelled annotation was skipped", "cancelled annotations were skipped"),
        (
            no_label,
            f"annotation has no label for {control!r} and was dropped",
            f"annotations have no label for {control!r} and were dropped",
        ),
        (several, "annotation has several labels, in equal shares", "annotations have several labels, in equal shares"),
        (n_gold, "ground-truth annotation is gold, not a vote", "ground-truth annotations are gold, not votes"),
        (unnamed, "vote has no worker", "votes have no worker"),
        (
            export.n["merged"],
            "task shares its name with an earlier one and was merged",
            "tasks share a name with an earlier one and were merged",
        ),
        (export.n["times"], "time could not be read", "times could not be read"),
        (export.n["predictions"], "prediction was left out", "predictions were left out"),
        (export.n["drafts"], "draft was left out", "drafts were left out"),
        (export.other.total(), f"answer is {left_out} was left out", f"answers are {left_out} were left out"),
        (
            len(others),
            f"other control was left out: {others_named}{select}",
            f"other controls were left out: {others_named}{select.replace(' it ', ' one ')}",
        ),
        (len(regions), f"control has {regions_out}", f"controls have {regions_out.replace(' was ', ' were ')}"),
        (export.n["items"], f"answer is {items}", f"answers are {items}"),
    )
