"""Protocol of the recipe labelme: train each method on the official split, measure on test and held-out photos, choose L2."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plurivox import aggregate, evaluate
from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, OptionError, first_few, require_package
from plurivox.core.method import parse_spec
from plurivox.core.recipe_tables import Table
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import heads
from plurivox.train.data import splits
from plurivox.train.data.training_data import TrainingData
from plurivox.train.em.raykar_em import raykar_em
from plurivox.train.training_hyperparameters import Plan
from plurivox.workflows.train_nets import make_train_spec, train_once

SPECS: dict[str, dict[str, str]] = {  # method -> arguments of `make_train_spec`; any other name is a target
    "log-pool-hard": {"target": "soft[hard=yes]", "soft": "log-pool"},
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
HARD_MEASURES = ("accuracy", "nll", "brier", "ece")  # against gold labels
TESTED_MEASURES = HARD_MEASURES[:3]  # resampling increases ECE
SOFT_MEASURES = ("cross-entropy", "total-variation", "entropy-correlation")  # against vote shares
N_FOLDS = 5
Parts = Mapping[str, Names]


@dataclass(frozen=True, eq=False)
class ExperimentSetting:
    """Data and settings that all runs of the recipe labelme share: splits, network, training plan, how the epoch is chosen."""

    training_data: TrainingData
    parts: Parts  # train, dev and test of the official split
    net: str
    plan: Plan
    choose: str  # gold or votes
    l2: tuple[float, ...]
    chosen_l2: dict[str, float] = field(default_factory=dict)  # result of `best_l2_and_dev_score_of_every_l2`

    @property
    def votes_on_training_photos(self) -> Votes:
        """The votes on the training photos; raises InputError if the data have no votes or no gold labels."""
        if self.training_data.votes is None or self.training_data.gold is None:
            raise InputError(f"{self.training_data.name} needs votes and gold labels for this recipe")
        return self.training_data.votes

    @property
    def gold_of_all_photos(self) -> SoftLabels:
        """The gold labels of all photos: train, dev and test."""
        assert self.training_data.gold is not None
        return self.training_data.gold


def train_and_predict_test_photos(setting: ExperimentSetting, method: str, seed: int) -> SoftLabels:
    """Train a method on all training photos and return its predictions of the test photos."""
    return train_and_predict_test_tasks(setting, method, setting.parts["train"], setting.parts["test"], seed)


def measure_on_test(setting: ExperimentSetting, prediction: SoftLabels) -> dict[str, float]:
    """Return {measure: value} of a prediction of the test photos against their gold labels."""
    truth = setting.gold_of_all_photos.on(setting.parts["test"])
    return {name: evaluate.MEASURES[name](prediction, truth) for name in HARD_MEASURES}


def differences_on_test_tasks_table(
    setting: ExperimentSetting, predictions: Mapping[str, list[SoftLabels]], reference: str
) -> tuple[Table, ...]:
    """Return one table: each method minus the reference on test tasks, against gold; see `_differences_table`."""
    truth = setting.gold_of_all_photos.on(setting.parts["test"])
    return _differences_table(
        predictions, truth, reference, TESTED_MEASURES, f"Better than {reference} on the test tasks, against gold"
    )


def differences_on_held_out_tasks_table(
    setting: ExperimentSetting, predictions: Mapping[str, list[SoftLabels]], reference: str
) -> tuple[Table, ...]:
    """Return two tables: each method minus the reference on held-out training tasks, against vote shares and against gold.

    Five runs, one per fold, are a round: joined, they predict all training tasks. Empty with fewer than two rounds.
    """
    joined = {method: _join_folds(runs) for method, runs in predictions.items()}
    if len(joined.get(reference, ())) < 2:
        return ()
    tasks, what = setting.parts["train"], f"rounds of {N_FOLDS} folds"
    shares = aggregate.methods.make("vote-shares").fit(setting.votes_on_training_photos.on(tasks)).soft
    gold = setting.gold_of_all_photos.on(tasks)
    title = f"Better than {reference} on held-out training tasks, against"
    return (
        *_differences_table(joined, shares, reference, SOFT_MEASURES, f"{title} votes", what),
        *_differences_table(joined, gold, reference, TESTED_MEASURES, f"{title} gold", what),
    )


def _join_folds(runs: Sequence[SoftLabels]) -> list[SoftLabels]:
    """Return one prediction of all training tasks per `N_FOLDS` runs; runs of an incomplete round are left out."""
    rounds = [runs[begin : begin + N_FOLDS] for begin in range(0, len(runs) - N_FOLDS + 1, N_FOLDS)]
    return [
        SoftLabels.of(
            np.concatenate([fold.prob for fold in one]), np.concatenate([fold.tasks for fold in one]), one[0].labels
        )
        for one in rounds
    ]


def _differences_table(
    predictions: Mapping[str, list[SoftLabels]],
    truth: SoftLabels,
    reference: str,
    measures: Sequence[str],
    title: str,
    what_runs_are: str = "runs",
) -> tuple[Table, ...]:
    """Return one table: each method minus the reference in each measure, with intervals for other tasks and other runs.

    p-values are adjusted by Holm's method over the methods of the table. Empty without the reference or without others.
    """
    runs = predictions.get(reference, [])
    found = {
        method: evaluate.compare_runs(theirs, runs, truth, measures=measures)
        for method, theirs in predictions.items()
        if runs and method != reference and len(theirs) == len(runs)
    }
    if not found:
        return ()
    p_values = np.array([one.p_value for one in found.values()])
    adjusted = np.stack([evaluate.holm(column) for column in p_values.T], 1)
    cells: dict[str, object] = {"method": list(found)}
    for i, name in enumerate(measures):
        cells[f"{name} better by"] = [str(one.intervals()[i]) for one in found.values()]
        cells[f"{name} p, Holm"] = adjusted[:, i]
    left_out = [method for method in predictions if method != reference and method not in found]
    note = (
        f"95% intervals and p by a bootstrap over {len(truth):,} tasks and {len(runs)} {what_runs_are}; p adjusted by Holm's "
        f"method, for each measure, over the rows: {len(found)}"
    )
    notes = (note, f"not compared, since they have another number of runs: {', '.join(left_out)}" if left_out else "")
    return (Table(title, cells, tuple(filter(None, notes))),)


def train_and_predict_held_out_fold(setting: ExperimentSetting, method: str, run_number: int, seed: int) -> SoftLabels:
    """Train a method on four fifths of the training tasks and return its predictions of the others."""
    folds = splits.folds(setting.parts["train"], N_FOLDS, seed=seed + run_number // N_FOLDS)
    part = folds[run_number % N_FOLDS]
    return train_and_predict_test_tasks(setting, method, part["train"], part["test"], seed + run_number)


def measure_on_held_out_votes(setting: ExperimentSetting, prediction: SoftLabels) -> dict[str, float]:
    """Return {measure: value} of a prediction of training tasks against the votes on them, and their gold labels."""
    votes = setting.votes_on_training_photos.on(prediction.tasks)
    shares, softmax = (aggregate.methods.make(spec).fit(votes).soft for spec in ("vote-shares", "softmax-shares"))
    gold = setting.gold_of_all_photos.on(prediction.tasks)
    return {
        "CE, shares": evaluate.MEASURES["cross-entropy"](prediction, shares),
        "CE, softmax": evaluate.MEASURES["cross-entropy"](prediction, softmax),
        "JSD, shares": evaluate.MEASURES["jensen-shannon-divergence"](prediction, shares),
        "TV, shares": evaluate.MEASURES["total-variation"](prediction, shares),
        "entropy r, shares": evaluate.MEASURES["entropy-correlation"](prediction, shares),
        "entropy r, softmax": evaluate.MEASURES["entropy-correlation"](prediction, softmax),
        "CE, gold": evaluate.MEASURES["nll"](prediction, gold),
        "accuracy, gold": evaluate.MEASURES["accuracy"](prediction, gold),
    }


def train_and_predict_test_tasks(
    setting: ExperimentSetting, method: str, train_tasks: Names, test_tasks: Names, seed: int
) -> SoftLabels:
    """Train a method on the tasks `train_tasks` and return its predictions of the tasks `test_tasks`."""
    parts, training_data = train_dev_splits_and_training_data(setting, train_tasks, seed)
    if method == LOGISTIC:
        model = _fit_logistic_model_by_em(setting, parts, training_data, setting.chosen_l2["l2"])
        return model.predict(_input_features_of_tasks(training_data, test_tasks), test_tasks)
    spec = make_train_spec(
        **_train_spec_keyword_arguments(method, seed), net=setting.net, plan=replace(setting.plan, seed=seed)
    )
    return train_once(training_data, parts, spec).predict(training_data.inputs_of(test_tasks), test_tasks)


def _train_spec_keyword_arguments(method: str, seed: int) -> dict[str, Any]:
    """Return the keyword arguments of `make_train_spec` for a training method; `seed` breaks ties of majority votes.

    The options of a method are those of its head, or of its aggregator.

    >>> _train_spec_keyword_arguments("conal[scale=0]", 0)
    {'target': 'all-votes', 'head': 'conal[scale=0.0]'}
    """
    silver = f"majority[seed={seed}]"
    name, options = parse_spec(method)
    if name not in SPECS:  # a target, or a head with its default target
        if name in heads.methods:
            return {"target": "", "head": method}
        return {"target": silver if method == "majority" else method}
    given = dict(SPECS[name])
    if options:
        given |= _with_options(given, options, method)
    return {**given, "main": silver} if given.get("main") == "majority" else given


def _with_options(arguments: Mapping[str, str], options: Mapping[str, str], method: str) -> dict[str, str]:
    """Return the argument, head or target, that the options of a method are options of; OptionError for an unknown one."""
    part, registry = ("head", heads.methods) if "head" in arguments else ("soft", aggregate.methods)
    name, own = parse_spec(arguments[part])
    if twice := own.keys() & options.keys():
        raise OptionError(
            f"{method}: the option {first_few(sorted(twice))} is set by the name of the method; leave it out"
        )
    return {part: registry.make(name, **own, **options).spec}


def methods_trained_on_gold(methods: Sequence[str]) -> list[str]:
    """Return those of the training methods whose training labels are gold labels or made from them."""
    specs = {
        method: make_train_spec(**_train_spec_keyword_arguments(method, 0)) for method in methods if method != LOGISTIC
    }
    return [method for method, spec in specs.items() if spec.target.can_train_on_gold]


def train_dev_splits_and_training_data(
    setting: ExperimentSetting, train_tasks: Names, seed: int
) -> tuple[dict[str, Names], TrainingData]:
    """Return ({"train", "dev": tasks}, data): dev is the gold dev split (`choose=gold`), or a tenth of `train_tasks`."""
    if setting.choose == "gold":
        return {"train": train_tasks, "dev": setting.parts["dev"]}, setting.training_data
    found = splits.stratified(train_tasks, None, {"train": 0.9, "dev": 0.1}, seed)
    # dev has no gold labels
    return found, replace(setting.training_data, gold=setting.gold_of_all_photos.on(found["train"]))


def best_l2_and_dev_score_of_every_l2(setting: ExperimentSetting, seed: int) -> dict[str, float]:
    """Return {"l2": the L2 penalty with the best dev score, "dev at <l2>": its dev score, ...} of the logistic regression."""
    parts, training_data = train_dev_splits_and_training_data(setting, setting.parts["train"], seed)
    scores = {l2: _dev_score_of_l2(setting, parts, training_data, l2) for l2 in setting.l2}
    return {"l2": max(scores, key=lambda l2: scores[l2]), **{f"dev at {l2:g}": scores[l2] for l2 in scores}}


def _dev_score_of_l2(
    setting: ExperimentSetting, tasks_by_split: Parts, training_data: TrainingData, l2: float
) -> float:
    """Return the score of an L2 penalty on the dev tasks: accuracy against gold, or negative cross-entropy against votes."""
    dev = tasks_by_split["dev"]
    prediction = _fit_logistic_model_by_em(setting, tasks_by_split, training_data, l2).predict(
        _input_features_of_tasks(training_data, dev), dev
    )
    if setting.choose == "gold":
        return evaluate.MEASURES["accuracy"](prediction, setting.gold_of_all_photos.on(dev))
    return -evaluate.MEASURES["cross-entropy"](
        prediction, aggregate.methods.make("vote-shares").fit(setting.votes_on_training_photos.on(dev)).soft
    )


def _fit_logistic_model_by_em(
    setting: ExperimentSetting, tasks_by_split: Parts, training_data: TrainingData, l2: float
) -> Any:
    """Return the logistic regression trained on the votes of the training tasks by Raykar's EM, with penalty `l2`."""
    require_package("sklearn", LOGISTIC, "pip install scikit-learn")
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    votes = setting.votes_on_training_photos.on(tasks_by_split["train"]).with_labels(setting.gold_of_all_photos.labels)
    model = LogisticRegression(C=1 / l2, max_iter=20)  # few iterations per EM pass: the next pass continues from there
    with warnings.catch_warnings(), threadpool_limits(1):  # one thread is faster for such small problems
        warnings.simplefilter("ignore", ConvergenceWarning)
        train = tasks_by_split["train"]
        return raykar_em(votes, _input_features_of_tasks(training_data, train), model, tasks=train)


def _input_features_of_tasks(training_data: TrainingData, tasks: Names) -> Any:
    """Return (n, n_features) the inputs of these tasks as floats; the pixels of images are from 0 to 1, one row per image."""
    x = training_data.inputs_of(tasks)
    return x.reshape(len(x), -1).astype(np.float64) / (255 if x.dtype == np.uint8 else 1)
