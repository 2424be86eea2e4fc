"""Out-of-fold predictions: every task is predicted by nets that did not see it, neither in training nor to choose an epoch."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import as_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import accuracy
from plurivox.train import Plan
from plurivox.train.data.training_data import TrainingData
from plurivox.workflows import train_folds
from plurivox.workflows.load_training_data import SETTINGS, read_splits_of_run_folder
from plurivox.workflows.train_nets import make_train_spec, train_once
from toy_training import toy_data

X, GOLD, VOTES = toy_data(60)
DATA = TrainingData("made", GOLD.tasks, X, None, GOLD, VOTES)
PLAN = Plan(epochs=4, batch=16, lr=0.02, device="cpu")
SPEC = make_train_spec(net="linear", plan=PLAN)


def test_every_task_is_predicted_by_the_net_that_was_not_trained_on_it(tmp_path: Path) -> None:
    found = train_folds(DATA, SPEC, folds=4, folder=tmp_path / "run")
    assert sorted(found.held_out.tolist()) == GOLD.tasks.tolist() and not len(found.others)
    for i in range(4):
        splits = read_splits_of_run_folder(tmp_path / "run" / f"fold-{i}")
        assert set(splits) == {"train", "test"} and len(splits["test"]) == 15
        assert not set(splits["train"].tolist()) & set(splits["test"].tolist())
        by_hand = train_once(DATA, splits, SPEC).predict(DATA.inputs_of(splits["test"]), splits["test"])
        np.testing.assert_allclose(found.prediction.on(splits["test"]).prob, by_hand.prob, atol=1e-6)
        share = np.bincount(GOLD.on(splits["test"]).most_probable_label_codes(), minlength=3) / 15
        assert np.abs(share - np.bincount(GOLD.most_probable_label_codes(), minlength=3) / 60).max() < 0.1  # stratified
    assert found.series.measures["held-out accuracy"] == (accuracy(found.prediction, GOLD),)
    read = pv.read_soft(tmp_path / "run" / "out_of_fold.csv")
    np.testing.assert_allclose(read.on(GOLD.tasks).prob, found.prediction.prob)


def test_an_epoch_is_chosen_on_training_tasks_or_the_dev_split_but_never_on_the_fold(tmp_path: Path) -> None:
    chosen = make_train_spec(net="linear", plan=replace(PLAN, best="loss"))
    split = as_names(["train"] * 40 + ["valid"] * 8 + ["test"] * 12)
    for name, data, dev in (("plain", DATA, None), ("split", replace(DATA, split=split), GOLD.tasks[40:48].tolist())):
        found = train_folds(data, chosen, folds=3, folder=tmp_path / name)
        for i in range(3):
            parts = {
                one: set(tasks.tolist())
                for one, tasks in read_splits_of_run_folder(tmp_path / name / f"fold-{i}").items()
            }
            assert not parts["dev"] & parts["test"] and not parts["train"] & (parts["dev"] | parts["test"])
            assert dev is None or (parts["dev"] == set(dev) and max(parts["train"] | parts["test"]) < 40)
        assert found.prediction.tasks.tolist() == GOLD.tasks.tolist()
    assert found.others.tolist() == list(range(40, 60)) and len(found.held_out) == 40


def test_runs_are_averaged_and_finished_folds_are_not_trained_again(tmp_path: Path) -> None:
    one, two = (
        train_folds(DATA, make_train_spec(net="linear", plan=replace(PLAN, seed=0)), folds=3, runs=n) for n in (1, 2)
    )
    assert (
        len(two.series.seeds) == 2 and two.series.measures["held-out nll"][0] == one.series.measures["held-out nll"][0]
    )
    assert not np.allclose(one.prediction.prob, two.prediction.prob)

    def stop(step: int, total: int, value: float | None = None) -> None:
        if step == 6:  # in the second of three folds of four epochs
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_folds(DATA, SPEC, folds=3, folder=tmp_path / "run", progress=stop)
    weights = tmp_path / "run" / "fold-0" / "run-000" / "weights.safetensors"
    before = weights.stat().st_mtime_ns
    assert not (tmp_path / "run" / "out_of_fold.csv").exists()
    resumed = train_folds(DATA, SPEC, folds=3, folder=tmp_path / "run")
    np.testing.assert_array_equal(resumed.prediction.prob, one.prediction.prob)
    assert weights.stat().st_mtime_ns == before and json.loads((tmp_path / "run" / SETTINGS).read_text())["folds"] == 3
    with pytest.raises(InputError, match="contains more than 2 folds"):
        train_folds(DATA, SPEC, folds=2, folder=tmp_path / "run")
    with pytest.raises(InputError, match="other train, dev and test splits; choose another folder"):
        train_folds(DATA, SPEC, folds=4, folder=tmp_path / "run")
    pv.train_runs(DATA, {"train": GOLD.tasks}, SPEC, folder=tmp_path / "plain")
    with pytest.raises(InputError, match="contains runs that are not of folds"):
        train_folds(DATA, SPEC, folds=3, folder=tmp_path / "plain")


def test_crowdlab_with_predictions_of_trained_tasks_is_another_score() -> None:
    rng = np.random.default_rng(0)
    noise = TrainingData("noise", GOLD.tasks, rng.normal(size=(60, 40)).astype(np.float32), None, GOLD, VOTES)
    spec = make_train_spec(net="linear", plan=Plan(epochs=60, batch=16, lr=0.05, device="cpu"))
    outside = train_folds(noise, spec, folds=3).prediction
    inside = train_once(noise, {"train": GOLD.tasks}, spec).predict(noise.x, GOLD.tasks)
    assert (
        accuracy(inside, GOLD) > 0.7 > 0.5 > accuracy(outside, GOLD)
    )  # inputs without information are learnt by heart
    weights = [pv.train.crowdlab(VOTES, one).found["model_weight"] for one in (inside, outside)]
    assert weights[0] > 0.5 and weights[1] < 0.1
    scores = [pv.score(VOTES, "crowdlab", prediction=one).raw for one in (inside, outside)]
    assert np.abs(scores[0] - scores[1]).max() > 0.1


def test_tasks_without_votes_are_predicted_too_and_stratified_by_what_is_known() -> None:
    votes = VOTES.on(GOLD.tasks[:45])
    bare = TrainingData("bare", GOLD.tasks, X, None, None, votes)
    with pytest.warns(pv.PlurivoxWarning, match="have no label for the target vote-shares"):
        found = train_folds(bare, SPEC, folds=3)
    assert isinstance(found.prediction, SoftLabels) and found.prediction.tasks.tolist() == GOLD.tasks.tolist()
    with pytest.raises(InputError, match="60 tasks cannot be split into 61 folds"):
        train_folds(DATA, SPEC, folds=61)
