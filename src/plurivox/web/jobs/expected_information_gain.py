"""Update the expected information gain of one more answer to each open task, by which next-best orders the queue."""

from collections.abc import Iterable, Iterator

from sqlalchemy import Engine

from plurivox.assign import GAIN_DECAY, Proposer
from plurivox.core.array_types import Floats
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.web.store.collect import task_queue
from plurivox.web.store.collect.task_queue import OpenTask
from plurivox.web.store.report.answer_cache import CollectedAnswers
from plurivox.web.store.report.statistics_classes_and_queries import StoppingSummary
from plurivox.web.study.assigner_from_config import build_assigner_by_whether_batches_exist
from plurivox.web.study.config import Study

MIN_CHANGE = 0.01  # relative; a gain that changes by less is not written


def write_expected_gains_return_stopping_summary(
    engine: Engine, study: Study, collected: CollectedAnswers, votes: Votes, fitted: Fit
) -> StoppingSummary | None:
    """Update the expected information gain of queued tasks; return how many the stopping rule stops, None if not next-best.

    `votes` are those of `collected` without repeats; `fitted` was fitted to them.
    """
    with engine.connect() as connection:
        method = build_assigner_by_whether_batches_exist(connection, study)
        if not isinstance(method, Proposer):
            return None
        open_tasks = task_queue.list_open_tasks_given_at_least_once(connection)
    task_queue.write_gains_unless_task_given_meanwhile(
        engine,
        _yield_open_tasks_with_changed_gain(
            open_tasks, collected, method.gain_of_one_more_answer_per_task(votes, fitted)
        ),
    )
    with engine.connect() as connection:
        return task_queue.count_tasks_below_gain_and_answers_saved(connection, getattr(method, "least", 0.0))


def _yield_open_tasks_with_changed_gain(
    open_tasks: Iterable[OpenTask], collected: CollectedAnswers, gain_of_task: Floats
) -> Iterator[OpenTask]:
    """Yield open tasks whose expected gain has changed, with the new gain; `gain_of_task` is in the order of `collected`."""
    columns = (
        collected.database_id_of_each_task.tolist(),
        gain_of_task.tolist(),
        collected.n_answers_of_each_task_without_repeats.tolist(),
    )
    known = {task: (gain, n) for task, gain, n in zip(*columns, strict=True)}
    for task in open_tasks:
        if task.id not in known or task.gain is None:
            continue
        gain, n = known[task.id]
        new = gain * GAIN_DECAY ** max(task.given - n, 0)  # lowered for each slot that is given and not answered yet
        if abs(new - task.gain) > MIN_CHANGE * task.gain:
            yield OpenTask(task.id, task.given, new)
