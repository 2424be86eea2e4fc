"""Train a network on three kinds of labels made from votes; evaluate against true labels and against vote shares.

Run it after `make demo`: `python -m examples.training demo-output/digits`.
"""

import sys

import plurivox as pv

# one label per task, soft labels, one random vote per epoch
TARGETS = (
    "majority",
    "dawid-skene",
    "de-aggregated",
)
PLAN = {"epochs": 20, "lr": 0.003, "device": "cpu"}


def train_and_measure(data: pv.Dataset) -> list[dict[str, object]]:
    """Train with each target on 70% of the tasks; return one row of measures on the other tasks per target."""
    votes, gold, features = data.crowd(), data.gold, data.features
    assert gold is not None and features is not None
    parts = pv.train.splits.stratified(gold.tasks, gold.hard(), {"train": 0.7, "test": 0.3})
    train, test = parts["train"], parts["test"]
    crowd = pv.fit(votes.on(test), "vote-shares").soft  # reference of the soft measures
    rows = []
    for name in TARGETS:
        known = pv.train.Supervision(votes=votes.on(train), soft=pv.fit(votes.on(train), "dawid-skene").soft)
        target = "soft" if name == "dawid-skene" else name
        net = pv.train.fit(
            features.on(train) / 16, target, tasks=train, known=known, net="mlp", plan=pv.train.Plan(**PLAN)
        )
        rows.append(measure(name, net.predict(features.on(test) / 16, test), gold.on(test), crowd))
    return rows


def measure(target: str, prediction: pv.SoftLabels, gold: pv.SoftLabels, crowd: pv.SoftLabels) -> dict[str, object]:
    """Return hard measures against gold labels and soft measures against the vote shares `crowd`."""
    return {
        "trained on": target,
        "accuracy": pv.evaluate.accuracy(prediction, gold),
        "NLL": pv.evaluate.nll(prediction, gold),
        "ECE": pv.evaluate.ece(prediction, gold),
        "crowd CE": pv.evaluate.cross_entropy(prediction, crowd),
        "crowd JSD": pv.evaluate.jensen_shannon_divergence(prediction, crowd),
        "entropy r": pv.evaluate.entropy_correlation(prediction, crowd),
    }


if __name__ == "__main__":
    for row in train_and_measure(pv.read(sys.argv[1])):
        print("  ".join(f"{name} {value if name == 'trained on' else f'{value:.3f}'}" for name, value in row.items()))
