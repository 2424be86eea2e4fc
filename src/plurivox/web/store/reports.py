"""What owners ask the store for: counts, pages of tasks and workers, the answers to one task."""

import json
from typing import Any

from sqlalchemy import Connection, Integer, case, cast, func, select

from plurivox.web import owner_schemas as o
from plurivox.web import schemas as s
from plurivox.web.faults import not_found
from plurivox.web.keys import number_of, shown
from plurivox.web.store import people
from plurivox.web.store.collecting import EVERY, active
from plurivox.web.store.tables import answers, beliefs, flags, media, sittings, slots, snapshots, tasks, workers
from plurivox.web.study import Study

TOP = 3
HOURS = 72


def latest_snapshot(connection: Connection) -> tuple[float | None, int, dict[str, Any]]:
    """(when, last answer it knows, what it says); empty before the first."""
    row = connection.execute(select(snapshots).order_by(snapshots.c.id.desc()).limit(1)).first()
    return (None, 0, {}) if row is None else (row.at, row.last_answer, json.loads(row.body))


def study_line(connection: Connection, study: Study) -> o.StudyLine:
    counts = {
        "tasks": select(func.count()).select_from(tasks).where(tasks.c.practice == 0),
        "answers": select(func.count()).select_from(slots).where(slots.c.state == "done", slots.c.kind == "task"),
        "workers": select(func.count()).select_from(workers),
    }
    found = {name: connection.execute(count).scalar_one() for name, count in counts.items()}
    return o.StudyLine(
        name=study.name,
        title=study.title or study.name,
        state=people.state_of(connection),
        form=study.form,
        arms=[one.name for one in study.arms],
        labels=study.labels,
        **found,
    )


def progress(connection: Connection) -> o.StudyProgress:
    """How far the study is."""
    kinds: dict[tuple[str, str], int] = {}
    for kind, state, n in connection.execute(
        select(slots.c.kind, slots.c.state, func.count()).group_by(slots.c.kind, slots.c.state)
    ):
        kinds[kind, state] = n
    quotas = _quotas(connection)
    at, _, body = latest_snapshot(connection)
    replaced = connection.execute(select(func.count()).where(answers.c.replaces.is_not(None))).scalar_one()
    stages = select(workers.c.stage, func.count()).where(workers.c.status == "active").group_by(workers.c.stage)
    return o.StudyProgress(
        state=people.state_of(connection),
        answers=kinds.get(("task", "done"), 0),
        wanted=sum(one.wanted for one in quotas),
        repeats=kinds.get(("repeat", "done"), 0),
        practice=kinds.get(("practice", "done"), 0),
        extras=kinds.get(("task", "extra"), 0),
        replaced=replaced,
        workers={row[0]: row[1] for row in connection.execute(stages)},
        quotas=quotas,
        per_hour=_per_hour(connection),
        snapshot_at=at,
        settled=o.Settled(**body["settled"]) if "settled" in body else None,
    )


def _quotas(connection: Connection) -> list[o.Quota]:
    now_leased = (
        select(tasks.c.stratum, func.count())
        .select_from(slots.join(tasks, tasks.c.id == slots.c.task_id))
        .where(slots.c.state == "leased", slots.c.kind == "task")
        .group_by(tasks.c.stratum)
    )
    leased = {row[0]: row[1] for row in connection.execute(now_leased)}
    full = func.sum(case((tasks.c.given >= tasks.c.quota, 1), else_=0))
    rows = connection.execute(
        select(tasks.c.stratum, func.count(), func.sum(tasks.c.quota), func.sum(tasks.c.given), full)
        .where(tasks.c.practice == 0)
        .group_by(tasks.c.stratum)
        .order_by(tasks.c.stratum)
    )
    return [
        o.Quota(
            stratum=stratum,
            tasks=n,
            wanted=wanted,
            given=given - leased.get(stratum, 0),
            leased=leased.get(stratum, 0),
            full_tasks=n_full,
        )
        for stratum, n, wanted, given, n_full in rows
    ]


def _per_hour(connection: Connection) -> list[tuple[float, int]]:
    hour = (
        cast(func.floor(answers.c.received / 3600), Integer)
        if connection.dialect.name != "sqlite"
        else cast(answers.c.received / 3600, Integer)
    )
    rows = select(hour.label("hour"), func.count()).group_by("hour").order_by(hour.desc()).limit(HOURS)
    return sorted((float(at) * 3600, n) for at, n in connection.execute(rows))


# ---- tasks

LINE = (
    select(tasks, beliefs.c.entropy, beliefs.c.soft)
    .select_from(tasks.outerjoin(beliefs, beliefs.c.task_id == tasks.c.id))
    .where(tasks.c.practice == 0)
)


def task_page(connection: Connection, after: str | None, limit: int, order: str) -> o.TaskPage:
    """Tasks by name, by entropy (the most doubtful first) or by how few answers they have."""
    place = int(after) if after and after.isdigit() and len(after) < 10 else 0
    by: Any = {
        "name": (tasks.c.name,),
        "entropy": (beliefs.c.entropy.desc().nulls_last(), tasks.c.name),
        "given": (tasks.c.given, tasks.c.name),
    }[order]
    rows = connection.execute(LINE.order_by(*by).offset(place).limit(limit + 1)).all()
    following = str(place + limit) if len(rows) > limit else None
    return o.TaskPage(tasks=[_line(row) for row in rows[:limit]], next=following)


def _line(row: Any) -> o.TaskLine:
    return o.TaskLine(
        task=shown(row.id),
        name=row.name,
        stratum=row.stratum,
        kind=row.kind,
        given=row.given,
        quota=row.quota,
        entropy=row.entropy,
        top=_soft(row.soft)[:TOP],
    )


def _soft(text: str | None) -> list[o.SoftLabel]:
    rows = json.loads(text) if text else []
    return [o.SoftLabel(label=label, p=p, low=low, high=high) for label, p, low, high in rows]


def task_detail(connection: Connection, task: str) -> o.TaskDetail:
    """One task with every answer to it that counts."""
    row = connection.execute(LINE.where(tasks.c.id == number_of(task))).first()
    if row is None:
        raise not_found("task")
    size = connection.execute(select(media.c.width, media.c.height).where(media.c.id == row.media_id)).first()
    width, height = size or (None, None)
    address = None if row.media_id is None else f"/media/{shown(row.media_id)}"
    said = EVERY.add_columns(flags.c.flags).outerjoin(flags, flags.c.answer_id == answers.c.id)
    said = said.where(answers.c.task_id == row.id, slots.c.answer_id == answers.c.id, slots.c.kind != "practice")
    return o.TaskDetail(
        line=_line(row),
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
        flags=json.loads(row.flags or "[]"),
    )


# ---- workers, flags


def worker_page(connection: Connection, after: str | None, limit: int) -> o.WorkerPage:
    """Workers by pseudonym, with what the latest snapshot knows of them."""
    body = latest_snapshot(connection)[2].get("workers", {})
    done = (
        select(sittings.c.worker_id, func.sum(sittings.c.done).label("done"))
        .where(sittings.c.number > 0)
        .group_by(sittings.c.worker_id)
        .subquery()
    )
    wanted = select(workers, done.c.done).outerjoin(done, done.c.worker_id == workers.c.id)
    wanted = wanted.where(workers.c.pseudonym > (after or "")).order_by(workers.c.pseudonym).limit(limit + 1)
    rows = connection.execute(wanted).all()
    lines = []
    for row in rows[:limit]:
        known = body.get(row.pseudonym, {})
        lines.append(
            o.WorkerLine(
                worker=row.pseudonym,
                stage=row.stage,
                status=row.status,
                answers=int(row.done or 0),
                median_seconds=known.get("median_seconds"),
                scores=known.get("scores", {}),
                flags=known.get("flags", 0),
                last_seen=max(row.seen, known.get("last_seen", 0.0)),
            )
        )
    return o.WorkerPage(workers=lines, next=lines[-1].worker if len(rows) > limit else None)


def flagged_page(connection: Connection, after: str | None, limit: int) -> o.FlaggedPage:
    """Odd answers, the newest first."""
    wanted = EVERY.add_columns(flags.c.flags).join(flags, flags.c.answer_id == answers.c.id)
    if after and after.isdigit() and len(after) < 19:
        wanted = wanted.where(answers.c.id < int(after))
    rows = connection.execute(wanted.order_by(None).order_by(answers.c.id.desc()).limit(limit + 1)).all()
    counts: dict[str, int] = {}
    for names, n in connection.execute(select(flags.c.flags, func.count()).group_by(flags.c.flags)):
        for name in json.loads(names):
            counts[name] = counts.get(name, 0) + n
    lines = [
        o.Flagged(
            answer=str(row.id),
            worker=row.worker,
            task=shown(row.task_id),
            name=row.task,
            flags=json.loads(row.flags),
            when=row.received,
        )
        for row in rows[:limit]
    ]
    return o.FlaggedPage(flagged=lines, counts=counts, next=lines[-1].answer if len(rows) > limit else None)
