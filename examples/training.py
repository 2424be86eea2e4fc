"""Three ways to teach a net what a crowd says, judged against the truth and against the crowd.

python -m examples.training demo-output/digits
"""

import sys

import plurivox as pv

TARGETS = (
    "majority",
    "dawid-skene",
    "de-aggregated",
)  # one label a task, soft labels, one person's answer at every visit
PLAN = {"epochs": 20, "lr": 0.003, "device": "cpu"}


def taught(data: pv.Dataset) -> list[dict[str, object]]:
    """Train on seven tenths of the tasks with each target; a row of measures on the others, which no net has seen."""
    votes, gold, features = data.crowd(), data.gold, data.features
    assert gold is not None and features is not None
    parts = pv.train.splits.stratified(gold.tasks, gold.hard(), {"train": 0.7, "test": 0.3})
    train, test = parts["train"], parts["test"]
    crowd = pv.fit(votes.on(test), "vote-shares").soft  # what people say of the others
    rows = []
    for word in TARGETS:
        known = pv.train.Supervision(votes=votes.on(train), soft=pv.fit(votes.on(train), "dawid-skene").soft)
        target = "soft" if word == "dawid-skene" else word
        net = pv.train.fit(
            features.on(train) / 16, target, tasks=train, known=known, net="mlp", plan=pv.train.Plan(**PLAN)
        )
        rows.append(measured(word, net.predict(features.on(test) / 16, test), gold.on(test), crowd))
    return rows


def measured(word: str, prediction: pv.SoftLabels, gold: pv.SoftLabels, crowd: pv.SoftLabels) -> dict[str, object]:
    """Hard measures against the truth, soft ones against the crowd's shares."""
    return {
        "taught": word,
        "accuracy": pv.evaluate.accuracy(prediction, gold),
        "NLL": pv.evaluate.nll(prediction, gold),
        "ECE": pv.evaluate.ece(prediction, gold),
        "crowd CE": pv.evaluate.cross_entropy(prediction, crowd),
        "crowd JSD": pv.evaluate.jensen_shannon_divergence(prediction, crowd),
        "entropy r": pv.evaluate.entropy_correlation(prediction, crowd),
    }


if __name__ == "__main__":
    for row in taught(pv.read(sys.argv[1])):
        print("  ".join(f"{name} {value if name == 'taught' else f'{value:.3f}'}" for name, value in row.items()))
