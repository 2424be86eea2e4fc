"""LabelMe with its official split: what is trained, and what is measured."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plurivox import aggregate, evaluate
from plurivox.core.errors import InputError, require_package
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.core.votes import Votes
from plurivox.train.data import splits
from plurivox.train.data.training_data import TrainingData
from plurivox.train.em.raykar_em import raykar_em
from plurivox.train.plan import Plan
from plurivox.workflows.train import train_once, train_spec

SPECS: dict[str, dict[str, str]] = {  # a method -> arguments of `train_spec`; any other word is a target
    "two-heads-gold": {"target": "softmax-shares", "head": "two-heads", "main": "gold"},
    "two-heads-silver": {"target": "softmax-shares", "head": "two-heads", "main": "majority"},
    "crowd-layer": {"target": "all-votes", "head": "crowd-layer"},
    "conal": {"target": "all-votes", "head": "conal"},
    "trace-regularised": {"target": "all-votes", "head": "trace-regularised"},
    "geo-crowd-net-f": {"target": "all-votes", "head": "geo-crowd-net[variant=F]"},
    "geo-crowd-net-w": {"target": "all-votes", "head": "geo-crowd-net[variant=W]"},
    "union-net-a": {"target": "all-votes", "head": "union-net[variant=A]"},
    "union-net-b": {"target": "all-votes", "head": "union-net[variant=B]"},
    "annot-mix": {"target": "all-votes", "head": "annot-mix"},
    "raykar": {"target": "all-votes", "head": "raykar"},
}
LOGISTIC = "raykar-logistic"
HARD = ("accuracy", "nll", "brier", "ece")
FOLDS = 5
Parts = Mapping[str, Names]


@dataclass(frozen=True, eq=False)
class Setting:
    """The data, and how every net is trained and chosen."""

    training_data: TrainingData
    parts: Parts  # train, dev and test of the official split
    net: str
    plan: Plan
    choose: str  # gold or votes
    l2: tuple[float, ...]
    chosen: dict[str, float] = field(default_factory=dict)  # the L2 of the logistic regression, once it is known

    @property
    def votes(self) -> Votes:
        """Those on the training tasks."""
        if self.training_data.votes is None or self.training_data.gold is None:
            raise InputError(f"{self.training_data.name} needs votes and gold labels for this recipe")
        return self.training_data.votes

    @property
    def gold(self) -> SoftLabels:
        """The true labels of all tasks."""
        assert self.training_data.gold is not None
        return self.training_data.gold


def official(setting: Setting, method: str, seed: int) -> dict[str, float]:
    """Trained on all training photos, measured against gold on the test photos."""
    tasks = setting.parts["test"]
    prediction = prediction_of(setting, method, setting.parts["train"], tasks, seed)
    truth = setting.gold.on(tasks)
    return {name: evaluate.MEASURES[name](prediction, truth) for name in HARD}


def held_out(setting: Setting, method: str, run: int, seed: int) -> dict[str, float]:
    """Trained on four fifths of the training photos, measured against the votes on the others."""
    folds = splits.folds(setting.parts["train"], FOLDS, seed=seed + run // FOLDS)
    part = folds[run % FOLDS]
    prediction = prediction_of(setting, method, part["train"], part["test"], seed + run)
    votes = setting.votes.on(part["test"])
    shares, softmax = (aggregate.methods.make(word).fit(votes).soft for word in ("vote-shares", "softmax-shares"))
    return {
        "CE, shares": evaluate.MEASURES["cross-entropy"](prediction, shares),
        "CE, softmax": evaluate.MEASURES["cross-entropy"](prediction, softmax),
        "JSD, shares": evaluate.MEASURES["jensen-shannon-divergence"](prediction, shares),
        "entropy r, shares": evaluate.MEASURES["entropy-correlation"](prediction, shares),
        "entropy r, softmax": evaluate.MEASURES["entropy-correlation"](prediction, softmax),
        "CE, gold": evaluate.MEASURES["nll"](prediction, setting.gold.on(part["test"])),
    }


def prediction_of(setting: Setting, method: str, taught: Names, asked: Names, seed: int) -> SoftLabels:
    """Train a method on some tasks and predict for others."""
    parts, training_data = chooser(setting, taught, seed)
    if method == LOGISTIC:
        return _fit(setting, parts, training_data, setting.chosen["l2"]).predict(_floats(training_data, asked), asked)
    spec = train_spec(**_spec(method, seed), net=setting.net, plan=replace(setting.plan, seed=seed))
    return train_once(training_data, parts, spec).predict(training_data.on(asked), asked)


def _spec(method: str, seed: int) -> dict[str, Any]:
    """The arguments of `train_spec`; ties of a majority are broken by another lot in every run."""
    silver = f"majority[seed={seed}]"
    given = SPECS.get(method, {"target": silver if method == "majority" else method})
    return {**given, "main": silver} if given.get("main") == "majority" else given


def chooser(setting: Setting, taught: Names, seed: int) -> tuple[dict[str, Names], TrainingData]:
    """Which tasks teach and which ones say what epoch is best, by their gold labels or by their votes alone."""
    if setting.choose == "gold":
        return {"train": taught, "dev": setting.parts["dev"]}, setting.training_data
    found = splits.stratified(taught, None, {"train": 0.9, "dev": 0.1}, seed)
    seen = replace(setting.training_data, gold=setting.gold.on(found["train"]))  # of dev only the votes are seen
    return found, seen


def choose_l2(setting: Setting, seed: int) -> dict[str, float]:
    """The penalty of the logistic regression that is best on the dev tasks, and how good each one was."""
    parts, training_data = chooser(setting, setting.parts["train"], seed)
    scores = {one: _dev_score(setting, parts, training_data, one) for one in setting.l2}
    return {"l2": max(scores, key=lambda one: scores[one]), **{f"dev at {one:g}": scores[one] for one in scores}}


def _dev_score(setting: Setting, parts: Parts, training_data: TrainingData, l2: float) -> float:
    """How good it is on the dev tasks: accuracy against gold, or the negative cross-entropy against votes."""
    dev = parts["dev"]
    prediction = _fit(setting, parts, training_data, l2).predict(_floats(training_data, dev), dev)
    if setting.choose == "gold":
        return evaluate.MEASURES["accuracy"](prediction, setting.gold.on(dev))
    return -evaluate.MEASURES["cross-entropy"](
        prediction, aggregate.methods.make("vote-shares").fit(setting.votes.on(dev)).soft
    )


def _fit(setting: Setting, parts: Parts, training_data: TrainingData, l2: float) -> Any:
    require_package("sklearn", LOGISTIC, "pip install scikit-learn")
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    votes = setting.votes.on(parts["train"]).with_labels(setting.gold.labels)
    model = LogisticRegression(C=1 / l2, max_iter=20)  # a part of the way a pass, on from where it stands
    with warnings.catch_warnings(), threadpool_limits(1):  # many threads wait for each other on such small steps
        warnings.simplefilter("ignore", ConvergenceWarning)
        return raykar_em(votes, _floats(training_data, parts["train"]), model)


def _floats(training_data: TrainingData, tasks: Names) -> Any:
    return training_data.on(tasks).astype(np.float64)
