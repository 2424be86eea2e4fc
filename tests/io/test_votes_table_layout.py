"""Tables that people have are read as they are: usual column names, an index, wide tables, matrices and records."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import plurivox as pv
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning
from plurivox.core.votes import Votes

ROWS = [("a.png", "ann", "cat"), ("a.png", "bo", "dog"), ("b.png", "ann", "dog"), ("b.png", "bo", "dog")]
VOTES = Votes.of(*map(list, zip(*ROWS, strict=True)))


def frame(*names: str, **more: Any) -> pd.DataFrame:
    """Return the votes as a frame whose columns have these names, and further columns."""
    return pd.DataFrame(ROWS, columns=list(names)).assign(**more)


def same(made: Votes) -> bool:
    return made.to_polars().equals(VOTES.to_polars())


@pytest.mark.parametrize(
    ("task", "worker", "label"),
    [
        ("item_id", "annotator", "rating"),
        ("image", "user", "class"),
        ("text_id", "rater", "choice"),
        ("Task ID", "Worker-Id", "Value"),
        ("unitId", "labeller", "judgement"),
        ("question", "WorkerId", "answer"),
        ("filename", "coder_id", "category"),
        ("id", "email", "score"),
    ],
)
def test_usual_column_names_are_found_and_told_once(task: str, worker: str, label: str) -> None:
    with pytest.warns(
        PlurivoxWarning, match=f"^read '{task}' as the task, '{worker}' as the worker, '{label}'"
    ) as said:
        assert same(pv.votes(frame(task, worker, label)))
    assert len(said) == 1


@pytest.mark.parametrize(
    ("task", "worker", "label"),
    [
        ("Äußerung", "Kodierer/in", "Kategorie"),
        ("Énoncé", "Évaluatrice", "Catégorie"),
        ("elemento", "anotador", "Etiqueta"),
        ("Frase", "valutatore", "Etichetta"),
        ("Tarefa", "Avaliadora", "Rótulo"),
        ("Nr.", "Bewerter", "Bewertung"),
    ],
)
def test_usual_column_names_in_other_languages_are_found(task: str, worker: str, label: str) -> None:
    with pytest.warns(
        PlurivoxWarning, match=f"^read '{task}' as the task, '{worker}' as the worker, '{label}' as the l"
    ):
        assert same(pv.votes(frame(task, worker, label)))


def test_own_names_in_any_case_are_no_news() -> None:
    assert same(pv.votes(frame("Task", "WORKER", "label")))  # warnings are errors


@pytest.mark.parametrize(
    ("columns", "read"),
    [
        ({"image": list("xxyy"), "image_id": [r[0] for r in ROWS]}, "image_id"),  # the id rather than the thing
        ({"id": [1, 2, 3, 4], "text": [r[0] for r in ROWS]}, "text"),  # the id numbers rows: texts repeat
        ({"text": list("xxyy"), "id": [r[0] for r in ROWS]}, "id"),
        ({"image": [r[0] for r in ROWS], "id": [1, 2, 3, 4]}, "image"),
    ],
)
def test_the_column_that_names_tasks_best_is_used(columns: dict[str, Any], read: str) -> None:
    table = frame("task", "worker", "label").drop(columns="task").assign(**columns)
    with pytest.warns(PlurivoxWarning, match=f"read '{read}' as the task"):
        assert same(pv.votes(table))


def test_two_columns_that_fit_equally_well_are_an_error_that_names_them(tmp_path: Path) -> None:
    table = frame("task", "worker", "rating", answer=1)
    with pytest.raises(
        InputError, match=r"'rating' and 'answer' may each be the label; .* pv.votes\(table, label='rating'\)"
    ):
        pv.agreement(table)
    table.to_csv(tmp_path / "votes.csv", index=False)
    with pytest.raises(InputError, match=r"may each be the label; .* label='rating' \(--label rating\)"):
        pv.read(tmp_path / "votes.csv")
    assert pv.votes(frame("task", "worker", "label", rating=1)).labels.tolist() == ["cat", "dog"]


def test_a_text_column_answer_is_the_label_and_a_number_groups_only_beside_weights() -> None:
    with pytest.warns(PlurivoxWarning, match="'answer' as the label"):
        assert same(pv.votes(frame("task", "worker", "answer")))
    table = frame("task", "worker", "label", answer=[0, 0, 1, 1])
    with pytest.warns(PlurivoxWarning, match="column 'answer' is not read; .* answer='answer'"):
        assert pv.votes(table).answer is None
    soft = pd.DataFrame({"task": ["a", "a"], "worker": [1, 1], "label": ["x", "y"], "weight": 0.5, "answer": 7})
    assert pv.votes(soft).answer is not None
    numbered = frame("task", "worker", "label", answer=[4, 5, 6, 7])
    assert pv.votes(numbered, answer="answer").answer is not None


def test_answer_numbers_without_weights_are_read_back_from_a_folder(tmp_path: Path) -> None:
    votes = Votes.of(["a", "b"], ["w", "w"], ["x", "y"], answer=[4, 5])
    pv.write(pv.Dataset("made", votes=votes), tmp_path / "made")
    assert pv.read(tmp_path / "made").votes.answer is not None


INDEXED = {
    "named index": frame("image", "user", "label").set_index("image"),
    "index without a name": frame("image", "user", "label").set_index("image").rename_axis(None),
    "two levels": frame("image", "user", "label").set_index(["image", "user"]),
    "two levels without names": frame("image", "user", "label").set_index(["image", "user"]).rename_axis([None, None]),
    "series": frame("image", "user", "label").set_index(["image", "user"])["label"],
    "pivot": frame("image", "user", "label").pivot(index="image", columns="user", values="label"),
    "pivot of numbers": frame("image", "user", "label")
    .assign(label=[0, 1, 1, 1])
    .pivot(index="image", columns="user", values="label"),
}


@pytest.mark.parametrize("name", INDEXED)
@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_the_index_of_a_pandas_frame_names_tasks(name: str) -> None:
    made = pv.votes(INDEXED[name])
    assert made.tasks.tolist() == ["a.png", "b.png"] and made.workers.tolist() == ["ann", "bo"]
    np.testing.assert_array_equal(made.label, VOTES.label)


def test_numbers_of_rows_are_no_tasks() -> None:
    table = frame("image", "worker", "label").drop(columns="image")
    for one in (table, table.iloc[1:]):
        with pytest.raises(InputError, match="missing column 'task'"):
            pv.votes(one)


@pytest.mark.parametrize("first", ["", '""', "Unnamed: 0", "...1"])
def test_an_unnamed_first_column_is_row_numbers_or_tasks(tmp_path: Path, first: str) -> None:
    """As `frame.to_csv()` of pandas and `write.csv` of R write it."""
    rows = "".join(f"{i},{','.join(row)}\n" for i, row in enumerate(ROWS))
    (tmp_path / "votes.csv").write_text(f"{first},task,worker,label\n{rows}")
    assert same(pv.read(tmp_path / "votes.csv").votes)
    (tmp_path / "wide.csv").write_text(f"{first},ann,bo\na.png,cat,dog\nb.png,dog,dog\n")
    with pytest.warns(PlurivoxWarning, match="'index' is the task, the columns 'ann', 'bo' are workers"):
        assert same(pv.read(tmp_path / "wide.csv").votes)


@pytest.mark.parametrize(
    "table",
    [
        {"image": ["a", "b", "c"], "annotator_1": [1, 2, 3], "annotator_2": [1, 2, 2]},
        {"image": ["a", "b", "c"], "text": ["d", "e", "f"], "x": ["no", "yes", "no"], "y": ["no", "no", None]},
        {"x": ["no", "yes", "no", "no", "yes"], "y": ["no", "no", None, "yes", "yes"]},
        {"site": ["a", "b", "c"], "x": [True, False, True], "y": [False, False, True]},
    ],
)
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_wide_tables_are_recognised_when_that_is_clear(table: dict[str, list], kind: Any) -> None:
    with pytest.warns(PlurivoxWarning, match=r"^read as a wide table: .*wide=False \(--long\)"):
        made = pv.votes(kind(table))
    assert (made.n_workers, made.n_tasks) == (2, len(next(iter(table.values()))))
    with pytest.raises(InputError, match="missing column"):
        pv.votes(kind(table), wide=False)


@pytest.mark.parametrize(
    "table",
    [
        {"image": ["a", "b"], "ann": [1, 0], "bo": [0, 3]},  # numbers: counts or workers
        {"image": ["a", "a", "b"], "x": ["no", "no", "yes"], "y": ["no", "yes", "yes"]},  # two rows per image
        {"image": ["a", "b", "c"], "who": ["ann", "bo", "ann"], "said": ["cat", "cat", "dog"]},
    ],
)
def test_tables_that_may_be_something_else_are_not_wide(table: dict[str, list]) -> None:
    with pytest.raises(InputError, match="missing columns"):
        pv.votes(table)


@pytest.mark.filterwarnings("ignore:read as a wide table")
def test_gold_in_a_table_of_votes_is_offered_not_voted() -> None:
    with pytest.warns(PlurivoxWarning, match="column 'ground_truth' is read as the gold labels of 2 tasks"):
        data = pv.io.dataset_reader.as_dataset(
            frame("task", "worker", "label", ground_truth=["cat", "cat", "dog", "dog"])
        )
    assert data.gold.hard().tolist() == ["cat", "dog"] and same(data.votes)
    wide = {"task": ["a", "b"], "ann": ["x", "y"], "bo": ["x", "x"], "gold": ["x", "x"]}
    with pytest.warns(PlurivoxWarning, match="column 'gold' is read as the gold labels"):
        data = pv.io.dataset_reader.as_dataset(wide)
    assert data.votes.workers.tolist() == ["ann", "bo"] and data.gold.hard().tolist() == ["x", "x"]
    flags = frame("task", "worker", "label", gold=[True, True, False, False])  # which tasks are test questions
    assert pv.io.dataset_reader.as_dataset(flags).gold is None


def test_votes_of_people_without_names_need_no_column_of_workers() -> None:
    with pytest.warns(PlurivoxWarning, match="no column of workers: the votes are read without worker names"):
        made = pv.votes({"task": ["a", "a", "b"], "label": ["x", "y", "y"]})
    assert made.n_workers == 0 and made.counts().tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("matrix", [np.array([[0, np.nan], [1, 0]]), np.array([[0, None], [1, 0]], object)])
def test_a_matrix_has_a_row_per_task_and_a_column_per_worker(matrix: Any) -> None:
    made = pv.votes(matrix)
    assert made.counts().tolist() == [[1, 0], [1, 1]]
    assert [made.tasks.tolist(), made.workers.tolist(), made.labels.tolist()] == [[0, 1], [0, 1], [0, 1]]


def test_minus_one_in_a_matrix_is_no_answer_unless_told_otherwise(tmp_path: Path) -> None:
    matrix = np.array([[0, -1], [1, 0]])
    np.save(tmp_path / "votes.npy", matrix)
    for read in (pv.votes, lambda given: pv.read(tmp_path / "votes.npy").crowd()):
        with pytest.warns(PlurivoxWarning, match=r"-1 in the matrix is read as no answer.*--missing ''"):
            assert read(matrix).columns()["worker"].tolist() == [0, 0, 1]
    assert pv.votes(matrix, missing=[]).labels.tolist() == [-1, 0, 1]
    assert pv.votes(np.array([[-2, -1], [1, 0]])).labels.tolist() == [-2, -1, 0, 1]  # a scale


def test_a_file_of_one_hot_rows_is_no_matrix_of_votes(tmp_path: Path) -> None:
    np.save(tmp_path / "labels.npy", np.eye(3))
    with pytest.raises(InputError, match="no task and label names"):
        pv.read(tmp_path / "labels.npy")


def test_numbered_graders_are_workers_and_a_gold_column_is_gold_also_beside_named_workers(tmp_path: Path) -> None:
    rows = "id,age,grader1,grader2,gold\na,61,2.0,,2.0\nb,70,0.0,1.0,\nc,55,,2.0,1.0\n"
    (tmp_path / "grades.csv").write_text(rows)
    for options in ({}, {"worker": ["grader1", "grader2"]}):
        with pytest.warns(PlurivoxWarning) as said:
            data = pv.read(tmp_path / "grades.csv", **options)
        assert "labels are whole numbers written as decimals: 0.0 is read as 0" in [str(one.message) for one in said]
        assert data.votes.workers.tolist() == ["grader1", "grader2"] and data.votes.labels.tolist() == ["0", "1", "2"]
        assert data.gold.tasks.tolist() == ["a", "c"] and data.gold.hard().tolist() == ["2", "1"]


def test_a_gold_table_with_decimals_names_the_same_labels_as_the_votes(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("task,label\na,2.0\nb,0.0\nc,\n")
    assert pv.read_soft(tmp_path / "gold.csv").hard().tolist() == ["2", "0"]


def test_an_unknown_reading_option_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\na,ann,x\n")
    with pytest.raises(OptionError, match=r"pv.read has no option 'gold'; .* give gold labels to pv.fit"):
        pv.read(tmp_path / "votes.csv", gold="gold.csv")


def test_row_numbers_that_repeat_after_a_concatenation_are_no_tasks() -> None:
    parts = [pd.DataFrame({"mention": [*"abc"], "label": [*"xyy"], "worker": name}) for name in ("ann", "bo")]
    with pytest.warns(PlurivoxWarning, match="'mention' as the task"):
        assert pv.votes(pd.concat(parts)).tasks.tolist() == ["a", "b", "c"]


def test_a_file_whose_name_ends_in_counts_is_read_as_counts(tmp_path: Path) -> None:
    (tmp_path / "zoo_counts.csv").write_text("galaxy,smooth,disk\ng1,3,1\ng2,0,5\n")
    made = pv.read(tmp_path / "zoo_counts.csv").crowd()
    assert made.tasks.tolist() == ["g1", "g2"] and made.counts().tolist() == [[3, 1], [0, 5]]


def test_a_table_per_worker_may_name_its_tasks_by_any_first_column(tmp_path: Path) -> None:
    for name, labels in (("ann", "PER,ORG"), ("bo", "PER,PER")):
        first, second = labels.split(",")
        (tmp_path / f"{name}.csv").write_text(f"mention,type\n000,{first}\n001,{second}\n")
    with pytest.warns(PlurivoxWarning, match="'mention' is the task, 'type' the label"):
        assert pv.read(tmp_path).crowd().tasks.tolist() == ["000", "001"]


def test_tables_of_images_are_not_tables_of_workers(tmp_path: Path) -> None:
    for name in ("train_small", "test_small"):
        pl.DataFrame({"idx": [0, 1], "label": ["x", "y"], "image": [b"a", b"b"]}).write_parquet(
            tmp_path / f"{name}.parquet"
        )
    with pytest.raises(InputError, match="is not a data set"):
        pv.read(tmp_path)


def test_ordered_categories_keep_their_scale() -> None:
    order = ["low", "mid", "high"]
    table = pd.DataFrame({"task": ["a", "b"], "ann": ["low", "high"], "bo": ["low", "low"]})
    for name in ("ann", "bo"):
        table[name] = pd.Categorical(table[name], categories=order, ordered=True)
    long = table.melt("task", var_name="worker", value_name="label").astype({"label": table["ann"].dtype})
    enum = pl.DataFrame(long.astype(str)).cast({"label": pl.Enum(order)})
    for made in (pv.votes(long), pv.votes(enum), pv.votes(long.set_index("task")), pv.votes(table, wide=True)):
        assert made.labels.tolist() == order and made.scale.tolist() == [0, 1, 2]
    assert pv.votes(long, ordered=False).scale is None


def test_what_pandas_reads_as_missing_is_missing_in_csv_and_said(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\na,w,x\na,v,NA\nb,w,y\nb,v,NaN\n")
    with pytest.warns(PlurivoxWarning, match=r"2 rows have the label 'NA', 'NaN', .*as pandas does .*--missing ''"):
        assert pv.read(tmp_path / "votes.csv").votes.labels.tolist() == ["x", "y"]
    with pytest.warns(PlurivoxWarning, match="^'NA' is read as a label"):
        assert "NA" in pv.votes({"task": ["a"], "worker": ["w"], "label": ["NA"]}).labels.tolist()
    assert "NA" in pv.read(tmp_path / "votes.csv", missing="").votes.labels.tolist()
    assert "NA" in pv.read(tmp_path / "votes.csv", labels=["NA", "NaN", "x", "y"]).votes.labels.tolist()


def test_none_and_not_applicable_are_labels_beside_words_and_no_answer_beside_numbers(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\na,w,None\na,v,Threat\nb,w,N/A\n")
    with pytest.warns(PlurivoxWarning, match="^'N/A' is read as a label; if it means no answer, set missing"):
        assert pv.read(tmp_path / "votes.csv").votes.labels.tolist() == ["N/A", "None", "Threat"]
    (tmp_path / "ratings.csv").write_text("task,worker,label\na,w,1.0\na,v,5.0\nb,w,N/A\n")
    with pytest.warns(PlurivoxWarning) as said:
        assert pv.read(tmp_path / "ratings.csv").votes.labels.tolist() == ["1", "5"]
    notes = [str(one.message) for one in said]
    assert "labels are whole numbers written as decimals: 1.0 is read as 1" in notes and "no answer" in notes[1]


def test_text_of_an_older_excel_is_read_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_bytes("task;worker;label\na;Zoë;né\n".encode("cp1252"))
    with pytest.warns(PlurivoxWarning, match="is not UTF-8 text; read as Windows-1252"):
        assert pv.read(tmp_path / "votes.csv").votes.columns()["label"].tolist() == ["né"]


def test_times_with_usual_names_are_read_if_they_are_times() -> None:
    with pytest.warns(PlurivoxWarning) as said:
        made = pv.votes(frame("task", "worker", "label", timestamp="2024-05-01T10:00:00", lead_time=[1, 2, 3, 4]))
    assert made.when is not None and made.seconds.tolist() == [1, 2, 3, 4] and len(said) == 2
    assert pv.votes(frame("task", "worker", "label", timestamp="in May")).when is None


def test_a_folder_with_a_table_per_worker(tmp_path: Path) -> None:
    (tmp_path / "ann.csv").write_text("image,label\na.png,cat\nb.png,dog\n")
    (tmp_path / "bo.csv").write_text("image,label\nb.png,dog\na.png,dog\n")
    with pytest.warns(PlurivoxWarning, match="read as one table per worker: 2 workers"):
        assert same(pv.read(tmp_path).votes)


def test_a_folder_with_other_tables_is_no_folder_of_workers(tmp_path: Path) -> None:
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text("image,label\na.png,cat\n")
    with pytest.raises(InputError, match="is not a data set"):
        pv.read(tmp_path)


def test_columns_of_images_are_no_names() -> None:
    table = pl.DataFrame({"id": ["a", "a"], "image": [b"\xff", b"\xfe"], "user": ["ann", "bo"], "label": ["x", "y"]})
    with pytest.warns(PlurivoxWarning, match="read 'id' as the task"):
        assert pv.votes(table).tasks.tolist() == ["a"]
