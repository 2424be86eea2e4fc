"""Export a study as a data-set folder: answers, every view with its times and events, soft labels, tasks, time per stage."""

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine

from plurivox import io
from plurivox.io import Dataset
from plurivox.web.store.admin import export_rows
from plurivox.web.store.database import batched
from plurivox.web.store.report import answer_cache
from plurivox.web.store.report.answer_times import active_times_of_answers, time_columns_of_answer_rows
from plurivox.web.store.report.result_snapshots import Snapshot, get_latest_or_default_result_snapshot
from plurivox.web.store.report.statistics_classes_and_queries import gold_labels_of_tasks_as_soft_labels
from plurivox.web.study.config import Study, quantity_of_aggregator
from plurivox.workflows import TRUTH_AND_PEOPLE

FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four are full-width
VIEW_COLUMNS = ["answer", "task", "worker", "kind", "sitting", "position", "received", "shown_at", "first_input_ms"]
VIEW_COLUMNS += ["submitted_ms", "hidden_ms", "mode", "label_order", "marks", "abstain", "none_of_these", "replaces"]
VIEW_COLUMNS += ["extra", "excluded", "arm", "counted_as", "handed_out", "impossible_time"]
STAGE_COLUMNS = ["worker", "stage", "at", "ms", "detail", "impossible_time"]
ITEM_COLUMNS = ["task", "kind", "text", "text2", "stratum", "gold", "practice", "image", "audio"]
LABEL_COLUMNS = ["task", "label", "p", "estimates"]  # as `plurivox.read_soft` reads it
ARM_COLUMNS = ["worker", "arm", "form", "wording", "status"]
BATCH_ROWS = 5_000
EVENT_COLUMNS = ["answer", "task", "worker", "seq", "ms", "kind", "label", "value", "by"]


def escape_spreadsheet_formula(text: str) -> str:
    """Return text with an apostrophe in front if a spreadsheet would run it as a formula.

    >>> escape_spreadsheet_formula("=1+1"), escape_spreadsheet_formula("cat")
    ("'=1+1", 'cat')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def export_study(
    engine: Engine, study: Study, folder: Path, *, file_format: str = "parquet", replace: bool = False
) -> int:
    """Write a study as a data-set folder, return its number of answers; in csv, text like a formula gets a prefix."""
    escape_text = escape_spreadsheet_formula if file_format == "csv" else str
    level = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}  # one consistent snapshot
    with engine.connect().execution_options(**level) as connection, connection.begin():
        held = answer_cache.read_answers_that_count_latest_per_slot(connection, study.labels, escape_text)
        # a repeat of an answer that is missing would be read as the person's first answer; `views` has it
        assert held.answers.repeat_of is not None
        given = held.answers.where(~held.is_repeat | (held.answers.repeat_of >= 0))
        views, events = [], []
        for part in batched(export_rows.yield_all_answers_for_export(connection), BATCH_ROWS):
            impossible = active_times_of_answers(time_columns_of_answer_rows(part)).impossible.tolist()
            rows = zip(part, impossible, strict=True)
            views += _rows_to_list_of_data_frames(
                VIEW_COLUMNS, [(*_export_row_of_answer_for_table_views(row, escape_text), flag) for row, flag in rows]
            )
            events += _rows_to_list_of_data_frames(
                EVENT_COLUMNS, [one for row in part for one in _events_table_rows_of_answer(row, escape_text)]
            )
        stages = _rows_to_list_of_data_frames(STAGE_COLUMNS, _stages_table_row_per_visit(connection, escape_text))
        shown = io.stack_frames_by_rows(
            _rows_to_list_of_data_frames(ITEM_COLUMNS, _items_table_row_per_task(connection, escape_text)), ITEM_COLUMNS
        )
        arms = (
            _rows_to_list_of_data_frames(ARM_COLUMNS, _arms_table_row_per_worker(connection, study))
            if study.arms
            else []
        )
        gold = gold_labels_of_tasks_as_soft_labels(connection, study.labels, escape_text)
        latest = get_latest_or_default_result_snapshot(connection)
        labels = {
            quantity: _rows_to_list_of_data_frames(
                LABEL_COLUMNS, _labels_table_row_per_label(connection, quantity, escape_text)
            )
            for quantity in _aggregator_by_quantity(latest)
        }
    parts = {"views": (views, VIEW_COLUMNS), "events": (events, EVENT_COLUMNS), "stages": (stages, STAGE_COLUMNS)}
    parts |= {"arms": (arms, ARM_COLUMNS)} if study.arms else {}
    parts |= {f"labels_{quantity}": (frames, LABEL_COLUMNS) for quantity, frames in labels.items()}
    ways = [study.config_of_arm(one.name) for one in study.arms] or [study]
    asked = " or ".join(f"form {one.form}, {one.wording} person" for one in ways)
    about = {"description": f"answers given in the plurivox studio, {asked}{_labels_description(latest)}"}
    data = Dataset(
        study.name,
        about=about,
        answers=given if len(given) else None,
        gold=gold,
        items=shown,
        tables={name: partial(io.stack_frames_by_rows, *part) for name, part in parts.items() if part[0]},
    )
    io.write(data, folder, replace=replace, form=file_format)
    return len(given)


def _rows_to_list_of_data_frames(column_names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Any]:
    """Convert rows to data frames of at most BATCH_ROWS rows, without empty columns; they need less memory than tuples."""
    made = []
    for part in batched(rows, BATCH_ROWS):
        columns = {name: list(column) for name, column in zip(column_names, zip(*part, strict=True), strict=True)}
        made.append(io.frame_of({name: one for name, one in columns.items() if set(one) != {None}}, "the export"))
    return made


def _export_row_of_answer_for_table_views(answer: Any, escape_text: Callable[[str], str]) -> tuple[Any, ...]:
    """Return the row of the table `views` for an answer: task, worker, times, marks, what it counts as; without the
    last column, the flag of impossible times."""
    shown = (
        answer.shown_at,
        answer.first_input_ms,
        answer.submitted_ms,
        answer.hidden_ms,
        escape_text(answer.mode),
        answer.label_order,
    )
    content = (answer.marks, bool(answer.abstain), bool(answer.none_of_these), answer.replaces, bool(answer.extra))
    origin = (
        answer.id,
        escape_text(answer.task),
        answer.worker,
        answer.kind,
        f"{answer.worker}-{answer.sitting}",
        answer.position,
        answer.received,
    )
    return (*origin, *shown, *content, answer.state == "excluded", answer.arm or None, answer.counted_as, answer.began)


def _events_table_rows_of_answer(answer: Any, escape_text: Callable[[str], str]) -> Iterable[tuple[Any, ...]]:
    """Yield one row of the table `events` per input event of an answer."""
    for one in json.loads(answer.events):
        label = None if one["label"] is None else escape_text(one["label"])
        value = None if one["value"] is None else escape_text(one["value"])
        yield (
            answer.id,
            escape_text(answer.task),
            answer.worker,
            one["seq"],
            one["ms"],
            escape_text(one["kind"]),
            label,
            value,
            one["by"],
        )


def _stages_table_row_per_visit(connection: Connection, escape_text: Callable[[str], str]) -> Iterable[tuple[Any, ...]]:
    """Yield one row of the table `stages` per visit of a worker to a stage, with its duration."""
    for one in export_rows.yield_all_stage_visits(connection):
        yield one.worker, one.stage, one.at, one.ms, escape_text(one.detail), one.impossible_time


def _arms_table_row_per_worker(connection: Connection, study: Study) -> Iterable[tuple[Any, ...]]:
    """Yield one row of the table `arms` per worker: arm, question form, wording, and whether active, excluded or erased."""
    for worker, arm, status in export_rows.yield_arm_and_status_of_every_worker(connection):
        asked = study.config_of_arm(arm)
        yield worker, arm, asked.form, asked.wording, status


def _labels_table_row_per_label(
    connection: Connection, quantity: str, escape_text: Callable[[str], str]
) -> Iterable[tuple[Any, ...]]:
    """Yield one row of the table `labels_truth` or `labels_people` per label of each task, the most probable first."""
    for task, truth, people in export_rows.yield_soft_labels_of_every_task(connection):
        for one in truth if quantity == "truth" else people:
            yield escape_text(task), escape_text(one.label), one.p, quantity


def _aggregator_by_quantity(latest: Snapshot) -> dict[str, str]:
    """Return the aggregator that made the soft labels of the latest snapshot, for truth and for people, if there are any.

    In the last snapshot of an earlier version, the labels for people may be by an aggregator for truth; they are left out.
    """
    if latest.at is None or not latest.answers:
        return {}
    by = {"truth": latest.truth_by, "people": latest.by}
    if not latest.truth_by and quantity_of_aggregator(latest.by) != "people":
        by["people"] = ""
    return {quantity: spec for quantity, spec in by.items() if spec}


def _labels_description(latest: Snapshot) -> str:
    """Return how the soft labels of the export were made, and their difference; "" if there are none."""
    made = [f"labels_{quantity} by {by}" for quantity, by in _aggregator_by_quantity(latest).items()]
    return f"; {', '.join(made)}. {TRUTH_AND_PEOPLE}" if made else ""


def _items_table_row_per_task(connection: Connection, escape_text: Callable[[str], str]) -> Iterable[tuple[Any, ...]]:
    """Yield one row of the table `items` per task: name, kind, texts, stratum, gold, "yes" for practice, image or sound."""
    for one in export_rows.yield_content_of_every_task(connection):
        texts = [None if text is None else escape_text(text) for text in (one.text, one.text2, one.stratum, one.gold)]
        media = (None, one.bytes) if one.kind == "audio" else (one.bytes, None)
        yield escape_text(one.name), one.kind, *texts, "yes" if one.practice else None, *media


def export_study_to_temporary_zip(engine: Engine, study: Study, file_format: str) -> Path:
    """Export a study to a temporary zip file and return its path; the caller must delete the file."""
    handle, name = tempfile.mkstemp(".zip", "plurivox-")
    os.close(handle)
    try:
        with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as out:
            folder = Path(place) / study.name
            export_study(engine, study, folder, file_format=file_format)
            for file in sorted(folder.rglob("*")):
                out.write(file, file.relative_to(place))
    except BaseException:
        Path(name).unlink()
        raise
    return Path(name)
