"""How the default for what people say was chosen: `python -m examples.people_default`, with the data sets in PLURIVOX_DATA.

Counts: n votes per task are drawn without replacement, 20 times, and every method predicts the remaining votes. Soft answers:
those of CIFAR-10S are held against the votes of CIFAR-10H. Cross-entropy is in nats, with shares of at least .001 (counts) or
1e-12 (soft answers, where no candidate has zeros). Intervals are 95%, by a paired bootstrap over tasks.
"""

import warnings

import numpy as np
from numpy.typing import NDArray

import plurivox as pv
from plurivox import aggregate
from plurivox.clean import clean
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_transforms import temperature_scale
from plurivox.core.votes import Votes
from plurivox.engine.dirichlet_mixture import DirichletMixture, fit_dirichlet_mixture, start_mixture

Table = NDArray[np.float64]
SETS = ("chaosnli_snli", "chaosnli_mnli", "chaosnli_alpha", "cifar10h")
FIXED = ("vote-shares", "softmax-shares", *(f"dirichlet-shares[added={added}]" for added in (0.1, 0.25, 0.5, 1.0)))
CANDIDATES = ("calibrated-shares", "calibrated-shares[loss=cross-entropy]", "calibrated-shares[loss=manhattan]")
OURS, CLIP, DRAWS = CANDIDATES[0], 1e-3, 20


def losses(prob: Table, reference: Table, clip: float = CLIP) -> Table:
    """(2, n_tasks) the Manhattan distance and the cross-entropy of each task."""
    return np.array([np.abs(prob - reference).sum(1), -(reference * np.log(np.maximum(prob, clip))).sum(1)])


def bootstrap_interval(values: Table, n: int = 1000) -> tuple[float, float]:
    """Return the 95% interval of the mean, tasks drawn with replacement."""
    rng = np.random.default_rng(0)
    means = [values[rng.integers(0, len(values), len(values))].mean() for _ in range(n)]
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def learnt_dirichlet(counts: Table, per_label: int) -> Table:
    """Return the posterior means of a learnt Dirichlet (0), or of a mixture with one per label and a flat one (1)."""
    full = start_mixture((counts.sum(0) + 0.5) / (counts.sum() + 0.5 * counts.shape[1]))
    used = np.r_[np.arange(per_label * counts.shape[1]), len(full.weight) - 1]
    start = DirichletMixture(full.alpha[used], full.weight[used] / full.weight[used].sum())
    return fit_dirichlet_mixture(counts, start).mixture.posterior_means(counts)


def print_rows(scores: dict[str, Table], names: tuple[str, str]) -> None:
    """Print the mean of both measures by method, and how much lower the default is, with its interval."""
    print(f"{'method':40} " + " ".join(f"{name:>13} {'default lower by':>25}" for name in names))
    for method, found in scores.items():
        cells = []
        for own, default in zip(found, scores[OURS], strict=True):
            low, high = bootstrap_interval(own - default)
            cells.append(f"{own.mean():13.4f} {(own - default).mean():8.4f} [{low:7.4f}, {high:7.4f}]")
        print(f"{method:40} " + " ".join(cells))


def compare_on_counts(name: str, n: int) -> dict[str, Table]:
    """Print the comparison of all candidates from n votes per task of a data set with counts, and return the losses."""
    counts = pv.read(name).counts
    assert counts is not None
    full, scores, kept = counts.counts().astype(int), {}, []
    for seed in range(1, DRAWS + 1):
        rng = np.random.default_rng(seed)
        drawn = np.array([rng.multivariate_hypergeometric(row, n) for row in full], float)
        rest = (full - drawn) / (full - drawn).sum(1, keepdims=True)
        votes = Votes.from_counts(drawn, counts.tasks, counts.labels)
        kept.append((drawn, rest))
        prob = {spec: aggregate.methods.make(spec).fit(votes).soft.prob for spec in (*FIXED, *CANDIDATES)}
        prob["one Dirichlet, learnt"] = learnt_dirichlet(drawn, 0)
        prob["mixture, one per label and a flat one"] = learnt_dirichlet(drawn, 1)
        for method, table in prob.items():
            scores.setdefault(method, []).append(losses(table, rest))
    means = {method: np.mean(found, 0) for method, found in scores.items()}
    print(f"\n{name}, {n} votes per task")
    print_rows(means, ("Manhattan", "cross-entropy"))
    if full.shape[1] == 2:
        best = [min(means[method][side].mean() for method in FIXED) for side in (0, 1)]
        print(f"bound below the best fixed formula of each measure: {bound_below(kept, *best):.4f}; below 0: no method")
    return means


def print_summary(found: dict[tuple[str, int], dict[str, Table]]) -> None:
    """Print one table in Markdown per measure: the default beside vote shares, softmax shares and the best fixed Dirichlet."""
    rivals = ("vote-shares", "softmax-shares", "best `dirichlet-shares`")
    for side, measure in enumerate(("Manhattan", "Cross-entropy")):
        print(f"\n{measure}\n\n| data set | votes | `{OURS}` | " + " | ".join(rivals) + " | best rival - default |")
        print("| --- |" + " ---: |" * 6)
        for (name, n), means in found.items():
            value = {method: means[method][side].mean() for method in FIXED}
            dirichlet, best = min(FIXED[2:], key=value.__getitem__), min(FIXED, key=value.__getitem__)
            difference = means[best][side] - means[OURS][side]
            low, high = bootstrap_interval(difference)
            cells = [f"{v:.3f}" for v in (means[OURS][side].mean(), *(value[one] for one in (*FIXED[:2], dirichlet)))]
            print(f"| {name} | {n} | " + " | ".join(cells) + f" | {difference.mean():.4f} [{low:.4f}, {high:.4f}] |")


def bound_below(draws: list[tuple[Table, Table]], manhattan: float, cross_entropy: float) -> float:
    """Return an upper bound of how much any function of the counts can be below both values, for two labels.

    For any w, a prediction that is lower in both by d has cross-entropy + w Manhattan lower by (1 + w) d; the lowest possible
    sum is found count by count on a grid, knowing the remaining votes. The result is the smallest bound over w.
    """
    grid = np.linspace(CLIP, 1 - CLIP, 999)
    first, share = (np.concatenate([table[:, 0] for table in tables]) for tables in zip(*draws, strict=True))
    distance, entropy = np.zeros((2, int(first.max()) + 1, len(grid)))
    for count in range(int(first.max()) + 1):
        p = share[first == count][:, None]
        distance[count] = 2 * np.abs(p - grid).sum(0) / len(first)
        entropy[count] = -(p * np.log(grid) + (1 - p) * np.log(1 - grid)).sum(0) / len(first)
    bounds = [
        (cross_entropy + w * manhattan - (entropy + w * distance).min(1).sum()) / (1 + w)
        for w in np.geomspace(0.01, 10, 61)
    ]
    return float(min(bounds))


def compare_on_soft_answers() -> None:
    """Print the comparison on the soft answers of CIFAR-10S, held against the votes of CIFAR-10H."""
    data = pv.read("cifar10s")
    assert data.answers is not None
    answers = clean(data.answers, ("stored-twice", "collins2022", "repeats-once"), data.gold).answers
    votes = {form: pv.elicit_votes(answers, form).votes for form in ("top-two", "one-label")}
    counts = pv.read("cifar10h").counts
    assert counts is not None
    human = SoftLabels.from_vote_shares(counts.on(votes["top-two"].tasks).with_labels(votes["top-two"].labels))
    mean = pv.fit(votes["top-two"], "vote-shares").soft
    soft = {
        "mean of the soft answers": mean,
        "mean to the power 1.5": temperature_scale(mean, 1.5),
        "average": pv.fit(votes["top-two"], "average").soft,
        "calibrated-shares of the top labels": pv.fit(votes["one-label"], "calibrated-shares").soft,
        **{spec: pv.fit(votes["top-two"], spec).soft for spec in CANDIDATES},
    }
    print("\nsoft answers of cifar10s against the votes of cifar10h (Manhattan is twice the total variation)")
    print_rows(
        {name: losses(one.prob, human.prob, 1e-12) for name, one in soft.items()}, ("Manhattan", "cross-entropy")
    )
    for name, one in soft.items():
        print(f"{name:40} entropy correlation {pv.evaluate.entropy_correlation(one, human):.4f}")


def main() -> None:
    """Print all comparisons."""
    warnings.simplefilter("ignore", pv.PlurivoxWarning)
    compare_on_soft_answers()
    print_summary({(name, n): compare_on_counts(name, n) for name in SETS for n in (3, 5, 10)})


if __name__ == "__main__":
    main()
