"""Head `union-net`: the published formulas of A and B, and the matrices of the fit."""

from typing import Literal

import numpy as np
import pytest

from head_modules import N_LABELS, N_TASKS, N_WORKERS, attached, numbers, softmax, votes_in
from plurivox.train.heads import UnionNet
from toy_training import toy_data


@pytest.mark.parametrize("variant", ["A", "B"])
def test_the_loss_is_the_published_one(variant: Literal["A", "B"]) -> None:
    head, logits, batch = attached(UnionNet(variant=variant))
    matrix, f = numbers(head.matrix), softmax(numbers(logits))  # type: ignore[arg-type]
    union = np.zeros((N_TASKS, N_WORKERS * N_LABELS))  # one-hot labels of all workers, side by side
    for i, j, said in votes_in(batch):
        union[i, j * N_LABELS + said] = 1
    out = softmax(f @ matrix) if variant == "A" else f @ softmax(matrix)
    np.testing.assert_allclose(out.sum(1), 1)
    want = -(union * np.log(out)).sum(1) / N_WORKERS  # one vote of each worker per task
    np.testing.assert_allclose(numbers(head(logits, batch)), want, rtol=1e-5)


def test_matrices_of_the_fit_are_conditional_on_the_worker() -> None:
    head, logits, batch = attached(UnionNet())
    _, gold, votes = toy_data(N_TASKS)
    found = head.make_fit_with_worker_estimates(gold, batch.x, logits)
    assert found is not None and found.confusion is not None
    union = softmax(numbers(head.matrix)).reshape(N_LABELS, N_WORKERS, N_LABELS)  # type: ignore[arg-type]
    want = (union / union.sum(2, keepdims=True)).transpose(1, 0, 2)
    np.testing.assert_allclose(found.confusion.dense(), want, atol=1e-6)
    assert found.workers.tolist() == votes.workers.tolist()
