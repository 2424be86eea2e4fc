"""How the default for truth was chosen: `python -m examples.truth_default`, with the data sets in PLURIVOX_DATA.

Every candidate on 16 data sets with gold labels and on simulated crowds. Constants of a candidate, such as a power, are chosen
on the other 15 data sets (leave one data set out): those with the smallest NLL / .5 + Brier / .25 + ECE / .1.
"""

import itertools
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

import plurivox as pv
from examples.truth_candidates import Model, Table, dawid_skene, pool
from plurivox.aggregate.average import DEFAULT_PARTS
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.dataset_reader import as_votes
from plurivox.workflows.compare_aggregators import gold_of_tasks_with_votes

SETS = [
    *(
        "bluebird",
        "dog",
        "rte",
        "web",
        "sp_amt",
        "product_match",
        "tweet_sentiment",
        "adult2",
        "fact_eval",
        "relevance4",
    ),
    *("barzan", "hitspam", "labelme", "sentence_polarity", "wsd", "pos_twitter"),
]
TEN = split_at_commas_outside_brackets(DEFAULT_PARTS)
POOLED = "dawid-skene[pool=4]"
POWERS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2]
CORRELATIONS, BACKGROUNDS = [0.0, 0.03, 0.06, 0.1, 0.2, 0.3], [0.0, 0.02, 0.05, 0.08, 0.1, 0.12, 0.14, 0.16, 0.2]
Figures = NDArray[np.float64]  # accuracy, NLL, Brier, ECE


class Crowd:
    """Votes with gold labels, and the posteriors of the tasks with a gold label by method, each fitted once."""

    def __init__(self, votes: Votes, gold: SoftLabels) -> None:
        self.votes, known = votes, gold_of_tasks_with_votes(votes, gold)
        self.rows, self.true = positions(votes.tasks, known.tasks), positions(votes.labels, known.hard())
        self._prob: dict[str, Table] = {}
        self._models: dict[tuple[float, float], tuple[Model, float]] = {}

    def prob(self, spec: str) -> Table:
        """Return the soft labels of a method, (n_gold, n_labels)."""
        if spec not in self._prob:
            self._prob[spec] = np.asarray(pv.fit(self.votes, spec).soft.prob[self.rows], np.float64)
        return self._prob[spec]

    def model(self, em_power: float = 1.0, hard: float = 0.0) -> tuple[Model, float]:
        """Return a variant of Dawid-Skene on the tasks with a gold label, and its power by held-out votes."""
        key = em_power, hard
        if key not in self._models:
            model = dawid_skene(self.votes, em_power=em_power, hard=hard)
            best = model.power_by_held_out_votes(self.votes, POWERS)
            rows = {"per_task": model.per_task[self.rows], "n_votes": model.n_votes[self.rows]}
            self._models[key] = model._replace(**rows), best
        return self._models[key]

    def figures(self, prob: Table) -> Figures:
        """Return accuracy (ties shared), NLL (at least 1e-6), Brier score and ECE (15 bins), as `plurivox compare` does."""
        n = len(self.true)
        top = prob.max(1)
        is_top = prob >= top[:, None] - 1e-12
        right = is_top[np.arange(n), self.true] / is_top.sum(1)
        nll = -np.log(np.maximum(prob[np.arange(n), self.true], 1e-6)).mean()
        brier = ((prob - np.eye(prob.shape[1])[self.true]) ** 2).sum(1).mean()
        bins = np.minimum((top * 15).astype(int), 14)
        ece = np.abs(np.bincount(bins, top - right)).sum() / n
        return np.array([right.mean(), nll, brier, ece])


Candidate = Callable[[Crowd], Table]


def pooled(specs: list[str], weights: list[float], constants: tuple[float, float]) -> Candidate:
    """Return the candidate that pools these methods with this power and background."""
    return lambda crowd: pool([crowd.prob(spec) for spec in specs], weights, *constants)


def mean_of_powers(crowd: Crowd, power: float) -> Table:
    """Return the mean of the ten parts of `average`, each to a power."""
    return np.asarray(np.mean([pool([crowd.prob(spec)], [1.0], power, 0.0) for spec in TEN], axis=0))


def with_held_out_power(crowd: Crowd, background: float) -> Table:
    """Return pooled Dawid-Skene with the power at which it predicts held-out votes best."""
    model, power = crowd.model()
    return model.posterior(power, background=background)


def with_power_chosen_on_gold(crowd: Crowd) -> Table:
    """Return the pool of the default with the power and background that are best on the gold labels of the data set itself."""
    tried = [pooled(["wawa", POOLED], [0.7, 0.3], one)(crowd) for one in itertools.product(POWERS, BACKGROUNDS)]
    return min(tried, key=lambda prob: loss(crowd.figures(prob)))


def loss(figures: Figures) -> float:
    """Return the number by which constants are chosen, from accuracy, NLL, Brier score and ECE."""
    return float(figures[1] / 0.5 + figures[2] / 0.25 + figures[3] / 0.1)


def model_posterior(em_power: float, hard: float, constants: tuple[float, ...]) -> Candidate:
    """Return the candidate of a variant of Dawid-Skene with these constants of `Model.posterior`."""
    return lambda crowd: crowd.model(em_power, hard)[0].posterior(*constants)


def families() -> dict[str, list[Candidate]]:
    """Return {name: candidates with different constants}; a family with one member has nothing to choose."""
    names = ["average", "temperature", "dawid-skene", POOLED, "ibcc", "ebcc", "mace", "glad", "wawa", "vote-shares"]
    grid = list(itertools.product(POWERS, BACKGROUNDS))
    found: dict[str, list[Candidate]] = {name: [partial(Crowd.prob, spec=name)] for name in ("log-pool", *names)}
    found["mean of ten, each to the power"] = [partial(mean_of_powers, power=power) for power in POWERS]
    pools = {
        "ten": (TEN, [1.0] * 10),
        "ebcc, mace, dawid-skene, glad, wawa": (["ebcc", "mace", "dawid-skene", "glad", "wawa"], [1.0] * 5),
        "wawa, dawid-skene, pooled, mace": (["wawa", "dawid-skene", POOLED, "mace"], [1.0] * 4),
        "wawa, pooled, ebcc": (["wawa", POOLED, "ebcc"], [1.0] * 3),
        "wawa, pooled, mace": (["wawa", POOLED, "mace"], [1.0] * 3),
        "wawa, pooled, ibcc": (["wawa", POOLED, "ibcc"], [1.0] * 3),
        "wawa, dawid-skene": (["wawa", "dawid-skene"], [0.7, 0.3]),
        **{f"wawa {w:g}, pooled {1 - w:g}": (["wawa", POOLED], [w, 1 - w]) for w in (0.3, 0.5, 0.6, 0.7, 0.8)},
        **{f"only {name}": ([name], [1.0]) for name in (POOLED, "wawa", "ibcc", "ebcc", "average")},
    }
    for name, (specs, weights) in pools.items():
        found[f"pool: {name}"] = [pooled(specs, weights, one) for one in grid]
    full = list(itertools.product(POWERS, CORRELATIONS, BACKGROUNDS))
    found["pooled, power of the likelihood"] = [model_posterior(1, 0, (p, 0.0, b)) for p, b in grid]
    found["pooled, design effect"] = [model_posterior(1, 0, one) for one in full]
    found["pooled, hard tasks 5%, design effect"] = [model_posterior(1, 0.05, one) for one in full]
    found["pooled, power inside EM"] = [
        model_posterior(em, 0, (em, 0.0, b)) for em in (0.4, 0.6, 0.8, 1.0) for b in BACKGROUNDS
    ]
    found["pooled, power by held-out votes"] = [partial(with_held_out_power, background=b) for b in BACKGROUNDS]
    found["log-pool, power chosen on gold (cheating)"] = [with_power_chosen_on_gold]
    return found


def print_real() -> None:
    """Print the figures of all candidates on the 16 data sets, constants chosen on the other 15."""
    crowds = []
    for name in SETS:
        data = pv.read(name)
        assert data.gold is not None
        crowds.append(Crowd(as_votes(data), data.gold))
    rows, rest = {}, [at for at, name in enumerate(SETS) if name != "hitspam"]
    for name, members in families().items():
        table = np.array([[crowd.figures(member(crowd)) for crowd in crowds] for member in members])
        losses = np.apply_along_axis(loss, 2, table)  # (members, sets)
        left_out = np.array(
            [table[np.delete(losses, at, 1).mean(1).argmin(), at] for at in range(len(SETS))]
        )  # (sets, 4)
        rows[name] = (table[losses.mean(1).argmin()].mean(0), left_out.mean(0), left_out[rest].mean(0), left_out)
    average = rows["average"][3][:, 0]
    n_gold = np.array([len(crowd.true) for crowd in crowds])
    print(
        "| candidate | accuracy | NLL | Brier | ECE | NLL in sample | without hitspam: NLL | Brier | ECE "
        "| sets below `average` |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    for name, (inside, found, without, each) in sorted(rows.items(), key=lambda row: loss(row[1][1])):
        gap = each[:, 0] - average
        worse = [SETS[at] for at in np.flatnonzero((gap < -0.01) & (gap * n_gold < -2))]
        cells = [f"{value:.3f}" for value in (*found, inside[1], *without[1:])]
        print(f"| {name} | {' | '.join(cells)} | {', '.join(worse) or '-'} |")


WORLDS = {
    "independent": "independent-confusion[{}]",
    "spammers": "hammer-spammer[ratio=0.4,{}]",
    "copying": "independent-confusion[copiers=0.5,{}]",
    "teachers": "student-teacher[ratio=0.8,{}]",
    "hard tasks": "discrete-difficulty[random=0.1,{}]",
}
ON_SIMULATED = (
    "log-pool",
    "average",
    "dawid-skene",
    POOLED,
    "ibcc",
    "ebcc",
    "mace",
    "wawa",
    "vote-shares",
    "temperature",
)


def print_simulated(n_seeds: int = 3) -> None:
    """Print the figures of methods on simulated crowds, by world and by votes per task."""
    rows: dict[tuple[str, int], dict[str, list[Figures]]] = {}
    for (world, spec), k, votes in itertools.product(WORLDS.items(), (2, 4, 12), (1, 2, 3, 5, 10, 50)):
        for seed in range(n_seeds):
            sizes = f"n_tasks=400,n_workers=60,n_labels={k},feedback={votes},seed={seed}"
            drawn = pv.simulate.methods.make(spec.format(sizes)).draw()
            crowd = Crowd(drawn.votes, drawn.truth)
            for method in ON_SIMULATED:
                rows.setdefault((world, votes), {}).setdefault(method, []).append(crowd.figures(crowd.prob(method)))
    for title, group in (("world", lambda key: key[0]), ("votes per task", lambda key: key[1])):
        print(f"\n| {title} | " + " | ".join(f"`{method}`" for method in ON_SIMULATED) + " |")
        print("|---|" + "---:|" * len(ON_SIMULATED))
        for value in dict.fromkeys(map(group, rows)):
            cells = []
            for method in ON_SIMULATED:
                mean = np.mean([one for key, found in rows.items() if group(key) == value for one in found[method]], 0)
                cells.append(f"{mean[0]:.3f} / {mean[1]:.3f} / {mean[3]:.3f}")
            print(f"| {value} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    warnings.simplefilter("ignore", pv.PlurivoxWarning)
    print_real()
    print_simulated()
