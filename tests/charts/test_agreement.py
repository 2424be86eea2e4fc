"""Agreement of pairs of workers: the cells, the means, who is shown, and the change over time."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from chart_inputs import chart_input
from plurivox.charts import ChartData
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.agreement_over_time import course_of_agreement
from plurivox.charts._shared.pair_agreement_matrix import PairAgreement, pair_agreement
from plurivox.charts.agreement import Agreement
from plurivox.core.votes import Votes

LABELS = {"ann": "xxyyxyxyxy", "bo": "xxyyxyxyyx", "cy": "yyxxyxyxxy", "dee": "xx"}


def crowd(**more: np.ndarray) -> Votes:
    """Return votes of three workers on ten tasks, and of dee on two."""
    rows = [(f"t{i}", worker, label) for worker, said in LABELS.items() for i, label in enumerate(said)]
    return Votes.of(*zip(*rows, strict=True), **more)


def cell(made: PairAgreement, first: str, second: str) -> float:
    names = list(map(str, made.workers))
    return float(made.value[names.index(first), names.index(second)])


def test_agreement_is_the_share_of_equal_labels_on_common_tasks() -> None:
    made = pair_agreement(crowd(), 60, 5, "agreement", "clusters")
    assert cell(made, "ann", "bo") == cell(made, "bo", "ann") == 0.8 and cell(made, "ann", "cy") == pytest.approx(0.2)
    assert "dee" not in made.workers and made.n_crowd == 4
    np.testing.assert_allclose(sorted(made.mean), sorted([0.5, 0.4, 0.1]))


def test_kappa_is_that_of_scikit_learn() -> None:
    made = pair_agreement(crowd(), 60, 2, "kappa", "votes")
    for first, second in (("ann", "bo"), ("ann", "cy"), ("bo", "cy")):
        assert cell(made, first, second) == pytest.approx(cohen_kappa_score([*LABELS[first]], [*LABELS[second]]))


def test_the_caption_names_who_stands_out() -> None:
    caption = draw_figure(Agreement(), ChartData(votes=crowd())).caption
    assert "3 pairs of 3 workers of 4 (those who share 5 tasks with most others): 33% in the mean" in caption
    assert "cy agrees least with the others (10%)" in caption and "agree most (80% on 10 tasks)" in caption


def test_of_equal_pairs_the_one_with_more_common_tasks_is_named() -> None:
    value = np.array([[np.nan, 1, 1], [1, np.nan, 0.5], [1, 0.5, np.nan]])
    n_shared = np.array([[0, 5, 40], [5, 0, 9], [40, 9, 0]])
    assert PairAgreement(np.array(["a", "b", "c"]), value, n_shared, 3).closest_pair() == (0, 2)


def test_those_who_answer_alike_stand_side_by_side() -> None:
    rng = np.random.default_rng(0)
    said = rng.integers(2, size=(2, 40))  # two groups with answers of their own
    rows = [(f"t{t}", f"w{w}", str(said[w % 2, t])) for w in range(6) for t in range(40)]
    made = pair_agreement(Votes.of(*zip(*rows, strict=True)), 60, 5, "agreement", "clusters")
    assert len({int(str(name)[1:]) % 2 for name in made.workers[:3]}) == 1


def test_workers_who_get_worse_show_in_the_course() -> None:
    rng = np.random.default_rng(0)
    rows, when = [], []
    for w in range(6):
        for place, t in enumerate(rng.permutation(60).tolist()):  # in an order of their own
            guesses = place >= 40
            rows.append((f"t{t}", f"w{w}", str(int(rng.integers(2)) if guesses else t % 2)))
            when.append(float(place))
    course = course_of_agreement(Votes.of(*zip(*rows, strict=True), when=np.array(when)))
    assert course is not None and course.change[0] > 0.05 and course.change[-1] < -0.1
    assert course.change[-1] + course.half[-1] < course.change[0] - course.half[0]


def test_without_times_there_is_no_panel_of_times() -> None:
    with_times, without = draw_figure(Agreement(), chart_input()), draw_figure(Agreement(), ChartData(votes=crowd()))
    assert "Below: the last answers" in with_times.caption and "Below" not in without.caption


def test_the_legend_explains_hatches_only_where_there_are_any() -> None:
    whole = Votes.of(["a", "a", "b", "b"], ["v", "w"] * 2, list("xxyy"))
    assert not any(ax.get_legend() for ax in draw_figure(Agreement(least=1), ChartData(votes=whole)).axes)
    assert any(ax.get_legend() for ax in draw_figure(Agreement(least=2, k=4), ChartData(votes=some_pairs())).axes)


def some_pairs() -> Votes:
    """Return votes of which the third worker shares two tasks with one other only."""
    return Votes.of(list("aabbcc") + list("dd"), ["v", "w"] * 2 + ["w", "u"] * 2, list("xyxyxyxy"))
