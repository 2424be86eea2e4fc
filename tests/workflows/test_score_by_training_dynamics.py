"""AUM and WAUM as whole workflows, and pruning before training, on simulated votes with wrong majorities."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plurivox import io
from plurivox.core.errors import InputError, OptionError
from plurivox.io import Dataset
from plurivox.recipes import methods
from plurivox.recipes.prune_and_train import PruneAndTrain
from recipes.test_labelme import small

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = {"net": "mlp[hidden=8]", "epochs": 12, "lr": 0.02, "batch": 16}


@pytest.mark.parametrize("name", ["aum", "waum", "waum-per-worker"])
def test_tasks_with_a_wrong_majority_rank_high(name: str) -> None:
    made = methods.make(name, **SMALL, runs=2, n=5).run(read=lambda _: small(200))
    found = made["How well it finds wrong votes"].columns()
    ranges = made["How well it finds wrong votes, for other"].columns()
    assert ranges["score"].tolist() == [found["score"][0], "entropy", f"{found['score'][0]} minus entropy"]
    assert ranges["Spearman"][0][:6] == f"{float(found['Spearman'][0][:6]):+.4f}"[:6] and "[" in ranges["Spearman"][1]
    every = made["Every run"].columns()
    assert len(made["The 5 worst"]) == 5 and found["score"][1] == "entropy"
    assert (every["AUC, wrong majority"][:2] > 0.7).all() and len(every["run"]) == 3


def test_the_worst_are_dropped_and_test_tasks_stay(tmp_path: Path) -> None:
    recipe = PruneAndTrain(
        **SMALL, alphas="0.2", runs=2, score="aum[assigned=majority]", score_epochs=5, folder=str(tmp_path / "k")
    )  # type: ignore[arg-type]
    made = recipe.run(read=lambda _: small())
    every = made["Every run"].columns()
    assert made["Dropping"].columns()["dropped"].tolist() == ["none", "worst 20%", "by lot 20%"]
    assert every["tasks"].tolist() == [60, 60, 48, 48, 48, 48]
    worst, lot = (every["labels"][every["dropped"] == name].mean() for name in ("worst 20%", "by lot 20%"))
    assert "gold labels are used to choose the epoch (accuracy on" in made["Dropping"].notes[1]
    assert worst >= lot  # dropping the worst removes more wrong labels than dropping at random
    assert recipe.run(read=lambda _: small()).text() == made.text()


def test_a_score_trained_on_gold_labels_says_so() -> None:
    for assigned, used in (("gold", "as training labels of the nets that score tasks"), ("fit", "neither")):
        made = methods.make("aum", **(SMALL | {"epochs": 1}), runs=1, n=2, assigned=assigned).run(
            read=lambda _: small()
        )
        assert f"gold labels are used {used}" in made["The 2 worst"].notes[1]


def test_invalid_setups_are_errors() -> None:
    with pytest.raises(OptionError, match="between 0 and 1"):
        PruneAndTrain(alphas="2")
    with pytest.raises(InputError, match="neither features nor images nor texts"):
        PruneAndTrain().run(read=lambda _: Dataset("bare", votes=small().votes))
    with pytest.raises(InputError, match="use a score of tasks"):
        PruneAndTrain(score="trace", alphas="0.1", epochs=1, runs=1, net="linear").run(read=lambda _: small())


def test_waum_finds_hard_photos(data_set: Callable[[str], Path]) -> None:
    folder = data_set("labelme")
    made = methods.make("waum", epochs=10, runs=1).run(read=lambda _: io.read(folder))
    assert np.isfinite(made["Every run"].columns()["Spearman"]).all()
    assert made["Every run"].columns()["AUC, wrong majority"][0] > 0.7
