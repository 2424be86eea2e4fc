"""Event files for TensorBoard, and the error if it is not installed."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from plurivox.core.errors import MissingExtra
from plurivox.train import Plan, Trained, fit
from plurivox.train.loop.tensorboard_log import TensorBoardLog
from toy_training import toy_data

X, GOLD, _ = toy_data()
PLAN = Plan(epochs=4, batch=16, device="cpu")
Point = tuple[str, int, float]  # (name, epoch, value)


class Stop(Exception):
    pass


def killed_and_resumed(folder: Path, first: TensorBoardLog, second: TensorBoardLog) -> Trained:
    def stop(step: int, total: int, value: float | None = None) -> None:
        if step == 1:
            raise Stop

    with pytest.raises(Stop):
        fit(X, GOLD, plan=PLAN, folder=folder, save_seconds=0, log=first, progress=stop)
    first.close()
    trained = fit(X, GOLD, plan=PLAN, folder=folder, log=second)
    second.close()
    return trained


def points(trained: Trained) -> list[Point]:
    """Return the points that a log of this training must contain."""
    history = trained.history
    return sorted((name, i, history[name][i]) for name in ("loss", "lr", "seconds") for i in range(PLAN.epochs))


def test_a_log_contains_every_epoch_once_even_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[int, list[Point]] = {}
    closed: list[int] = []

    class Writer:
        def __init__(self, folder: str, purge_step: int) -> None:
            assert folder == str(tmp_path) and purge_step == 0
            self.number = len(told)
            told[self.number] = []

        def add_scalar(self, name: str, value: float, step: int) -> None:
            told[self.number].append((name, step, value))

        def close(self) -> None:
            closed.append(self.number)

    fake = ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = Writer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorboard", ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    trained = killed_and_resumed(tmp_path, TensorBoardLog(tmp_path), TensorBoardLog(tmp_path))
    assert {step for _, step, _ in told[0]} == {0, 1} and sorted(told[1]) == points(trained) and closed == [0, 1]
    fit(X, GOLD, plan=PLAN, folder=tmp_path, log=(again := TensorBoardLog(tmp_path)))  # complete: nothing to write
    again.close()
    assert len(told) == 2


def test_tensorboard_reads_the_event_files(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    trained = killed_and_resumed(tmp_path, TensorBoardLog(tmp_path), TensorBoardLog(tmp_path))
    read = EventAccumulator(str(tmp_path)).Reload()
    found = [(name, one.step, one.value) for name in read.Tags()["scalars"] for one in read.Scalars(name)]
    assert [(name, step, pytest.approx(value)) for name, step, value in points(trained)] == sorted(found)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(MissingExtra, match=r"needs tensorboard; run: pip install 'plurivox\[tensorboard\]'"):
        TensorBoardLog(tmp_path)
