"""Public functions of `pv.evaluate` take DataFrames, mappings and files wherever they take our types."""

import inspect
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import plurivox as pv

TASKS = list("abcdef")
SOFT = pv.SoftLabels.of([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7], [0.5, 0.5], [0.8, 0.2]], TASKS, ["no", "yes"])
GOLD = pv.SoftLabels.gold(TASKS, ["no", "yes", "yes", "yes", "no", "no"])
VOTES = pv.votes(task=TASKS * 2, worker=[1] * 6 + [2] * 6, label=["no", "yes"] * 6)
MORE: dict[str, dict[str, Any]] = {
    "compare_predictions": {"repeats": 20},
    "evaluate_labels": {"repeats": 20},
    "agreement_per_label": {"resamples": 0},
    "top_k_accuracy": {"k": 1},
    "wasserstein": {"scale": [0, 1]},
}


def functions_of_our_types() -> list[str]:
    """Return the public functions of `evaluate` whose first parameters are SoftLabels or Votes."""
    kinds = (pv.SoftLabels, pv.Votes)
    found = {name: getattr(pv.evaluate, name) for name in pv.evaluate.__all__}
    return [
        name
        for name, one in found.items()
        if inspect.isfunction(one) and next(iter(inspect.signature(one).parameters.values())).annotation in kinds
    ]


@pytest.mark.parametrize("name", functions_of_our_types())
@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_tables_give_the_same_result_as_our_types(name: str) -> None:
    if name == "labels_meet":
        pytest.skip("takes positions of tasks, not labels alone")
    function = getattr(pv.evaluate, name)
    given: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not inspect.Parameter.empty or parameter.kind is parameter.KEYWORD_ONLY:
            break
        if parameter.annotation is pv.Votes:
            given.append(VOTES)
        else:
            given.append(GOLD if parameter.name == "truth" else SOFT)
    tables = [one.to_pandas() for one in given]
    assert str(function(*tables, **MORE.get(name, {}))) == str(function(*given, **MORE.get(name, {})))


def test_predictions_by_name_may_be_tables_and_files(tmp_path: Path) -> None:
    hard = dict(zip(TASKS, SOFT.hard().tolist(), strict=True))
    SOFT.to_pandas().to_csv(tmp_path / "soft.csv", index=False)
    ours = pv.evaluate.compare_several_predictions(
        {"soft": SOFT, "hard": pv.SoftLabels.gold(TASKS, list(hard.values()))}, GOLD, measures=["accuracy"], repeats=20
    )
    tables = {"soft": tmp_path / "soft.csv", "hard": hard}
    found = pv.evaluate.compare_several_predictions(tables, GOLD.to_pandas(), measures=["accuracy"], repeats=20)
    assert str(found) == str(ours)


def test_accuracy_of_a_fit_against_a_mapping_and_a_file(tmp_path: Path) -> None:
    truth = dict(zip(GOLD.tasks.tolist(), GOLD.hard().tolist(), strict=True))
    pd.DataFrame({"task": list(truth), "label": list(truth.values())}).to_csv(tmp_path / "gold.csv", index=False)
    fit = pv.fit(VOTES, "vote-shares")
    for one in (truth, tmp_path / "gold.csv"):
        assert pv.evaluate.accuracy(fit, one) == pv.evaluate.accuracy(fit.soft, GOLD)
        assert pv.evaluate.MEASURES["accuracy"](fit, one) == pv.evaluate.accuracy(fit.soft, GOLD)
