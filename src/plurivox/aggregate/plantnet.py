"""The rule of Pl@ntNet: workers weigh by how many labels they have identified."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_counts import prior
from plurivox.aggregate._shared.weighted_votes import WeightedVotes
from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.method import option, split_list
from plurivox.core.progress import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Candidates
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes

BASE = float(np.log(2.1))  # the weight of who has identified nothing: three such workers reach a weight of 2


@dataclass(frozen=True)
class PlantNet(Aggregator):
    """Vote shares in which workers weigh more the more different labels they have identified.

    Start from a majority vote, every weight log 2.1. Then, round by round, until no weight changes:
    w_j = n_j^alpha - n_j^beta + log 2.1, where n_j is the number of different labels worker j identified, and each task
    takes the label whose votes weigh most. A task is valid where that weight is above 2 and above .7 of the task's.

    A label is identified by who named it on a valid task where it won. Where the task's author is known (`authors`:
    the earliest vote), only labels identified on one's own tasks count 1 each; further labels named on any task they won
    count `vote_worth` each, and the sum of these is rounded. Experts weigh the same from the start: by default more
    than anybody with 10,000 labels, so one of them makes a task valid.

    p(k | task) is the share of the weight behind k. `found` counts the tasks that are not valid ("undecided") and marks
    those that are ("decided", one truth value a task). The ability is w_j. Ties go to the first label.

    Lefort et al. (2024), https://doi.org/10.48550/arXiv.2406.03356

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["ash", "ash", "elm", "elm", "elm", "elm"])
    >>> fit = PlantNet(experts="3").fit(votes)
    >>> fit.soft.hard().tolist(), fit.ability.round(2), fit.found["decided"]
    (['elm', 'elm'], array([  0.74,   0.74, 100.  ]), array([ True,  True]))
    """

    alpha: float = option(0.5, "power by which weights grow with the labels identified", low=0, high=1)
    beta: float = option(0.2, "power taken off again", low=0, high=1)
    min_weight: float = option(2.0, "weight that the label of a valid task must exceed", low=0)
    min_share: float = option(0.7, "share of a task's weight that the label of a valid task must exceed", low=0, high=1)
    authors: Literal["unknown", "earliest"] = option("unknown", "who a task belongs to: nobody, or its earliest vote")
    vote_worth: float = option(
        0.1, "what a label identified on the tasks of others counts, where authors are known", low=0
    )
    experts: str = option("", "workers known to be experts, with commas between them")
    expert_weight: float = option(100.0, "what every expert weighs", low=0)
    max_iter: int = option(100, "rounds at most", low=1)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start
        ballots, own, expert = WeightedVotes.of(votes), self._own(votes), self._expert(votes)
        weight = np.where(expert, self.expert_weight, BASE)
        split = ballots.split(ballots.sums(weight))
        converged = False
        for step in range(self.max_iter):
            number = self._identified(ballots, own, split, self._valid(ballots, split, weight))
            last, weight = weight, np.where(expert, self.expert_weight, number**self.alpha - number**self.beta + BASE)
            changed = int((last != weight).sum())
            progress(step, self.max_iter, changed)
            if converged := changed == 0:
                break
            split = ballots.split(ballots.sums(weight))
        valid = self._valid(ballots, split, weight)
        found = {"rounds": step + 1, "undecided": int((~valid).sum()), "decided": valid}
        soft = ballots.soft(split)
        return Fit(soft, votes.workers, self.spec, prior(votes), ability=weight, converged=converged, found=found)

    def _valid(self, ballots: WeightedVotes, split: Candidates, weight: Floats) -> Bools:
        """(n_tasks,) whether the leading label has enough weight, and enough of the task's."""
        total = np.bincount(ballots.task, ballots.sums(weight), minlength=ballots.votes.n_tasks)
        share = np.zeros(ballots.votes.n_tasks)
        np.maximum.at(share, ballots.task, split.mass)
        return np.asarray((share * total > self.min_weight) & (share > self.min_share))

    def _identified(self, ballots: WeightedVotes, own: Bools, split: Candidates, valid: Bools) -> Floats:
        """(n_workers,) how many labels each worker has identified."""
        votes, winner = ballots.votes, ballots.winners(split)
        right = (votes.label == winner[votes.task]) & (votes.weights > 0)
        pair = votes.worker.astype(np.int64) * votes.n_labels + votes.label  # a worker and a label
        sure = np.unique(pair[right & own & valid[votes.task]])
        number = np.bincount(sure // votes.n_labels, minlength=votes.n_workers).astype(np.float64)
        if self.authors == "unknown":
            return number
        further = np.setdiff1d(pair[right], sure)
        return number + np.round(self.vote_worth * np.bincount(further // votes.n_labels, minlength=votes.n_workers))

    def _own(self, votes: Votes) -> Bools:
        """(n_rows,) the votes of a task's author; all of them where authors are unknown."""
        if self.authors == "unknown":
            return np.ones(len(votes), bool)
        if votes.when is None or np.isnan(votes.when).any():
            raise InputError(
                "plantnet finds authors by their earliest vote; these votes lack times: use authors=unknown"
            )
        order = np.lexsort((votes.worker, votes.when, votes.task))
        first = order[votes.start[:-1][np.diff(votes.start) > 0]]  # (n voted tasks,)
        author = np.full(votes.n_tasks, -1)
        author[votes.task[first]] = votes.worker[first]
        return np.asarray(votes.worker == author[votes.task])

    def _expert(self, votes: Votes) -> Bools:
        """(n_workers,) who is named as an expert."""
        names = as_names(split_list(self.experts), "experts")
        place: Ints = positions(votes.workers, names)
        if len(strangers := names[place < 0]):
            raise InputError(f"experts that are not among the workers: {first_few(strangers)}; look at their names")
        expert = np.zeros(votes.n_workers, bool)
        expert[place] = True
        return expert
