"""Conditions of Fornaciari et al. (2021), one head and two heads: splits, training, measures and significance of the gain."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from plurivox import aggregate, evaluate
from plurivox.core.array_types import Floats, Names
from plurivox.core.recipe_tables import Table
from plurivox.core.soft_labels import SoftLabels
from plurivox.recipes._papers.fornaciari2021_texts import Texts
from plurivox.train import heads
from plurivox.train.data import splits
from plurivox.train.fit_net import fit
from plurivox.train.nets import Net
from plurivox.train.targets import Supervision
from plurivox.train.training_hyperparameters import Plan
from plurivox.workflows.net_evaluation import Runs

LOSSES = {"kl": "kl[base=2]", "inverse-kl": "inverse-kl[base=2]", "ce": "soft-cross-entropy[base=2]"}
COMPARED_MEASURES = ("accuracy", "macro-f1")
ONE_HEAD = "one head"
Parts = Mapping[str, Names]


@dataclass(frozen=True)
class Condition:
    """One condition of Fornaciari et al. (2021): the labels of the hard head and, with two heads, the loss of the soft head."""

    main: str  # gold or silver
    loss: str = ""  # "": one head

    @property
    def condition_name(self) -> str:
        """The name of the condition in the tables, such as "gold, two heads, kl"."""
        return f"{self.main}, {f'two heads, {self.loss}' if self.loss else ONE_HEAD}"


def list_conditions(kinds_of_hard_label: list[str], soft_losses: list[str]) -> list[Condition]:
    """Return the conditions to train: for each kind of hard label one head, then two heads with each loss of the soft head."""
    return [Condition(main, loss) for main in kinds_of_hard_label for loss in ("", *soft_losses)]


def iterate_tasks_by_split(texts: Texts, folds: int, seed: int) -> Iterator[dict[str, Names]]:
    """Yield {"train", "dev", "test": tasks}: the splits of the data, or one per fold; a tweet or word is never split."""
    if not folds:
        test = texts.tasks[(texts.split == "test") | (texts.split == "double")]
        yield {"train": texts.task_names_of_split("train"), "dev": texts.task_names_of_split("dev"), "test": test}
        return
    voted = texts.counts.sum(1) > 0
    pool = texts.tasks[voted & (texts.split != "double")]
    for fold in splits.folds(pool, folds, groups=texts.group[texts.row_numbers_of_tasks(pool)], seed=seed):
        train, size = fold["train"], 1 / max(folds - 1, 2)  # dev is as large as a fold
        inner = splits.grouped(
            train, texts.group[texts.row_numbers_of_tasks(train)], {"train": 1 - size, "dev": size}, seed
        )
        yield {**inner, "test": fold["test"]}


def train_and_predict_test_tasks(
    texts: Texts, tasks_by_split: Parts, condition: Condition, net: Net, plan: Plan
) -> SoftLabels:
    """Train a network under one condition on the train tasks; return its predictions of the test tasks."""
    train, dev = (
        gold_or_untied_majority_labels(texts, tasks_by_split[name], condition.main) for name in ("train", "dev")
    )
    votes = texts.votes_of_tasks(train.tasks)
    assert votes is not None
    soft = aggregate.methods.make("softmax-shares").fit(votes).soft
    head = heads.methods.make("two-heads", soft_loss=LOSSES[condition.loss]) if condition.loss else None
    trained = fit(
        texts.x[texts.row_numbers_of_tasks(soft.tasks)],
        "pair" if condition.loss else "gold",
        tasks=soft.tasks,
        known=Supervision(gold=train, soft=soft),
        labels=texts.labels,
        net=net,
        head=head,
        plan=plan,
        dev=(texts.x[texts.row_numbers_of_tasks(dev.tasks)], dev, dev.tasks),
        measures={"macro-f1": evaluate.MEASURES["macro-f1"]},
    )
    return trained.predict(texts.x[texts.row_numbers_of_tasks(tasks_by_split["test"])], tasks_by_split["test"])


def gold_or_untied_majority_labels(texts: Texts, tasks: Names, gold_or_majority: str) -> SoftLabels:
    """Return the labels that train the hard head: gold, or the majority vote (silver) without tasks whose majority is tied."""
    if gold_or_majority == "gold":
        gold = texts.gold_of_tasks(tasks)
        assert gold is not None
        return gold
    counts = texts.counts[texts.row_numbers_of_tasks(tasks)]
    best = counts == counts.max(1, keepdims=True)
    clear = (best.sum(1) == 1) & (counts.sum(1) > 0)
    return SoftLabels.gold(tasks[clear], texts.labels[best[clear].argmax(1)], texts.labels)


def train_and_predict_on_all_folds(
    texts: Texts, folds: int, condition: Condition, net: Net, plan: Plan, split_seed: int
) -> SoftLabels:
    """Train a network under one condition on every fold; return its predictions of the test tasks of all folds."""
    found = [
        train_and_predict_test_tasks(texts, parts, condition, net, plan)
        for parts in iterate_tasks_by_split(texts, folds, split_seed)
    ]
    tasks = np.concatenate([prediction.tasks for prediction in found])
    return SoftLabels.of(np.concatenate([prediction.prob for prediction in found]), tasks, texts.labels)


def measure_against_gold_and_votes(texts: Texts, prediction: SoftLabels) -> dict[str, float]:
    """Return {measure: value} of a prediction: hard ones against gold, soft ones against vote shares if tasks have votes."""
    out: dict[str, float] = {}
    gold, votes = texts.gold_of_tasks(prediction.tasks), texts.votes_of_tasks(prediction.tasks)
    if gold is not None:
        out |= {
            name: evaluate.MEASURES[name](prediction.on(gold.tasks), gold) for name in ("accuracy", "macro-f1", "nll")
        }
    if votes is not None:
        shares = aggregate.methods.make("vote-shares").fit(votes).soft
        on_voted = prediction.on(shares.tasks)
        out["CE, shares"] = evaluate.MEASURES["cross-entropy"](on_voted, shares)
        out["entropy r, shares"] = evaluate.MEASURES["entropy-correlation"](on_voted, shares)
    return out


def two_heads_gain_table(
    texts: Texts, predictions: Mapping[Condition, list[SoftLabels]], repeats: int, fraction: float
) -> Table:
    """Return a table of the gain of two heads over one in accuracy and macro F1, one row per condition with two heads.

    Intervals and p-values are by a bootstrap over groups of tasks (tweets, words) and runs, p adjusted by Holm's method over
    the rows; beside them p of the accuracy by the test of the paper, which draws single tasks and takes the runs as given.
    """
    found, by_paper = {}, []
    for condition, two_heads in predictions.items():
        if not condition.loss:
            continue
        one_head = predictions[replace(condition, loss="")]
        gold = texts.gold_of_tasks(two_heads[0].tasks)
        assert gold is not None
        found[condition.condition_name] = evaluate.compare_runs(
            two_heads,
            one_head,
            gold,
            measures=COMPARED_MEASURES,
            groups=texts.group[texts.row_numbers_of_tasks(gold.tasks)],
            repeats=repeats,
        )
        shares = (_share_of_runs_correct_per_task(runs, gold) for runs in (two_heads, one_head))
        by_paper.append(evaluate.paired_test(*shares, repeats=repeats, fraction=fraction).p_value)
    cells: dict[str, object] = {"against one head": list(found)}
    for i, name in enumerate(COMPARED_MEASURES):
        cells[f"{name} gain"] = [str(one.intervals()[i]) for one in found.values()]
        cells[f"{name} p, Holm"] = evaluate.holm([float(one.p_value[i]) for one in found.values()])
    cells["accuracy p, tasks only"] = np.array(by_paper)
    notes = (
        "95% intervals and two-sided p by a bootstrap over groups of tasks (tweets, words) and runs; p adjusted for "
        f"{len(found)} tests by Holm's method, for each measure",
        "p, tasks only: one-sided and unadjusted, by the paper's bootstrap over single tasks, which takes the runs as given",
    )
    return Table("Two heads minus one head", cells, notes)


def _share_of_runs_correct_per_task(predictions: list[SoftLabels], gold: SoftLabels) -> Floats:
    """Return (n_tasks,) the share of runs whose predicted label of the task is the gold label."""
    true = gold.most_probable_label_codes()
    return np.mean(
        [
            prediction.on(gold.tasks).on_labels(gold.labels).most_probable_label_codes() == true
            for prediction in predictions
        ],
        0,
    )


def one_and_two_heads_correctness_table(
    texts: Texts, predictions: Mapping[Condition, list[SoftLabels]]
) -> Table | None:
    """Return a table that counts test tasks right with one head, two heads, both or neither (first run); None without votes."""
    rows: list[dict[str, object]] = []
    for condition, two_heads in predictions.items():
        gold, votes = texts.gold_of_tasks(two_heads[0].tasks), texts.votes_of_tasks(two_heads[0].tasks)
        if condition.loss and gold is not None and votes is not None and len(gold.shared(votes.tasks)):
            soft = aggregate.methods.make("softmax-shares").fit(votes).soft
            look = "kurtosis" if len(texts.labels) > 2 else "entropy"
            one_head = predictions[replace(condition, loss="")][0]
            found = evaluate.correctness_table(one_head, two_heads[0], gold, soft, look=look)  # type: ignore[arg-type]
            row: dict[str, object] = {"against one head": condition.condition_name}
            for i, cell in enumerate(("both right", "one head", "two heads", "neither")):
                row |= {cell: int(found.n[i]), f"{look}, {cell}": float(found.mean[i])}
            rows.append(row | {"p, one head and two heads": found.p_value})
    if not rows:
        return None
    note = "number of correct tasks, and mean over their softmax shares; p: Mann-Whitney between one head and two heads"
    return Table.of_rows("Correct and wrong tasks, first run", rows, (note,))


def measures_of_runs_by_condition_name(texts: Texts, predictions: Mapping[Condition, list[SoftLabels]]) -> Runs:
    """Return {condition name: [measures of each run against gold labels and vote shares]}."""
    return {
        condition.condition_name: [measure_against_gold_and_votes(texts, run) for run in runs]
        for condition, runs in predictions.items()
    }
