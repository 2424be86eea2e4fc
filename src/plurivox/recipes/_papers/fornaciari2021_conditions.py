"""One head against two: which tasks teach, what each head learns, and how good that is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from plurivox import aggregate, evaluate
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.tables import Table
from plurivox.core.types import Floats, Names
from plurivox.recipes._papers.text_tasks import Texts
from plurivox.train import heads
from plurivox.train.data import splits
from plurivox.train.fit_net import fit
from plurivox.train.nets import Net
from plurivox.train.plan import Plan
from plurivox.train.targets import Supervision
from plurivox.workflows.net_evaluation import Runs

LOSSES = {"kl": "kl[base=2]", "inverse-kl": "inverse-kl[base=2]", "ce": "soft-cross-entropy[base=2]"}
ONE = "one head"
Parts = Mapping[str, Names]


@dataclass(frozen=True)
class Condition:
    """What the hard head learns, and the loss of the soft head where there is one."""

    main: str  # gold or silver
    loss: str = ""  # "": one head

    @property
    def spec(self) -> str:
        return f"{self.main}, {f'two heads, {self.loss}' if self.loss else ONE}"


def conditions(mains: list[str], losses: list[str]) -> list[Condition]:
    """Every main task with one head, then with two."""
    return [Condition(main, loss) for main in mains for loss in ("", *losses)]


def divided(texts: Texts, folds: int, seed: int) -> Iterator[dict[str, Names]]:
    """train, dev and tested tasks: as the data say, or fold by fold with whole tweets or words on one side."""
    if not folds:
        tested = texts.tasks[(texts.split == "test") | (texts.split == "double")]
        yield {"train": texts.part("train"), "dev": texts.part("dev"), "test": tested}
        return
    voted = texts.counts.sum(1) > 0
    pool = texts.tasks[voted & (texts.split != "double")]
    for fold in splits.folds(pool, folds, groups=texts.group[texts.at(pool)], seed=seed):
        taught, size = fold["train"], 1 / max(folds - 1, 2)  # dev is as large as a fold
        inner = splits.grouped(taught, texts.group[texts.at(taught)], {"train": 1 - size, "dev": size}, seed)
        yield {**inner, "test": fold["test"]}


def train_and_predict(texts: Texts, parts: Parts, condition: Condition, net: Net, plan: Plan) -> SoftLabels:
    """Train under a condition and predict for the tested tasks."""
    train, dev = (labelled(texts, parts[name], condition.main) for name in ("train", "dev"))
    votes = texts.votes(train.tasks)
    assert votes is not None
    soft = aggregate.methods.make("softmax-shares").fit(votes).soft
    head = heads.methods.make("two-heads", soft_loss=LOSSES[condition.loss]) if condition.loss else None
    trained = fit(
        texts.x[texts.at(soft.tasks)],
        "pair" if condition.loss else "gold",
        tasks=soft.tasks,
        known=Supervision(gold=train, soft=soft),
        labels=texts.labels,
        net=net,
        head=head,
        plan=plan,
        dev=(texts.x[texts.at(dev.tasks)], dev),
        measures={"macro-f1": evaluate.MEASURES["macro-f1"]},
    )
    return trained.predict(texts.x[texts.at(parts["test"])], parts["test"])


def labelled(texts: Texts, tasks: Names, main: str) -> SoftLabels:
    """What the hard head is taught of these tasks: gold, or silver, where ties have no label and are left out."""
    if main == "gold":
        gold = texts.gold(tasks)
        assert gold is not None
        return gold
    counts = texts.counts[texts.at(tasks)]
    best = counts == counts.max(1, keepdims=True)
    clear = (best.sum(1) == 1) & (counts.sum(1) > 0)
    return SoftLabels.gold(tasks[clear], texts.labels[best[clear].argmax(1)], texts.labels)


def train_and_predict_all(
    texts: Texts, folds: int, condition: Condition, net: Net, plan: Plan, split_seed: int
) -> SoftLabels:
    """The same for every fold; all tested tasks together."""
    found = [train_and_predict(texts, parts, condition, net, plan) for parts in divided(texts, folds, split_seed)]
    tasks = np.concatenate([one.tasks for one in found])
    return SoftLabels.of(np.concatenate([one.prob for one in found]), tasks, texts.labels)


def measured(texts: Texts, prediction: SoftLabels) -> dict[str, float]:
    """Hard measures against gold, soft ones against the shares of votes where the tested tasks have them."""
    out: dict[str, float] = {}
    gold, votes = texts.gold(prediction.tasks), texts.votes(prediction.tasks)
    if gold is not None:
        out |= {
            name: evaluate.MEASURES[name](prediction.on(gold.tasks), gold) for name in ("accuracy", "macro-f1", "nll")
        }
    if votes is not None:
        shares = aggregate.methods.make("vote-shares").fit(votes).soft
        mine = prediction.on(shares.tasks)
        out["CE, shares"] = evaluate.MEASURES["cross-entropy"](mine, shares)
        out["entropy r, shares"] = evaluate.MEASURES["entropy-correlation"](mine, shares)
    return out


def gains(texts: Texts, predictions: Mapping[Condition, list[SoftLabels]], repeats: int, fraction: float) -> Table:
    """Two heads less one: the gain in accuracy and macro F1, and how often chance alone would give it."""
    rows: list[dict[str, object]] = []
    for condition, mine in predictions.items():
        if not condition.loss:
            continue
        other = predictions[replace(condition, loss="")]
        gold = texts.gold(mine[0].tasks)
        assert gold is not None
        told = evaluate.paired_test(_hits(mine, gold), _hits(other, gold), repeats=repeats, fraction=fraction)
        each = [_compared(one, two, gold, repeats, fraction) for one, two in zip(mine, other, strict=True)]
        f1 = np.mean([gain for gain, _ in each]), np.median([p for _, p in each])
        rows.append(
            {"against one head": condition.spec, "accuracy gain": told.gain, "p": told.p_value}
            | {"stars": told.stars, "macro F1 gain": f1[0], "median p of the runs": f1[1]}
        )
    return Table.of_rows("Two heads less one", rows)


def _compared(one: SoftLabels, two: SoftLabels, gold: SoftLabels, repeats: int, fraction: float) -> tuple[float, float]:
    """The gain in macro F1 of one run, and its p."""
    found = evaluate.compare_predictions(one, two, gold, measures=["macro-f1"], repeats=repeats, fraction=fraction)
    return float(found.gain[0]), float(found.p_value[0])


def _hits(predictions: list[SoftLabels], gold: SoftLabels) -> Floats:
    """(n_tasks,) the share of runs that are right."""
    true = gold.codes()
    return np.mean([prediction.on(gold.tasks).on_labels(gold.labels).codes() == true for prediction in predictions], 0)


def cells(texts: Texts, predictions: Mapping[Condition, list[SoftLabels]]) -> Table | None:
    """Right and wrong of one head and two, first run: what the crowd's labels look like in each cell."""
    rows: list[dict[str, object]] = []
    for condition, mine in predictions.items():
        gold, votes = texts.gold(mine[0].tasks), texts.votes(mine[0].tasks)
        if condition.loss and gold is not None and votes is not None and len(gold.shared(votes.tasks)):
            soft = aggregate.methods.make("softmax-shares").fit(votes).soft
            look = "kurtosis" if len(texts.labels) > 2 else "entropy"
            one = predictions[replace(condition, loss="")][0]
            found = evaluate.correctness_table(one, mine[0], gold, soft, look=look)  # type: ignore[arg-type]
            row: dict[str, object] = {"against one head": condition.spec}
            for i, cell in enumerate(("both right", "one head", "two heads", "neither")):
                row |= {cell: int(found.n[i]), f"{look}, {cell}": float(found.mean[i])}
            rows.append(row | {"p, one head and two heads": found.p_value})
    if not rows:
        return None
    note = "who is right: tasks, and the mean over their softmax shares; p of Mann-Whitney between the two that differ"
    return Table.of_rows("Right and wrong, first run", rows, (note,))


def results(texts: Texts, predictions: Mapping[Condition, list[SoftLabels]]) -> Runs:
    """The measures of every run."""
    return {one.spec: [measured(texts, prediction) for prediction in each] for one, each in predictions.items()}
