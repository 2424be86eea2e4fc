"""Training: lines are means over runs, stars the best epochs, and tasks have the probability of their label."""

import numpy as np
import pytest

import plurivox as pv
from plurivox.charts import ChartData, methods
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.label_probability_by_epoch import label_probabilities
from plurivox.core.errors import UnknownName
from plurivox.core.results import Dynamics
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.training_history import write_training_history_csv

RUNS = (
    {"epoch": (0, 1, 2), "loss": (1.0, 0.6, 0.2), "dev_loss": (0.9, 0.5, 0.7), "dev_accuracy": (0.5, 0.9, 0.8)},
    {"epoch": (0, 1), "loss": (0.8, 0.4), "dev_loss": (0.7, 0.5), "dev_accuracy": (0.7, 0.7)},  # stopped early
)
P = np.array([[[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.9, 0.1], [0.9, 0.1]]])
DYNAMICS = Dynamics(np.log(P), np.array(["t0", "t1", "t2"]), np.array(["no", "yes"]))


def test_lines_bands_and_stars() -> None:
    figure = draw_figure(methods.make("training"), ChartData(histories={"net": RUNS}))
    loss, accuracy = (ax for ax in figure.axes if ax.axison)
    np.testing.assert_allclose(loss.lines[0].get_ydata(), [0.9, 0.5, 0.2])
    np.testing.assert_allclose(accuracy.lines[0].get_ydata(), [0.6, 0.8, 0.8])
    band = accuracy.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == 0.5 and band[:, 1].max() == 0.9
    assert "best (stars): dev loss 0.500 after epoch 1; dev accuracy 0.800 after epoch 1" in figure.caption
    assert "from the lowest to the highest run" in figure.caption


def test_the_label_of_a_task_is_the_known_one_else_that_of_the_net() -> None:
    data = ChartData(dynamics=DYNAMICS, gold=SoftLabels.gold(["t1", "t2"], ["yes", "yes"]))
    found = label_probabilities(data)
    assert found.label == ["no", "yes", "yes"] and found.n_by_net == 1
    np.testing.assert_allclose(found.p, [[0.5, 0.1, 0.8], [0.5, 0.1, 0.1]])
    assert [found.worst(2, which).tolist() for which in ("lowest", "varying")] == [[1, 2], [2, 0]]  # type: ignore[arg-type]
    caption = draw_figure(methods.make("training", k=2), data).caption
    assert "2 tasks (the lowest on average) of 3 recorded: mean over epochs 10% to 45%" in caption


def test_tasks_chosen_by_name() -> None:
    data = ChartData(dynamics=DYNAMICS)
    figure = draw_figure(methods.make("training", tasks="t2,t0"), data)
    assert [text.get_text() for text in figure.axes[-1].texts] == ["t2: no", "t0: no"]
    with pytest.raises(UnknownName, match="no recorded task called 't9'"):
        draw_figure(methods.make("training", tasks="t9"), data)


def test_values_are_under_the_pointer_and_long_trainings_make_no_large_files() -> None:
    long = {"epoch": tuple(range(500)), "loss": tuple(1 / (1 + i) for i in range(500))}
    svg = draw_figure(methods.make("training"), ChartData(histories=dict.fromkeys("abcdef", (long,) * 2))).to_svg()
    assert "<title>a: loss 1 after epoch 0</title>" in svg
    assert len(svg) < 600_000


def test_runs_and_logits_of_a_folder_with_labels_of_a_data_set(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for i, run in enumerate(RUNS):
        folder = tmp_path / "mine" / f"run-{i:03}"
        folder.mkdir(parents=True)
        write_training_history_csv(folder / "history.csv", run)
        DYNAMICS.save(folder / "dynamics.npz")
    votes = {"task": ["t0", "t1", "t2"], "worker": ["w"] * 3, "label": ["yes"] * 3}
    caption = pv.plot([tmp_path / "mine", votes], "training").caption
    assert "of 2 runs" in caption and "mean over epochs 10% to 50%" in caption
    other = tmp_path / "other"
    other.mkdir()
    write_training_history_csv(other / "history.csv", RUNS[0])
    Dynamics(-DYNAMICS.logits, DYNAMICS.tasks, DYNAMICS.labels).save(other / "dynamics.npz")
    both = pv.plot([tmp_path / "mine", other, votes], "training").caption
    assert "of 2 trainings (2 and 1 runs)" in both and "mean over epochs 10% to 50%" in both  # of the first one
    assert pv.plot(tmp_path / "mine").caption.startswith("Loss and measures by epoch of 2 runs")
