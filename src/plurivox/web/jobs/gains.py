"""What one more answer to each open task would tell, after each snapshot: the order of the queue of next-best."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, bindparam, func, select, update

from plurivox.assign import FALL, Proposer
from plurivox.core.answers import Answers
from plurivox.core.encoding import positions
from plurivox.core.results import Fit
from plurivox.elicit import methods as forms
from plurivox.web.store.database import WRITES, batched
from plurivox.web.store.report.answer_log import Collected
from plurivox.web.store.schema import tasks
from plurivox.web.study.assigner import assigner
from plurivox.web.study.config import Study

AT_ONCE = 1_000  # tasks in a transaction, so that nobody's answer waits
SAME = 0.01  # a gain that changes by less than this share is left as it is
OPEN = select(tasks.c.id, tasks.c.given, tasks.c.gain).where(tasks.c.queue == "", tasks.c.given > 0)
LEARN = (  # whoever was given a slot meanwhile has lowered it already: then the next snapshot tells
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.given == bindparam("known"), tasks.c.gain.is_not(None))
    .values(gain=bindparam("new"))
)


def write_gains(engine: Engine, study: Study, held: Collected, fitted: Fit) -> dict[str, Any]:
    """Order the queue by what is known now; what owners are told of the stopping rule. Nothing, for other studies."""
    with engine.connect() as connection:
        method = assigner(connection, study)
        if not isinstance(method, Proposer):
            return {}
        rows = connection.execute(OPEN).all()
    known = expected(method, held, fitted)
    with engine.connect().execution_options(**WRITES) as connection:
        for part in batched(_changed(rows, known), AT_ONCE):
            with connection.begin():
                connection.execute(LEARN, part)
        connection.rollback()
        return {"settled": _settled(connection, method)}


def expected(method: Proposer, held: Collected, fitted: Fit) -> dict[int, tuple[float, int]]:
    """task -> (gain in nats of one more answer, answers there are)."""
    found = _first(held.answers)
    votes = forms.make("as-asked").read(found).votes
    gain = method.gains(votes, fitted)
    ids = np.zeros(len(held.answers.tasks), np.int64)
    ids[held.answers.task] = held.task_ids
    n = np.bincount(found.task, minlength=len(found.tasks))  # (n_tasks,)
    ids, n = (column[positions(found.tasks, votes.tasks)] for column in (ids, n))
    return {task: (one, count) for task, one, count in zip(ids.tolist(), gain.tolist(), n.tolist(), strict=True)}


def _first(found: Answers) -> Answers:
    return found if found.repeat_of is None else found.where(found.repeat_of < 0)


def _changed(rows: Any, known: dict[int, tuple[float, int]]) -> Iterator[dict[str, Any]]:
    for task, given, old in rows:
        gain, n = known.get(task, (None, 0))
        if gain is None or old is None:
            continue
        new = gain * FALL ** max(given - n, 0)  # slots that are given and not answered yet
        if abs(new - old) > SAME * old:
            yield {"task": task, "known": given, "new": new}


def _settled(connection: Connection, method: Proposer) -> dict[str, Any]:
    """How many tasks get no more answers although their quota is not full, and how many answers that saves."""
    least = getattr(method, "least", 0.0)
    wanted = select(func.count(), func.coalesce(func.sum(tasks.c.quota - tasks.c.given), 0))
    n, spared = connection.execute(wanted.where(tasks.c.queue == "", tasks.c.gain < least)).one()
    return {"tasks": n, "spared": int(spared), "least": least}
