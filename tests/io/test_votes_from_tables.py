"""Tables of any kind become votes; what is dropped or merged is noted."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from crowds import vote_columns
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning
from plurivox.core.votes import Votes
from plurivox.io.votes_from_tables import votes

TABLE = {"task": ["a", "a", "b"], "worker": ["w", "v", "w"], "label": ["x", "y", "x"]}


def told(**given: Any) -> tuple[Votes, str]:
    """Return the votes and the notes of the reader, joined; check that each note is also a warning."""
    with pytest.warns(PlurivoxWarning) as said:
        made = votes(**given)
    assert tuple(str(one.message) for one in said) == made.notes
    return made, " | ".join(made.notes)


@given(vote_columns())
@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_every_kind_of_frame_gives_the_same_votes(columns: dict) -> None:
    made = [votes(kind(columns)) for kind in (dict, pd.DataFrame, pl.DataFrame, pa.table)] + [Votes.of(**columns)]
    for one in made[1:]:
        for name in ("task", "worker", "label"):
            np.testing.assert_array_equal(getattr(made[0], name), getattr(one, name))
            names = getattr(made[0], name + "s"), getattr(one, name + "s")
            assert names[0].dtype == names[1].dtype and names[0].tolist() == names[1].tolist()


def test_arrays_series_lazy_frames_and_categories_are_read() -> None:
    plain = votes(TABLE)
    arrays = {name: np.array(column) for name, column in TABLE.items()}
    series = {name: pd.Series(column, dtype="category") for name, column in TABLE.items()}
    for one in (votes(**arrays), votes(**TABLE), votes(pl.LazyFrame(TABLE)), votes(pd.DataFrame(series))):
        assert one.to_polars().equals(plain.to_polars())


def test_column_names_can_be_given_and_missing_columns_are_errors() -> None:
    frame = pd.DataFrame({"item": ["a"], "user": [1], "answer_text": ["x"]})
    assert votes(frame, task="item", worker="user", label="answer_text").n_tasks == 1
    with pytest.raises(
        InputError,
        match=r"missing column 'worker' in the table; its columns are \['task', 'label', 'who'\]; .* pv.votes\(table, worker=",
    ):
        votes({"task": ["a"], "label": ["x"], "who": ["w"]})
    with pytest.raises(
        InputError,
        match=r"give pv.votes\(table, task=..., worker=..., label=...\); if every column is a worker, wide=True \(--wide\)",
    ):
        votes({"thing": ["a"], "who": [1], "said": ["x"]})
    with pytest.raises(InputError, match=r"'p11'\] and 9 more; if every column except 'task' is a worker.*--wide"):
        votes({"task": ["a"]} | {f"p{i:02}": [i] for i in range(1, 21)})


def test_a_column_of_labels_may_be_called_answer() -> None:
    """It is not read as answer numbers as well; so may the column of tasks be called when."""
    table = {"when": ["a", "a"], "who": [1, 2], "answer": ["cat", "dog"]}
    read = votes(table, task="when", worker="who", label="answer")
    assert (read.answer, read.when, read.labels.tolist()) == (None, None, ["cat", "dog"])


def test_wide_tables_have_one_column_per_worker() -> None:
    wide = pd.DataFrame({"task": ["a", "b", "c"], "ann": ["x", None, None], "bo": ["y", "x", None]})
    made = votes(wide, wide=True)
    assert made.counts().tolist() == [[1, 1], [1, 0], [0, 0]] and made.notes == ()
    numbers = pd.DataFrame({"ann": [1, 2, None], "bo": [1, 1, 2]})
    with pytest.warns(PlurivoxWarning, match="whole numbers"):
        made = votes(numbers, wide=True, task=None)
    assert made.labels.tolist() == [1, 2] and made.tasks.tolist() == [0, 1, 2]


WIDE = {
    "site": ["s1", "s2", "s3", "s4"],
    "ann": ["cat", "dog", "cat", None],
    "bo": ["cat", "cat", "dog", "dog"],
    "comment": ["not sure", "a clear picture", "dark", "?"],
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_a_list_of_worker_columns_reads_only_these_columns(frame: Any) -> None:
    made = votes(frame(WIDE), task="site", worker=["bo", "ann"])
    assert made.workers.tolist() == ["ann", "bo"] and made.labels.tolist() == ["cat", "dog"] and not made.notes
    assert votes(frame(WIDE), task="site", worker="bo", wide=True).workers.tolist() == ["bo"]
    assert votes(frame(WIDE), task="site", worker=np.array(["ann"])).counts().sum() == 3


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_a_column_of_a_wide_table_with_nearly_all_values_different_is_an_error(frame: Any) -> None:
    with pytest.raises(
        InputError,
        match=r"column 'comment' of the table cannot be a worker: 4 of the 4 values .*\['ann', 'bo'\] \(--worker ann,bo\)",
    ):
        votes(frame(WIDE), task="site", wide=True)


def _wide(**columns: Any) -> dict[str, Any]:
    """Return a wide table of thirty tasks with two workers and further columns."""
    rng = np.random.default_rng(2)
    workers = {name: rng.choice(["no", "yes"], 30) for name in ("ann", "bo")}
    return {"task": np.arange(30), **workers, **columns}


@pytest.mark.parametrize(
    "values",
    [
        [f"https://example.org/{i}" for i in range(30)],
        [100 + i for i in range(30)],
        np.linspace(0, 1, 30),
        [f"2024-01-{1 + i:02}" for i in range(30)],
        pd.date_range("2024-01-01", periods=30),
    ],
    ids=["url", "id", "score", "day", "date"],
)
def test_ids_scores_and_dates_are_no_workers(values: Any) -> None:
    with pytest.raises(InputError, match="column 'more' of the table cannot be a worker"):
        votes(pd.DataFrame(_wide(more=values)), wide=True)
    with pytest.warns(PlurivoxWarning, match="column 'more' is read as a worker"):
        votes(_wide(more=[str(value) for value in values]), worker=["ann", "bo", "more"])
    assert votes(pd.DataFrame(_wide(more=values)), worker=["ann", "bo"]).counts().sum() == 60


@pytest.mark.parametrize(
    "values",
    [[str(i % 5) for i in range(30)], ["train", "test"] * 15, ["dark"] + [None] * 28 + ["too far away"]],
    ids=["rating", "group", "few comments"],
)
def test_a_column_that_shares_no_value_with_the_workers_is_read_with_a_warning(values: Any) -> None:
    with pytest.warns(PlurivoxWarning, match=r"column 'more' is read as a worker, .*--worker ann,bo"):
        assert votes(_wide(more=values), wide=True).n_workers == 3
    assert not votes(_wide(more=values), worker=["ann", "bo", "more"]).notes


def test_few_tasks_and_many_labels_are_no_reason_to_refuse_a_worker() -> None:
    three = {"task": [1, 2, 3], "ann": ["cat", "dog", "bird"], "bo": ["bird", "dog", "cat"]}
    assert votes(three, wide=True).counts().sum() == 6 and not votes(three, wide=True).notes
    assert votes({"task": [1], "ann": ["cat"], "bo": ["dog"]}, wide=True).notes == ()
    many = {"task": range(60), "ann": [str(i) for i in range(60)], "bo": [str(i - i % 10 // 9) for i in range(60)]}
    assert votes(many, wide=True).n_labels == 60
    only_text = {"task": range(30), "text": [f"words {i}" for i in range(30)]}
    with pytest.raises(InputError, match="column 'text' of the table cannot be a worker"):
        votes(only_text, wide=True)


def test_gold_and_other_columns_known_by_name_are_no_workers() -> None:
    with pytest.raises(
        InputError, match=r"column 'consensus' of the table would be read as a worker; .*--worker ann,bo"
    ):
        votes(_wide(consensus=_wide()["ann"]), wide=True)
    assert votes(_wide(gold=_wide()["ann"]), wide=True).workers.tolist() == ["ann", "bo"]
    assert votes(_wide(gold=_wide()["ann"]), worker=["ann", "gold"]).workers.tolist() == ["ann", "gold"]
    with pytest.raises(InputError, match=r"one row per vote: leave out wide=True \(--wide\)"):
        votes({"task": [1], "worker": ["ann"], "label": ["x"]}, wide=True)


def test_worker_columns_that_cannot_be_read_are_errors() -> None:
    with pytest.raises(InputError, match="missing worker column 'cy' in the table; its columns are 'site', 'ann'"):
        votes(WIDE, task="site", worker=["ann", "cy"])
    with pytest.raises(OptionError, match="named as task and as worker"):
        votes(WIDE, task="site", worker=["ann", "site"])
    with pytest.raises(OptionError, match="named twice: 'ann'"):
        votes(WIDE, task="site", worker=["ann", "ann"])
    with pytest.raises(OptionError, match="list of worker columns is empty"):
        votes(WIDE, task="site", worker=[])
    with pytest.raises(OptionError, match=r"leave out wide=False \(--long\)"):
        votes(WIDE, task="site", worker=["ann", "bo"], wide=False)


# ---- unusual input


def test_an_empty_table_is_a_clear_error() -> None:
    with pytest.raises(InputError, match="has no rows; a table of votes needs at least one"):
        votes({"task": [], "worker": [], "label": []})
    with pytest.raises(InputError, match="2 rows but no votes: the label is missing in every row"):
        votes(task=["a", "b"], worker=["w", "w"], label=[None, None])


def test_one_worker_and_one_label_are_enough() -> None:
    assert votes(task=["a"], worker=["w"], label=["x"]).counts().tolist() == [[1]]


@pytest.mark.parametrize(
    ("rule", "left", "words"),
    [("keep", 3, "aggregation uses all answers"), ("first", 2, "the first one is kept"), ("last", 2, "the last")],
)
def test_repeated_answers_follow_a_stated_rule(rule: str, left: int, words: str) -> None:
    table = {"task": ["a", "a", "b"], "worker": ["w", "w", "w"], "label": ["x", "y", "y"]}
    made, notes = told(data=table, repeats=rule)
    assert len(made) == left and "1" in notes and words in notes
    assert made.labels[made.label[made.task == 0]].tolist() == {"keep": ["x", "y"], "first": ["x"], "last": ["y"]}[rule]


def test_repeats_are_ordered_by_known_times() -> None:
    table = {"task": ["a", "a"], "worker": ["w", "w"], "label": ["late", "early"], "when": ["2024-02-01", "2024-01-01"]}
    assert told(data=table, repeats="first")[0].columns()["label"].tolist() == ["early"]


def test_repeats_can_be_an_error_and_unknown_rules_are() -> None:
    with pytest.raises(InputError, match=r"1 answer repeats .* \(w on a\); .* set repeats to keep"):
        votes(task=["a", "a"], worker=["w", "w"], label=["x", "x"], repeats="error")
    with pytest.raises(OptionError, match="repeats must be one of keep, first, last, error"):
        votes(TABLE, repeats="all")  # type: ignore[arg-type]


@pytest.mark.parametrize("absent", [None, float("nan"), "", pd.NA])
def test_a_missing_label_is_dropped_and_counted_and_its_task_stays(absent: object) -> None:
    made, notes = told(task=["a", "b"], worker=["w", "w"], label=pd.Series(["x", absent], dtype=object))
    assert made.tasks.tolist() == ["a", "b"] and made.support.tolist() == [1, 0] and "1 row has no label" in notes


def test_whole_numbers_stay_whole_when_some_are_missing() -> None:
    made, notes = told(data=pd.DataFrame({"task": [1, 2], "worker": [1, 1], "label": [3, None]}))
    assert made.labels.tolist() == [3] and type(made.labels.tolist()[0]) is int and "whole numbers" in notes


def test_minus_one_is_a_label_with_a_hint_or_an_abstention_on_request() -> None:
    table = {"task": ["a", "a", "b"], "worker": [1, 2, 1], "label": [0, -1, 1]}
    made, notes = told(data=table)
    assert made.labels.tolist() == [-1, 0, 1] and "missing=-1" in notes
    made, notes = told(data=table, missing=-1)
    assert (
        made.labels.tolist() == [0, 1]
        and "1 row has the label -1, which means no answer" in notes
        and made.missing == 1
    )
    assert told(data={**table, "label": ["x", "skip", "?"]}, missing=["skip", "?"])[0].labels.tolist() == ["x"]


@pytest.mark.parametrize("labels", [["x", "y"], [True, False], [0, 7], [0.5, 1.5]])
@pytest.mark.parametrize("ids", [["a", "b"], [3, 900_000_000_000], [0.5, 2.0]])
def test_labels_and_ids_of_every_kind_with_gaps(labels: list, ids: list) -> None:
    made = votes(task=ids, worker=ids[::-1], label=labels)
    assert made.labels.tolist() == sorted(labels) and made.tasks.tolist() == ids
    assert type(made.labels.tolist()[0]) is type(labels[0])


def test_a_label_outside_the_given_list_is_named() -> None:
    with pytest.raises(
        InputError, match=r"labels that are not in the list given: 'q', 'r', 's' and 1 more; the list is 'x'"
    ):
        votes(task=list("abcd"), worker=list("wwww"), label=list("qrst"), labels=["x"])
    assert votes(**TABLE, labels=["z", "y", "x"]).labels.tolist() == ["z", "y", "x"]


def test_a_million_ids_and_many_labels_stay_small() -> None:
    n = 300_000
    made = votes(task=np.arange(n), worker=np.arange(n) % 70_000, label=np.arange(n) % 11_000)
    assert made.label.dtype == np.uint16 and made.sparse_vote_counts().mass.sum() == n


def test_names_of_mixed_types_are_rejected() -> None:
    with pytest.raises(InputError, match=r"label mix text and whole numbers \('x', 1\); make them all text"):
        votes(task=["a", "b"], worker=["w", "w"], label=["x", 1])


def test_votes_without_a_worker_are_kept() -> None:
    assert votes(**{**TABLE, "worker": None}).n_answers_per_worker.tolist() == []
    made, notes = told(task=["a", "b"], worker=["w", None], label=["x", "x"])
    assert made.worker.tolist() == [0, -1] and "1 vote has no worker" in notes


def test_input_that_is_not_a_table_is_an_error() -> None:
    with pytest.raises(InputError, match="int is not a table"):
        votes(3)
    with pytest.raises(InputError, match="columns of the same name"):
        votes(pd.DataFrame([["a", "w", "x", "y"]], columns=["task", "worker", "label", "label"]))


def test_soft_answers_and_times_round_trip() -> None:
    soft = Votes.of(["a"] * 2, ["w"] * 2, ["x", "y"], weight=[0.25, 0.75], answer=[4, 4], seconds=[2.0, 2.0])
    back = votes(soft.to_polars())
    assert (
        back.weight.tolist() == [0.25, 0.75] and len(set(back.answer.tolist())) == 1 and back.seconds.tolist() == [2, 2]
    )


def test_numbers_as_column_names_and_columns_without_a_vote() -> None:
    wide = pd.DataFrame({"task": ["a", "b"], 7: ["x", "y"], 8: [None, None]})
    made = votes(wide, wide=True)
    assert made.workers.tolist() == ["7", "8"] and made.n_answers_per_worker.tolist() == [2, 0]


def test_ordered_categories_and_enums_fix_the_labels() -> None:
    order = ["low", "mid", "high"]
    category = pd.Series(pd.Categorical(["high", "low"], categories=order, ordered=True))
    for frame in (
        pd.DataFrame({"task": ["a", "b"], "worker": [1, 1], "label": category}),
        pl.DataFrame(
            {"task": ["a", "b"], "worker": [1, 1], "label": ["high", "low"]}, schema_overrides={"label": pl.Enum(order)}
        ),
    ):
        assert votes(frame).labels.tolist() == order


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give a table, or the columns"),
        ({"task": 1, "worker": ["w"], "label": ["x"]}, "task must be a list.*; got 1"),
        ({"data": TABLE, "labels": "x,y"}, "labels must be a list; got the text 'x,y'"),
        ({"data": {**TABLE, "label": [2**64, 1, 2]}}, "2\\*\\*63"),
        (
            {"data": {**TABLE, "seconds": ["3", "fast", "4"]}},
            "contains 'fast' in row 2, which is neither a number nor an ISO date",
        ),
    ],
)
def test_invalid_calls_are_errors(given: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        votes(**given)


def test_a_missing_value_that_never_occurs_is_noted() -> None:
    assert "no row has the label 'zzz'" in told(data=TABLE, missing="zzz")[1]


def test_optional_columns_may_be_arrays_too_and_are_never_lost() -> None:
    made = votes(task=list("aab"), worker=[1, 2, 1], label=list("xyx"), seconds=[4, 2, 3], weight=np.ones(3))
    assert made.seconds is not None and made.seconds.tolist() == [4, 2, 3] and made.weight is not None
    table = {"task": list("aab"), "worker": [1, 2, 1], "label": list("xyx"), "took": [4, 2, 3]}
    assert votes(table, seconds="took").seconds.tolist() == [4, 2, 3]  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"missing column 'tok' .seconds. in the table; its columns are"):
        votes(table, seconds="tok")
    with pytest.raises(InputError, match="seconds must be the name of a column; got list"):
        votes(table, seconds=[4, 2, 3])


def test_a_list_of_tasks_sets_their_order() -> None:
    table = {"task": ["a", "b", "c", "b"], "worker": [1, 1, 1, 2], "label": ["x", "y", "x", "y"]}
    made = votes(table, tasks=["c", "a", "d", "b"])
    assert made.tasks.tolist() == ["c", "a", "d", "b"] and made.counts().tolist() == [[1, 0], [1, 0], [0, 0], [0, 2]]
    assert votes(table).tasks.tolist() == ["a", "b", "c"]
