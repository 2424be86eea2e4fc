"""Methods that count votes: soft answers, tasks and workers without votes, small crowds."""

import numpy as np
import pytest

from crowds import crowd
from plurivox import aggregate
from plurivox.core.errors import InputError
from plurivox.core.votes import Votes

WORKERS_MATTER = ["wawa", "zero-based-skill", "iwmv", "iwmv[weights=li-yu]", "plantnet"]
SPECS = [
    "softmax-shares",
    "dirichlet-shares",
    "dirichlet-shares[prior=crowd]",
    "two-third",
    *WORKERS_MATTER,
    "temperature[method=vote-shares]",
    "average[parts=[vote-shares,wawa]]",
]
every = pytest.mark.parametrize("spec", SPECS)


@every
def test_plain_votes_equal_soft_answers_of_weight_one(spec: str) -> None:
    columns = crowd(n_labels=4)
    rows = np.arange(len(columns["task"]))
    soft = Votes.of(**columns, weight=np.ones(len(rows)), answer=rows)
    method = aggregate.methods.make(spec)
    a, b = method.fit(Votes.of(**columns)), method.fit(soft)
    # sums differ by rounding, because the rows have another order
    np.testing.assert_allclose(a.soft.prob, b.soft.prob, rtol=1e-12)
    assert a.made_by == method.spec and aggregate.methods.make(a.made_by) == method


@every
def test_tasks_and_workers_without_votes(spec: str) -> None:
    columns = crowd()
    votes = Votes.of(**columns, tasks=range(31), workers=range(8), labels=range(4))
    fit = aggregate.methods.make(spec).fit(votes)
    np.testing.assert_allclose(fit.soft.prob.sum(1), 1)
    assert fit.soft.support is not None and fit.soft.support[30] == 0
    if fit.prior is not None and not spec.startswith("temperature"):
        np.testing.assert_allclose(fit.soft.prob[30], fit.prior)
    if fit.ability is not None and spec != "plantnet":
        assert np.isnan(fit.ability[6:]).all() and np.isfinite(fit.ability[:6]).all()


@every
def test_one_label_one_tie_and_no_votes(spec: str) -> None:
    one = Votes.of(task=["a", "b"], worker=["w", "w"], label=["x", "x"])
    np.testing.assert_array_equal(aggregate.methods.make(spec).fit(one).soft.prob, [[1], [1]])
    tie = Votes.of(task=["a", "a"], worker=["v", "w"], label=["x", "y"])
    np.testing.assert_allclose(aggregate.methods.make(spec).fit(tie).soft.prob.sum(), 1)
    nobody = Votes.of(task=[], worker=[], label=[], tasks=["a"], workers=["w"], labels=["x", "y"])
    np.testing.assert_allclose(aggregate.methods.make(spec).fit(nobody).soft.prob, [[0.5, 0.5]])


@every
def test_sparse_results_for_many_labels_equal_dense_ones(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    votes = Votes.of(**crowd(n_labels=9), labels=range(12))
    method = aggregate.methods.make(spec)
    dense = method.fit(votes).soft
    for module in (
        "core.soft_transforms",
        "aggregate._shared.weighted_votes",
        "core.soft_labels",
        "aggregate.dirichlet_shares",
    ):
        monkeypatch.setattr(f"plurivox.{module}.DENSE_CELLS", 0)
    if "prior=crowd" in spec:
        with pytest.raises(InputError, match="use prior=uniform"):
            method.fit(votes)
        return
    sparse = method.fit(votes).soft
    assert sparse.is_sparse and not dense.is_sparse
    monkeypatch.undo()  # dense tables raise an error while the limit is lowered
    np.testing.assert_allclose(sparse.prob, dense.prob, atol=1e-12)


@pytest.mark.parametrize("spec", WORKERS_MATTER)
def test_counts_without_workers_raise_an_error(spec: str) -> None:
    counts = Votes.from_counts(np.array([[2, 1]]), ["a"], ["x", "y"])
    with pytest.raises(InputError, match="needs worker names"):
        aggregate.methods.make(spec).fit(counts)
