"""What soft answers gain over plain votes: `python -m examples.soft_answers_gain`, with the data sets in PLURIVOX_DATA.

The 6,200 first answers of CIFAR-10S are used whole (soft), or only their top labels are (plain): the same people, the same
answers. What people say is measured against the votes of CIFAR-10H and against a hidden answer, the truth against gold labels.
Cross-entropy and the NLL of hidden answers are in nats, of .99 q + .01 / K for a prediction q over K labels; the NLL of gold
counts a probability below 1e-6 as 1e-6. Intervals are 95%, by a paired bootstrap over images; people and draws stay fixed.
"""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import plurivox as pv
from plurivox import elicit
from plurivox.clean import clean
from plurivox.core.answers import Answers
from plurivox.core.sample_existing_answers import mask_m_random_rows_per_task, subsample
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_transforms import temperature_scale
from plurivox.core.votes import Votes

Numbers = NDArray[np.float64]
FORMS = {"plain": "one-label", "soft": "top-two"}
PEOPLE, TRUTH = "calibrated-shares", "log-pool"  # the defaults
SOFT_SECONDS, PLAIN_SECONDS = 32.4, 1.8  # medians: first answers of CIFAR-10S, and votes of CIFAR-10H as published
DRAWS, SMOOTHING = 10, 0.01
OF_MEAN = ("mean", "mean to the power 1.5")
FOR_PEOPLE = (
    PEOPLE,
    "vote-shares",
    "softmax-shares",
    *(f"dirichlet-shares[added={added}]" for added in (0.01, 0.1, 1.0)),
)
FOR_TRUTH = (
    TRUTH,
    "log-pool[background=0]",
    "log-pool[power=1,background=0]",
    "average",
    "wawa",
    "glad",
    "mace",
    "one-coin",
    "ibcc",
    "ebcc",
    "dawid-skene-clusters",
    "dawid-skene[pool=4]",
    "dawid-skene",
)


def read_data() -> tuple[Answers, SoftLabels, Votes]:
    """Return the first answers of CIFAR-10S, the gold labels, and the counts of CIFAR-10H on the same images and labels."""
    data, people = pv.read("cifar10s"), pv.read("cifar10h")
    assert data.answers is not None and data.gold is not None and people.counts is not None
    answers = clean(data.answers, ("stored-twice", "collins2022", "repeats-once"), data.gold).answers
    votes = read_votes(answers, "soft")
    return answers, data.gold, people.counts.on(votes.tasks).with_labels(votes.labels)


def read_votes(answers: Answers, kind: str) -> Votes:
    """Return soft answers as votes whose weights sum to one (soft), or their top labels (plain)."""
    return elicit.methods.make(FORMS[kind]).read(answers).votes


def shares(counts: Numbers) -> Numbers:
    """Return the rows divided by their sums."""
    return counts / counts.sum(1, keepdims=True)


def cross_entropies(prob: Numbers, reference: Numbers) -> Numbers:
    """(n_tasks,) the cross-entropy of each task after smoothing."""
    return np.asarray(-(reference * np.log((1 - SMOOTHING) * prob + SMOOTHING / prob.shape[1])).sum(1))


def total_variations(prob: Numbers, reference: Numbers) -> Numbers:
    """(n_tasks,) the total variation of each task, half the Manhattan distance."""
    return np.asarray(np.abs(prob - reference).sum(1) / 2)


def entropies(prob: Numbers) -> Numbers:
    """(n_tasks,) the entropy of each row in nats."""
    return np.asarray(-(prob * np.log(np.where(prob > 0, prob, 1))).sum(1))


def on_gold(soft: SoftLabels, gold: SoftLabels, measure: str) -> Numbers:
    """(n_tasks,) a measure of each task against gold; tied labels share the hit."""
    return np.asarray(pv.evaluate.by_task(soft, gold, measure, ties="share")[1])


def interval(difference: Callable[[NDArray[np.int64]], float], n_tasks: int) -> str:
    """Return the 95% interval of a difference of drawn tasks as text."""
    rng = np.random.default_rng(0)
    drawn = [difference(rng.integers(0, n_tasks, n_tasks)) for _ in range(2000)]
    return "[{:z.3f}, {:z.3f}]".format(*np.quantile(drawn, (0.025, 0.975)))


def number_text(number: float) -> str:
    """Return a number with three digits, without a sign if it is 0.000."""
    return f"{number:z.3f}"


def interval_of_mean(values: Numbers) -> str:
    """Return the mean of values per task with its 95% interval as text."""
    return f"{number_text(values.mean())} " + interval(lambda at: float(values[at].mean()), len(values))


def correlation_gain(soft: Numbers, plain: Numbers, reference: Numbers) -> tuple[float, float, str]:
    """Return the entropy correlations of two predictions with the reference, and the gain of the first as text."""
    of_soft, of_plain, own = entropies(soft), entropies(plain), entropies(reference)

    def gain(at: NDArray[np.int64]) -> float:
        return float(np.corrcoef(of_soft[at], own[at])[0, 1] - np.corrcoef(of_plain[at], own[at])[0, 1])

    whole = np.arange(len(own))
    r_soft, r_plain = (float(np.corrcoef(one, own)[0, 1]) for one in (of_soft, of_plain))
    return r_soft, r_plain, f"{number_text(gain(whole))} " + interval(gain, len(own))


def print_table(title: str, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Print a table in Markdown."""
    print(f"\n{title}\n\n| " + " | ".join(head) + " |\n| --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(number_text(cell) if isinstance(cell, float) else str(cell) for cell in row) + " |")


def compare_same_answers(answers: Answers, gold: SoftLabels, human: Numbers) -> None:
    """Print what the whole answers predict better than their top labels."""
    votes = {kind: read_votes(answers, kind) for kind in FORMS}
    said = {kind: pv.fit(one, PEOPLE).soft.prob for kind, one in votes.items()}
    rows: list[tuple[object, ...]] = []

    def add(what: str, plain: Numbers, soft: Numbers, sign: int = 1) -> None:
        rows.append((what, float(plain.mean()), float(soft.mean()), interval_of_mean(sign * (plain - soft))))

    add("people: CE to CIFAR-10H", *(cross_entropies(said[kind], human) for kind in FORMS))
    add("people: total variation to CIFAR-10H", *(total_variations(said[kind], human) for kind in FORMS))
    soft_r, plain_r, gain = correlation_gain(said["soft"], said["plain"], human)
    rows.append(("people: entropy r with CIFAR-10H", plain_r, soft_r, gain))
    add("people: NLL of a hidden top label", *hidden_answer_losses(answers))
    for method in (TRUTH, "average"):
        fits = {kind: pv.fit(one, method).soft for kind, one in votes.items()}
        for measure, sign in (("accuracy", -1), ("nll", 1), ("brier", 1)):
            name = {"nll": "NLL", "brier": "Brier score"}.get(measure, measure)
            add(f"truth, `{method}`: {name}", *(on_gold(fits[kind], gold, measure) for kind in FORMS), sign)
    title = f"Soft answers and the top labels of the same answers (people: {PEOPLE}); gain above 0: soft is better"
    print_table(title, ("question and measure", "plain", "soft", "gain [95% interval]"), rows)


def hidden_answer_losses(answers: Answers) -> list[Numbers]:
    """Return (n_tasks,) the NLL of the top label of one hidden answer per image from the others, plain and soft."""
    losses = {kind: [] for kind in FORMS}
    for seed in range(DRAWS):
        hidden = mask_m_random_rows_per_task(answers.task, 1, seed)
        top = read_votes(answers.where(hidden), "plain")
        for kind, found in losses.items():
            visible = read_votes(answers.where(~hidden), kind)
            prob = pv.fit(visible, PEOPLE).soft.prob
            found.append(cross_entropies(prob, top.on(visible.tasks).with_labels(visible.labels).counts()))
    return [np.mean(found, 0) for found in losses.values()]


def compare_by_number_of_people(answers: Answers, gold: SoftLabels, human: Numbers) -> None:
    """Print the comparison from 1 to 6 random answers per image, by the defaults and by the mean of the answers."""
    tables: dict[str, list[tuple[object, ...]]] = {"cross-entropy": [], "accuracy": []}
    for m in range(1, 7):
        found: dict[str, list[list[Numbers]]] = {kind: [] for kind in FORMS}
        for seed in range(DRAWS):
            for kind in FORMS:
                votes = read_votes(subsample(answers, m, seed), kind)
                said, true, mean = (pv.fit(votes, method).soft for method in (PEOPLE, TRUTH, "vote-shares"))
                measured = [cross_entropies(one.prob, human) for one in (said, mean)]
                found[kind].append([*measured, *(on_gold(one, gold, "accuracy") for one in (true, mean))])
        plain, soft = (np.mean(found[kind], 0) for kind in ("plain", "soft"))
        for rows, first, sign in zip(tables.values(), (0, 2), (1, -1), strict=True):
            cells: list[object] = [m, float(plain[first].mean()), float(soft[first].mean())]
            cells.append(interval_of_mean(sign * (plain[first] - soft[first])))
            rows.append((*cells, float(plain[first + 1].mean()), float(soft[first + 1].mean())))
    for (measure, rows), method in zip(tables.items(), (PEOPLE, TRUTH), strict=True):
        head = ("answers", f"plain, `{method}`", f"soft, `{method}`", "gain", "plain, mean", "soft, mean")
        print_table(f"By number of people: {measure}, mean of {DRAWS} draws", head, rows)


def compare_in_equal_time(answers: Answers, gold: SoftLabels, counts: Votes) -> None:
    """Print soft answers beside as many votes of CIFAR-10H as take the same time; both predict the other votes."""
    full, rows = counts.counts(), list[tuple[object, ...]]()
    for n in (2, 4, 6, 8, 12, 18, 36):
        m = round(n * PLAIN_SECONDS / SOFT_SECONDS) if n >= SOFT_SECONDS / PLAIN_SECONDS else 0
        plain, soft = list[list[Numbers]](), list[list[Numbers]]()
        for seed in range(DRAWS):
            drawn = subsample(counts, n, seed)
            rest = shares(full - drawn.counts())
            fit = pv.fit(drawn, PEOPLE).soft
            plain.append([cross_entropies(fit.prob, rest), on_gold(fit, gold, "accuracy")])
            if m:
                votes = read_votes(subsample(answers, m, seed), "soft")
                both = [pv.fit(votes, method).soft for method in (PEOPLE, "vote-shares")]
                soft.append([*(cross_entropies(one.prob, rest) for one in both), on_gold(both[1], gold, "accuracy")])
        values, cells = np.mean(plain, 0), list[object]([""] * 5)
        if m:
            *said, correct = np.mean(soft, 0)
            better = min(said, key=np.mean)
            gains = interval_of_mean(values[0] - better), interval_of_mean(correct - values[1])
            cells = [m, float(better.mean()), gains[0], float(correct.mean()), gains[1]]
        rows.append((n, f"{n * PLAIN_SECONDS:.1f}", *values.mean(1).tolist(), *cells))
    head = ("votes of CIFAR-10H", "seconds", "CE", "accuracy")
    more = ("soft answers in that time", "CE soft", "gain", "accuracy soft", "gain")
    title = f"Equal time: both predict the CIFAR-10H votes that were not drawn (votes: {PEOPLE}; soft: it or the mean)"
    print_table(title, (*head, *more), rows)


def compare_methods(answers: Answers, gold: SoftLabels, human: Numbers) -> None:
    """Print all methods on the whole soft answers, by what people say and by the truth."""
    votes = {kind: read_votes(answers, kind) for kind in FORMS}
    fits = {name: pv.fit(votes["soft"], name) for name in (*FOR_PEOPLE, *FOR_TRUTH)}
    soft = {name: fit.soft for name, fit in fits.items()}
    soft |= {f"{name} of the top labels": pv.fit(votes["plain"], name).soft for name in (PEOPLE, "vote-shares")}
    soft[OF_MEAN[1]] = temperature_scale(soft["vote-shares"], 1.5)
    soft["ibcc, converted to people"] = pv.convert_estimates(fits["ibcc"], "people", votes=votes["soft"])
    names = {name: OF_MEAN[0] if name == "vote-shares" else name for name in soft}
    print_people_table({names[name]: one.prob for name, one in soft.items()}, human)
    not_for_truth = ("converted", "dirichlet", "softmax")
    of_truth = {name: one for name, one in soft.items() if not any(word in name for word in not_for_truth)}
    print_truth_table({names[name]: one for name, one in of_truth.items()}, gold)


def print_people_table(soft: dict[str, Numbers], human: Numbers) -> None:
    """Print cross-entropy, total variation and entropy correlation by method, and the differences to the default."""
    default = soft[PEOPLE]
    rows: list[tuple[object, ...]] = []
    for name, prob in soft.items():
        cells: list[object] = []
        for loss in (cross_entropies, total_variations):
            own = loss(prob, human)
            cells += [float(own.mean()), interval_of_mean(own - loss(default, human))]
        r, _, difference = correlation_gain(prob, default, human)
        clipped = float(-(human * np.log(np.maximum(prob, 1e-12))).sum(1).mean())
        rows.append((as_code(name), *cells, r, difference, clipped))
    head = ("method", "CE", "- default", "total variation", "- default", "entropy r", "- default", "CE, zeros as 1e-12")
    print_table("What people say, from soft answers", head, by_column(rows, 1))


def print_truth_table(soft: dict[str, SoftLabels], gold: SoftLabels) -> None:
    """Print accuracy, NLL and Brier score by method, and the differences to the default."""
    default = {measure: on_gold(soft[TRUTH], gold, measure) for measure in ("accuracy", "nll", "brier")}
    rows: list[tuple[object, ...]] = []
    for name, one in soft.items():
        cells: list[object] = []
        for measure, best in default.items():
            own = on_gold(one, gold, measure)
            cells += [float(own.mean()), interval_of_mean(own - best)]
        rows.append((as_code(name), *cells))
    head = ("method", "accuracy", "- default", "NLL", "- default", "Brier score", "- default")
    print_table("What is true, from soft answers", head, by_column(rows, 3))


def as_code(name: str) -> str:
    """Return the name of a method between backticks, and any other text as it is."""
    return f"`{name}`" if name in (*FOR_PEOPLE, *FOR_TRUTH) else name


def by_column(rows: list[tuple[object, ...]], column: int) -> list[tuple[object, ...]]:
    """Return the rows, the one with the lowest number in the column first."""
    return sorted(rows, key=lambda row: float(str(row[column])))


def main() -> None:
    """Print all tables."""
    warnings.simplefilter("ignore", pv.PlurivoxWarning)
    answers, gold, counts = read_data()
    human = shares(counts.counts())
    compare_same_answers(answers, gold, human)
    compare_methods(answers, gold, human)
    compare_by_number_of_people(answers, gold, human)
    compare_in_equal_time(answers, gold, counts)


if __name__ == "__main__":
    main()
