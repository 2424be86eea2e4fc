"""Training on a data set: targets by name, and what a series records."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plurivox.aggregate import DEFAULT_METHODS, DawidSkene, VoteShares
from plurivox.core.errors import InputError, OptionError, UnknownName
from plurivox.core.name_encoding import as_names
from plurivox.train import Plan
from plurivox.train.data.training_data import TrainingData, read_training_data, write_training_data
from plurivox.train.targets import AllVotes, Majority, Pair, Soft, Target
from plurivox.train.trained_net import Trained
from plurivox.workflows.load_training_data import SETTINGS, RunFolder, read_splits_of_run_folder
from plurivox.workflows.net_evaluation import Series, mean_and_std_table
from plurivox.workflows.train_nets import RESULTS, PreparedTraining, make_train_spec, train_once, train_runs
from toy_training import toy_data

X, GOLD, VOTES = toy_data(40)
MATERIAL = TrainingData("made", GOLD.tasks, X, as_names(["train"] * 30 + ["test"] * 10), GOLD, VOTES)
PLAN = Plan(epochs=2, batch=16, device="cpu")


@pytest.mark.parametrize(
    ("given", "target", "soft", "taught"),
    [
        ({}, Soft(), VoteShares(), "vote-shares"),
        ({"target": "dawid-skene"}, Soft(), DawidSkene(), "dawid-skene"),
        ({"target": "majority"}, Majority(), None, "majority"),
        ({"target": "soft", "soft": "dawid-skene"}, Soft(), DawidSkene(), "dawid-skene"),
        ({"head": "crowd-layer"}, AllVotes(), VoteShares(), "all-votes"),
        ({"head": "crowd-layer", "target": "all-votes"}, AllVotes(), None, "all-votes"),
        ({"head": "two-heads"}, Pair(), VoteShares(), "gold and vote-shares"),
        ({"head": "two-heads", "target": "soft"}, Pair(), None, "pair"),
        (
            {"head": "two-heads", "target": "dawid-skene", "main": "majority"},
            Pair(main="majority"),
            DawidSkene(),
            "majority and dawid-skene",
        ),
    ],
)
def test_targets_by_name(given: dict[str, str], target: Target, soft: object, taught: str) -> None:
    spec = make_train_spec(**given)  # type: ignore[arg-type]
    assert spec.target == target and spec.soft == soft and spec.target_text == taught


@pytest.mark.parametrize(
    ("given", "estimates"),
    [
        ({}, "people"),  # vote shares
        ({"target": "dawid-skene"}, "truth"),
        ({"target": "gold"}, "truth"),
        ({"target": "de-aggregated"}, "people"),
        ({"head": "crowd-layer"}, "truth"),  # behind the votes of its workers
        ({"head": "two-heads"}, "truth"),
        ({"for_": "truth"}, "truth"),
        ({"for_": "people"}, "people"),
        ({"target": "soft", "for_": "truth"}, "truth"),
    ],
)
def test_predictions_estimate_what_the_training_labels_do(
    given: dict[str, str], estimates: str, tmp_path: Path
) -> None:
    net = train_once(MATERIAL, MATERIAL.tasks_by_standard_split(), make_train_spec(net="linear", plan=PLAN, **given))  # type: ignore[arg-type]
    assert net.predict(X).estimates == net.estimates == estimates
    net.save(tmp_path)
    assert Trained.load(tmp_path).predict(X).estimates == estimates
    before = replace(net, made_by={name: one for name, one in net.made_by.items() if name != "estimates"})
    before.save(tmp_path)  # as an earlier version saved it
    assert Trained.load(tmp_path).predict(X).estimates == "unknown"


def test_for_selects_the_training_labels() -> None:
    for estimates, method in (("truth", DEFAULT_METHODS["truth"]), ("people", "vote-shares")):
        spec = make_train_spec(for_=estimates)  # type: ignore[arg-type]
        assert spec.soft is not None and spec.soft.name() == method and spec.estimated_quantity(estimates) == estimates  # type: ignore[arg-type]


@pytest.mark.parametrize(("target", "noted"), [("gold", "estimates truth"), ("de-aggregated", "estimates people")])
def test_measures_that_do_not_fit_are_noted_before_training(target: str, noted: str) -> None:
    notes: list[str] = []
    spec = make_train_spec(target, net="linear", plan=PLAN)
    train_runs(MATERIAL, MATERIAL.tasks_by_standard_split(), spec, note=notes.append)
    assert sum(noted in note for note in notes) == 1 == sum("the network estimates" in note for note in notes)


def test_for_refuses_labels_that_estimate_the_other() -> None:
    with pytest.raises(
        InputError, match="on de-aggregated estimates people, not truth: leave the target out, or name gold"
    ):
        make_train_spec("de-aggregated", for_="truth")
    with pytest.raises(InputError, match="on dawid-skene estimates truth, not people"):
        make_train_spec("dawid-skene", for_="people")
    with pytest.raises(
        InputError, match="under crowd-layer on all-votes estimates truth, not people: leave head and target"
    ):
        make_train_spec(head="crowd-layer", for_="people")
    stored = replace(MATERIAL, soft=replace(GOLD, estimates="people"))  # known only with the data
    splits = MATERIAL.tasks_by_standard_split()
    with pytest.raises(InputError, match="on soft estimates people, not truth"):
        train_once(stored, splits, make_train_spec("soft", for_="truth", net="linear", plan=PLAN))
    said = replace(MATERIAL, soft=replace(GOLD, estimates="unknown"))
    assert (
        train_once(said, splits, make_train_spec("soft", for_="people", net="linear", plan=PLAN)).estimates == "people"
    )


def test_an_earlier_finished_run_is_not_another_training(tmp_path: Path) -> None:
    prepared = PreparedTraining.prepare_training(
        MATERIAL, MATERIAL.tasks_by_standard_split(), make_train_spec(net="linear", plan=PLAN)
    )
    net = prepared.create_or_resume_run(0, tmp_path).train_to_end()
    replace(net, made_by={name: one for name, one in net.made_by.items() if name != "estimates"}).save(tmp_path)
    assert prepared.create_or_resume_run(0, tmp_path).train_to_end().estimates == "unknown"


@pytest.mark.parametrize("target", ["vote-shares", "dawid-skene", "soft"])
def test_soft_labels_of_the_data_are_used(target: str) -> None:
    with pytest.raises(
        OptionError, match=f"crowd-layer needs .*; {target} is of the kind distribution: leave the target out"
    ):
        make_train_spec(target, head="crowd-layer")


def test_invalid_specs_raise_errors() -> None:
    with pytest.raises(UnknownName, match="no target or aggregator 'golden'; did you mean 'gold'"):
        make_train_spec("golden")
    with pytest.raises(InputError, match=r"two aggregators for the soft labels: vote-shares .* and dawid-skene"):
        make_train_spec(soft="dawid-skene")
    with pytest.raises(InputError, match="main=majority is the hard target of two heads"):
        make_train_spec(main="majority", head="conal")
    with pytest.raises(InputError, match="no votes; weighting tasks by agreement"):
        bare = TrainingData("bare", GOLD.tasks, X, MATERIAL.split, GOLD)
        PreparedTraining.prepare_training(bare, bare.tasks_by_standard_split(), make_train_spec("gold", weigh=True))
    with pytest.raises(InputError, match="the inputs contain tasks twice: 0"):
        train_once(MATERIAL, {"train": GOLD.tasks[[0, 1, 0]]}, make_train_spec("gold", plan=PLAN))


def test_a_series_records_how_many_were_trained_together() -> None:
    notes: list[str] = []
    spec = make_train_spec(net="mlp[hidden=4]", loss="kl", head="crowd-layer", plan=PLAN)
    series = train_runs(MATERIAL, MATERIAL.tasks_by_standard_split(), spec, runs=3, at_once=None, note=notes.append)
    assert (series.at_once, series.stacked) == (3, True)
    assert [note.partition(";")[0] for note in notes] == [
        "crowd-layer has its own loss",
        "the network estimates truth (the probability that a label is right): soft measures against votes do not say how "
        "good it is",
        "3 runs at a time are trained as one stacked net",
    ]
    alone = train_runs(MATERIAL, MATERIAL.tasks_by_standard_split(), spec, runs=2, at_once=1)
    assert (alone.at_once, alone.stacked) == (1, False)
    np.testing.assert_allclose(series.measures["test nll"][:2], alone.measures["test nll"], atol=1e-4)


def test_a_run_folder_records_its_splits(tmp_path: Path) -> None:
    splits, spec = MATERIAL.tasks_by_standard_split(), make_train_spec(net="mlp[hidden=4]", plan=PLAN)
    train_runs(MATERIAL, splits, spec, folder=tmp_path / "runs", command="by hand")
    settings = json.loads((tmp_path / "runs" / SETTINGS).read_text())
    assert settings["command"] == "by hand" and settings["input"] == "made"
    assert {name: tasks.tolist() for name, tasks in read_splits_of_run_folder(tmp_path / "runs").items()} == settings[
        "parts"
    ]
    assert settings["parts"]["test"] == splits["test"].tolist()
    again = train_runs(MATERIAL, splits, spec, folder=tmp_path / "runs", runs=2)
    assert len(again.seeds) == 2 and json.loads((tmp_path / "runs" / SETTINGS).read_text()) == settings
    head, *rows = (tmp_path / "runs" / RESULTS).read_text().splitlines()
    counts = ["train tasks", "test tasks with gold", "test tasks with votes"]
    assert head.split(",") == ["run", "seed", *again.measures, *counts] and len(rows) == 2
    assert all(row.endswith(",30,10,10") for row in rows) and not settings["gold_used"] and not settings["left_out"]
    values = again.measures["test nll"]
    assert again.mean_plus_minus_std_text("test nll") == f"{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}"
    other = {"train": splits["train"][1:], "test": splits["test"]}
    with pytest.raises(InputError, match="have other train, dev and test splits"):
        train_runs(MATERIAL, other, spec, folder=tmp_path / "runs")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    with pytest.raises(InputError, match="is not empty and contains no runs"):
        train_runs(MATERIAL, splits, spec, folder=tmp_path / "full")


def test_a_run_folder_is_checked_before_it_is_opened(tmp_path: Path) -> None:
    home = RunFolder.from_empty_or_run_folder(tmp_path / "runs")
    assert RunFolder.from_empty_or_run_folder(home) is home and not home.path.exists()
    home.create_or_check_same_splits(MATERIAL.tasks_by_standard_split(), "by hand", "made")
    (home.path / "notes.txt").touch()
    assert RunFolder.from_empty_or_run_folder(str(home.path)) == home  # the settings file shows that it is a run folder


def test_tasks_of_little_agreement_are_left_out() -> None:
    parts = MATERIAL.tasks_by_standard_split()
    whole, some = (
        PreparedTraining.prepare_training(MATERIAL, parts, make_train_spec(least_agreement=least, plan=PLAN)).data
        for least in (0.0, 1.0)
    )
    unanimous = VOTES.on(parts["train"]).counts().max(1) == 4
    assert whole.weight is None and len(whole.tasks) == 30
    assert some.tasks.tolist() == parts["train"][unanimous].tolist() and 0 < len(some.tasks) < 30


def test_training_is_reproducible() -> None:
    spec = make_train_spec("de-aggregated", net="mlp[hidden=4,dropout=0.2]", plan=PLAN)
    one, two = (train_once(MATERIAL, MATERIAL.tasks_by_standard_split(), spec) for _ in range(2))
    np.testing.assert_array_equal(one.logits(X), two.logits(X))


def test_mixed_uses_the_chosen_tasks_in_python() -> None:
    spec = make_train_spec("mixed[first=uniform,rest=gold]", net="linear", plan=PLAN)
    splits = MATERIAL.tasks_by_standard_split()
    with pytest.raises(InputError, match=r"which tasks are trained on uniform: all 30 have it. .*chosen="):
        train_runs(MATERIAL, splits, spec)
    counts = train_runs(MATERIAL, splits, spec, chosen=splits["train"][:10]).trained_counts
    assert counts is not None and counts.by_target == {"uniform (first)": 10, "gold (rest)": 20}
    assert counts.gold_used == ("training labels",)
    assert train_once(MATERIAL, splits, spec, chosen=splits["train"]).made_by["gold_used"] == []
    with pytest.raises(InputError, match="the target majority does not use them"):
        train_runs(MATERIAL, splits, make_train_spec("majority", plan=PLAN), chosen=splits["train"])


def test_an_undefined_run_is_left_out_of_the_mean_and_said() -> None:
    nan = float("nan")
    series = Series((0, 1, 2), {"test r": (0.5, nan, 0.7), "test s": (nan, nan, nan)})
    assert series.mean_over_runs("test r") == pytest.approx(0.6) and series.n_runs_with_measure("test r") == 2
    assert series.mean_plus_minus_std_text("test r", 2) == "0.60 ± 0.14 (undefined in 1 of 3 runs)"
    assert series.mean_plus_minus_std_text("test s") == "undefined" and np.isnan(series.mean_over_runs("test s"))
    runs = {
        "a": [{"r": 0.5}, {"r": nan}],
        "b": [{"r": nan}],
        "c": [{"q": 1.0}, {"r": 1.0}],
        "d": [{"r": 0.5}, {"r": 0.7}],
    }
    assert mean_and_std_table("Two", runs, digits=2).columns()["r"].tolist() == [
        "0.50 (undefined in 1 of 2 runs)",
        "undefined",
        "1.00 (undefined in 1 of 2 runs)",
        "0.60 ± 0.14",
    ]


def test_packed_inputs_keep_what_the_soft_labels_estimate(tmp_path: Path) -> None:
    for estimates in ("truth", "people", "unknown"):
        packed = replace(MATERIAL, soft=replace(GOLD, estimates=estimates))  # type: ignore[arg-type]
        write_training_data(packed, tmp_path / "packed.npz")
        back = read_training_data(tmp_path / "packed.npz").soft
        assert back is not None and back.estimates == estimates
