"""What one more answer to each open task would tell, after each snapshot: the order of the queue of next-best."""

from collections.abc import Iterable, Iterator

from sqlalchemy import Engine

from plurivox.assign import FALL, Proposer
from plurivox.core.results import Fit
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.web.store.collect import queue
from plurivox.web.store.collect.queue import OpenTask
from plurivox.web.store.report.answer_log import Collected
from plurivox.web.store.report.statistics import StoppingSummary
from plurivox.web.study.assigner import load_assigner
from plurivox.web.study.config import Study

SAME = 0.01  # a gain that changes by less than this share is left as it is


def write_gains(engine: Engine, study: Study, held: Collected, votes: Votes, fitted: Fit) -> StoppingSummary | None:
    """Order the queue by what is known now; what owners are told of the stopping rule. None for other studies.

    `votes` are those of `held` without repeats, of which `fitted` was made.
    """
    with engine.connect() as connection:
        method = load_assigner(connection, study)
        if not isinstance(method, Proposer):
            return None
        waiting = queue.open_tasks(connection)
    queue.update_gains(engine, _changed(waiting, held, method.gains(votes, fitted)))
    with engine.connect() as connection:
        return queue.stopping_summary(connection, getattr(method, "least", 0.0))


def _changed(waiting: Iterable[OpenTask], held: Collected, gains: Floats) -> Iterator[OpenTask]:
    """The tasks of the queue whose gain is another one now; `gains` (n_tasks,) are those of the tasks of `held`."""
    columns = (held.id_of_task.tolist(), gains.tolist(), held.n_first.tolist())
    known = {task: (gain, n) for task, gain, n in zip(*columns, strict=True)}
    for one in waiting:
        if one.id not in known or one.gain is None:
            continue
        gain, n = known[one.id]
        new = gain * FALL ** max(one.given - n, 0)  # slots that are given and not answered yet
        if abs(new - one.gain) > SAME * one.gain:
            yield OpenTask(one.id, one.given, new)
