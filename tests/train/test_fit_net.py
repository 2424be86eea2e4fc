"""fit: training, reproducibility, early stopping, saving and errors."""

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError, OptionError, PlurivoxError, PlurivoxWarning, UnknownName
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import cross_entropy
from plurivox.train import Plan, Supervision, Trained, fit
from plurivox.train.data.image_augmentation import CropFlip
from plurivox.train.loop.trainer import Trainer
from toy_training import toy_data

X, GOLD, VOTES = toy_data()
PLAN = Plan(epochs=8, batch=16, lr=0.02, device="cpu")
NET = "mlp[hidden=8,dropout=0.3]"


def test_fit_trains_a_net_and_returns_its_history() -> None:
    seen: list[tuple[int, int]] = []
    trained = fit(X, GOLD, net=NET, plan=PLAN, progress=lambda step, total, value=None: seen.append((step, total)))
    assert (trained.predict(X, GOLD.tasks).hard() == GOLD.hard()).mean() > 0.8
    assert list(trained.history) == ["epoch", "loss", "lr", "seconds"] and trained.history["epoch"] == tuple(range(8))
    assert seen == [(i, 8) for i in range(8)] and trained.best_epoch == 7
    assert trained.made_by["net"] == NET and trained.made_by["shape"] == [3]


def test_the_same_seed_gives_the_same_net_and_the_callers_generator_is_unchanged() -> None:
    torch.manual_seed(5)
    want = torch.rand(3)
    torch.manual_seed(5)
    a = fit(X, VOTES, net=NET, plan=PLAN)
    torch.testing.assert_close(torch.rand(3), want, rtol=0, atol=0)
    b, c = fit(X, VOTES, net=NET, plan=PLAN), fit(X, VOTES, net=NET, plan=replace(PLAN, seed=1))
    np.testing.assert_array_equal(a.logits(X), b.logits(X))
    assert not np.array_equal(a.logits(X), c.logits(X)) and a.history["loss"] == b.history["loss"]


def test_a_plain_loop_by_hand_gives_the_same_net() -> None:
    plan = Plan(epochs=3, batch=16, lr=0.02, device="cpu", optimizer="sgd", weight_decay=0.01, clip=0.5)
    ours = fit(X, GOLD, net="linear", plan=plan)
    torch.manual_seed(0)
    net, rng = nn.Linear(3, 3), torch.Generator().manual_seed(0)
    x, y = torch.tensor(X), torch.tensor(GOLD.prob, dtype=torch.float32)
    optimizer = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9, weight_decay=0.01)
    for _ in range(3):
        for rows in torch.randperm(60, generator=rng).split(16):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
    np.testing.assert_allclose(ours.logits(X), net(x).detach().numpy(), atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"optimizer": "sgd", "nesterov": True},
        {"optimizer": "adamw", "weight_decay": 0.1},
        {"clip": 0.1, "reduction": "sum"},
        {"schedule": "one-cycle"},
        {"precision": "bfloat16"},
        {"channels_last": True},
        {"schedule": "multistep", "milestones": "2,4", "restart": True},
        {"engine": "eager", "accumulate": 3},
    ],
)
def test_every_way_to_train_lowers_the_loss(options: dict[str, Any]) -> None:
    history = fit(X, GOLD, net="mlp[hidden=8]", plan=replace(PLAN, **options)).history["loss"]
    assert history[-1] < history[0]


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_restart_is_a_fresh_optimizer(optimizer: str) -> None:
    from plurivox.train.loop.optim import make_torch_optimizer, zero_optimizer_state

    ends = []
    for fresh in (True, False):
        weight = nn.Parameter(torch.tensor([1.0, -2.0]))
        plan = Plan(optimizer=optimizer, lr=0.1)  # type: ignore[arg-type]
        made = make_torch_optimizer(plan, [weight], capturable=False)
        for i in range(4):
            if i == 2:
                made = make_torch_optimizer(plan, [weight], capturable=False) if fresh else made
                zero_optimizer_state(made)
            made.zero_grad()
            (weight**2).sum().backward()
            made.step()
        ends.append(weight.detach().clone())
    torch.testing.assert_close(*ends)


def test_gradient_accumulation_gives_the_same_net() -> None:
    whole, parts = (fit(X, GOLD, net="mlp[hidden=8]", plan=replace(PLAN, accumulate=n)) for n in (1, 4))
    np.testing.assert_allclose(whole.logits(X), parts.logits(X), atol=1e-3)


def test_the_best_epoch_on_the_dev_tasks_is_kept_and_patience_ends() -> None:
    dev = X[:20], GOLD.on(GOLD.tasks[:20])
    plan = replace(PLAN, epochs=200, lr=0.5, best="loss", patience=5)
    trained = fit(X, VOTES, net=NET, plan=plan, dev=dev)
    losses = trained.history["dev_loss"]
    assert trained.best_epoch == int(np.argmin(losses)) and len(losses) == trained.best_epoch + 6 < 200
    assert trained.stopped == "no better loss in 5 epochs"
    got = cross_entropy(trained.predict(dev[0], dev[1].tasks), dev[1])
    assert got == pytest.approx(losses[trained.best_epoch], abs=1e-5)


def test_any_measure_can_choose_the_best_epoch() -> None:
    dev = X[:20], GOLD.on(GOLD.tasks[:20])
    plan = replace(PLAN, best="cross-entropy")
    trained = fit(X, VOTES, net=NET, plan=plan, dev=dev, measures={"cross-entropy": cross_entropy})
    values = trained.history["dev_cross-entropy"]
    assert trained.best_epoch == int(np.argmin(values)) and values == pytest.approx(
        trained.history["dev_loss"], abs=1e-5
    )
    first, last = (replace(PLAN, best="accuracy", ties=ties, lr=0.0) for ties in ("first", "last"))
    assert [fit(X, VOTES, net=NET, plan=one, dev=dev).best_epoch for one in (first, last)] == [0, 7]


def test_an_epoch_with_a_nan_measure_is_not_the_best() -> None:
    values = iter([math.nan, 0.1, 0.3, math.nan, 0.2])
    plan = replace(PLAN, epochs=5, best="entropy-correlation")
    trained = fit(
        X, VOTES, net=NET, plan=plan, dev=(X, GOLD), measures={"entropy-correlation": lambda *_: next(values)}
    )
    assert trained.best_epoch == 2
    with pytest.warns(PlurivoxWarning, match="is NaN on the dev tasks in every epoch"):
        fit(X, VOTES, net=NET, plan=plan, dev=(X, GOLD), measures={"entropy-correlation": lambda *_: math.nan})


def test_features_are_not_augmented() -> None:
    with pytest.raises(InputError, match="crop-flip changes images"):
        fit(X, GOLD, net="linear", plan=PLAN, augment=CropFlip())


@pytest.mark.parametrize("net", ["linear", "mlp", "labelme-head"])
def test_whole_numbers_are_features_too(net: str) -> None:
    whole = np.rint(10 * X).astype(np.int64)
    trained, same = (fit(x, GOLD, net=net, plan=PLAN) for x in (whole, whole.astype(np.float32)))
    np.testing.assert_array_equal(trained.logits(whole), same.logits(whole.astype(np.float32)))


def test_imported_nets_are_loaded_only_with_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_net.py").write_text(
        f"from torch import nn\ndef make():\n    return nn.Sequential(nn.Linear({X.shape[1]}, 4), nn.Linear(4, 2))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (home := tmp_path / "run").mkdir()
    trained = fit(X, GOLD, net="own_net:make", plan=PLAN, folder=home)
    fit(X, GOLD, net="own_net:make", plan=PLAN, folder=home)  # needs no trust, because the caller names the net
    with pytest.raises(InputError, match=r"own_net:make: loading it imports that module .*trust=True \(--trust\)"):
        Trained.load(home)
    np.testing.assert_array_equal(Trained.load(home, device="cpu", trust=True).logits(X), trained.logits(X))


def test_recorded_logits_are_those_of_the_steps_or_after_the_epoch() -> None:
    during, after = (fit(X, VOTES, net="linear", plan=PLAN, record=how) for how in (True, "after"))
    assert during.dynamics is not None and after.dynamics is not None
    assert during.dynamics.logits.shape == (8, 60, 3) and during.dynamics.tasks.tolist() == VOTES.tasks.tolist()
    np.testing.assert_allclose(after.dynamics.logits[-1], after.logits(X), atol=1e-5)
    assert not np.allclose(during.dynamics.logits[-1], during.logits(X), atol=1e-6)


def test_tasks_without_a_target_or_a_weight_are_left_out() -> None:
    with pytest.warns(PlurivoxWarning, match="20 of 60 rows of x are left out, .* not in the soft labels: 40"):
        few = fit(X, GOLD.on(GOLD.tasks[:40]), tasks=GOLD.tasks, net="linear", plan=PLAN)
    weighted = fit(X, GOLD, net="linear", plan=PLAN, weight=np.arange(60) < 40)
    np.testing.assert_array_equal(few.logits(X), weighted.logits(X))
    doubled = fit(X, GOLD, net="linear", plan=replace(PLAN, optimizer="sgd"), weight=np.full(60, 2.0))
    faster = fit(X, GOLD, net="linear", plan=replace(PLAN, optimizer="sgd", lr=0.04))
    np.testing.assert_allclose(doubled.logits(X), faster.logits(X), atol=1e-4)


def test_a_saved_and_loaded_net_predicts_the_same(tmp_path: Path) -> None:
    trained = fit(X, VOTES, net=NET, plan=PLAN, record=True, folder=tmp_path)
    again = Trained.load(tmp_path, device="cpu")
    np.testing.assert_array_equal(trained.logits(X), again.logits(X))
    assert again.labels.tolist() == VOTES.labels.tolist() and again.made_by == trained.made_by
    assert again.history == trained.history and again.dynamics is not None
    assert {one.name for one in tmp_path.iterdir()} == {"weights.safetensors", "history.csv", "dynamics.npz"}
    with pytest.raises(InputError, match="another list of labels"):
        Trained.load(tmp_path, labels=["x", "y"])
    with pytest.raises(InputError, match="belongs to another training: its net is"):
        fit(X, VOTES, net="linear", plan=PLAN, folder=tmp_path)
    with pytest.raises(InputError, match="shape"):
        again.predict(X[:, :2])


class Explosive(nn.Module):
    """A net whose outputs become NaN after `calls` training steps."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.inner, self.calls = nn.Linear(3, 3), calls

    def forward(self, x: Tensor) -> Tensor:
        self.calls -= self.training
        return self.inner(x) * (math.nan if self.calls < 0 else 1.0)


@pytest.mark.parametrize("calls", [0, 9])
def test_a_nan_loss_stops_with_the_last_good_weights(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    from plurivox.train.nets import Linear

    monkeypatch.setattr(Linear, "build", lambda *_: Explosive(calls))
    if not calls:
        with pytest.raises(PlurivoxError, match="NaN in the first epoch; try a lower learning rate"):
            fit(X, GOLD, net="linear", plan=PLAN)
        return
    with pytest.warns(PlurivoxWarning, match="epoch 2: training stops with the weights of epoch 1; try"):
        trained = fit(X, GOLD, net="linear", plan=PLAN)
    assert trained.best_epoch == 1 and trained.stopped and len(trained.history["loss"]) == 2
    assert all(value.isfinite().all() for value in trained.net.state_dict().values())


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("no memory"), RuntimeError("DefaultCPUAllocator: no memory")])
def test_out_of_memory_computes_a_batch_in_chunks(monkeypatch: pytest.MonkeyPatch, error: RuntimeError) -> None:
    plain, losses = fit(X, GOLD, net="linear", plan=PLAN), Trainer.compute_losses_and_record_logits

    def scarce(self: Trainer, indices: Tensor) -> Tensor:
        if len(indices) > 5:
            raise error
        return losses(self, indices)

    monkeypatch.setattr(Trainer, "compute_losses_and_record_logits", scarce)
    with warnings.catch_warnings(record=True, action="always") as caught:
        cut = fit(X, GOLD, net="linear", plan=PLAN)
    assert [str(one.message).split(":")[0] for one in caught] == [f"out of memory with {n} examples" for n in (16, 8)]
    np.testing.assert_allclose(plain.logits(X), cut.logits(X), atol=1e-3)
    monkeypatch.setattr(Trainer, "compute_losses_and_record_logits", lambda *_: (_ for _ in ()).throw(error))
    with (
        pytest.raises(PlurivoxError, match="out of memory with a single example"),
        warnings.catch_warnings(action="ignore"),
    ):
        fit(X, GOLD, net="linear", plan=PLAN)
    monkeypatch.setattr(
        Trainer,
        "compute_losses_and_record_logits",
        lambda *_: (_ for _ in ()).throw(RuntimeError("a fault of the net")),
    )
    with pytest.raises(RuntimeError, match="a fault of the net"):
        fit(X, GOLD, net="linear", plan=PLAN)


def test_inputs_with_infinite_outputs_are_named() -> None:
    trained, wild = fit(X, GOLD, net="linear", plan=PLAN), X.copy()
    wild[3] = 1e38
    trained.net.get_parameter("head.weight").data.mul_(1e6)
    with pytest.raises(InputError, match=r"not finite for 1 of 60 inputs, such as those of the tasks 3"):
        trained.predict(wild, GOLD.tasks)


def test_wrong_arguments_raise_errors() -> None:
    wild = X.copy()
    wild[3, 1] = np.nan
    with pytest.raises(InputError, match=r"1 of 60 inputs contain missing values.*tasks 3"):
        fit(wild, GOLD, plan=PLAN)
    with pytest.raises(InputError, match="x has 50 rows without names for 60 tasks of the soft labels"):
        fit(X[:50], GOLD, plan=PLAN)
    with pytest.raises(InputError, match="the rows of x name tasks twice: 0"):
        fit(X[:2], GOLD, tasks=[0, 0], plan=PLAN)
    with pytest.raises(InputError, match="the rows of x need the names of their tasks"):
        fit(X, "gold", known=Supervision(gold=GOLD), plan=PLAN)
    with pytest.raises(InputError, match="none of the 60 tasks, such as"):
        fit(X, "gold", tasks=range(60, 120), known=Supervision(gold=GOLD), plan=PLAN)
    strange = SoftLabels.gold([0, 1], ["label0", "other"])
    with pytest.raises(InputError, match="dev tasks have the labels 'other', which no training task has"):
        fit(X, GOLD, plan=PLAN, dev=(X[:2], strange))
    with pytest.raises(InputError, match="needs dev tasks"):
        fit(X, GOLD, plan=replace(PLAN, best="loss"))
    with pytest.raises(UnknownName, match="did you mean 'accuracy'"):
        fit(X, GOLD, plan=replace(PLAN, best="acuracy"), dev=(X, GOLD))
    with pytest.raises(OptionError, match="two-heads needs a target of the kind pair"):
        fit(X, "gold", tasks=GOLD.tasks, known=Supervision(gold=GOLD), head="two-heads", plan=PLAN)
    with pytest.raises(InputError, match="has no CUDA device"):
        fit(X, GOLD, plan=replace(PLAN, device="cuda"))
    with pytest.raises(InputError, match="there is no device 'gpu'"):
        fit(X, GOLD, plan=replace(PLAN, device="gpu"))
    with pytest.raises(OptionError, match="graphs needs CUDA"):
        fit(X, GOLD, plan=replace(PLAN, engine="graphs"))
    with pytest.raises(InputError, match="weights must be 0 or more"):
        fit(X, GOLD, plan=PLAN, weight=-np.ones(60))


def test_the_error_for_images_of_another_size_gives_advice() -> None:
    images = np.zeros((60, 3, 4, 4), np.float32)
    trained = fit(images, GOLD, net="linear", plan=replace(PLAN, epochs=1))
    with pytest.raises(InputError, match=r"shape \(3, 4, 4\); these have \(3, 5, 5\): resize .*--image-size 4"):
        trained.predict(np.zeros((2, 3, 5, 5), np.float32))
