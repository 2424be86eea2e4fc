"""EBCC: confusion matrices that differ between kinds of tasks."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from plurivox.aggregate._bayes import LabelPrior, accuracies, diagonal_prior, mean_confusion
from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._latent import first_guess, held_tasks
from plurivox.aggregate._starts import best_of
from plurivox.core.labels import SoftLabels
from plurivox.core.method import option
from plurivox.core.names import Floats, frozen
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.core.watch import Watch
from plurivox.engine.blocks import Blocks
from plurivox.engine.dirichlet import expected_logs
from plurivox.engine.em import Climb, climb
from plurivox.engine.kernels import subtypes

CHUNK = 4096  # tasks that get their random subtypes at a time


class Sums(NamedTuple):
    """What one pass over the votes finds."""

    n_kind: Floats  # (n_labels * n_subtypes,) how many tasks are of each kind
    counts: Floats  # (n_workers * n_labels * n_labels * n_subtypes,) flat [worker, said, kind], weights of votes


@dataclass(frozen=True)
class Ebcc(Aggregator):
    """Tasks of one label fall into subtypes, and what workers say hangs on the subtype: their errors may go together.

    Workers who fail on the same tasks are no independent witnesses; a mixture of `subtypes` for each true label, with a
    row of each worker's matrix for each of them, models that. Priors: Dirichlet(`diagonal`, `off_diagonal`) on the rows,
    Dirichlet(`sparsity` / subtypes) on the subtypes of a label, and on the frequencies of labels the vote shares of all
    tasks, as the authors' code has it. Variational Bayes from several random starts; the best bound is kept. One subtype
    is IBCC. The ability of a worker is the mean chance of a right vote.

    Li, Rubinstein & Cohn (2019), Exploiting worker correlation for label aggregation in crowdsourcing,
    https://proceedings.mlr.press/v97/li19i.html

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> Ebcc(subtypes=2, starts=2).fit(votes).soft.hard().tolist()
    ['x', 'y', 'x']
    """

    subtypes: int = option(10, "kinds of tasks within each label", low=1)
    starts: int = option(10, "how many random starts; the best is kept", low=1)
    seed: int = option(0, "of the random starts", low=0)
    diagonal: float = option(4.0, "votes on the true label that a worker is taken to have given before", low=1e-6)
    off_diagonal: float = option(1.0, "votes on each other label, likewise", low=1e-6)
    sparsity: float = option(0.1, "tasks of each label seen before, shared by its subtypes: low keeps few", low=1e-6)
    prior: str = option("learnt", "how frequent labels are: learnt, uniform, or a share for each, such as .2,.8")
    max_iter: int = option(500, "most passes over the votes for each start", low=1)
    tol: float = option(1e-6, "stop when a pass gains less than this a vote", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        mixture = _Mixture(self, votes, gold, start)
        tol = self.tol * max(votes.n_answers, 1)

        def attempt(i: int, watch: Watch) -> Climb[Sums]:
            first = mixture.scatter(i)
            return climb(mixture.sweep, first, max_iter=self.max_iter, tol=tol, watch=watch)

        top, kept = best_of(self.starts, self.max_iter, attempt, watch)
        mixture.sweep(top.state)  # the posterior of the best
        kinds, told = mixture.kinds(top.state), mixture.told(top.state)
        ability, low, high = accuracies(told, kinds)
        return Fit(
            SoftLabels.of(mixture.posterior, votes.tasks, votes.labels, support=votes.support, scale=votes.scale),
            votes.workers,
            self.word,
            prior=kinds.reshape(votes.n_labels, -1).sum(1),
            confusion=mean_confusion(told, kinds, votes),
            ability=ability,
            ability_low=low,
            ability_high=high,
            trace=top.trace,
            converged=top.converged,
            found={"start kept": kept},
        )


class _Mixture:
    """The votes and the kinds of their tasks."""

    def __init__(self, method: Ebcc, votes: Votes, gold: SoftLabels | None, start: Fit | None) -> None:
        self.method, self.votes = method, votes
        self.n_kinds = votes.n_labels * method.subtypes
        self.n_keys = votes.n_workers * votes.n_labels
        key = votes.worker.astype(np.uint32) * np.uint32(votes.n_labels) + votes.label
        weight = None if votes.weight is None else votes.weight
        self.rows = frozen(votes.start), frozen(key), weight
        self.blocks = Blocks(votes.start, cells=self.n_keys * self.n_kinds, width=self.n_kinds)
        self.held, known = held_tasks(votes, gold)
        self.posterior = first_guess(votes, start)
        if len(self.held):
            self.posterior[self.held] = known
        else:
            self.held = None
        self.first = self.posterior.copy()
        rows = diagonal_prior(votes.n_labels, method.diagonal, method.off_diagonal)
        self.pseudo = np.repeat(rows, method.subtypes, 1)  # (said, kind)
        self.within = np.full((method.subtypes, votes.n_labels), method.sparsity / method.subtypes)
        shares = first_guess(votes, None)[votes.support > 0].sum(0)
        self.labels = LabelPrior.of(method.prior, votes, np.maximum(shares, 1e-6))

    def scatter(self, start: int) -> Sums:
        """Give every task a first posterior: its vote shares, split over the subtypes at random."""

        def work(first: int, last: int, n_kind: Floats, counts: Floats) -> float:
            for begin in range(first, last, CHUNK):
                end = min(begin + CHUNK, last)
                chance = np.random.default_rng([self.method.seed, start, begin])
                split = chance.standard_exponential((end - begin, self.votes.n_labels, self.method.subtypes))
                if start == 0:
                    split[:, :, 1:] = 0.0
                split *= (self.first[begin:end] / split.sum(2))[:, :, None]
                share = split.reshape(end - begin, self.n_kinds)
                subtypes.count(begin, end, *self.rows, share, n_kind, counts.reshape(self.n_keys, self.n_kinds))
            return 0.0

        return Sums(*self.blocks.gather(work, self.n_kinds, self.n_keys * self.n_kinds)[1])

    def sweep(self, sums: Sums) -> tuple[Sums, float]:
        """One pass over the votes."""
        by_label = sums.n_kind.reshape(self.votes.n_labels, -1)
        log_label, first = self.labels.expect(by_label.sum(1))
        log_within, second = expected_logs(np.ascontiguousarray(by_label.T).ravel(), self.within)
        table, third = expected_logs(sums.counts, self.pseudo, self.votes.n_workers)
        table = table.reshape(self.n_keys, self.n_kinds)
        log_prior = (log_label[:, None] + log_within.reshape(self.within.shape).T).ravel()

        def work(first: int, last: int, n_kind: Floats, counts: Floats) -> float:
            given = (*self.rows, log_prior, table, self.held, self.posterior)
            return subtypes.sweep(first, last, *given, n_kind, counts.reshape(self.n_keys, self.n_kinds))

        value, better = self.blocks.gather(work, self.n_kinds, self.n_keys * self.n_kinds)
        return Sums(*better), value + first + second + third

    def kinds(self, sums: Sums) -> Floats:
        """(n_kinds,) how frequent each kind is on average."""
        by_label = sums.n_kind.reshape(self.votes.n_labels, -1)
        within = by_label + self.within.T
        return (self.labels.mean(by_label.sum(1))[:, None] * within / within.sum(1, keepdims=True)).ravel()

    def told(self, sums: Sums) -> Floats:
        """(n_workers, n_said, n_kinds) the Dirichlet parameters of the workers' matrices."""
        return sums.counts.reshape(self.votes.n_workers, self.votes.n_labels, self.n_kinds) + self.pseudo
