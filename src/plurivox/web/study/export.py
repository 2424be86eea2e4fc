"""A study as a data-set folder: answers with all events and times, what was shown, how people walked through."""

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

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last are wide ones
VIEWS = ["answer", "task", "worker", "kind", "sitting", "position", "received", "shown_at", "first_input_ms"]
VIEWS += ["submitted_ms", "hidden_ms", "mode", "label_order", "marks", "abstain", "none_of_these", "replaces"]
VIEWS += ["extra", "excluded", "arm"]
STAGES = ["worker", "stage", "at", "ms", "detail"]
ITEMS = ["task", "kind", "text", "text2", "stratum", "gold", "image", "audio"]
ARMS = ["worker", "arm", "form", "wording"]
AT_ONCE = 5_000
EVENTS = ["answer", "task", "worker", "seq", "ms", "kind", "label", "value", "by"]


def inert(text: str) -> str:
    """Text that no spreadsheet takes for a formula.

    >>> inert("=1+1"), inert("cat")
    ("'=1+1", 'cat')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


def export(engine: Engine, study: Study, folder: Path, *, form: str = "parquet", replace: bool = False) -> int:
    """Write the folder, whole or not at all; how many answers. Parquet holds names as they are, csv makes them inert."""
    cell = inert if form == "csv" else str
    level = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}  # all of one moment
    with engine.connect().execution_options(**level) as connection, connection.begin():
        held = answer_cache.collect_answers(connection, study.labels, cell)
        views, events = [], []
        for part in batched(export_rows.answer_rows(connection), AT_ONCE):
            views += _frames(VIEWS, [_view(row, cell) for row in part])
            events += _frames(EVENTS, [one for row in part for one in _events(row, cell)])
        stages = _frames(STAGES, _stages(connection, cell))
        shown = io.join_frames(_frames(ITEMS, _items(connection, cell)), ITEMS)
        arms = _frames(ARMS, _arms(connection, study)) if study.arms else []
    parts = {"views": (views, VIEWS), "events": (events, EVENTS), "stages": (stages, STAGES)}
    parts |= {"arms": (arms, ARMS)} if study.arms else {}
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


def _frames(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Any]:
    """Rows as frames of some thousand each, without columns that hold nothing: no row stays a Python object for long."""
    made = []
    for part in batched(rows, AT_ONCE):
        columns = {name: list(column) for name, column in zip(names, zip(*part, strict=True), strict=True)}
        made.append(io.frame_of({name: one for name, one in columns.items() if set(one) != {None}}, "the export"))
    return made


def _view(row: Any, cell: Callable[[str], str]) -> tuple[Any, ...]:
    """Every answer as it came, replaced ones and practice too."""
    said = (row.shown_at, row.first_input_ms, row.submitted_ms, row.hidden_ms, cell(row.mode), row.label_order)
    odd = (row.marks, bool(row.abstain), bool(row.none_of_these), row.replaces, bool(row.extra))
    who = (row.id, cell(row.task), row.worker, row.kind, f"{row.worker}-{row.sitting}", row.position, row.received)
    return (*who, *said, *odd, row.state == "excluded", row.arm or None)


def _events(row: Any, cell: Callable[[str], str]) -> Iterable[tuple[Any, ...]]:
    for one in json.loads(row.events):
        label = None if one["label"] is None else cell(one["label"])
        value = None if one["value"] is None else cell(one["value"])
        yield row.id, cell(row.task), row.worker, one["seq"], one["ms"], cell(one["kind"]), label, value, one["by"]


def _stages(connection: Connection, cell: Callable[[str], str]) -> Iterable[tuple[Any, ...]]:
    for one in export_rows.stage_visits(connection):
        yield one.worker, one.stage, one.at, one.ms, cell(one.detail)


def _arms(connection: Connection, study: Study) -> Iterable[tuple[Any, ...]]:
    """How each person was asked."""
    for worker, arm in export_rows.worker_arms(connection).items():
        asked = study.in_arm(arm)
        yield worker, arm, asked.form, asked.wording


def _items(connection: Connection, cell: Callable[[str], str]) -> Iterable[tuple[Any, ...]]:
    for one in export_rows.task_contents(connection):
        texts = [None if text is None else cell(text) for text in (one.text, one.text2, one.stratum, one.gold)]
        media = (None, one.bytes) if one.kind == "audio" else (one.bytes, None)
        yield cell(one.name), one.kind, *texts, *media


def zipped(engine: Engine, study: Study, form: str) -> Path:
    """The folder as a zip file, which whoever asked deletes."""
    handle, name = tempfile.mkstemp(".zip", "plurivox-")
    os.close(handle)
    try:
        with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as out:
            folder = Path(place) / study.name
            export(engine, study, folder, form=form)
            for file in sorted(folder.rglob("*")):
                out.write(file, file.relative_to(place))
    except BaseException:
        Path(name).unlink()
        raise
    return Path(name)
