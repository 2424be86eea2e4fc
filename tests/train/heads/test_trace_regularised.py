"""Head `trace-regularised`: the published formula, the sign of its penalty, its initial matrices."""

import numpy as np
import pytest
import torch

from head_modules import N_LABELS, N_TASKS, N_WORKERS, attached, built, numbers, softmax, votes_in
from plurivox.train import Plan, fit
from plurivox.train.heads import TraceRegularised
from toy_training import toy_data


def test_the_loss_is_the_published_one() -> None:
    head, logits, batch = attached(TraceRegularised(scale=0.25))
    free = numbers(head.own.table).reshape(N_WORKERS, N_LABELS, N_LABELS)  # type: ignore[union-attr, arg-type]
    matrices = np.log1p(np.exp(free))
    matrices /= matrices.sum(2, keepdims=True)
    f, want = softmax(numbers(logits)), 0.0
    for i, j, said in votes_in(batch):
        want -= np.log(f[i] @ matrices[j, :, said]) / (N_TASKS * N_WORKERS)
    trace = np.mean([np.trace(one) for one in matrices])
    # plus, because a large trace is penalised
    assert head(logits, batch).mean().item() == pytest.approx(want + 0.25 * trace, rel=1e-5)


def test_initial_matrices_are_nearly_the_identity() -> None:
    head = built(TraceRegularised())
    start = head.own.table.view(N_WORKERS, N_LABELS, N_LABELS)  # type: ignore[union-attr, operator]
    matrices = numbers(head.log_confusion_from_parameters(start).exp())  # type: ignore[operator]
    right, wrong = np.log1p(np.e), np.log1p(np.exp(-5))  # softplus of 6 - 5, and of -5
    want = (wrong + (right - wrong) * np.eye(N_LABELS)) / (right + 2 * wrong)
    np.testing.assert_allclose(matrices, np.broadcast_to(want, matrices.shape), rtol=1e-5)
    assert head.log_confusion_from_parameters(torch.full((2, 2), -1e4)).isfinite().all()  # type: ignore[operator]


def test_a_larger_penalty_gives_smaller_traces() -> None:
    x, _, votes = toy_data()
    plan = Plan(epochs=20, batch=16, lr=0.02, seed=1)
    found = [fit(x, votes, net="linear", head=f"trace-regularised[scale={one}]", plan=plan).fit for one in (0, 0.5)]
    free, priced = (np.einsum("wkk->", one.confusion.dense()) for one in found if one is not None and one.confusion)
    assert priced < free - 0.1
