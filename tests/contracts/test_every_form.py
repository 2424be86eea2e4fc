"""Contract tests that every form must pass, for any answers that people may enter."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurivox import aggregate, elicit
from plurivox.core.answers import Answers
from plurivox.core.array_types import TEXT
from plurivox.core.errors import InputError
from plurivox.core.inputs_asked_by_form import input_fields_of_form_or_none
from plurivox.elicit import FLAGS, OUTCOMES

LABELS = ["ant", "bee", "cat", "dog"]
FORMS = [name for name in elicit.methods if name != "form-column"]
every = pytest.mark.parametrize("name", elicit.methods)
VARIETIES = [
    *FORMS,
    *(f"top-two[use={use},spread={spread}]" for use in ("top", "both") for spread in ("uniform", "none")),
    *(f"{name}[contradiction={rule}]" for name in FORMS for rule in ("never", "drop")),
    *(f"top-two[twice={rule}]" for rule in ("last", "sum")),
    *(f"top-two[gamma={gamma}]" for gamma in (0, 1)),
    *(f"top-two[compat=cifar10s,spread={spread}]" for spread in ("clamp", "uniform")),
    *(f"ranking[weights={weights}]" for weights in ("borda", "centroid", "plackett")),
    "histogram[of=chips]",
    "histogram[spread=clamp]",
]

TYPED = st.sampled_from(["", "0", "5", "33", "50", "70", "100", "8p", "70%", "999", "-5", "70,5", ".7", "nan", "x"])
MARK = st.one_of(
    st.tuples(st.sampled_from(["named", "never", "possible"]), st.sampled_from(LABELS), TYPED),
    st.tuples(st.just("named"), st.none(), TYPED),
)


@st.composite
def entered_columns(draw: Any) -> dict[str, list[Any]]:
    """Draw columns of answers with any marks, including combinations that a page should not allow."""
    n = draw(st.integers(1, 8))
    many = lambda one: draw(st.lists(one, min_size=n, max_size=n))  # noqa: E731
    return {
        "task": many(st.sampled_from(["t", "u", "v"])),
        "worker": many(st.sampled_from(["ann", "bo"])),
        "marks": many(st.lists(MARK, max_size=7)),
        "form": many(st.sampled_from(FORMS)),
        "abstain": many(st.booleans()),
        "none_of_these": many(st.booleans()),
        "seconds": many(st.floats(0, 99)),
    }


def answers_of(columns: dict[str, list[Any]]) -> Answers:
    """Return the columns as Answers."""
    arrays = {name: np.array(columns[name]) for name in ("abstain", "none_of_these", "seconds")}
    plain = {name: columns[name] for name in ("task", "worker", "marks")}
    return Answers.of(**plain, **arrays, form=np.array(columns["form"], dtype=TEXT), labels=LABELS)


def entered() -> st.SearchStrategy[Answers]:
    """Draw answers with any marks."""
    return entered_columns().map(answers_of)


@settings(max_examples=100)
@given(word=st.sampled_from([*VARIETIES, "form-column"]), answers=entered())
def test_every_answer_becomes_a_distribution_or_has_another_outcome(word: str, answers: Answers) -> None:
    found = elicit.methods.make(word).read(answers)
    votes = found.votes
    assert votes.answer is not None and votes.weight is not None
    assert (votes.weight > 0).all()
    total = np.bincount(votes.answer, votes.weight, minlength=len(answers))
    read = found.outcome == OUTCOMES.index("read")
    np.testing.assert_allclose(total[read], 1, rtol=0, atol=1e-12)
    assert (total[~read] == 0).all()
    assert (answers.task[votes.answer] == votes.task).all() and (answers.worker[votes.answer] == votes.worker).all()
    assert sum(found.outcome_counts.values()) == len(answers) and votes.missing == int((~read).sum())
    assert not read[answers.abstain | answers.none_of_these].any()
    order = np.lexsort((votes.label, votes.answer, votes.task))
    assert (order == np.arange(len(votes))).all()
    assert len(np.unique(votes.answer * len(LABELS) + votes.label)) == len(votes)


@settings(max_examples=100)
@given(word=st.sampled_from(VARIETIES), answers=entered(), data=st.data())
def test_an_answer_is_read_the_same_alone_and_among_others(word: str, answers: Answers, data: Any) -> None:
    form = elicit.methods.make(word)
    one = data.draw(st.integers(0, len(answers) - 1))
    whole = form.read(answers)
    alone = form.read(answers.where(np.arange(len(answers)) == one))
    mine = whole.votes.answer == one
    np.testing.assert_array_equal(whole.votes.weight[mine], alone.votes.weight)
    np.testing.assert_array_equal(whole.votes.label[mine], alone.votes.label)
    assert (whole.flags[one], whole.outcome[one]) == (alone.flags[0], alone.outcome[0])


@settings(max_examples=100)
@given(word=st.sampled_from([*VARIETIES, "form-column"]), columns=entered_columns(), data=st.data())
def test_the_order_of_the_answers_does_not_matter(word: str, columns: dict[str, list[Any]], data: Any) -> None:
    order = data.draw(st.permutations(range(len(columns["task"]))))
    form = elicit.methods.make(word)
    plain = form.read(answers_of(columns))
    mixed = form.read(answers_of({name: [column[i] for i in order] for name, column in columns.items()}))
    for now, before in enumerate(order):
        one, two = plain.votes.answer == before, mixed.votes.answer == now
        for column in ("task", "worker", "label", "weight"):
            found = getattr(mixed.votes, column)[two]
            np.testing.assert_array_equal(getattr(plain.votes, column)[one], found, err_msg=column)
        assert (plain.flags[before], plain.outcome[before]) == (mixed.flags[now], mixed.outcome[now])


@every
def test_no_answers_give_no_votes_in_any_form(name: str) -> None:
    none = Answers.of(task=[], worker=[], marks=[], labels=LABELS, form=np.zeros(0, dtype=TEXT))
    if name == "form-column":
        return
    found = elicit.methods.make(name).read(none)
    assert len(found.votes) == 0 and found.flag_counts == {} and len(found.table_of_answers_without_vote()["task"]) == 0


@every
def test_answers_need_labels(name: str) -> None:
    bare = Answers.of(task=["a"], worker=["w"], marks=[[]])
    with pytest.raises(InputError, match="needs at least one label"):
        elicit.methods.make(name).read(bare)


def some_entered() -> Answers:
    rng = np.random.default_rng(0)
    order = [rng.permutation(LABELS).tolist() for _ in range(60)]
    marks = [[("named", a, "70"), ("named", b, "20"), ("never", c, ""), ("possible", d, "")] for a, b, c, d in order]
    return Answers.of(task=np.arange(60) % 12, worker=np.arange(60) % 7, marks=marks, labels=LABELS)


@pytest.mark.parametrize("name", FORMS)
def test_counts_of_two_halves_add_up_to_those_of_all_answers(name: str) -> None:
    form, answers = elicit.methods.make(name), some_entered()
    first = np.arange(60) < 30
    parts = [form.read(answers.where(keep)).votes.counts() for keep in (first, ~first)]
    np.testing.assert_allclose(form.read(answers).votes.counts(), parts[0] + parts[1])


@pytest.mark.parametrize("name", [name for name in aggregate.methods if "soft" in aggregate.methods[name].takes])
def test_elicited_votes_can_be_aggregated(name: str) -> None:
    soft = aggregate.methods.make(name).fit(elicit.methods.make("top-two").read(some_entered()).votes).soft
    np.testing.assert_allclose(soft.prob.sum(1), 1)


def test_every_flag_is_a_separate_bit_with_a_description() -> None:
    bits = [bit for bit, _ in FLAGS.values()]
    assert len(set(bits)) == len(bits) and all(bin(bit).count("1") == 1 for bit in bits)
    assert all(text for _, text in FLAGS.values())


@pytest.mark.parametrize("name", FORMS)
def test_a_form_declares_its_question_and_flags_further_labels(name: str) -> None:
    asks = elicit.methods[name].asks
    assert asks is not None and asks == input_fields_of_form_or_none(name)
    if not asks.labels:
        return
    marks = [[("named", label, "20") for label in LABELS[: asks.labels + more]] for more in (0, 1)]
    found = elicit.methods.make(name).read(Answers.of(task=["t", "u"], worker=["w", "w"], marks=marks, labels=LABELS))
    assert found.has_flag("further-labels").tolist() == [False, True]
