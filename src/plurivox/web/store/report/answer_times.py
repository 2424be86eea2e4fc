"""Times of answers and stage visits, limited to what the server's clock saw: one definition for pay, medians, flags and export.

The client sends how long a task was shown (`submitted_ms`) and hidden (`hidden_ms`); the server knows when it handed the task
out and when it received the answer. Active time = min(submitted - hidden, received - handed out), never negative. A client that
claims more than the server saw, beyond a tolerance for clocks and network, has sent an impossible time.

The one rule of when a task was handed out: the first time that its slot was sent to its worker (`slots.handed_out`). It is set
once and never changed, also if the lease ends and the slot is leased again, since the page may have shown the task all along.
Without it, the slot was sent by a version before revision 12: it counts from the begin of its sitting. Only imported answers
have no limit, as the server saw nothing of them. They are recognised by what no client can make: a key that begins with
`import:` (the API refuses colons in keys), or, if an earlier version imported them, a worker made by the importer.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import case, exists, func, select

from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.web.store.report.row_cache import Columns
from plurivox.web.store.schema import answers, sittings, slots, workers

FIRST_PICK = re.compile(r'"ms": ([0-9.eE+-]+), "kind": "pick"')
IMPOSSIBLE_TIME = "impossible-time"  # the flag of such an answer
TOLERANCE_SECONDS, TOLERANCE_SHARE = 2.0, 0.02  # of clocks and network
ROUNDING_MS = 100.0  # by which hidden time may exceed the whole time
IMPORTED_KEY = "import:"  # how keys of imported answers begin; clients cannot send a colon
OLD_IMPORTED_KEY = "import-"  # the same before revision 12; clients could send it too
# The importer makes workers at the last stage, without the key of a browser, and numbers their seeds 0, 1, ...; the seeds of
# people who enter are drawn from 2 ** 31, and nobody can choose one below the number of workers.
N_WORKERS = select(func.count()).select_from(workers.alias("all_workers")).scalar_subquery()
IS_WORKER_MADE_BY_IMPORT = (
    exists()
    .where(workers.c.id == answers.c.worker_id, workers.c.seed < N_WORKERS)
    .where(workers.c.stage == "done", workers.c.door.is_(None))
    .correlate(answers)
)
IS_IMPORTED = slots.c.handed_out.is_(None) & (
    answers.c.key.startswith(IMPORTED_KEY) | (answers.c.key.startswith(OLD_IMPORTED_KEY) & IS_WORKER_MADE_BY_IMPORT)
)
# when the task of an answer was handed out; null: imported
HANDED_OUT: Any = case((IS_IMPORTED, None), else_=func.coalesce(slots.c.handed_out, sittings.c.begun)).label("began")


@dataclass(frozen=True)
class ActiveTimes:
    """The active time of each answer or stage visit: as claimed by the client, and as far as the server's clock confirms it."""

    claimed_ms: Floats  # (n,) never negative; nan if the client sent none
    counted_ms: Floats  # (n,) at most what the server saw; nan if the client sent none
    impossible: Bools  # (n,) whether the client claimed more than the server saw, or times that contradict each other
    start: Floats  # (n,) when it began by the server's clock, in seconds since 1970; nan if unknown, as for imported answers
    end: Floats  # (n,)

    @property
    def believable_seconds(self) -> Floats:
        """(n,) the counted time in seconds for medians and charts; nan if unknown or impossible."""
        return np.where(self.impossible, np.nan, self.counted_ms / 1000)

    @property
    def seconds_at_most(self) -> Floats:
        """(n,) for rules about fast answers: the counted time, or what the server saw if the client's is impossible or
        missing; nan only for imported answers without a time."""
        use_server = (self.impossible | np.isnan(self.claimed_ms)) & ~np.isnan(self.start)
        return np.where(use_server, np.maximum(0.0, self.end - self.start), self.counted_ms / 1000)


def active_times_of_answers(columns: Columns) -> ActiveTimes:
    """Return the active times of answers, from arrays of what clients sent (`submitted`, `hidden`, `first_input` in
    milliseconds, `picked` in seconds) and the server's times (`began`, `at`).

    An answer that replaces another is measured from the handing out too: people offline correct answers that were not sent yet.
    """
    submitted, hidden = columns["submitted"], columns["hidden"]
    contradictory = hidden > submitted + ROUNDING_MS
    contradictory |= (submitted < 0) | (hidden < 0) | np.isinf(submitted) | np.isinf(hidden)
    longest = np.fmax.reduce([submitted, hidden, columns["first_input"], 1000 * columns["picked"]])
    return _limit_to_server_clock(submitted - hidden, longest, contradictory, columns["began"], columns["at"])


def time_columns_of_answer_rows(rows: Sequence[Any]) -> Columns:
    """Return the columns that `active_times_of_answers` takes, from database rows of the query `task_detail.ALL_ANSWERS`."""
    values = {
        "submitted": [row.submitted_ms for row in rows],
        "hidden": [row.hidden_ms for row in rows],
        "first_input": [row.first_input_ms for row in rows],
        "picked": [seconds_until_first_label_pick_or_nan(row.events) for row in rows],
        "began": [row.began for row in rows],
        "at": [row.received for row in rows],
    }
    return {name: np.array(column, np.float64) for name, column in values.items()}


def active_times_of_visits(worker_ids: Ints, claimed_ms: Floats, at: Floats, born: Floats) -> ActiveTimes:
    """Return the times of visits to stages, given in the order in which they ended; a visit begins when the visit before it
    ends, the first one when its worker enters (`born`)."""
    order = np.argsort(worker_ids, kind="stable")
    start = born.astype(np.float64).copy()
    same_worker = worker_ids[order][1:] == worker_ids[order][:-1]
    start[order[1:][same_worker]] = at[order[:-1][same_worker]]
    return _limit_to_server_clock(claimed_ms, claimed_ms, (claimed_ms < 0) | np.isinf(claimed_ms), start, at)


def _limit_to_server_clock(
    active_ms: Floats, longest_ms: Floats, contradictory: Bools, start: Floats, end: Floats
) -> ActiveTimes:
    """Return active times limited to the server's interval; `longest_ms` is the largest time that the client sent."""
    seen = np.where(np.isnan(start), np.inf, np.maximum(0.0, end - start))  # seconds
    too_long = longest_ms / 1000 > seen * (1 + TOLERANCE_SHARE) + TOLERANCE_SECONDS
    claimed = np.maximum(0.0, active_ms)
    impossible = np.asarray(too_long | contradictory, bool)
    return ActiveTimes(claimed, np.minimum(claimed, 1000 * seen), impossible, start, end)


def milliseconds_covered_by_group(group: Ints, n_groups: int, start: Floats, end: Floats) -> Floats:
    """Return (n_groups,) the length of the union of the intervals of each group, in milliseconds; times are in seconds.

    >>> milliseconds_covered_by_group(np.array([0, 0, 1]), 2, np.array([0.0, 1.0, 5.0]), np.array([3.0, 4.0, 6.0])).tolist()
    [4000.0, 1000.0]
    """
    end = np.maximum(start, end)
    origin = np.full(n_groups, np.inf)
    np.minimum.at(origin, group, start)
    start, end = start - origin[group], end - origin[group]
    apart = group * (end.max(initial=0.0) + 1.0)  # so that the running maximum starts anew in each group
    order = np.lexsort((start, group))
    begin, finish = (start + apart)[order], (end + apart)[order]
    covered_until = np.maximum.accumulate(np.append(-1.0, finish))[:-1]
    new = 1000 * np.maximum(0.0, finish - np.maximum(begin, covered_until))
    return np.bincount(group[order], new, n_groups).astype(np.float64)


def seconds_until_first_label_pick_or_nan(events_json: str) -> float:
    """Return the seconds until the worker first picked a label, from an answer's event log in JSON; nan if none was picked.

    A regular expression finds it in events as the studio writes them, without parsing all of them.
    """
    if found := FIRST_PICK.search(events_json):
        return float(found[1]) / 1000
    if '"pick"' not in events_json:
        return float("nan")
    return next((one["ms"] / 1000 for one in json.loads(events_json) if one["kind"] == "pick"), float("nan"))
