"""Agreement of a crowd: coefficients, labels and pairs of workers, repeats and sets of labels."""

from collections.abc import Callable
from pathlib import Path

import krippendorff
import numpy as np
import pytest

import plurivox as pv
from crowds import crowd, soft_crowd
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning, UnknownName
from plurivox.core.votes import Votes

REPEATED = "task,worker,label\n" + "".join(  # ann and bo never agree; ann says everything twice, and changes one answer
    f"{t},ann,{'xy'[t % 2]}\n{t},bo,{'yx'[t % 2]}\n{t},ann,{'yy'[t] if t < 1 else 'xy'[t % 2]}\n" for t in range(6)
)


def test_coefficients_are_those_of_identify_and_have_a_meaning() -> None:
    votes = Votes.of(**crowd())
    made = pv.agreement(votes, resamples=200)
    for method in ("krippendorff-alpha", "fleiss-kappa", "gwet-ac1", "bennett-s", "observed-agreement"):
        theirs = pv.score(votes, method, resamples=200)
        assert theirs.low is not None and theirs.high is not None
        found = made[method]
        assert (found.mean, found.low, found.high) == (theirs.raw[0], theirs.low[0], theirs.high[0])
    for method in ("cohen-kappa", "scott-pi"):
        found = made[method]
        assert found.mean == pytest.approx(pv.score(votes, method, resamples=0).raw[0])
        assert found.low < found.mean < found.high
    assert all(made.crowd.cells["meaning"].tolist())
    with pytest.raises(UnknownName, match="krippendorff-alpha"):
        made["krippendorf-alpha"]


def test_agreement_per_label_is_specific_agreement_and_the_alpha_of_the_label_against_the_rest() -> None:
    votes = Votes.of(**crowd())
    table = pv.agreement(votes, resamples=100).labels.cells
    wide = np.full((votes.n_workers, votes.n_tasks), np.nan)
    wide[votes.worker, votes.task] = votes.label
    counts = votes.counts()
    n = counts.sum(1, keepdims=True)
    specific = (counts * (counts - 1)).sum(0) / (counts * (n - 1)).sum(0)
    np.testing.assert_allclose(table["agreement"], specific)
    for k in range(votes.n_labels):
        binary = np.where(np.isnan(wide), np.nan, wide == k)
        assert table["alpha"][k] == pytest.approx(krippendorff.alpha(binary, level_of_measurement="nominal"))
    assert (table["agreement_low"] <= table["agreement"]).all() and (table["alpha_high"] >= table["alpha"]).all()
    assert pv.agreement(soft_crowd(), resamples=0).labels.cells["votes"].sum() == pytest.approx(100)


def test_pairs_of_workers_list_common_tasks_agreement_and_kappa() -> None:
    votes = Votes.of(
        task=[0, 1, 2, 3] * 2 + [0, 1], worker=["ann"] * 4 + ["bo"] * 4 + ["cy"] * 2, label=list("xxyyxyyyxx")
    )
    pairs = pv.agreement(votes, least=2, resamples=0).pairs.columns()
    rows = {(str(a), str(b)): i for i, (a, b) in enumerate(zip(pairs["first"], pairs["second"], strict=True))}
    assert set(rows) == {("ann", "bo"), ("ann", "cy"), ("bo", "cy")}
    at = rows["ann", "bo"]
    assert (pairs["tasks"][at], pairs["agreement"][at], pairs["kappa"][at]) == (4, 0.75, 0.5)
    assert pairs["low"][at] < 0.5 < pairs["high"][at]
    assert np.isnan(pairs["kappa"][rows["ann", "cy"]])  # both always said x
    assert [str(one) for one in pv.agreement(votes, resamples=0).notes] == [
        "no two workers share 5 tasks, so there are no pairs of workers, Cohen's kappa and Scott's pi; lower least=... "
        "(--least N)"
    ]


def test_a_pair_that_always_agrees_still_has_an_interval() -> None:
    votes = Votes.of(task=list(range(6)) * 2, worker=["ann"] * 6 + ["bo"] * 6, label=list("xxxyyy") * 2)
    made = pv.agreement(votes, resamples=0)
    pairs = made.pairs.cells
    assert pairs["kappa"][0] == 1 and 0 < pairs["low"][0] < 0.5 and pairs["high"][0] == 1
    assert made["cohen-kappa"].low == pairs["low"][0]


def test_a_worker_who_repeats_is_one_person(tmp_path: Path) -> None:
    """Counted as another person, ann's repeats raise alpha from below chance."""
    (tmp_path / "votes.csv").write_text(REPEATED)
    votes = pv.votes(task=list(range(6)) * 2, worker=["ann"] * 6 + ["bo"] * 6, label=list("xyxyxyyxyxyx"))
    alone = pv.agreement(votes, resamples=0)["krippendorff-alpha"].mean
    with pytest.warns(PlurivoxWarning, match="the first one is kept"):
        first = pv.agreement(tmp_path / "votes.csv", repeats="first", resamples=0)
    assert first["krippendorff-alpha"].mean == pytest.approx(alone) and first.n_votes == 12
    every = pv.agreement(tmp_path / "votes.csv", repeats="all", resamples=0)
    assert every["krippendorff-alpha"].mean > alone + 0.5 and "as if other workers" in every.notes[0]
    shared = pv.agreement(tmp_path / "votes.csv", resamples=0)
    assert shared.n_votes == 12 and "1 time a worker gave several labels" in shared.notes[0]
    assert alone < shared["krippendorff-alpha"].mean < every["krippendorff-alpha"].mean
    with pytest.warns(PlurivoxWarning, match="the last one is kept"):
        last = pv.agreement(tmp_path / "votes.csv", repeats="last", resamples=0)
    assert last["observed-agreement"].mean == pytest.approx(1 / 6)


def test_the_first_answer_of_votes_must_be_known() -> None:
    votes = Votes.of(list("aaa"), ["ann", "ann", "bo"], list("xyx"))
    with pytest.raises(InputError, match="not known which came first"):
        pv.agreement(votes, repeats="first")
    timed = Votes.of(list("aaa"), ["ann", "ann", "bo"], list("xyx"), when=[2, 1, 1], labels=list("xy"))
    assert pv.agreement(timed, repeats="first", resamples=0)["observed-agreement"].mean == 0
    with pytest.raises(InputError, match="the last"):
        pv.agreement(timed, repeats="last")
    with pytest.raises(OptionError, match="repeats must be one of first, last, set, all"):
        pv.agreement(votes, repeats="keep")  # type: ignore[arg-type]


def test_sets_of_labels_have_the_alpha_of_sets() -> None:
    task, worker = [0, 0, 0, 0, 1, 1, 1], ["ann", "ann", "bo", "bo", "ann", "bo", "bo"]
    made = pv.agreement(Votes.of(task, worker, list("xyxyzyz")), repeats="set", resamples=0)
    assert made["krippendorff-alpha[level=masi]"].mean > made["krippendorff-alpha"].mean
    numbered = Votes.of(task, worker, list("xyxyzyz"), answer=[0, 0, 1, 1, 2, 3, 3], weight=[0.5] * 4 + [1, 0.5, 0.5])
    same = pv.agreement(numbered, resamples=0)
    assert same["krippendorff-alpha[level=masi]"].mean == made["krippendorff-alpha[level=masi]"].mean
    assert (
        "krippendorff-alpha[level=masi]" not in pv.agreement(soft_crowd(), resamples=0).crowd.cells["method"].tolist()
    )


def test_ordered_labels_have_weighted_coefficients() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(1, 6, 60)
    table = np.clip(true + rng.integers(-1, 2, (3, 60)), 1, 5)
    worker, task = np.indices(table.shape)
    votes = pv.votes(task=task.ravel(), worker=worker.ravel(), label=table.ravel(), ordered=True)
    made = pv.agreement(votes, resamples=0)
    assert made.level == "ordinal"
    ordinal = krippendorff.alpha(table, level_of_measurement="ordinal")
    assert made["krippendorff-alpha[level=ordinal]"].mean == pytest.approx(ordinal)
    assert made["cohen-kappa[weights=linear]"].mean > made["cohen-kappa"].mean
    assert "weighted_kappa" in made.pairs.cells
    numbers = pv.agreement(votes, level="interval", resamples=0)
    icc = pv.score(votes, "icc", model="agreement", resamples=0).raw[0]
    assert numbers["icc[model=agreement]"].mean == icc and numbers["gwet-ac1[weights=quadratic]"].mean > 0.5
    assert pv.agreement(votes, level="nominal", resamples=0).crowd.cells["method"].tolist()[-1] == "bennett-s"


def test_a_level_needs_numbers_or_an_order() -> None:
    with pytest.raises(InputError, match="--labels low,mid,high --ordered"):
        pv.agreement(Votes.of(list("aabb"), [1, 2] * 2, list("xxxy")), level="ordinal")
    made = pv.agreement(Votes.of(list("aabb"), [1, 2] * 2, [1, 1, 1, 5]), level="interval", resamples=0)
    assert "the labels are numbers" in made.notes[0]


def test_counts_have_no_pairs_and_votes_of_one_worker_no_agreement() -> None:
    counts = Votes.from_counts(np.array([[2, 1], [0, 3]]), ["a", "b"], ["x", "y"])
    made = pv.agreement(counts, resamples=0)
    assert len(made.pairs) == 0 and "no votes have worker names" in made.notes[0] and made.n_workers == 0
    with pytest.raises(InputError, match="votes of two workers"):
        pv.agreement(Votes.of(list("aab"), ["ann"] * 3, list("xyx")))


def test_agreement_is_saved_and_written(tmp_path: Path) -> None:
    made = pv.agreement(Votes.of(**crowd()), resamples=20)
    made.save(tmp_path / "made.npz")
    again = pv.load(tmp_path / "made.npz")
    assert again["cohen-kappa"] == made["cohen-kappa"] and again.pairs.csv() == made.pairs.csv()
    made.write_tables(tmp_path / "out")
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [
        "agreement.csv",
        "agreement.npz",
        "labels.csv",
        "pairs.csv",
    ]
    with pytest.raises(InputError, match="is not empty"):
        made.write_tables(tmp_path / "out")
    made.write_tables(tmp_path / "out", replace=True)


@pytest.mark.parametrize("name", ["rte", "bluebird"])
def test_alpha_of_real_votes_equals_that_of_the_krippendorff_package(
    data_set: Callable[[str], Path], name: str
) -> None:
    votes = pv.read(data_set(name)).votes
    assert votes is not None
    table = np.full((votes.n_workers, votes.n_tasks), np.nan)
    table[votes.worker, votes.task] = votes.label
    theirs = krippendorff.alpha(table, level_of_measurement="nominal")
    assert pv.agreement(votes, resamples=0)["krippendorff-alpha"].mean == pytest.approx(theirs, abs=1e-9)
