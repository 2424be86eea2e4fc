"""Assignment method that chooses the questions with the largest expected information gain per second."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurivox.assign._contract import GAIN_DECAY, OpenTasks
from plurivox.assign._shared.information_gain import (
    entropy_per_task,
    expected_gain,
    gain_of_several_votes,
    one_coin_posterior_and_confusion,
    shrink_confusion_towards_mean,
)
from plurivox.assign._shared.ranked_question_proposals import Proposals, Proposer, Question, check_same_tasks
from plurivox.core.array_types import Bools, Floats, Ints, Names
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.method import option
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.engine.kernels.group_by import group_medians, row_order_and_offsets_by_group

Rows = tuple[Ints, Ints, Ints, Floats, Floats]  # task, worker, question, gain, seconds
_NO_ROWS: Rows = (*(np.array([], np.int64),) * 3, *(np.array([]),) * 2)
FLOOR_FACTOR = 1.5  # the minimum gain of a task whose last required slot is open, as a multiple of `least`
N_UNCERTAIN = 200  # workers are compared by their mean gain on this many of the most uncertain tasks


class WorkerGains(NamedTuple):
    """Each worker's shrunken confusion matrix, mean expected information gain, and whether the worker is worth asking."""

    confusion: Floats  # (n_workers, K, K)
    mean_gain: Floats  # (n_workers,) on the most uncertain tasks
    worth_asking: Bools  # (n_workers,)


@dataclass(frozen=True)
class NextBest(Proposer):
    """Choose the questions with the largest expected information gain per second of the worker's time.

    The gain of asking worker w about task t is the mutual information of the true label and the answer, given the posterior
    p_t of the task and the confusion matrix C_w of the worker (Lindley 1956, https://doi.org/10.1214/aoms/1177728069):

        gain(t, w) = H(p_t) + H(p_t C_w) - H(p_t, C_w)

    Questions are ranked by gain per second. A worker whose mean gain on the most uncertain tasks is below `share` of the 90th
    percentile of all workers gets no questions. The stopping rule is met when no gain of the most informative worker reaches
    `least`; it is not met merely because the workers given cannot help. The accuracy of the labels is not estimated: without
    gold labels the posteriors of confusion models overstate it where workers make the same errors (.908 for .783 on labelme).

    In a running study, each worker gets the tasks with the largest expected gain of an answer by an average worker. Tasks
    without answers come first; tasks whose gain is below `least` get no more answers, even below their quota. Every task gets
    at least `least_answers` answers: a model may explain the disagreement of two workers by their confusion matrices and be
    certain of an ambiguous task.

    >>> from plurivox.aggregate import Ibcc
    >>> votes = Votes.of(task=list("aabb"), worker=["x", "y"] * 2, label=["no", "no", "yes", "no"])
    >>> found = NextBest(n=1, again=True).propose(votes, Ibcc().fit(votes))
    >>> found.tasks[found.task].tolist(), found.enough
    (['b'], False)
    """

    n: int = option(100, "maximum number of questions to propose, for all workers together", low=1)
    per_worker: int = option(10, "maximum number of questions per worker; in a running study, tasks per session", low=1)
    questions: str = option(
        "one-label:1.8",
        "forms to choose from, comma-separated, as form:seconds[:number of votes that equal one answer]",
    )
    share: float = option(
        0.6,
        "skip workers whose mean information gain is below this share of the 90th percentile of all workers",
        low=0,
        high=1,
    )
    strength: float = option(
        10, "shrinkage: number of votes at which a worker's own confusion matrix has weight 1/2", low=0
    )
    least: float = option(1e-4, "do not ask a question whose expected information gain is smaller, in nats", low=0)
    least_answers: int = option(3, "in a running study, minimum number of answers per task", low=0)
    again: bool = option(False, "a worker may be asked about the same task again")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.parse_questions_option()

    def parse_questions_option(self) -> tuple[Question, ...]:
        """Return the kinds of question (form, seconds, worth in votes) to choose from, parsed from the option `questions`."""
        return tuple(_parse_question_kind(spec) for spec in self.questions.split(","))

    def choose_session_tasks(self, open_tasks: OpenTasks) -> list[int]:
        return list(open_tasks.most_informative_open_tasks(self.per_worker, self.least))

    def gain_of_one_more_answer_per_task(self, votes: Votes, fit: Fit) -> Floats:
        """(n_tasks,) the expected information gain of one more answer to each task by an average worker, in nats.

        A fit that is certain after few answers is not trusted fully: its posterior is mixed with that of a one-coin model
        fitted to the agreement of votes, which counts as one more answer to the task, and its mean confusion matrix with the
        one-coin matrix, which counts as `strength` answers per label. The gain is never below the gain under the one-coin
        model alone, so that a task with disagreement stays open. If the fit has no confusion matrices, only the one-coin model
        is used.
        """
        check_same_tasks(votes, fit)
        weight = np.ones(len(votes)) if votes.weight is None else votes.weight
        counts = votes.counts()
        posterior, confusion = one_coin_posterior_and_confusion(
            counts, np.bincount(votes.task, weight**2, votes.n_tasks).astype(np.float64)
        )
        gain = np.maximum(expected_gain(posterior, confusion), self._min_gain_until_least_answers(counts.sum(1)))
        if fit.confusion is not None:
            n = counts.sum(1, keepdims=True)  # (n_tasks, 1)
            fitted = np.asarray(fit.soft.prob, np.float64)  # (n_tasks, K)
            mean = shrink_confusion_towards_mean(fit.confusion.dense(), votes.n_answers_per_worker, self.strength).mean(
                0
            )
            n_true = (n * fitted).sum(0)[:, None]  # (K, 1) answers to tasks of each label
            confusion = (n_true * mean + self.strength * confusion) / np.maximum(n_true + self.strength, 1e-12)
            gain = np.maximum(gain, expected_gain((n * fitted + posterior) / (n + 1), confusion))
        return gain

    def _min_gain_until_least_answers(self, n_answers: Floats) -> Floats:
        """(n_tasks,) lower bound of each task's gain, in nats, that keeps it open until it has `least_answers` answers."""
        missing = self.least_answers - n_answers
        return np.where(missing > 0, FLOOR_FACTOR * self.least * GAIN_DECAY ** (1 - missing), 0.0)

    def estimate_worker_gains_and_worth_asking(
        self, posterior: Floats, matrices: Floats, votes_per_worker: Floats
    ) -> WorkerGains:
        """Return each worker's mean expected gain on the most uncertain tasks, and whether the worker is worth asking."""
        confusion = shrink_confusion_towards_mean(matrices, votes_per_worker, self.strength)
        uncertain = posterior[np.argsort(posterior.max(1), kind="stable")[:N_UNCERTAIN]]
        mean_gain = np.array([expected_gain(uncertain, matrix).mean() for matrix in confusion])
        return WorkerGains(confusion, mean_gain, mean_gain >= self.share * np.quantile(mean_gain, 0.9))

    def _rank_questions_for_workers(
        self, votes: Votes, fit: Fit, workers: Names | None, progress: Progress
    ) -> Proposals:
        assert fit.confusion is not None
        posterior = np.asarray(fit.soft.prob, np.float64)
        gains = self.estimate_worker_gains_and_worth_asking(
            posterior, fit.confusion.dense(), votes.n_answers_per_worker
        )
        codes, pace, rows = (
            self._codes_of_named_workers_or_raise(votes, workers),
            _relative_median_seconds_per_worker(votes),
            [_NO_ROWS],
        )
        for step, worker in enumerate(codes.tolist()):
            if gains.worth_asking[worker]:
                rows.append(
                    self._best_questions_of_worker(
                        votes, posterior, gains.confusion[worker], worker, float(pace[worker])
                    )
                )
            progress(step, len(codes))
        task, worker, question, gain, seconds = (np.concatenate(column) for column in zip(*rows, strict=True))
        best = np.argsort(-gain / seconds, kind="stable")[: self.n]
        nothing_to_gain, why = self._is_every_gain_too_small_and_why(posterior, gains, codes)
        return Proposals(
            task=task[best],
            worker=worker[best],
            question=question[best],
            gain=gain[best],
            seconds=seconds[best],
            tasks=votes.tasks,
            workers=votes.workers,
            forms=as_names([kind.form for kind in self.parse_questions_option()]),
            enough=not len(best) and nothing_to_gain,
            why=f"largest gain {gain.max():.4g} nats" if len(best) else why,
            made_by=self.spec,
            let_go=votes.workers[codes[~gains.worth_asking[codes]]],
        )

    def _best_questions_of_worker(
        self, votes: Votes, posterior: Floats, confusion: Floats, worker: int, relative_seconds: float
    ) -> Rows:
        """Return one worker's questions with the largest gain per second: columns task, worker, question, gain, seconds."""
        gain = expected_gain(posterior, confusion)
        if not self.again:
            order, start = votes.row_order_and_offsets_by_worker
            gain[votes.task[order[start[worker] : start[worker + 1]]]] = 0
        entropy, kinds = entropy_per_task(posterior), self.parse_questions_option()
        gains = np.stack([gain_of_several_votes(gain, entropy, kind.worth) for kind in kinds])  # (n_kinds, n_tasks)
        seconds = np.array([kind.seconds * relative_seconds for kind in kinds])
        rate = gains / seconds[:, None]
        kind = rate.argmax(0)
        top = np.argsort(-rate.max(0), kind="stable")[: self.per_worker]
        top = top[gains[kind[top], top] >= max(self.least, 1e-12)]
        return top, np.full(len(top), worker), kind[top], gains[kind[top], top], seconds[kind[top]]

    def _is_every_gain_too_small_and_why(
        self, posterior: Floats, gains: WorkerGains, worker_codes: Ints
    ) -> tuple[bool, str]:
        """Return (whether no answer of the best worker would gain `least` nats, why these workers may get no questions)."""
        top = int(gains.mean_gain.argmax())
        if expected_gain(posterior, gains.confusion[top]).max() < self.least:
            return True, f"no gain reaches {self.least:g} nats"
        if not gains.worth_asking[worker_codes].any():
            return False, "none of the workers given is worth asking now"
        return False, "the workers given have answered all open tasks"

    def _codes_of_named_workers_or_raise(self, votes: Votes, workers: Names | None) -> Ints:
        """(n_workers,) the codes of the named workers in the votes (None: of all); raise InputError for one without votes."""
        if workers is None:
            return np.arange(votes.n_workers)
        names = as_names(workers, "workers")
        code = positions(votes.workers, names)
        if len(absent := names[code < 0]):
            raise InputError(
                f"{len(absent)} workers have not voted yet, so their confusion matrices are unknown: {first_few(absent)}; "
                "leave them out"
            )
        return code


def _parse_question_kind(form_seconds_worth: str) -> Question:
    """Parse a kind of question, "form:seconds:worth", such as "top-two:12:2.5"; raise OptionError if it is not valid."""
    form, *numbers = form_seconds_worth.strip().split(":")
    try:
        question = Question(form, *map(float, numbers))
    except (TypeError, ValueError):
        raise OptionError(
            f"{form_seconds_worth!r} is not a question; write form:seconds:worth, such as top-two:12:2.5"
        ) from None
    if not form or not question.seconds > 0 or not question.worth > 0:
        raise OptionError(
            f"{form_seconds_worth!r} needs a form, and seconds and worth above 0; write it as in top-two:12:2.5"
        )
    return question


def _relative_median_seconds_per_worker(votes: Votes) -> Floats:
    """(n_workers,) each worker's median seconds per vote divided by the median of all votes; 1 if times are unknown."""
    pace = np.ones(votes.n_workers)
    if votes.seconds is None:
        return pace
    known = np.isfinite(votes.seconds) & (votes.seconds > 0) & (votes.worker >= 0)
    if not known.any():
        return pace
    worker, seconds = votes.worker[known], votes.seconds[known]
    order, start = row_order_and_offsets_by_group(worker, votes.n_workers)
    own = group_medians(start, seconds[order])  # nan for a worker without known times
    return np.where(np.isnan(own), pace, own / float(np.median(seconds)))
