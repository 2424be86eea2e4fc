"""Simulated soft answers have the statistics of the answers released by Collins et al. (2022)."""

import numpy as np
import pytest

from plurivox.core.errors import OptionError
from plurivox.simulate import Simulated, SoftAnswers
from plurivox.simulate._shared.draw_typed_percents import FAULTS, N_RELEASED
from plurivox.simulate._shared.worker_beliefs import draw_label_beliefs, expected_largest_probability


@pytest.fixture(scope="module")
def crowd() -> Simulated:
    """Return a crowd with about four times as many answers as the released study."""
    return SoftAnswers(n_tasks=4000, n_workers=992, n_labels=10, feedback=6).draw()


@pytest.fixture(scope="module")
def neat() -> Simulated:
    """Return a crowd without faulty answers."""
    return SoftAnswers(n_tasks=500, n_workers=40, n_labels=10, feedback=6, faults=0).draw()


def percents(typed: np.ndarray) -> np.ndarray:
    """Return the typed texts as numbers, nan for texts that are not whole numbers."""
    return np.array([float(text) if text.isdigit() else np.nan for text in typed.tolist()])


def test_accuracy_equals_the_matrices_and_the_study(crowd: Simulated) -> None:
    answers, true = crowd.answers, crowd.truth.most_probable_label_codes()
    top, second = answers.label_codes_at_rank(0), answers.label_codes_at_rank(1)
    right = top == true[answers.task]
    assert right.mean() == pytest.approx(0.843, abs=0.02)
    assert (right | (second == true[answers.task])).mean() == pytest.approx(0.920, abs=0.03)
    expected = np.diagonal(crowd.confusion.dense(), axis1=1, axis2=2)[answers.worker, true[answers.task]].mean()
    assert right.mean() == pytest.approx(expected, abs=0.01)


def test_percents_of_honest_workers_are_calibrated() -> None:
    crowd = SoftAnswers(n_tasks=4000, n_labels=10, honesty=1, boast=0, faults=0, repeats=0).draw()
    said, right = (
        percents(crowd.answers.typed_texts_at_rank(0)),
        crowd.answers.label_codes_at_rank(0) == crowd.truth.most_probable_label_codes()[crowd.answers.task],
    )
    for percent in (50, 60, 70, 80, 90):
        assert right[said == percent].mean() == pytest.approx(percent / 100, abs=0.04)


def test_typed_percents_have_the_statistics_of_the_study(crowd: Simulated) -> None:
    answers = crowd.answers
    first, second = percents(answers.typed_texts_at_rank(0)), percents(answers.typed_texts_at_rank(1))
    named = answers.label_codes_at_rank(1) >= 0
    typed = np.concatenate([first, second[named]])
    assert (typed[~np.isnan(typed)] % 5 == 0).mean() == pytest.approx(0.896, abs=0.02)
    assert named.mean() == pytest.approx(0.537, abs=0.05)
    assert (first == 100).mean() == pytest.approx(0.399, abs=0.04)
    assert answers.mask_marked_labels_per_answer("never").sum(1).mean() == pytest.approx(7.33, abs=0.4)
    total = first + np.where(named, np.nan_to_num(second), 0)
    for share, found in ((0.100, total > 100), (0.634, total == 100), (0.266, total < 100)):
        assert found.mean() == pytest.approx(share, abs=0.05)


def test_faults_occur_at_the_rates_of_the_study(crowd: Simulated) -> None:
    answers, n = crowd.answers, len(crowd.answers)
    first, second = percents(answers.typed_texts_at_rank(0)), percents(answers.typed_texts_at_rank(1))
    top, other, never = (
        answers.label_codes_at_rank(0),
        answers.label_codes_at_rank(1),
        answers.mask_marked_labels_per_answer("never"),
    )
    rows = np.arange(n)
    found = {
        "same-label": other == top,
        "contradiction": never[rows, top] | ((other >= 0) & never[rows, other]),
        "no-second-percent": (other >= 0) & (answers.typed_texts_at_rank(1) == ""),
        "zero-second-percent": (other >= 0) & (second == 0),
        "zero-top-percent": first == 0,
        "no-top-percent": answers.typed_texts_at_rank(0) == "",
        "out-of-range": first > 100,
        "mistyped": np.array([text != "" and not text.isdigit() for text in answers.typed_texts_at_rank(0).tolist()]),
    }
    for name, mask in found.items():
        np.testing.assert_array_equal(mask, crowd.faults == name, err_msg=name)
        expected = n * FAULTS[name] / N_RELEASED
        assert abs(mask.sum() - expected) < 4 * np.sqrt(expected) + 1, name
    assert (second[crowd.faults == "second-above-top"] > first[crowd.faults == "second-above-top"]).all()
    assert ((first + second)[crowd.faults == "above-100"] > 100).all()


def test_faults_of_0_gives_no_faults(neat: Simulated) -> None:
    answers = neat.answers
    first, second = percents(answers.typed_texts_at_rank(0)), percents(answers.typed_texts_at_rank(1))
    assert set(neat.faults.tolist()) == {""} and not np.isnan(first).any()
    named = answers.label_codes_at_rank(1) >= 0
    assert ((first + np.where(named, second, 0)) <= 100).all() and (second[named] <= first[named]).all()
    assert not (answers.label_codes_at_rank(1) == answers.label_codes_at_rank(0)).any()
    assert (SoftAnswers(n_tasks=100, faults=5).draw().faults != "").mean() > 0.4


def test_repeats_are_at_the_end_of_a_session_and_mostly_agree(crowd: Simulated) -> None:
    answers = crowd.answers
    again = answers.repeat_of >= 0
    first = answers.repeat_of[again]
    assert (answers.task[first] == answers.task[again]).all() and (answers.worker[first] == answers.worker[again]).all()
    assert (answers.sitting[first] == answers.sitting[again]).all() and (
        answers.when[first] < answers.when[again]
    ).all()
    _, sitting, size = np.unique(answers.sitting, return_inverse=True, return_counts=True)
    assert size.max() == 27 and (answers.position < size[sitting]).all()
    assert (answers.position[again] >= size[sitting][again] - 2).all()
    top = answers.label_codes_at_rank(0)
    assert (top[first] != top[again]).mean() == pytest.approx(0.0703, abs=0.02)
    said = percents(answers.typed_texts_at_rank(0))
    change = np.abs(said[first] - said[again])[(top[first] == top[again]) & (crowd.faults[first] == "")]
    assert np.mean(change[change <= 100]) == pytest.approx(6.1, abs=1.2)


def test_times_have_the_medians_of_the_study() -> None:
    answers = SoftAnswers(n_tasks=1000, n_workers=240, n_labels=10, feedback=6).draw().answers
    assert np.median(answers.seconds) == pytest.approx(32, rel=0.1)
    assert (np.diff(answers.when) >= 0).all()
    starts = np.unique(answers.worker, return_index=True)[1]
    assert np.median(answers.seconds[starts]) == pytest.approx(62.8, rel=0.15)
    late = SoftAnswers(form="one-label").draw().answers
    assert np.median(late.seconds) == pytest.approx(1.8, rel=0.3)


def test_votes_are_the_top_labels_of_first_answers(neat: Simulated) -> None:
    answers, votes = neat.answers, neat.votes
    firsts = answers.repeat_of < 0
    order = np.lexsort((answers.worker[firsts], answers.task[firsts]))
    assert answers.task[firsts][order].tolist() == votes.task.tolist()
    assert answers.label_codes_at_rank(0)[firsts][order].tolist() == votes.label.tolist()


@pytest.mark.parametrize("form", ["top-two", "top-one", "one-label", "also-possible", "ranking", "histogram"])
def test_every_form_has_its_kinds_of_marks(form: str) -> None:
    crowd = SoftAnswers(n_tasks=100, form=form, faults=0, repeats=0).draw()
    answers = crowd.answers
    assert set(answers.form.tolist()) == {form} and len(answers) == 1000
    order = np.lexsort((answers.worker, answers.task))
    assert answers.label_codes_at_rank(0)[order].tolist() == crowd.votes.label.tolist()
    n_named = answers.mask_marked_labels_per_answer("named").sum(1)
    typed = percents(answers.mark_typed)
    if form == "histogram":
        np.testing.assert_array_equal(np.bincount(answers.answer_of_mark, typed), 100)
    elif form in ("one-label", "ranking"):
        assert set(answers.mark_typed.tolist()) == {""}
    assert answers.mask_marked_labels_per_answer("never").any() == (form == "top-two")
    assert answers.mask_marked_labels_per_answer("possible").any() == (form == "also-possible")
    assert n_named.max() == {"top-two": 2, "ranking": n_named.max(), "histogram": n_named.max()}.get(form, 1)


def test_sharpness_raises_percents_and_dishonest_workers_guess() -> None:
    sharp, vague = (SoftAnswers(n_tasks=300, sharpness=s, faults=0).draw() for s in (30.0, 0.2))
    assert (
        np.median(percents(sharp.answers.typed_texts_at_rank(0)))
        > np.median(percents(vague.answers.typed_texts_at_rank(0))) + 30
    )
    liars = SoftAnswers(n_tasks=1000, honesty=0).draw()
    assert (liars.votes.label == liars.truth.most_probable_label_codes()[liars.votes.task]).mean() == pytest.approx(
        0.2, abs=0.02
    )


def test_tired_workers_are_less_accurate_and_copiers_agree() -> None:
    tired = SoftAnswers(n_tasks=1000, tire=1).draw()
    fresh = SoftAnswers(n_tasks=1000).draw()
    right = [
        (one.votes.label == one.truth.most_probable_label_codes()[one.votes.task]).mean() for one in (tired, fresh)
    ]
    assert right[0] < right[1] - 0.2
    crowd = SoftAnswers(n_tasks=100, copiers=1, group_size=30, copy_rate=1).draw()
    assert (crowd.votes.counts().max(1) == 10).all()


@pytest.mark.parametrize("n_labels", [2, 5, 10])
@pytest.mark.parametrize("concentration", [0.01, 0.2, 3.0])
def test_expected_top_equals_the_mean_of_drawn_beliefs(concentration: float, n_labels: int) -> None:
    rng, n = np.random.default_rng(0), 20_000
    beliefs = draw_label_beliefs(np.full(n, concentration), np.zeros(n, int), np.ones(n, bool), n_labels, rng)
    assert beliefs.max(1).mean() == pytest.approx(
        expected_largest_probability(np.full(1, concentration), n_labels)[0], abs=0.006
    )
    assert (beliefs.argmax(1) == 0).mean() == pytest.approx(beliefs.max(1).mean(), abs=0.01)


def test_too_many_repeats_and_the_peerannot_order_raise_an_error() -> None:
    with pytest.raises(OptionError, match=r"repeats \(3\) must be at most the tasks of a sitting \(2\)"):
        SoftAnswers(sitting=2, repeats=3)
    with pytest.raises(OptionError, match="order=peerannot draws plain votes only"):
        SoftAnswers(order="peerannot")


def test_same_seed_same_answers() -> None:
    a, b, c = (SoftAnswers(n_tasks=30, seed=seed).draw().answers for seed in (1, 1, 2))
    assert a.mark_typed.tolist() == b.mark_typed.tolist() != c.mark_typed.tolist()
