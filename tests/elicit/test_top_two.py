"""top-two, the form of CIFAR-10S: unusual answers, and the formula of the released code."""

import numpy as np
import pytest

from plurivox.core.answers import Answers
from plurivox.core.errors import OptionError
from plurivox.elicit import Elicited, Form, OneLabel, TopOne, TopTwo
from plurivox.elicit._shared.cifar10s_released_formula import MAX_CELLS

LABELS = ["bird", "cat", "dog", "frog", "ship"]
Marks = list[tuple[str, str, str]]


def said(*pairs: tuple[str, str], never: str = "") -> Marks:
    """Return marks: pairs of first letter and percent of named labels, first letters of ruled-out labels."""
    full = {label[0]: label for label in LABELS}
    return [("named", full[label], typed) for label, typed in pairs] + [("never", full[letter], "") for letter in never]


def read(marks: Marks, form: Form | None = None) -> Elicited:
    return (form or TopTwo()).read(Answers.of(task=["a"], worker=["w"], marks=[marks], labels=LABELS))


def row(marks: Marks, form: Form | None = None) -> list[float]:
    return read(marks, form).votes.counts()[0].tolist()


def test_below_100_the_rest_goes_to_labels_neither_named_nor_ruled_out() -> None:
    assert row(said(("c", "70"), ("d", "20"), never="s")) == [0.05, 0.7, 0.2, 0.05, 0]


def test_at_100_open_labels_get_gamma() -> None:
    np.testing.assert_allclose(row(said(("c", "80"), ("d", "20"), never="s")), [0.05, 0.72, 0.18, 0.05, 0], atol=1e-15)
    assert row(said(("c", "80"), ("d", "20"), never="s"), TopTwo(gamma=0)) == [0, 0.8, 0.2, 0, 0]


def test_above_100_percents_are_divided_by_their_sum() -> None:
    found = read(said(("c", "90"), ("d", "60"), never="bfs"))
    assert found.votes.counts()[0].tolist() == [0, 0.6, 0.4, 0, 0] and found.flag_counts == {"over-100": 1}


def test_below_100_without_open_labels_percents_are_divided_by_their_sum() -> None:
    found = read(said(("c", "60"), ("d", "20"), never="bfs"))
    assert found.votes.counts()[0].tolist() == [0, 0.75, 0.25, 0, 0] and found.flag_counts == {"no-room": 1}


def test_uniform_gives_the_rest_to_ruled_out_labels_too_and_ignores_gamma() -> None:
    uniform = TopTwo(spread="uniform")
    np.testing.assert_allclose(row(said(("c", "70"), ("d", "15"), never="s"), uniform), [0.05, 0.7, 0.15, 0.05, 0.05])
    assert row(said(("c", "100"), never="s"), uniform) == [0, 1, 0, 0, 0]


def test_spread_none_divides_percents_by_their_sum() -> None:
    assert row(said(("c", "60"), ("d", "20")), TopTwo(spread="none")) == [0, 0.75, 0.25, 0, 0]


def test_use_top_ignores_the_second_label() -> None:
    marks = said(("c", "70"), ("d", "20"), never="s")
    np.testing.assert_allclose(row(marks, TopTwo(use="top")), [0.1, 0.7, 0.1, 0.1, 0])
    assert row(marks, TopOne()) == row(marks, TopTwo(use="top"))
    assert read(marks, TopOne()).flag_counts == {"further-labels": 1}


def test_a_percent_without_a_second_label_is_ignored() -> None:
    from plurivox.io import answers

    table = {"task": ["a"], "worker": ["w"], "top": ["cat"], "top_percent": ["80"], "second": [""]}
    entered = answers(table | {"second_percent": ["20"]}, labels=["bird", "cat", "dog"])
    assert TopTwo().read(entered).votes.counts()[0].tolist() == [0.1, 0.8, 0.1]
    assert TopTwo().read(entered).flag_counts == {"percent-without-label": 1} and entered.typed_texts_at_rank(
        1
    ).tolist() == ["20"]


def test_a_percent_without_a_label_sets_no_other_flag() -> None:
    for typed in ("0", "999", "p", "8p"):
        marks = [*said(("c", "80"), never="s"), ("named", None, typed)]
        assert read(marks).flag_counts == {"percent-without-label": 1} and row(marks) == row(
            said(("c", "80"), never="s")
        )
        assert read(marks, TopOne()).flag_counts == {"percent-without-label": 1}


def test_a_second_label_without_a_top_label_is_used_as_entered() -> None:
    found = read([("named", None, ""), *said(("d", "40"))])
    assert found.flag_counts["no-top"] == 1 and found.votes.counts()[0].round(3).tolist() == [
        0.15,
        0.15,
        0.4,
        0.15,
        0.15,
    ]
    assert found.answers.label_codes_at_rank(0).tolist() == [-1]
    assert read([("named", None, ""), *said(("d", "40"))], OneLabel()).outcome_counts["unreadable"] == 1


def test_a_second_label_without_a_percent_shares_the_rest() -> None:
    found = read(said(("c", "70"), ("d", ""), never="s"))
    np.testing.assert_allclose(found.votes.counts()[0], [0.1, 0.7, 0.1, 0.1, 0])
    assert found.flag_counts == {"second-without-percent": 1}


def test_a_second_label_with_percent_0_gets_no_weight() -> None:
    found = read(said(("c", "80"), ("d", "0"), never="s"))
    np.testing.assert_allclose(found.votes.counts()[0], [0.1, 0.8, 0, 0.1, 0])
    assert found.flag_counts == {"zero-second": 1}


@pytest.mark.parametrize(("twice", "top"), [("first", 0.6), ("last", 0.2), ("sum", 0.8)])
def test_the_option_twice_sets_the_percent_of_a_label_named_twice(twice: str, top: float) -> None:
    found = read(said(("c", "60"), ("c", "20"), never="dfs"), TopTwo(twice=twice))
    np.testing.assert_allclose(found.votes.counts()[0], [1 - top, top, 0, 0, 0])
    assert found.has_flag("named-twice").all()
    assert row(said(("c", ""), ("c", "20"), never="dfs")) == [0.8, 0.2, 0, 0, 0]


def test_a_second_percent_above_the_top_percent_is_used_as_entered() -> None:
    found = read(said(("c", "30"), ("d", "70"), never="bfs"))
    assert found.votes.counts()[0].tolist() == [0, 0.3, 0.7, 0, 0] and found.flag_counts == {"second-above-top": 1}


def test_equal_percents_set_no_flag() -> None:
    assert read(said(("c", "50"), ("d", "50"), never="bfs")).flag_counts == {}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("named", [0.3, 0.5, 0.2, 0, 0]), ("never", [0, 0, 0, 0, 0]), ("drop", [0, 0, 0, 0, 0])],
)
def test_the_option_contradiction_decides_about_a_label_named_and_ruled_out(rule: str, expected: list[float]) -> None:
    """The released formula gives bird -0.75 here: everything but bird is ruled out, cat 50, dog 20."""
    found = read(said(("c", "50"), ("d", "20"), never="cdfs"), TopTwo(contradiction=rule))
    assert found.votes.counts()[0].tolist() == expected and found.has_flag("contradiction").all()
    assert found.outcome_counts["unreadable"] == (0 if any(expected) else 1)


def test_contradiction_never_drops_only_the_ruled_out_label() -> None:
    form = TopTwo(contradiction="never")
    assert row(said(("c", "50"), ("d", "20"), never="cfs"), form) == [0.8, 0, 0.2, 0, 0]
    assert row(said(("c", "50"), ("d", "20"), never="dfs"), form) == [0.5, 0.5, 0, 0, 0]


def test_the_released_formula_leaves_out_answers_with_negative_weights() -> None:
    found = read(said(("c", "50"), ("d", "20"), never="cdfs"), TopTwo(compat="cifar10s"))
    assert found.has_flag("negative").all() and found.outcome_counts["unreadable"] == 1
    assert found.table_of_answers_without_vote()["why"].tolist() == ["unreadable"]


@pytest.mark.parametrize("form", [TopOne, TopTwo])
def test_the_released_formula_rejects_spread_none(form: type[TopOne] | type[TopTwo]) -> None:
    with pytest.raises(OptionError, match="with compat=cifar10s spread must be clamp or uniform"):
        form(compat="cifar10s", spread="none")


@pytest.mark.parametrize(
    ("typed", "flags"),
    [("", {"no-percent": 1}), ("0", {"zero-top": 1}), ("x", {"no-percent": 1, "unreadable-percent": 1})],
)
def test_a_top_label_without_a_percent_gets_the_rest_of_100(typed: str, flags: dict[str, int]) -> None:
    found = read(said(("c", typed), ("d", "20"), never="bfs"))
    assert found.votes.counts()[0].tolist() == [0, 0.8, 0.2, 0, 0] and found.flag_counts == flags
    assert row(said(("c", typed), never="bdfs")) == [0, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("typed", "cat", "flag"),
    [("8p", 0.8, "repaired"), ("70,5", 0.705, "fraction"), ("999", 1, "out-of-range"), ("-5", 1, "out-of-range")],
)
def test_unusual_percents_are_corrected_and_flagged(typed: str, cat: float, flag: str) -> None:
    found = read(said(("c", typed), never="dfs"), TopTwo(gamma=0))
    np.testing.assert_allclose(found.votes.counts()[0], [1 - cat, cat, 0, 0, 0], atol=1e-15)
    assert found.has_flag(flag).all()


def test_an_open_label_with_more_weight_than_the_top_label_is_flagged() -> None:
    assert read(said(("c", "30"), never="dfs")).flag_counts == {"spread-above-top": 1}


def test_abstaining_and_none_of_these_give_no_vote() -> None:
    answers = Answers.of(
        task=["a", "a", "b", "b"],
        worker=["v", "w", "v", "w"],
        marks=[said(("c", "70")), [], [], []],
        labels=LABELS,
        abstain=np.array([True, False, False, False]),
        none_of_these=np.array([False, True, False, False]),
    )
    found = TopTwo().read(answers)
    assert found.outcome_counts == {"read": 0, "abstained": 1, "none-of-these": 1, "unreadable": 2}
    assert found.table_of_answers_without_vote()["why"].tolist() == [
        "abstained",
        "none-of-these",
        "unreadable",
        "unreadable",
    ]
    assert found.table_of_answer_flags()["flag"].tolist() == ["set-aside-but-marked"]
    assert found.outcomes_per_task()["abstained"].tolist() == [1, 0] and found.outcomes_per_task()[
        "unreadable"
    ].tolist() == [0, 2]
    assert found.votes.tasks.tolist() == ["a", "b"] and found.votes.missing == 4


def test_weights_are_exact() -> None:
    """7 of 9 labels are open and share 30 percent: each gets exactly the float 30 / 700."""
    labels = [f"l{k}" for k in range(9)]
    answers = Answers.of(
        task=["a"], worker=["w"], marks=[[("named", "l0", "40"), ("named", "l1", "30")]], labels=labels
    )
    assert set(TopTwo().read(answers).votes.counts()[0].tolist()) == {0.4, 0.3, 30 / 700}


def test_many_labels_use_little_memory_if_no_rest_is_spread() -> None:
    labels = np.arange(200_000)
    marks = [[("named", int(k), "60"), ("named", int(k) + 1, "40")] for k in range(300)]
    answers = Answers.of(task=np.arange(300), worker=np.arange(300), marks=marks, labels=labels)
    assert len(labels) * 300 > MAX_CELLS
    assert len(TopTwo(gamma=0).read(answers).votes) == 600
    assert len(TopTwo(spread="none").read(answers).votes) == 600


def test_the_released_formula_does_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = [said(("c", "70"), ("d", "10"), never="s"), said(("b", "100")), said(("f", "8p"), ("f", "20"), never="bd")]
    answers = Answers.of(task=["a", "b", "c"], worker=["v", "w", "x"], marks=marks, labels=LABELS)
    whole = TopTwo(compat="cifar10s").read(answers).votes.counts()
    monkeypatch.setattr("plurivox.elicit._shared.cifar10s_released_formula.MAX_CELLS", 1)
    np.testing.assert_array_equal(TopTwo(compat="cifar10s").read(answers).votes.counts(), whole)
    np.testing.assert_allclose(whole[2], [0, 0.4, 0, 0.2, 0.4])


def test_a_percent_below_0_is_not_flagged_as_0() -> None:
    found = read(said(("c", "-5"), ("d", "-1"), never="s"))
    assert found.flag_counts == {"out-of-range": 1} and row(said(("c", "-5"), ("d", "-1"), never="s")) == [
        0.05,
        0.9,
        0,
        0.05,
        0,
    ]
