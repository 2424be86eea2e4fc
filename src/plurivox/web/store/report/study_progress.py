"""The progress of a study: current counts of answers, quotas and workers, and the state of the background jobs."""

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from plurivox.web.store import study_state
from plurivox.web.store.collect.workers import HAS_ANSWERED_TASKS, STAGES, is_turned_away
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.report import answer_counters
from plurivox.web.store.report.answer_kinds import ANSWER_KINDS
from plurivox.web.store.report.background_alerts import Alert, list_job_alerts
from plurivox.web.store.report.report_pages import is_report_waiting
from plurivox.web.store.report.result_snapshots import (
    Snapshot,
    get_latest_or_default_result_snapshot,
    is_result_snapshot_stale,
    leader_lease_end,
    was_worker_excluded_or_reinstated_since,
)
from plurivox.web.store.report.statistics_classes_and_queries import StoppingSummary
from plurivox.web.store.schema import sittings, slots, tasks, workers
from plurivox.web.store.study_state import StudyState

PEOPLE = (*STAGES, "turned away", "excluded", "erased")  # turned away: no task was left for them
MAX_HOURS = 72  # in the list of answers per hour
LEADER_SILENT_SECONDS = 120.0  # owners are alerted if the leader's lease ended so long ago


@dataclass(frozen=True)
class StudyCounts:
    """The state of a study and its numbers of tasks, answers and workers."""

    state: StudyState
    tasks: int
    answers: int
    workers: int


@dataclass(frozen=True)
class Quota:
    """Answers wanted, given and leased in a stratum."""

    stratum: str
    tasks: int
    wanted: int  # sum of the quotas
    given: int  # done
    leased: int  # being answered now
    full_tasks: int  # as of the latest snapshot


@dataclass(frozen=True)
class StudyProgress:
    """Answers collected and wanted, by kind, stratum and hour, and people by what has become of them.

    Every submitted answer is of one kind (see `answer_kinds`): the kinds add up to `all_answers`, which is the number of rows
    of `views` in the export; `answers`, `late` and `repeats` add up to the rows of its `answers`.
    """

    state: StudyState
    answers: int  # that count: they fill the quotas
    wanted: int
    late: int
    repeats: int
    practice: int
    replaced: int
    excluded: int  # answers of people who are excluded now
    all_answers: int
    workers: dict[str, int]  # everyone who entered: active people by stage, then turned away, excluded, erased
    workers_with_answers: int  # besides practice; excluded people too
    quotas: list[Quota]
    # (hour as seconds since 1970, answers without practice, replaced ones and excluded people), the latest 72 with answers
    per_hour: list[tuple[float, int]]
    snapshot_at: float | None
    settled: StoppingSummary | None  # only if tasks are chosen by expected gain; from the latest snapshot


def get_study_state_and_counts(connection: Connection) -> StudyCounts:
    """Return the state of the study and the numbers of tasks, answers and workers."""
    found = answer_counters.saved_counters_plus_uncounted_answers(connection)
    return StudyCounts(
        state=study_state.get_study_state(connection),
        tasks=sum(n for (what, _), n in found.items() if what == "tasks"),
        answers=found["kind", "counts"],
        workers=connection.execute(select(func.count()).select_from(workers)).scalar_one(),
    )


def study_progress(connection: Connection) -> StudyProgress:
    """Return the current progress: answers and quotas from the counters, full tasks from the latest snapshot."""
    found = answer_counters.saved_counters_plus_uncounted_answers(connection)
    latest = get_latest_or_default_result_snapshot(connection)
    quotas = _list_quota_progress_of_each_stratum(connection, found, latest.full_tasks)
    people = _count_people_by_status_and_whether_answered(connection)
    hours = sorted((int(of), n) for (what, of), n in found.items() if what == "hour" and n)
    return StudyProgress(
        state=study_state.get_study_state(connection),
        answers=found["kind", "counts"],
        wanted=sum(one.wanted for one in quotas),
        late=found["kind", "late"],
        repeats=found["kind", "repeat"],
        practice=found["kind", "practice"],
        replaced=found["kind", "replaced"],
        excluded=found["kind", "excluded"],
        all_answers=sum(found["kind", kind] for kind in ANSWER_KINDS),
        workers={status: n for status in PEOPLE if (n := people[status, False] + people[status, True])},
        workers_with_answers=sum(n for (_, has_answered), n in people.items() if has_answered),
        quotas=quotas,
        per_hour=[(hour * 3600.0, n) for hour, n in hours[-MAX_HOURS:]],
        snapshot_at=latest.at,
        settled=latest.settled,
    )


def _count_people_by_status_and_whether_answered(connection: Connection) -> Counter[tuple[str, bool]]:
    """Return (one of PEOPLE, whether they answered a task besides practice) -> number of people."""
    answered = HAS_ANSWERED_TASKS.label("answered")
    counts = select(workers.c.status, workers.c.stage, answered, func.count().label("n"))
    found: Counter[tuple[str, bool]] = Counter()
    for row in connection.execute(counts.group_by(workers.c.status, workers.c.stage, "answered")):
        status = row.stage if row.status == "active" else row.status
        found["turned away" if is_turned_away(status, row.answered) else status, bool(row.answered)] += row.n
    return found


def _list_quota_progress_of_each_stratum(
    connection: Connection, answer_counts: answer_counters.Counts, full_tasks_by_stratum: dict[str, int]
) -> list[Quota]:
    """Return the quota of each stratum, sorted by name: answers wanted and given, slots leased now, full tasks."""
    # a subquery uses the indexes of running leases and of their slots; with a join, SQLite would read all slots
    running = select(sittings.c.id).where(sittings.c.until > 0)
    now_leased = (
        select(tasks.c.stratum, func.count())
        .select_from(slots.join(tasks, tasks.c.id == slots.c.task_id))
        .where(slots.c.sitting_id.in_(running), slots.c.state == "leased", slots.c.kind == "task")
        .group_by(tasks.c.stratum)
    )
    leased = {row[0]: row[1] for row in connection.execute(now_leased)}
    return [
        Quota(
            stratum=stratum,
            tasks=n,
            wanted=answer_counts["wanted", stratum],
            given=answer_counts["given", stratum],
            leased=leased.get(stratum, 0),
            full_tasks=full_tasks_by_stratum.get(stratum, 0),
        )
        for stratum, n in sorted((of, n) for (what, of), n in answer_counts.items() if what == "tasks")
    ]


# ---- background jobs


@dataclass(frozen=True)
class BackgroundState:
    """The latest snapshot, whether it is stale, and the alerts of the background jobs."""

    latest: Snapshot
    is_stale: bool
    is_recomputing: bool  # a worker was excluded or reinstated since
    alerts: list[Alert]  # the oldest first


def get_snapshot_whether_stale_and_alerts(connection: Connection) -> BackgroundState:
    """Return the latest snapshot, whether it is stale, and the alerts, including one if no server is the leader."""
    latest = get_latest_or_default_result_snapshot(connection)
    stale = is_result_snapshot_stale(connection, latest=latest)
    alerts = list_job_alerts(connection)
    until = leader_lease_end(connection) if stale or is_report_waiting(connection) else None
    if until is not None and until <= current_unix_time() - LEADER_SILENT_SECONDS:
        alerts.append(Alert("leader", "No server is computing results, making reports or ending leases.", until))
    return BackgroundState(latest, stale, was_worker_excluded_or_reinstated_since(connection, latest), alerts)
