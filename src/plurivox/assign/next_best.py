"""Ask where an answer is expected to tell most in a second of the worker's time."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurivox.assign._contract import FALL, Pool
from plurivox.assign._shared.information_gain import channels, expected_gain, one_coin, several, uncertainty_of
from plurivox.assign._shared.proposals import Proposals, Proposer, Question, same_tasks
from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Fit
from plurivox.core.types import Bools, Floats, Ints, Names
from plurivox.core.votes import Votes
from plurivox.engine.kernels.group_by import group_medians, group_rows

Row = tuple[Ints, Ints, Ints, Floats, Floats]  # task, worker, question, gain, seconds
_NOTHING: Row = (*(np.array([], np.int64),) * 3, *(np.array([]),) * 2)
OPEN_STILL = 1.5  # times `least`: open with the last slot that is missing, and closed after it
OPEN = 200  # the least certain tasks, on which workers are held against each other


class Useful(NamedTuple):
    """How each worker is expected to answer, and who is worth asking."""

    channel: Floats  # (n_workers, K, K)
    mean_gain: Floats  # (n_workers,) on the least certain tasks
    asked: Bools  # (n_workers,)


@dataclass(frozen=True)
class NextBest(Proposer):
    """Ask where an answer is expected to tell most in a second of the worker's time.

    The gain of asking worker w about task t is the mutual information of the truth and the answer, under what we
    believe of the task and how the worker is known to answer (Lindley 1956, https://doi.org/10.1214/aoms/1177728069):

        gain(t, w) = H(p_t) + H(p_t C_w) - H(p_t, C_w)

    ranked by gain per second. A worker whose mean gain on the least certain tasks is below `share` of that of the best
    tenth is let go. It is enough when no gain of the most telling worker reaches `least`, or the expected accuracy
    reaches `target`; not because those who are there cannot help.

    In a running study, whoever comes gets the tasks where an answer by one of the crowd is expected to tell most; those
    that nobody was asked about come first, and those where the gain is below `least` get no more, whatever their quota.
    No task is settled by fewer than `least_answers`: a model of workers may explain the disagreement of two people by who
    they are, and be sure of a task that is doubtful.

    >>> from plurivox.aggregate import Ibcc
    >>> votes = Votes.of(task=list("aabb"), worker=["x", "y"] * 2, label=["no", "no", "yes", "no"])
    >>> found = NextBest(n=1, again=True).propose(votes, Ibcc().fit(votes))
    >>> found.tasks[found.task].tolist(), found.enough
    (['b'], False)
    """

    n: int = option(100, "how many questions to propose at most", low=1)
    per_worker: int = option(10, "questions proposed to one worker at most; tasks in a sitting", low=1)
    questions: str = option(
        "one-label:1.8", "kinds of question as form:seconds[:votes an answer is worth], with commas between"
    )
    share: float = option(0.6, "let a worker go whose gain is below this share of the best tenth's", low=0, high=1)
    strength: float = option(10, "votes after which a worker's own matrix counts half", low=0)
    least: float = option(1e-4, "a smaller gain, in nats, is not worth an answer", low=0)
    least_answers: int = option(3, "answers that a task of a running study gets before it can be settled", low=0)
    target: float = option(1.0, "enough when the expected accuracy reaches this", low=0, high=1)
    again: bool = option(False, "a worker may be asked about a task once more")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.kinds()

    def kinds(self) -> tuple[Question, ...]:
        """The kinds of question."""
        return tuple(_question(word) for word in self.questions.split(","))

    def choose(self, pool: Pool) -> list[int]:
        return list(pool.telling(self.per_worker, self.least))

    def gains(self, votes: Votes, fit: Fit) -> Floats:
        """(n_tasks,) what one more answer by one of this crowd is expected to tell of each task, in nats.

        A fit that is certain after few answers is not taken at its word: what agreement alone says of a task counts as
        one more answer beside those it has, and what it says of answers to tasks of a label as `strength` answers. Nor
        does it settle a task on which people differ by who they are: the gain is never less than agreement alone says.
        Without confusion matrices, agreement alone is what there is.
        """
        same_tasks(votes, fit)
        weight = np.ones(len(votes)) if votes.weight is None else votes.weight
        counts = votes.counts()
        belief, channel = one_coin(counts, np.bincount(votes.task, weight**2, votes.n_tasks).astype(np.float64))
        gain = np.maximum(expected_gain(belief, channel), self._floor(counts.sum(1)))
        if fit.confusion is not None:
            n, sure = counts.sum(1, keepdims=True), np.asarray(fit.soft.prob, np.float64)  # (n_tasks, 1), (n_tasks, K)
            mean = channels(fit.confusion.dense(), votes.workload, self.strength).mean(0)
            known = (n * sure).sum(0)[:, None]  # (K, 1) answers to tasks of each label
            channel = (known * mean + self.strength * channel) / np.maximum(known + self.strength, 1e-12)
            gain = np.maximum(gain, expected_gain((n * sure + belief) / (n + 1), channel))
        return gain

    def _floor(self, n: Floats) -> Floats:
        """(n_tasks,) a gain that keeps tasks open until `least_answers` slots are given: every one leaves `FALL` of it."""
        missing = self.least_answers - n
        return np.where(missing > 0, OPEN_STILL * self.least * FALL ** (1 - missing), 0.0)

    def useful(self, belief: Floats, matrices: Floats, n_votes: Floats) -> Useful:
        """Who is worth asking, given (n_tasks, K) beliefs, (n_workers, K, K) matrices and (n_workers,) votes."""
        channel = channels(matrices, n_votes, self.strength)
        unsure = belief[np.argsort(belief.max(1), kind="stable")[:OPEN]]
        mean_gain = np.array([expected_gain(unsure, one).mean() for one in channel])
        return Useful(channel, mean_gain, mean_gain >= self.share * np.quantile(mean_gain, 0.9))

    def _propose(self, votes: Votes, fit: Fit, workers: Names | None, progress: Progress) -> Proposals:
        assert fit.confusion is not None
        belief = np.asarray(fit.soft.prob, np.float64)
        found = self.useful(belief, fit.confusion.dense(), votes.workload)
        wanted, pace, rows = self._places(votes, workers), _pace(votes), [_NOTHING]
        for step, worker in enumerate(wanted.tolist()):
            if found.asked[worker]:
                rows.append(self._for_one(votes, belief, found.channel[worker], worker, float(pace[worker])))
            progress(step, len(wanted))
        task, worker, question, gain, seconds = (np.concatenate(column) for column in zip(*rows, strict=True))
        best = np.argsort(-gain / seconds, kind="stable")[: self.n]
        expected = float(belief.max(1).mean())
        told, why = self._nothing_left(belief, found, wanted)
        return Proposals(
            task=task[best],
            worker=worker[best],
            question=question[best],
            gain=gain[best],
            seconds=seconds[best],
            tasks=votes.tasks,
            workers=votes.workers,
            forms=as_names([kind.form for kind in self.kinds()]),
            enough=expected >= self.target or (not len(best) and told),
            why=f"expected accuracy {expected:.4f}; " + (f"largest gain {gain.max():.4g} nats" if len(best) else why),
            made_by=self.spec,
            let_go=votes.workers[wanted[~found.asked[wanted]]],
        )

    def _for_one(self, votes: Votes, belief: Floats, channel: Floats, worker: int, pace: float) -> Row:
        """The best questions for one worker: task, worker, question, gain, seconds."""
        gain = expected_gain(belief, channel)
        if not self.again:
            order, start = votes.by_worker
            gain[votes.task[order[start[worker] : start[worker + 1]]]] = 0
        unsure, kinds = uncertainty_of(belief), self.kinds()
        told = np.stack([several(gain, unsure, kind.worth) for kind in kinds])  # (n_kinds, n_tasks)
        seconds = np.array([kind.seconds * pace for kind in kinds])
        rate = told / seconds[:, None]
        kind = rate.argmax(0)
        top = np.argsort(-rate.max(0), kind="stable")[: self.per_worker]
        top = top[told[kind[top], top] >= max(self.least, 1e-12)]
        return top, np.full(len(top), worker), kind[top], told[kind[top], top], seconds[kind[top]]

    def _nothing_left(self, belief: Floats, found: Useful, wanted: Ints) -> tuple[bool, str]:
        """Where nothing is proposed: whether nobody's answer would tell anything, and why in words."""
        top = int(found.mean_gain.argmax())
        if expected_gain(belief, found.channel[top]).max() < self.least:
            return True, f"no gain reaches {self.least:g} nats"
        if not found.asked[wanted].any():
            return False, "nobody who is there is worth asking now"
        return False, "who is there has answered all that is open"

    def _places(self, votes: Votes, workers: Names | None) -> Ints:
        if workers is None:
            return np.arange(votes.n_workers)
        names = as_names(workers, "workers")
        place = positions(votes.workers, names)
        if len(absent := names[place < 0]):
            raise InputError(
                f"{len(absent)} workers have not voted yet, so nothing is known of them: {first_few(absent)}"
            )
        return place


def _question(word: str) -> Question:
    form, *numbers = word.strip().split(":")
    try:
        made = Question(form, *map(float, numbers))
    except (TypeError, ValueError):
        raise OptionError(f"{word!r} is no question; write form:seconds:worth, such as top-two:12:2.5") from None
    if not form or not made.seconds > 0 or not made.worth > 0:
        raise OptionError(f"{word!r} needs a form, and seconds and worth above 0")
    return made


def _pace(votes: Votes) -> Floats:
    """(n_workers,) a worker's median time over the crowd's; 1 where times are unknown."""
    pace = np.ones(votes.n_workers)
    if votes.seconds is None:
        return pace
    known = np.isfinite(votes.seconds) & (votes.seconds > 0) & (votes.worker >= 0)
    if not known.any():
        return pace
    worker, seconds = votes.worker[known], votes.seconds[known]
    order, start = group_rows(worker, votes.n_workers)
    own = group_medians(start, seconds[order])  # nan for who has none
    return np.where(np.isnan(own), pace, own / float(np.median(seconds)))
