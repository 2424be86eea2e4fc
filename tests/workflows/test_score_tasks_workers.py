"""Evidence of a score is given, found or computed; several scores are joined by name."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

import plurivox as pv
from evidence import TASKS, columns, given, votes_of
from plurivox import aggregate
from plurivox.core.errors import InputError, PlurivoxWarning, UnknownName
from plurivox.core.results import Scores
from plurivox.io import Dataset
from plurivox.workflows.ranking_by_several_scores import Ranking, join_scores_into_ranking

# these votes have ordered labels, which no aggregator uses
pytestmark = pytest.mark.filterwarnings("ignore:.* not use the order of the labels")
VOTES = votes_of(columns())


def made_up(of: str, names: list[Any], badness: list[float], made_by: str) -> Scores:
    """Return scores with this badness; their published number is minus it."""
    return Scores(of, np.array(names), -np.array(badness), np.array(badness), made_by)  # type: ignore[arg-type]


def test_a_fit_is_made_by_the_aggregator_of_the_score_or_by_another() -> None:
    own = pv.score(VOTES, "posterior-entropy")
    np.testing.assert_array_equal(own.raw, pv.score(VOTES, "posterior-entropy", by="dawid-skene").raw)
    with pytest.warns(PlurivoxWarning, match="the soft labels of vote-shares estimate people"):
        other = pv.score(VOTES, "posterior-entropy", by="vote-shares")
    np.testing.assert_allclose(other.raw, pv.score(VOTES, "entropy").raw, atol=1e-14)
    with pytest.warns(PlurivoxWarning, match="the soft labels of vote-shares estimate people"):
        again = pv.score(None, "posterior-entropy", fit=pv.fit(VOTES, "vote-shares"))
    np.testing.assert_array_equal(again.raw, other.raw)


def test_a_fit_of_another_kind_is_a_clear_error() -> None:
    with pytest.raises(InputError, match="and wawa estimates none; use a fit by glad"):
        pv.score(VOTES, "glad-difficulty", fit=pv.fit(VOTES, "wawa"))
    with pytest.raises(InputError, match="glad-difficulty needs the difficulty of a fit, and wawa estimates none"):
        pv.score(VOTES, "glad-difficulty", by="wawa")


def test_the_first_usable_fit_is_used() -> None:
    glad = pv.fit(VOTES, "glad")
    scores = pv.score(None, "glad-difficulty", fit=[pv.fit(VOTES, "wawa"), glad])
    np.testing.assert_array_equal(scores.raw, glad.difficulty)


def test_scores_share_the_fits_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    kinds = {name: aggregate.methods[name] for name in ("dawid-skene", "glad", "vote-shares")}
    for kind in kinds.values():
        fit = kind._fit
        monkeypatch.setattr(kind, "_fit", lambda self, *rest, fit=fit: made.append(self.spec) or fit(self, *rest))
    table = pv.rank(VOTES, ["posterior-entropy", "glad-difficulty", "aggregator-disagreement"])
    assert sorted(made) == sorted(kinds) and table.scores.tolist()[0] == "posterior-entropy"
    made.clear()
    pv.rank(VOTES, ["posterior-entropy", "glad-difficulty"], fit=table_fit(VOTES))
    assert made == ["glad"]  # the given fit is used for posterior-entropy; it has no difficulty, so glad is fitted


def table_fit(votes: pv.Votes) -> pv.Fit:
    return pv.fit(votes, "wawa")


def test_gold_and_votes_are_taken_from_the_data_set() -> None:
    data = Dataset("made", votes=VOTES, gold=given().gold)
    a = pv.score(data, "aum", dynamics=given().dynamics)
    b = pv.score(None, "aum", dynamics=given().dynamics, gold=given().gold)
    np.testing.assert_array_equal(a.raw, b.raw)
    by_votes = pv.score(data, "aum", dynamics=given().dynamics, assigned="majority")
    assert by_votes.made_by == "aum[assigned=majority]"
    np.testing.assert_array_equal(pv.score(data, "entropy").raw, pv.score(VOTES, "entropy").raw)


def test_missing_evidence_is_an_error() -> None:
    with pytest.raises(InputError, match="aum needs dynamics: record them while a classifier is trained"):
        pv.score(VOTES, "aum")
    with pytest.raises(InputError, match="aum needs gold: give known labels"):
        pv.score(VOTES, "aum", dynamics=given().dynamics)
    with pytest.raises(InputError, match="posterior-entropy needs fit: aggregate the votes"):
        pv.score(None, "posterior-entropy")
    with pytest.raises(InputError, match=r"entropy needs votes or soft: give the votes; .*; or give soft labels"):
        pv.score(None, "entropy")
    with pytest.raises(InputError, match="give two or more fits or aggregators"):
        pv.score(VOTES, "aggregator-disagreement", by="wawa")
    with pytest.raises(UnknownName, match="did you mean 'entropy'"):
        pv.score(VOTES, "entropi")


def test_dynamics_may_be_of_one_net_or_one_per_worker() -> None:
    assert pv.score(VOTES, "waum", dynamics=given().dynamics).names.tolist() == TASKS.tolist()
    assert pv.score(VOTES, "waum-per-worker", dynamics=given().worker_dynamics).names.tolist() == TASKS.tolist()


def test_a_ranking_joins_by_name_and_shares_ranks() -> None:
    table = pv.rank(VOTES, ["entropy", "disagreement", "entropy[unit=bits]"])
    np.testing.assert_array_equal(table.rank[:, 0], table.rank[:, 2])
    assert table.rank.min() >= 1 and np.isclose(table.rank.sum(0), 30 * 31 / 2).all()
    assert table.worst(1)[0] == table.names[np.argmin(table.mean_rank_over_scores)]
    assert table.rank_correlations()[0, 1] == pytest.approx(spearmanr(table.raw[:, 0], table.raw[:, 1])[0])


def test_a_ranking_is_saved_pickled_framed_and_shown(tmp_path: Path) -> None:
    table = pv.rank(VOTES, ["entropy", "disagreement"])
    table.save(tmp_path / "ranking.npz")
    for back in (pv.load(tmp_path / "ranking.npz"), pickle.loads(pickle.dumps(table))):
        assert isinstance(back, Ranking) and back.scores.tolist() == ["entropy", "disagreement"]
        np.testing.assert_array_equal(back.rank, table.rank)
    heads = ["task", "raw:entropy", "rank:entropy", "raw:disagreement", "rank:disagreement", "mean_rank"]
    assert table.to_polars().columns == heads and "rank:entropy" in table._repr_html_()
    assert repr(table) == "<Ranking: 30 tasks, 2 scores, by entropy, disagreement>"


def test_scores_that_cannot_be_joined_are_errors() -> None:
    tasks = made_up("task", ["a"], [1.0], "one")
    workers = made_up("worker", ["a"], [1.0], "two")
    others = made_up("task", [7], [1.0], "three")
    for scores, why in (
        ([], "at least one score"),
        (
            [tasks, workers],
            "scores of tasks only or of workers only; got one of a task, two of a worker",
        ),
        ([tasks, tasks], "a score is given twice: 'one'"),
        ([tasks, others], "three has the names 7, which one does not have; the scores are from different data"),
    ):
        with pytest.raises(InputError, match=why):
            join_scores_into_ranking(scores)


def test_nan_has_no_rank() -> None:
    a = made_up("task", ["a", "b", "c"], [np.nan, 2.0, 1.0], "one")
    table = join_scores_into_ranking([a])
    assert table.worst().tolist() == ["b", "c"] and np.isnan(table.mean_rank_over_scores[0])
    np.testing.assert_array_equal(table.columns()["raw:one"], [np.nan, -2, -1])  # the published number, not the badness
    with pytest.raises(AttributeError, match="Ranking has no `value`"):
        _ = table.value


def test_values_that_differ_by_rounding_share_a_rank() -> None:
    scores = made_up("task", [*range(5)], [0.5, 0.5 - 1e-16, 0.1 + 0.2, 0.3, 0.0], "one")
    assert join_scores_into_ranking([scores]).rank[:, 0].tolist() == [1.5, 1.5, 3.5, 3.5, 5]


def test_scores_may_be_one_text() -> None:
    both = pv.rank(VOTES, "entropy[unit=bits], disagreement")
    assert both.scores.tolist() == ["entropy[unit=bits]", "disagreement"]


def test_evidence_may_be_files(tmp_path: Path) -> None:
    fit, shares = pv.fit(VOTES, "dawid-skene"), pv.fit(VOTES, "vote-shares").soft
    fit.save(tmp_path / "fit.npz")
    pv.write_soft(shares, tmp_path / "soft.csv")
    made = pv.score(VOTES, "posterior-entropy", fit=tmp_path / "fit.npz")
    np.testing.assert_array_equal(made.raw, pv.score(VOTES, "posterior-entropy", fit=fit).raw)
    made = pv.score(None, "entropy", soft=tmp_path / "soft.csv")
    np.testing.assert_allclose(made.raw, pv.score(None, "entropy", soft=shares).raw)


def test_unused_arguments_are_warned_about() -> None:
    with pytest.warns(PlurivoxWarning, match="none of these scores uses by .--by.; it has no effect"):
        pv.score(VOTES, "entropy", by="glad")


def test_a_ranking_of_workers_with_few_votes_recommends_the_pooled_score() -> None:
    few = (
        r"spam-score ranks workers with few votes unreliably: half of them have \d+ or fewer, for 4 labels.*-pooled is"
    )
    with pytest.warns(PlurivoxWarning, match=few):
        pv.rank(VOTES, ["spam-score"])
    with pytest.warns(PlurivoxWarning, match=few):
        pv.prune(VOTES, "spam-score", 0.2)
    pv.rank(VOTES, ["spam-score-pooled"])  # pytest turns any warning into an error
    pv.rank(VOTES, ["spam-score"], by="dawid-skene[pool=4]")
