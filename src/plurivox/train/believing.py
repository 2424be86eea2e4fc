"""The two steps of EM when a classifier gives each task a prior of its own: what is so, and how workers answer."""

import numpy as np
from scipy.sparse import csr_array

from plurivox.core.errors import InputError, some
from plurivox.core.labels import SoftLabels
from plurivox.core.names import Floats, Ints, positions
from plurivox.core.results import Confusion, Fit
from plurivox.core.votes import Votes

PSEUDO_HELP = "pseudo-count in every cell of a worker's matrix"
CLIP_HELP = "the classifier's probabilities are taken to be at least this"


class Believing:
    """E-step and M-step over votes, each a product with one sparse matrix [task, (worker, said)].

    Tasks whose label is known keep it.

    >>> votes = Votes.of(task=list("aab"), worker=[1, 2, 1], label=list("xyy"))
    >>> steps = Believing(votes)
    >>> steps.posterior(np.full((2, 2), .5), steps.identity())[0].round(3)
    array([[0.5 , 0.5 ],
           [0.01, 0.99]])
    """

    def __init__(self, votes: Votes, gold: SoftLabels | None = None, pseudo: float = 0.01, clip: float = 1e-3) -> None:
        if len(votes) and bool((votes.worker < 0).any()):
            raise InputError("raykar must know who voted; these votes hold counts without names")
        self.votes, self.pseudo, self.clip = votes, pseudo, clip
        k, key = votes.n_labels, votes.worker.astype(np.int64) * votes.n_labels + votes.label
        self.said = csr_array((votes.weights, (votes.task, key)), shape=(votes.n_tasks, votes.n_workers * k))
        self.known: Ints = np.empty(0, np.int64)  # (n_known,) places of tasks whose label is known
        self.truth: Floats = np.empty((0, k))
        if gold is not None:
            self._know(gold)

    def _know(self, gold: SoftLabels) -> None:
        strange = positions(self.votes.labels, gold.labels) < 0
        if strange.any() and bool((gold.prob[:, strange] > 0).any()):
            raise InputError(f"known labels hold {some(gold.labels[strange])}, which no vote names; list all labels")
        place = positions(self.votes.tasks, gold.tasks)
        self.known, mine = place[place >= 0], gold.on(gold.tasks[place >= 0])
        self.truth = np.asarray(mine.on_labels(self.votes.labels).prob)

    def identity(self) -> Floats:
        """(n_workers, true, said) matrices of workers who nearly always say what is so."""
        k = self.votes.n_labels
        start = np.eye(k) + self.pseudo
        return np.tile(start / start.sum(1, keepdims=True), (self.votes.n_workers, 1, 1))

    def clipped(self, prior: Floats) -> Floats:
        """Probabilities, none of them next to nothing."""
        held = np.clip(prior, self.clip, 1 - self.clip) if self.clip else prior
        return held / held.sum(1, keepdims=True)

    def posterior(self, prior: Floats, matrices: Floats) -> tuple[Floats, float]:
        """(n_tasks, n_labels) what is so by the classifier and the votes, and the log likelihood of the votes."""
        k = prior.shape[1]
        tiny = np.finfo(float).tiny
        log_said = np.log(np.maximum(matrices, tiny)).transpose(0, 2, 1).reshape(-1, k)  # [(worker, said), true]
        row = np.log(np.maximum(self.clipped(prior), tiny)) + self.said @ log_said
        best = row.max(1, keepdims=True)
        raised = np.exp(row - best)
        mass = raised.sum(1, keepdims=True)
        posterior = raised / mass
        posterior[self.known] = self.truth
        return posterior, float((best + np.log(mass)).sum())

    def matrices(self, posterior: Floats) -> Floats:
        """(n_workers, true, said) how each worker answers, by the counts that a posterior expects."""
        k = self.votes.n_labels
        counts = (self.said.T @ posterior).reshape(-1, k, k).transpose(0, 2, 1) + self.pseudo
        mass = counts.sum(2, keepdims=True)
        return np.divide(counts, mass, out=np.full_like(counts, 1 / k), where=mass > 0)

    def fit(
        self,
        word: str,
        posterior: Floats,
        matrices: Floats,
        trace: tuple[float, ...] = (),
        converged: bool | None = None,
    ) -> Fit:
        """The answer."""
        votes, prior = self.votes, posterior.mean(0)
        soft = SoftLabels.of(posterior, votes.tasks, votes.labels, support=votes.support)
        return Fit(
            soft,
            votes.workers,
            word,
            prior=prior,
            confusion=Confusion(matrices, votes.workers, votes.labels),
            ability=np.einsum("wkk,k->w", matrices, prior),
            trace=trace,
            converged=converged,
        )
