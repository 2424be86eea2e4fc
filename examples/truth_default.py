"""How the default for truth was chosen: `python -m examples.truth_default`, with the data sets in PLURIVOX_DATA.

Every candidate on 16 data sets with gold labels and on simulated crowds. Its constants, such as a power, are chosen
on the other 15 data sets (leave one data set out): those with the smallest NLL / .5 + Brier / .25 + ECE / .1. "Sets below" have
an accuracy more than .01 and more than two tasks below that of `average`. The other tables have the constants that are best
on all 16 data sets.
"""

import itertools
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

import plurivox as pv
from examples.truth_candidates import Model, Table, dawid_skene, pool
from plurivox.aggregate.average import DEFAULT_PARTS
from plurivox.clean import clean
from plurivox.core.hidden_answers import draw_answers
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
WAWA = "wawa[ties=share,pool=1]"  # the part that log-pool uses; names of candidates call it wawa
POWERS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2]
CORRELATIONS, BACKGROUNDS = [0.0, 0.03, 0.06, 0.1, 0.2, 0.3], [0.0, 0.02, 0.05, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.25]
CHEATING = "log-pool, power chosen on the gold labels (cheating)"
Figures = NDArray[np.float64]  # accuracy, NLL, Brier, ECE


class Crowd:
    """Votes with gold labels, and the posteriors of the tasks with a gold label by method, each fitted once."""

    def __init__(self, votes: Votes, gold: SoftLabels) -> None:
        self.votes, known = votes, gold_of_tasks_with_votes(votes, gold)
        self.rows, self.true = positions(votes.tasks, known.tasks), positions(votes.labels, known.hard())
        counts = np.sort(votes.counts()[self.rows], 1)
        self.lead = counts[:, -1:] - counts[:, -2:-1]  # (n_gold, 1) of the label with most votes over the second
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
    """Return the candidate that is a pool of these methods with this power and background."""
    return lambda crowd: pool([crowd.prob(spec) for spec in specs], weights, *constants)


def pooled_with_lead(specs: list[str], weights: list[float], power: float, background: float, lead: float) -> Candidate:
    """Return the candidate with a background that falls with the lead of the top label, and halves at `lead` votes."""
    return lambda crowd: pool(
        [crowd.prob(spec) for spec in specs], weights, power, background / (1 + crowd.lead / lead)
    )


def mean_of_powers(crowd: Crowd, power: float) -> Table:
    """Return the mean of the ten parts of `average`, each to a power."""
    return np.asarray(np.mean([pool([crowd.prob(spec)], [1.0], power, 0.0) for spec in TEN], axis=0))


def with_held_out_power(crowd: Crowd, background: float) -> Table:
    """Return pooled Dawid-Skene with the power at which it predicts held-out votes best."""
    model, power = crowd.model()
    return model.posterior(power, background=background)


def with_power_chosen_on_gold(crowd: Crowd) -> Table:
    """Return the pool of the default with the power and background that are best on the gold labels of the data set itself."""
    tried = [pooled([WAWA, POOLED], [0.7, 0.3], one)(crowd) for one in itertools.product(POWERS, BACKGROUNDS)]
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
    mixtures = {
        "ten": (TEN, [1.0] * 10),
        "ebcc, mace, dawid-skene, glad, wawa": (["ebcc", "mace", "dawid-skene", "glad", WAWA], [1.0] * 5),
        "wawa, dawid-skene, pooled, mace": ([WAWA, "dawid-skene", POOLED, "mace"], [1.0] * 4),
        "wawa, pooled, ebcc": ([WAWA, POOLED, "ebcc"], [1.0] * 3),
        "wawa, pooled, mace": ([WAWA, POOLED, "mace"], [1.0] * 3),
        "wawa, pooled, ibcc": ([WAWA, POOLED, "ibcc"], [1.0] * 3),
        "wawa, dawid-skene": ([WAWA, "dawid-skene"], [0.7, 0.3]),
        **{f"wawa {w:g}, pooled {1 - w:g}": ([WAWA, POOLED], [w, 1 - w]) for w in (0.3, 0.5, 0.6, 0.7, 0.8)},
        **{f"only {name}": ([name], [1.0]) for name in (POOLED, "wawa", "ibcc", "ebcc", "average")},
    }
    for name, (specs, weights) in mixtures.items():
        found[f"pool: {name}"] = [pooled(specs, weights, one) for one in grid]
    for lead in (10, 20, 30, 50):
        found[f"pool: wawa 0.7, pooled 0.3, lead {lead}"] = [
            pooled_with_lead([WAWA, POOLED], [0.7, 0.3], *one, lead) for one in grid
        ]
    full = list(itertools.product(POWERS, CORRELATIONS, BACKGROUNDS))
    found["pooled, power of the likelihood"] = [model_posterior(1, 0, (p, 0.0, b)) for p, b in grid]
    found["pooled, design effect"] = [model_posterior(1, 0, one) for one in full]
    found["pooled, hard tasks 5%, design effect"] = [model_posterior(1, 0.05, one) for one in full]
    found["pooled, power inside EM"] = [
        model_posterior(em, 0, (em, 0.0, b)) for em in (0.4, 0.6, 0.8, 1.0) for b in BACKGROUNDS
    ]
    found["pooled, power by held-out votes"] = [partial(with_held_out_power, background=b) for b in BACKGROUNDS]
    found[CHEATING] = [with_power_chosen_on_gold]
    return found


def left_out(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n_sets, 4) the figures on each data set of the member (n_members, n_sets, 4) that is best on the others."""
    losses = np.apply_along_axis(loss, 2, table)
    sets = range(table.shape[1])
    return np.array([table[np.delete(losses, at, 1).mean(1).argmin(), at] for at in sets])


def difference_text(values: NDArray[np.float64], reference: NDArray[np.float64]) -> str:
    """Return the mean difference over data sets with its 95% interval by Student's t, not adjusted for many candidates."""
    gap = values - reference
    if not gap.any():
        return "-"
    half = float(stdtrit(len(gap) - 1, 0.975) * gap.std(ddof=1) / np.sqrt(len(gap)))
    return f"{gap.mean():+.3f} [{gap.mean() - half:+.3f}, {gap.mean() + half:+.3f}]"


def crowd_of_dataset(name: str, part: str | None = None) -> Crowd:
    """Return the votes of a data set with its gold labels."""
    data = pv.read(name)
    assert data.gold is not None
    return Crowd(as_votes(data, part), data.gold)


def print_real(crowds: list[Crowd]) -> dict[str, Candidate]:
    """Print the figures of all candidates on the 16 data sets, constants chosen on the other 15.

    Return the candidate of every family whose constants are best on all 16.
    """
    members = families()
    tables = {
        name: np.array([[crowd.figures(member(crowd)) for crowd in crowds] for member in family])
        for name, family in members.items()
    }
    found = {name: left_out(table) for name, table in tables.items()}
    honest = np.concatenate([table for name, table in tables.items() if name != CHEATING])
    found["any of these, chosen on the other sets"] = left_out(honest)
    rest, n_gold = [at for at, name in enumerate(SETS) if name != "hitspam"], [len(crowd.true) for crowd in crowds]
    print(
        "| candidate | accuracy | NLL | Brier | ECE | without hitspam: accuracy | NLL | Brier | ECE | NLL - log-pool [95%] "
        "| Brier - log-pool [95%] | sets below `average` |"
    )
    print("|---|" + "---:|" * 10 + "---|")
    for name, each in sorted(found.items(), key=lambda row: loss(row[1].mean(0))):
        gap = each[:, 0] - found["average"][:, 0]
        worse = [SETS[at] for at in np.flatnonzero((gap < -0.01) & (gap * n_gold < -2))]
        cells = [f"{value:.3f}" for value in (*each.mean(0), *each[rest].mean(0))]
        cells += [difference_text(each[:, at], found["log-pool"][:, at]) for at in (1, 2)]
        print(f"| {name} | {' | '.join(cells)} | {', '.join(worse) or '-'} |")
    best = {name: np.apply_along_axis(loss, 2, table).mean(1).argmin() for name, table in tables.items()}
    return {name: members[name][best[name]] for name in tables if name != CHEATING}


def print_groups(title: str, chosen: dict[str, Candidate], crowds: dict[str, list[Crowd]]) -> None:
    """Print the mean figures of the chosen candidates over groups of crowds, and their NLL in each group.

    A crowd may be in several groups.
    """
    every = list({id(crowd): crowd for group in crowds.values() for crowd in group}.values())
    print(f"\n{title}\n\n| candidate | accuracy | NLL | Brier | ECE | NLL: " + " | ".join(crowds) + " |")
    print("|---|" + "---:|" * (4 + len(crowds)))
    rows = []
    for name, candidate in chosen.items():
        figures = {id(crowd): crowd.figures(candidate(crowd)) for crowd in every}
        nll = [np.mean([figures[id(crowd)][1] for crowd in group]) for group in crowds.values()]
        rows.append((name, np.mean(list(figures.values()), 0), nll))
    for name, mean, nll in sorted(rows, key=lambda row: loss(row[1])):
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in (*mean, *nll)) + " |")


def crowds_with_few_votes(crowds: list[Crowd]) -> dict[str, list[Crowd]]:
    """Return the 16 data sets with 1, 2, 3 or 5 random votes per task."""
    golds = [pv.read(name).gold for name in SETS]
    return {
        f"{n} votes": [
            Crowd(draw_answers(crowd.votes, n).visible, gold) for crowd, gold in zip(crowds, golds, strict=True) if gold
        ]
        for n in (1, 2, 3, 5)
    }


def crowds_not_used_before() -> dict[str, list[Crowd]]:
    """Return the data sets with gold labels and named workers that no constant was chosen on."""
    found = {"stemming": crowd_of_dataset("stemming"), "cifar10n": crowd_of_dataset("cifar10n")}
    found["cifar10h, 500 images with named votes"] = crowd_of_dataset("cifar10h", "votes")
    data = pv.read("cifar10s")
    assert data.answers is not None and data.gold is not None
    answers = clean(data.answers, ("stored-twice", "collins2022", "repeats-once"), data.gold).answers
    for form, name in (("one-label", "cifar10s, top labels"), ("top-two", "cifar10s, soft answers")):
        found[name] = Crowd(pv.elicit_votes(answers, form).votes, data.gold)
    return {name: [crowd] for name, crowd in found.items()}


WORLDS = {
    "independent": "independent-confusion[{}]",
    "spammers": "hammer-spammer[ratio=0.4,{}]",
    "copying": "independent-confusion[copiers=0.5,{}]",
    "teachers": "student-teacher[ratio=0.8,{}]",
    "hard tasks": "discrete-difficulty[random=0.1,{}]",
}


def simulated_crowds() -> dict[str, list[Crowd]]:
    """Return simulated crowds of 400 tasks and 60 workers, by world and by votes per task."""
    found: dict[str, list[Crowd]] = {}
    for (world, spec), k, votes in itertools.product(WORLDS.items(), (2, 4, 12), (1, 2, 3, 5, 10, 50)):
        sizes = f"n_tasks=400,n_workers=60,n_labels={k},feedback={votes},seed={len(found)}"
        drawn = pv.simulate.methods.make(spec.format(sizes)).draw()
        crowd = Crowd(drawn.votes, drawn.truth)
        for group in (world, f"{votes} votes"):
            found.setdefault(group, []).append(crowd)
    return {name: found[name] for name in (*WORLDS, *(name for name in found if name not in WORLDS))}


def main() -> None:
    """Print all comparisons."""
    crowds = [crowd_of_dataset(name) for name in SETS]
    chosen = print_real(crowds)
    print_groups("The 16 data sets with few votes per task", chosen, crowds_with_few_votes(crowds))
    print_groups("Simulated crowds", chosen, simulated_crowds())
    print_groups("Data sets that no constant was chosen on", chosen, crowds_not_used_before())


if __name__ == "__main__":
    warnings.simplefilter("ignore", pv.PlurivoxWarning)
    main()
