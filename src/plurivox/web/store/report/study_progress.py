"""What owners ask the store for while it is being filled: counts, the latest snapshot, the answers to one task."""

import json
from typing import Any

from sqlalchemy import Connection, func, select

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_schemas as s
from plurivox.web.store import study_state
from plurivox.web.store.errors import NotFound
from plurivox.web.store.ids import number_of, shown
from plurivox.web.store.report import counters
from plurivox.web.store.report.answer_log import EVERY, active
from plurivox.web.store.schema import STILL, answers, beliefs, flags, media, sittings, slots, snapshots, tasks, workers
from plurivox.web.study.config import Study

TOP = 3
HOURS = 72


def latest_snapshot(connection: Connection) -> tuple[float | None, int, dict[str, Any]]:
    """(when, last answer it knows, what it says); empty before the first."""
    row = connection.execute(select(snapshots).order_by(snapshots.c.id.desc()).limit(1)).first()
    return (None, 0, {}) if row is None else (row.at, row.last_answer, json.loads(row.body))


def study_line(connection: Connection, study: Study) -> o.StudyLine:
    """The study in a line."""
    found = counters.totals(connection)
    return o.StudyLine(
        name=study.name,
        title=study.title or study.name,
        state=study_state.state_of(connection),
        form=study.form,
        arms=[one.name for one in study.arms],
        labels=study.labels,
        tasks=sum(n for (what, _), n in found.items() if what == "tasks"),
        answers=found["kind", "task"],
        workers=connection.execute(select(func.count()).select_from(workers)).scalar_one(),
    )


def progress(connection: Connection) -> o.StudyProgress:
    """How far the study is, as of now."""
    found = counters.totals(connection)
    at, _, body = latest_snapshot(connection)
    quotas = _quotas(connection, found, body.get("full_tasks", {}))
    stages = select(workers.c.stage, func.count()).where(workers.c.status == "active").group_by(workers.c.stage)
    hours = sorted((int(of), n) for (what, of), n in found.items() if what == "hour" and n)
    return o.StudyProgress(
        state=study_state.state_of(connection),
        answers=found["kind", "task"],
        wanted=sum(one.wanted for one in quotas),
        repeats=found["kind", "repeat"],
        practice=found["kind", "practice"],
        extras=found["kind", "extra"],
        replaced=found["kind", "replaced"],
        workers={row[0]: row[1] for row in connection.execute(stages)},
        quotas=quotas,
        per_hour=[(hour * 3600.0, n) for hour, n in hours[-HOURS:]],
        snapshot_at=at,
        settled=o.Settled(**body["settled"]) if "settled" in body else None,
    )


def _quotas(connection: Connection, found: counters.Tally, full: dict[str, int]) -> list[o.Quota]:
    # only what is being answered now: sittings whose lease runs have an index, and so have the slots of each; as a join,
    # SQLite would begin with all slots there are
    run_still = select(sittings.c.id).where(sittings.c.until > 0)
    now_leased = (
        select(tasks.c.stratum, func.count())
        .select_from(slots.join(tasks, tasks.c.id == slots.c.task_id))
        .where(slots.c.sitting_id.in_(run_still), slots.c.state == "leased", slots.c.kind == "task")
        .group_by(tasks.c.stratum)
    )
    leased = {row[0]: row[1] for row in connection.execute(now_leased)}
    return [
        o.Quota(
            stratum=stratum,
            tasks=n,
            wanted=found["wanted", stratum],
            given=found["given", stratum],
            leased=leased.get(stratum, 0),
            full_tasks=full.get(stratum, 0),
        )
        for stratum, n in sorted((of, n) for (what, of), n in found.items() if what == "tasks")
    ]


# ---- one task

LINE = (
    select(tasks, beliefs.c.n, beliefs.c.sure, beliefs.c.soft)
    .select_from(tasks.join(beliefs, beliefs.c.task_id == tasks.c.id))
    .where(tasks.c.practice == 0)
)


def line_of(row: Any) -> o.TaskLine:
    return o.TaskLine(
        task=shown(row.id),
        name=row.name,
        stratum=row.stratum,
        kind=row.kind,
        given=row.given,
        quota=row.quota,
        entropy=max(0.0, -row.sure) if row.n else None,
        top=_soft(row.soft)[:TOP],
    )


def _soft(text: str | None) -> list[o.SoftLabel]:
    rows = json.loads(text) if text else []
    return [o.SoftLabel(label=label, p=p, low=low, high=high) for label, p, low, high in rows]


def task_detail(connection: Connection, task: str) -> o.TaskDetail:
    """One task with every answer to it that counts."""
    row = connection.execute(LINE.where(tasks.c.id == number_of(task), beliefs.c.until == STILL)).first()
    if row is None:
        raise NotFound("task")
    size = connection.execute(select(media.c.width, media.c.height).where(media.c.id == (row.media_id or 0))).first()
    width, height = size or (None, None)
    address = None if row.media_id is None else f"/media/{shown(row.media_id)}"
    said = EVERY.add_columns(flags.c.flags).outerjoin(flags, flags.c.answer_id == answers.c.id)
    said = said.where(answers.c.task_id == row.id, slots.c.answer_id == answers.c.id, slots.c.kind != "practice")
    return o.TaskDetail(
        line=line_of(row),
        task=s.Task(kind=row.kind, text=row.text, text2=row.text2, media=address, width=width, height=height),
        soft=_soft(row.soft),
        answers=[_answer(one) for one in connection.execute(said)],
    )


def _answer(row: Any) -> o.OneAnswer:
    seconds = active(row)
    return o.OneAnswer(
        answer=str(row.id),
        worker=row.worker,
        when=row.received,
        seconds=None if seconds != seconds else seconds,
        marks=[s.ShownMark(kind=kind, label=label, typed=typed) for kind, label, typed in json.loads(row.marks)],
        abstain=bool(row.abstain),
        none_of_these=bool(row.none_of_these),
        position=row.position,
        repeat=row.kind == "repeat",
        extra=bool(row.extra),
        excluded=row.state == "excluded",
        flags=json.loads(row.flags or "[]"),
    )
