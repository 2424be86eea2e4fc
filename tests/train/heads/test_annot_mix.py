"""Head `annot-mix`: the loss of a mixture, mixtures of tasks with their votes, and the drawing of votes and weights."""

import numpy as np
import pytest
import torch

from head_modules import N_LABELS, N_TASKS, N_WORKERS, attached, numbers, softmax, votes_in
from plurivox.core.errors import InputError, OptionError
from plurivox.train import Plan, fit
from plurivox.train.heads import AnnotMix
from plurivox.train.heads._contract import Batch
from plurivox.train.heads.annot_mix import _AnnotMixModule
from plurivox.train.loop.train_spec import Record
from plurivox.train.targets._contract import PaddedVotes
from toy_training import toy_data


def test_the_loss_of_a_mixture_is_the_published_one() -> None:
    head, logits, batch = attached(AnnotMix(embedding=5))
    embedding, layer = numbers(head.worker.table), head.matrix  # type: ignore[union-attr, arg-type]
    weight, bias = numbers(layer.weight), numbers(layer.bias)  # type: ignore[union-attr, arg-type]
    c, worker, label = 0.3, (0, 2), (1, 2)
    mixed = c * embedding[worker[0]] + (1 - c) * embedding[worker[1]]
    matrix = softmax((weight @ mixed + bias).reshape(N_LABELS, N_LABELS))
    spoken = np.log(softmax(numbers(logits)) @ matrix)  # (tasks, labels)
    want = -(c * spoken[:, label[0]] + (1 - c) * spoken[:, label[1]])
    rows = [torch.tensor([one]).expand(N_TASKS, 2) for one in (worker, label, (c, 1 - c))]
    got = head(logits, Batch(batch.x, batch.rows, PaddedVotes(*rows)))
    np.testing.assert_allclose(numbers(got), want, rtol=1e-5)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_two_tasks_are_mixed_with_one_vote_of_each(alpha: float) -> None:
    head, _, batch = attached(AnnotMix(alpha=alpha))
    x, cast = batch.x, set(votes_in(batch))
    seen, said = head.transform_batch(x, batch.labels, torch.Generator().manual_seed(0))
    assert isinstance(said, PaddedVotes)
    torch.testing.assert_close(said.weight.sum(1), torch.ones(N_TASKS))  # every task has the mean number of votes
    others = set()
    for i, c in enumerate(said.weight[:, 0]):
        (other,) = [j for j in range(N_TASKS) if torch.allclose(seen[i], c * x[i] + (1 - c) * x[j], atol=1e-6)]
        assert (i, int(said.worker[i, 0]), int(said.label[i, 0])) in cast
        assert (other, int(said.worker[i, 1]), int(said.label[i, 1])) in cast
        others.add(other)
    assert len(others) == N_TASKS and len(set(said.weight[:, 0].tolist())) == N_TASKS


def test_alpha_0_mixes_no_tasks() -> None:
    head, _, batch = attached(AnnotMix(alpha=0))
    seen, said = head.transform_batch(batch.x, batch.labels, torch.Generator().manual_seed(0))
    assert torch.equal(seen, batch.x) and isinstance(said, PaddedVotes) and said.weight.tolist() == [[1, 0]] * N_TASKS


def test_mixing_weights_follow_beta_and_votes_are_drawn_by_weight_without_padding() -> None:
    head, _, batch = attached(AnnotMix(alpha=2.0))
    n, weight = 4000, torch.tensor([1.0, 0.0, 3.0, 0.0])
    told = PaddedVotes(*(torch.arange(4).expand(n, 4) % most for most in (N_WORKERS, N_LABELS)), weight.expand(n, 4))
    x = batch.x[:1].expand(n, -1)
    _, said = head.transform_batch(x, told, torch.Generator().manual_seed(0))
    assert isinstance(said, PaddedVotes) and set(said.worker.flatten().tolist()) == {0, 2}
    assert (said.worker[:, 0] == 2).float().mean().item() == pytest.approx(0.75, abs=0.04)
    torch.testing.assert_close(said.weight.sum(1), torch.ones(n))  # four votes, the mean number per task
    share = said.weight[:, 0]
    assert share.mean().item() == pytest.approx(0.5, abs=0.02) and share.var().item() == pytest.approx(0.05, abs=0.01)


def test_the_initial_accuracy_of_workers_is_eta() -> None:
    head, *_ = attached(AnnotMix(eta=0.7))
    fresh = AnnotMix(eta=0.7).build(torch.nn.Linear(1, 1), head.context)  # type: ignore[arg-type]
    bias = numbers(fresh.matrix.bias).reshape(N_LABELS, N_LABELS)  # type: ignore[union-attr, arg-type]
    np.testing.assert_allclose(np.diag(softmax(bias)), 0.7, rtol=1e-6)


def test_integer_inputs_raise_an_error() -> None:
    head, _, batch = attached(AnnotMix())
    with pytest.raises(InputError, match="not integers such as codes of words; give features as floats"):
        head.transform_batch(batch.x.long(), batch.labels, torch.Generator())


def test_the_net_is_trained_on_the_mixed_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    x, _, votes = toy_data()
    mix, lose, seen = _AnnotMixModule.transform_batch, _AnnotMixModule.forward, []

    def look(self: _AnnotMixModule, logits: torch.Tensor, batch: Batch) -> torch.Tensor:
        seen.append(logits.detach().numpy())
        return lose(self, logits, batch)

    monkeypatch.setattr(_AnnotMixModule, "transform_batch", lambda self, x, *rest: (0 * x, mix(self, x, *rest)[1]))
    monkeypatch.setattr(_AnnotMixModule, "forward", look)
    fit(x, votes, net="linear", head="annot-mix", plan=Plan(epochs=1, batch=60))
    assert len(seen) == 1 and np.ptp(seen[0], axis=0).max() == 0  # inputs are zero: logits are the bias


def test_small_alphas_hardly_mix_tasks() -> None:
    head, _, batch = attached(AnnotMix(alpha=0.001))
    n = 2000
    told = PaddedVotes(*(torch.zeros(n, 1, dtype=torch.int64) for _ in range(2)), torch.ones(n, 1))
    _, said = head.transform_batch(batch.x[:1].expand(n, -1), told, torch.Generator().manual_seed(0))
    assert isinstance(said, PaddedVotes)
    share = said.weight[:, 0] / said.weight.sum(1)
    assert share.mean().item() == pytest.approx(0.5, abs=0.05)
    assert ((share > 0.01) & (share < 0.99)).float().mean().item() < 0.02  # under Beta(.001, .001) about 1 in 200


@pytest.mark.parametrize("how", [True, "visit"])
def test_logits_of_mixtures_are_not_recorded_as_those_of_tasks(how: Record) -> None:
    x, _, votes = toy_data()
    plan = Plan(epochs=1)
    with pytest.raises(OptionError, match=r"annot-mix trains on mixtures.*record='after' \(--record after\)"):
        fit(x, votes, head="annot-mix", plan=plan, record=how)
    trained = fit(x, votes, head="annot-mix", plan=plan, record="after")
    assert trained.dynamics is not None
    np.testing.assert_allclose(trained.dynamics.logits[0], trained.logits(x), atol=1e-5)
