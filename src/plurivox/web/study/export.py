"""Export a study as a data-set folder: answers, every view with its times and events, tasks, time per stage."""

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
from plurivox.web.study.config import Study

FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four are full-width
VIEW_COLUMNS = ["answer", "task", "worker", "kind", "sitting", "position", "received", "shown_at", "first_input_ms"]
VIEW_COLUMNS += ["submitted_ms", "hidden_ms", "mode", "label_order", "marks", "abstain", "none_of_these", "replaces"]
VIEW_COLUMNS += ["extra", "excluded", "arm"]
STAGE_COLUMNS = ["worker", "stage", "at", "ms", "detail"]
ITEM_COLUMNS = ["task", "kind", "text", "text2", "stratum", "gold", "image", "audio"]
ARM_COLUMNS = ["worker", "arm", "form", "wording"]
BATCH_ROWS = 5_000
EVENT_COLUMNS = ["answer", "task", "worker", "seq", "ms", "kind", "label", "value", "by"]


def escape_formula(text: str) -> str:
    """Return text with a prefix if a spreadsheet would run it as a formula.

    >>> escape_formula("=1+1"), escape_formula("cat")
    ("'=1+1", 'cat')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def export_study(engine: Engine, study: Study, folder: Path, *, form: str = "parquet", replace: bool = False) -> int:
    """Write the data-set folder atomically and return the number of answers; csv prefixes text that looks like a formula."""
    cell = escape_formula if form == "csv" else str
    level = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}  # one consistent snapshot
    with engine.connect().execution_options(**level) as connection, connection.begin():
        held = answer_cache.read_counted_answers(connection, study.labels, cell)
        views, events = [], []
        for part in batched(export_rows.answer_rows(connection), BATCH_ROWS):
            views += _to_frames(VIEW_COLUMNS, [_view_row(row, cell) for row in part])
            events += _to_frames(EVENT_COLUMNS, [one for row in part for one in _event_rows(row, cell)])
        stages = _to_frames(STAGE_COLUMNS, _stage_rows(connection, cell))
        shown = io.join_frames(_to_frames(ITEM_COLUMNS, _item_rows(connection, cell)), ITEM_COLUMNS)
        arms = _to_frames(ARM_COLUMNS, _arm_rows(connection, study)) if study.arms else []
    parts = {"views": (views, VIEW_COLUMNS), "events": (events, EVENT_COLUMNS), "stages": (stages, STAGE_COLUMNS)}
    parts |= {"arms": (arms, ARM_COLUMNS)} if study.arms else {}
    ways = [study.in_arm(one.name) for one in study.arms] or [study]
    asked = " or ".join(f"form {one.form}, {one.wording} person" for one in ways)
    about = {"description": f"answers given in the plurivox studio, {asked}"}
    data = Dataset(
        study.name,
        about=about,
        answers=held.answers if len(held.answers) else None,
        items=shown,
        tables={name: partial(io.join_frames, *part) for name, part in parts.items() if part[0]},
    )
    io.write(data, folder, replace=replace, form=form)
    return len(held.answers)


def _to_frames(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Any]:
    """Return rows as data frames of BATCH_ROWS rows, without empty columns; this saves memory over Python tuples."""
    made = []
    for part in batched(rows, BATCH_ROWS):
        columns = {name: list(column) for name, column in zip(names, zip(*part, strict=True), strict=True)}
        made.append(io.frame_of({name: one for name, one in columns.items() if set(one) != {None}}, "the export"))
    return made


def _view_row(row: Any, cell: Callable[[str], str]) -> tuple[Any, ...]:
    """Return an answer as a row of VIEW_COLUMNS."""
    shown = (row.shown_at, row.first_input_ms, row.submitted_ms, row.hidden_ms, cell(row.mode), row.label_order)
    content = (row.marks, bool(row.abstain), bool(row.none_of_these), row.replaces, bool(row.extra))
    origin = (row.id, cell(row.task), row.worker, row.kind, f"{row.worker}-{row.sitting}", row.position, row.received)
    return (*origin, *shown, *content, row.state == "excluded", row.arm or None)


def _event_rows(row: Any, cell: Callable[[str], str]) -> Iterable[tuple[Any, ...]]:
    """Yield the input events of an answer as rows of EVENT_COLUMNS."""
    for one in json.loads(row.events):
        label = None if one["label"] is None else cell(one["label"])
        value = None if one["value"] is None else cell(one["value"])
        yield row.id, cell(row.task), row.worker, one["seq"], one["ms"], cell(one["kind"]), label, value, one["by"]


def _stage_rows(connection: Connection, cell: Callable[[str], str]) -> Iterable[tuple[Any, ...]]:
    """Yield the visits of workers to stages as rows of STAGE_COLUMNS."""
    for one in export_rows.stage_visits(connection):
        yield one.worker, one.stage, one.at, one.ms, cell(one.detail)


def _arm_rows(connection: Connection, study: Study) -> Iterable[tuple[Any, ...]]:
    """Yield the arm of each worker as rows of ARM_COLUMNS."""
    for worker, arm in export_rows.worker_arms(connection).items():
        asked = study.in_arm(arm)
        yield worker, arm, asked.form, asked.wording


def _item_rows(connection: Connection, cell: Callable[[str], str]) -> Iterable[tuple[Any, ...]]:
    """Yield the tasks as rows of ITEM_COLUMNS."""
    for one in export_rows.task_contents(connection):
        texts = [None if text is None else cell(text) for text in (one.text, one.text2, one.stratum, one.gold)]
        media = (None, one.bytes) if one.kind == "audio" else (one.bytes, None)
        yield cell(one.name), one.kind, *texts, *media


def export_zip(engine: Engine, study: Study, form: str) -> Path:
    """Export to a temporary zip file and return its path; the caller deletes it."""
    handle, name = tempfile.mkstemp(".zip", "plurivox-")
    os.close(handle)
    try:
        with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as out:
            folder = Path(place) / study.name
            export_study(engine, study, folder, form=form)
            for file in sorted(folder.rglob("*")):
                out.write(file, file.relative_to(place))
    except BaseException:
        Path(name).unlink()
        raise
    return Path(name)
