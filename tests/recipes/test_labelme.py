"""The recipe labelme on a small generated data set, and on the real one if installed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.name_encoding import as_names
from plurivox.core.recipe_tables import Tables
from plurivox.core.soft_labels import SoftLabels
from plurivox.io import Dataset, read
from plurivox.io.features import Features
from plurivox.recipes._papers.labelme_training_and_measures import _train_spec_keyword_arguments
from plurivox.recipes.labelme import METHODS, Labelme
from plurivox.workflows.train_nets import make_train_spec
from toy_training import toy_data

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = {"epochs": 3, "runs": 2, "net": "mlp[hidden=8]", "l2": "1,10"}


def small(n: int = 60, valid: str = "valid") -> Dataset:
    """Return a data set of training tasks with votes, and half as many validation and test tasks."""
    x, gold, votes = toy_data(n)
    half = n // 2
    more = [f"{split}-{i}" for split in ("valid", "test") for i in range(half)]
    names = as_names([*map(str, gold.tasks.tolist()), *more])
    split = as_names(["train"] * n + [valid] * half + ["test"] * half)
    truth = SoftLabels.gold(names, 2 * gold.hard().tolist())
    return Dataset("small", votes=votes, features=Features(names, np.concatenate([x, x]), split, truth))


def run_recipe(valid: str = "valid", **options: object) -> Tables:
    return Labelme(**(SMALL | options)).run(read=lambda _: small(valid=valid))  # type: ignore[arg-type]


def test_every_method_is_measured_against_gold_and_against_votes() -> None:
    made = run_recipe()
    assert len(made["Test tasks"]) == len(made["Training tasks"]) == len(split_at_commas_outside_brackets(METHODS))
    assert "always" in made["Test tasks"].notes[0] and "L2: l2" in made["Test tasks"].notes[1]
    assert all(
        "gold labels are used as training labels by gold, two-heads-gold" in made[title].notes[-1]
        for title in ("Test tasks", "Training tasks")
    )
    every = made["Every run on the test"].columns()
    # 21 methods with two runs; raykar-logistic is deterministic and has one
    assert (
        len(every["accuracy"]) == 2 * len(split_at_commas_outside_brackets(METHODS)) - 1
        and (every["accuracy"] > 0.3).all()
    )
    assert np.isfinite(made["Every run on tasks"].columns()["entropy r, shares"]).all()


def test_an_interrupted_recipe_continues_from_its_folder(tmp_path: Path) -> None:
    home, few = str(tmp_path / "kept"), "vote-shares,raykar-logistic"
    run_recipe(runs=1, folder=home, methods="vote-shares")
    stored = tmp_path / "kept" / "vote-shares-official-000.npz"
    prediction = SoftLabels.load(stored)
    wrong = np.eye(prediction.n_labels)[
        (small().features.gold.on(prediction.tasks).most_probable_label_codes() + 1) % 2
    ]  # type: ignore[union-attr]
    SoftLabels.of(wrong, prediction.tasks, prediction.labels).save(stored)
    on = run_recipe(folder=home, methods=few)["Every run on the test"].columns()["accuracy"]
    assert (
        on[0] == 0
        and on[1:].tolist() == run_recipe(methods=few)["Every run on the test"].columns()["accuracy"][1:].tolist()
    )
    with pytest.raises(InputError, match="choose another folder"):
        run_recipe(folder=home, epochs=4)


def test_the_notes_say_which_labels_chose_the_epoch() -> None:
    for choose, by, gold in (
        ("votes", "votes on a tenth", "gold labels are used neither as training labels nor to choose the epoch"),
        ("gold", "gold labels of the validation", "gold labels are used by all methods to choose the epoch or the L2"),
    ):
        notes = run_recipe(choose=choose, methods="majority,raykar-logistic", runs=1)["Test tasks"].notes
        assert by in notes[0] and notes[-1].startswith(gold)


def test_methods_are_compared_with_the_reference() -> None:
    made = run_recipe(methods="majority,dawid-skene,vote-shares")
    found, every = made["Better than dawid-skene"].columns(), made["Every run on the test"].columns()
    assert found["method"].tolist() == ["majority", "vote-shares"] and (found["accuracy p, Holm"] <= 1).all()
    means = {method: every["accuracy"][every["method"] == method].mean() for method in ("majority", "dawid-skene")}
    assert found["accuracy better by"][0].startswith(f"{means['majority'] - means['dawid-skene']:+.4f} [")
    with pytest.raises(KeyError):
        run_recipe(methods="majority,vote-shares", runs=1)["Better than"]


def test_held_out_tasks_are_compared_if_the_runs_cover_every_fold_twice() -> None:
    made = run_recipe(methods="vote-shares,gold", reference="vote-shares", runs=10, epochs=1)
    gold, votes = (
        made[f"Better than vote-shares on held-out training tasks, against {what}"] for what in ("gold", "votes")
    )
    assert "60 tasks and 2 rounds of 5 folds" in gold.notes[0] and votes.columns()["method"].tolist() == ["gold"]
    every = made["Every run on tasks"].columns()
    mean = {method: every["accuracy, gold"][every["method"] == method].mean() for method in ("gold", "vote-shares")}
    better = float(gold.columns()["accuracy better by"][0].split()[0])
    assert better == pytest.approx(mean["gold"] - mean["vote-shares"], abs=1e-4)
    with pytest.raises(KeyError):
        run_recipe(methods="vote-shares,gold", reference="vote-shares", epochs=1)["Better than vote-shares on held-out"]


def test_hardened_labels_are_the_most_probable_label_of_log_pool() -> None:
    hard, soft = (make_train_spec(**_train_spec_keyword_arguments(name, 0)) for name in ("log-pool-hard", "log-pool"))
    assert hard.soft == soft.soft and hard.target_text == "soft[hard=True]"


def test_a_split_valid_is_needed_only_to_choose_by_gold() -> None:
    assert len(run_recipe(methods="gold", runs=1, epochs=1, choose="votes", valid="test")["Test tasks"]) == 1
    with pytest.raises(InputError, match="splits train, valid and test"):
        run_recipe(methods="gold", runs=1, choose="gold", valid="test")


def test_raykar_reaches_85_on_the_real_photos(data_set: Callable[[str], Path]) -> None:
    folder = data_set("labelme")
    made = Labelme(methods="raykar-logistic", runs=1, l2="300,1000").run(read=lambda _: read(folder))
    assert made["Every run on the test"].columns()["accuracy"][0] > 0.85
