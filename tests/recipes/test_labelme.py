"""The recipe labelme on a small generated data set, and on the real one if installed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.core.name_encoding import as_names
from plurivox.core.recipe_tables import Tables
from plurivox.core.soft_labels import SoftLabels
from plurivox.io import Dataset, read
from plurivox.io.features import Features
from plurivox.recipes.labelme import Labelme
from toy_training import toy_data

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = {"epochs": 3, "runs": 2, "net": "mlp[hidden=8]", "l2": "1,10"}


def small(n: int = 60) -> Dataset:
    """Return a data set of training tasks with votes, and half as many validation and test tasks."""
    x, gold, votes = toy_data(n)
    half = n // 2
    more = [f"{split}-{i}" for split in ("valid", "test") for i in range(half)]
    names = as_names([*gold.tasks.tolist(), *more])
    split = as_names(["train"] * n + ["valid"] * half + ["test"] * half)
    truth = SoftLabels.gold(names, 2 * gold.hard().tolist())
    return Dataset("small", votes=votes, features=Features(names, np.concatenate([x, x]), split, truth))


def run_recipe(**options: object) -> Tables:
    return Labelme(**(SMALL | options)).run(read=lambda _: small())  # type: ignore[arg-type]


def test_every_method_is_measured_against_gold_and_against_votes() -> None:
    made = run_recipe()
    assert len(made["Test photos"]) == len(made["Training photos"]) == 17
    assert "always" in made["Test photos"].notes[0] and "L2: l2" in made["Test photos"].notes[1]
    every = made["Every run on the test"].columns()
    # 16 methods with two runs; raykar-logistic is deterministic and has one
    assert len(every["accuracy"]) == 33 and (every["accuracy"] > 0.3).all()
    assert np.isfinite(made["Every run on photos"].columns()["entropy r, shares"]).all()


def test_an_interrupted_recipe_continues_from_its_folder(tmp_path: Path) -> None:
    home, few = str(tmp_path / "kept"), "vote-shares,raykar-logistic"
    run_recipe(runs=1, folder=home, methods="vote-shares")
    marked = tmp_path / "kept" / "vote-shares-official-000.json"
    marked.write_text('{"accuracy": 0.125, "nll": 1, "brier": 1, "ece": 1}')
    on = run_recipe(folder=home, methods=few)["Every run on the test"].columns()["accuracy"]
    assert (
        on[0] == 0.125
        and on[1:].tolist() == run_recipe(methods=few)["Every run on the test"].columns()["accuracy"][1:].tolist()
    )
    with pytest.raises(InputError, match="choose another folder"):
        run_recipe(folder=home, epochs=4)


def test_the_epoch_can_be_chosen_by_votes() -> None:
    made = run_recipe(choose="votes", methods="majority,raykar-logistic", runs=1)
    assert "votes on a tenth" in made["Test photos"].notes[0]


def test_raykar_reaches_85_on_the_real_photos(data_set: Callable[[str], Path]) -> None:
    folder = data_set("labelme")
    made = Labelme(methods="raykar-logistic", runs=1, l2="300,1000").run(read=lambda _: read(folder))
    assert made["Every run on the test"].columns()["accuracy"][0] > 0.85
