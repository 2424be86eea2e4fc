"""Tables with the votes of a task in a list are read: CSV text, JSON lines, Parquet and frames, with and without workers."""

import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io.dataset import Dataset
from plurivox.io.dataset_reader import as_dataset, dataset_of_given, read
from plurivox.io.formats import find_reader_module_of_table, label_lists
from plurivox.io.formats._data_read_from_other_program import FieldNames
from plurivox.io.soft_label_files import read_soft
from plurivox.io.tabular.table_files import Columns
from plurivox.io.votes_from_tables import votes as votes_of

pytestmark = pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
RECORDS = [
    {"id": "c7", "text": "so kind", "labels": [0, 0, 1], "annotators": ["ann", "bo", "cy"], "ages": [30, 41, 25]},
    {"id": "c8", "text": "get lost", "labels": [1, 1], "annotators": ["cy", "ann"], "ages": [25, 30]},
]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    """Write records as JSON lines, Parquet, or CSV in which pandas writes lists as text."""
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, records)))
    elif path.suffix == ".csv":
        pd.DataFrame(records).to_csv(path, index=False)
    else:
        pl.DataFrame(records).write_parquet(path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_lists_of_labels_and_of_workers(tmp_path: Path, suffix: str) -> None:
    data = read(write(tmp_path / f"hate{suffix}", RECORDS))
    votes = data.votes
    assert votes is not None and votes.tasks.tolist() == ["c7", "c8"] and votes.workers.tolist() == ["ann", "bo", "cy"]
    assert votes.counts().tolist() == [[2, 1], [0, 2]] and votes.labels.tolist() == [0, 1]
    assert data.items is not None and data.items.to_dicts()[1] == {"task": "c8", "text": "get lost"}
    assert data.workers is not None and data.workers.sort("worker")["ages"].to_list() == [30, 41, 25]


@pytest.mark.parametrize("cell", ["[0, 1, 1]", "[0 1 1]", "[0. 1. 1.]", "[ 0,\n 1, 1 ]"])
def test_lists_as_text_without_workers_are_unnamed_votes(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f'text,labels\nso kind,"{cell}"\nget lost,[]\n')
    with pytest.warns(PlurivoxWarning, match="the votes in 'labels' have no workers"):
        votes = read(path).votes
    assert votes is not None and votes.n_workers == 0 and votes.labels.tolist() == [0, 1]
    assert votes.tasks.tolist() == ["get lost", "so kind"] and votes.counts().tolist() == [[0, 0], [1, 2]]


def test_lists_of_text_as_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("item,annotations\n1,\"['no' 'yes, but']\"\n2,\"['no', None]\"\n")
    votes = read(path).votes
    assert (
        votes is not None
        and votes.labels.tolist() == ["no", "yes, but"]
        and votes.counts().tolist() == [[1, 1], [1, 0]]
    )


LIST_OF_OBJECTS = {"said": [{"annotator": "ann", "label": "no"}, {"annotator": "bo", "label": "yes"}]}
OBJECT_OF_LISTS = {"said": {"annotator_ids": ["ann", "bo"], "toxic": ["no", "yes"]}}


@pytest.mark.parametrize(
    ("cell", "suffix"),
    [
        *((LIST_OF_OBJECTS, suffix) for suffix in (".jsonl", ".parquet", ".csv")),
        *((OBJECT_OF_LISTS, suffix) for suffix in (".jsonl", ".parquet")),
    ],
)
def test_objects_with_worker_and_label(tmp_path: Path, cell: dict[str, Any], suffix: str) -> None:
    votes = read(write(tmp_path / f"t{suffix}", [{"id": 4, **cell}, {"id": 5, **cell}])).votes
    assert votes is not None and votes.workers.tolist() == ["ann", "bo"] and votes.counts().tolist() == [[1, 1], [1, 1]]


def test_several_lists_need_a_choice(tmp_path: Path) -> None:
    records = [{"id": 1, "annotators": ["a", "b"], "toxic": [0, 1], "insult": [1, 1]}]
    path = write(tmp_path / "t.jsonl", records)
    with pytest.raises(InputError, match=r"'insult', 'toxic'; select one: label='insult' \(--label insult\)"):
        read(path)
    assert read(path, label="toxic").votes.counts().tolist() == [[1, 1]]


def test_a_set_of_labels_of_one_worker_is_a_soft_answer(tmp_path: Path) -> None:
    records = [
        {"id": 1, "annotator": "ann", "labels": ["joy", "fear"]},
        {"id": 1, "annotator": "bo", "labels": ["joy"]},
    ]
    votes = read(write(tmp_path / "t.jsonl", records)).votes
    assert votes is not None and votes.n_answers == 2 and votes.counts().tolist() == [[0.5, 1.5]]


def test_gold_missing_labels_and_pandas_frames() -> None:
    frame = pd.DataFrame(
        {"uid": [1, 2], "labels": [[0, None], [1, 1]], "annotator_ids": [[7, 8], [7, 8]], "gold_label": [0, 1]}
    )
    found = label_lists.read_columns(Columns.from_frame_mapping_or_parquet(frame), FieldNames(task="uid"))
    assert (
        found.votes is not None
        and found.votes.counts().tolist() == [[1, 0], [0, 2]]
        and found.votes.workers.tolist() == [7, 8]
    )
    assert found.gold is not None and found.gold.hard().tolist() == [0, 1]
    assert "1 missing label in the lists left out" in found.notes


def test_a_list_that_differs_in_length_from_its_workers(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [{"id": 1, "labels": [0, 1], "annotators": ["ann"]}])
    with pytest.raises(InputError, match="row 1: the list in 'labels' has 2 labels for 1 'annotators'"):
        read(path, label="labels")


@pytest.mark.parametrize(
    "record",
    [
        {"task": 1, "worker": "a", "label": "x", "labels": ["x", "y"]},  # plain votes
        {"id": 1, "soft_label": [0.25, 0.75]},
        {"id": 1, "soft_label": [1.0, 0.0]},
        {"id": 1, "text": "[sic]", "label": "x"},
        {"id": 1, "tokens": ["a", "dog"], "labels": [0, 1]},  # labels of words
        {"id": 1, "answers": {"text": ["Rome"], "answer_start": [7]}},
        {"id": 1, "embedding": [0.25, 3.0]},
    ],
)
def test_other_tables_are_not_taken_for_lists_of_votes(record: dict[str, Any]) -> None:
    assert find_reader_module_of_table(Columns.from_frame_mapping_or_parquet(pl.DataFrame([record, record]))) is None


def huggingface_parquet(path: Path, table: dict[str, Any], features: dict[str, Any]) -> Path:
    """Write a Parquet file as `datasets` does: class labels are numbers, and the metadata has their names."""
    schema = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(pa.table(table).replace_schema_metadata(schema), path)
    return path


CLASS = {"names": ["toxic", "fine", "unsure"], "_type": "ClassLabel"}


@pytest.mark.parametrize(
    ("column", "feature"),
    [
        ({"labels": [[1, 1, 0], [-1, 0]]}, {"labels": {"feature": CLASS, "_type": "Sequence"}}),
        ({"labels": [[1, 1, 0], [-1, 0]]}, {"labels": {"feature": CLASS, "_type": "List"}}),
        (
            {"said": [{"label": [1, 1, 0]}, {"label": [-1, 0]}]},
            {"said": {"feature": {"label": CLASS}, "_type": "Sequence"}},
        ),
        ({"said": [[{"label": v} for v in row] for row in ([1, 1, 0], [-1, 0])]}, {"said": [{"label": CLASS}]}),
    ],
)
def test_class_labels_of_hugging_face_have_their_names(tmp_path: Path, column: Any, feature: Any) -> None:
    path = huggingface_parquet(tmp_path / "train-00000-of-00001.parquet", {"id": [3, 4], **column}, feature)
    votes = read(path).votes
    assert votes is not None and votes.labels.tolist() == ["toxic", "fine", "unsure"]
    assert votes.counts().tolist() == [[1, 2, 0], [1, 0, 0]]


def test_the_author_of_a_text_is_not_its_worker(tmp_path: Path) -> None:
    table = {"id": [3, 4], "user": ["@a", "@b"], "labels": [[1, 1, 0], [0]]}
    features = {"labels": {"feature": CLASS, "_type": "Sequence"}}
    votes = read(huggingface_parquet(tmp_path / "tweets.parquet", table, features)).votes
    assert votes is not None and votes.n_workers == 0 and votes.counts().tolist() == [[1, 2, 0], [1, 0, 0]]


def test_class_labels_in_plain_columns_have_their_names(tmp_path: Path) -> None:
    table = {"task": [1, 1], "worker": ["a", "b"], "label": [0, 1]}
    data: Dataset = read(huggingface_parquet(tmp_path / "votes.parquet", table, {"label": CLASS}))
    assert data.votes is not None and data.votes.labels.tolist() == ["toxic", "fine", "unsure"]


def test_lists_of_labels_are_read_beside_lists_of_ratings() -> None:
    table = {
        "text": ["A", "B"],
        "mood": [["sad", "glad"], ["glad"]],
        "sure": [[3, 5], [4]],
        "annotators": [["ann", "bo"], ["bo"]],
    }
    with pytest.warns(UserWarning, match=r"other lists of labels are 'sure': label='sure' \(--label sure\)"):
        votes = as_dataset(table).crowd()
    assert votes.labels.tolist() == ["glad", "sad"] and votes.workers.tolist() == ["ann", "bo"]


UNKNOWN = {"text": ["a", "b", "c"], "toxicity": [[0, 1, 1], [0, 0, 1], [1, 1, 1]]}
PEOPLE = [["ann", "bo", "cy"], ["ann", "cy", "di"], ["bo", "cy", "di"]]


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", "frame", "text"])
def test_the_only_list_of_few_values_has_the_labels_whatever_its_name(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame(UNKNOWN | {"vector": [[0.5, 2.0]] * 3}, schema_overrides={"toxicity": pl.List(pl.Int8)})
    given: Any = frame.to_pandas().assign(toxicity=[str(one) for one in UNKNOWN["toxicity"]])
    if suffix == "frame":
        given = frame
    if suffix.startswith("."):
        given = tmp_path / f"raw{suffix}"
        frame.write_parquet(given) if suffix == ".parquet" else frame.write_ndjson(given)
    votes = as_dataset(given).votes
    assert votes is not None and votes.tasks.tolist() == ["a", "b", "c"] and votes.labels.tolist() == [0, 1]
    assert votes.counts().tolist() == [[1, 2], [2, 1], [0, 3]] and votes.n_workers == 0


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_a_second_list_of_names_has_the_workers() -> None:
    votes = as_dataset(UNKNOWN | {"by_whom": PEOPLE}).votes
    assert votes is not None and votes.workers.tolist() == ["ann", "bo", "cy", "di"] and votes.labels.tolist() == [0, 1]


def test_two_lists_of_labels_are_an_error_whose_flag_works() -> None:
    table = UNKNOWN | {"anger": [[0, 0, 1], [0, 0, 0], [1, 1, 1]]}
    with pytest.raises(InputError, match=r"'toxicity', 'anger'.*--label toxicity"):
        as_dataset(table)
    with pytest.warns(PlurivoxWarning):
        votes = dataset_of_given(table, label="anger").votes
    assert votes is not None and votes.counts().tolist() == [[2, 1], [3, 0], [0, 3]]


@pytest.mark.parametrize("lists", [[[0.1, 0.9], [0.4, 0.6]], [[0.5, 3.25], [1.0, 2.0]], [{"a": 1}, {"a": 2}]])
def test_lists_that_are_no_labels_are_a_clear_error(tmp_path: Path, lists: list[Any]) -> None:
    path = tmp_path / "raw.parquet"
    pl.DataFrame({"text": ["a", "b"], "numbers": lists}).write_parquet(path)
    with pytest.raises(InputError, match="'numbers' have lists or objects"):
        read(path)
    with pytest.raises(InputError, match="'numbers'"):
        read(path, label="numbers")


def test_embeddings_beside_votes_and_gold_labels_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "gold.parquet"
    pl.DataFrame({"task": ["a", "b"], "label": ["x", "y"], "vector": [[0.5, 2.0]] * 2}).write_parquet(path)
    assert read_soft(path).hard().tolist() == ["x", "y"]
    wide = pd.DataFrame({"task": ["a", "b"], "ann": ["x", "y"], "bo": ["x", "x"], "vector": [[0.5, 2.0]] * 2})
    with pytest.warns(PlurivoxWarning):
        assert votes_of(wide).workers.tolist() == ["ann", "bo"]


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize("name", ["uid", "prompt_id", "promptID", "clip", "key"])
def test_a_column_of_different_values_named_like_an_id_is_the_task(name: str) -> None:
    votes = as_dataset({"source": ["x", "y", "x"], name: ["c", "a", "b"], "labels": UNKNOWN["toxicity"]}).votes
    assert votes is not None and votes.tasks.tolist() == ["a", "b", "c"]


def test_numbered_tasks_name_the_column_to_use() -> None:
    table = {"source": ["x", "x", "x"], "first line": ["c", "a", "b"], "labels": UNKNOWN["toxicity"]}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        as_dataset(table)
    assert any("""task='first line' (--task "first line")""" in str(one.message) for one in told)


@pytest.mark.parametrize("name", ["label", "expert", "gold_label", "Ground truth"])
def test_a_label_beside_the_lists_is_gold(name: str) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        data = as_dataset({"id": [1, 2, 3], "annotator_labels": UNKNOWN["toxicity"], name: [1, 0, None]})
    assert data.gold is not None and data.gold.hard().tolist() == [1, 0]
    assert any(f"{name!r} is read as the gold labels of 2 tasks" in str(one.message) for one in told)


def nested(column: str, *cells: Any) -> list[dict[str, Any]]:
    """Return records with an id, a text, gold labels, and votes nested in a column."""
    return [{"id": n, "text": f"text {n}", "gold": "yes" if n else None, column: cell} for n, cell in enumerate(cells)]


NESTED = {
    "objects": nested(
        "annotations",
        [{"annotator": "ann", "label": "yes", "seconds": 3}, {"annotator": "bo", "label": "no", "note": "?"}],
        [{"annotator": "bo", "label": "yes"}, {"annotator": "cy", "label": "yes"}],
    ),
    "names": nested("annotations", {"ann": "yes", "bo": "no"}, {"bo": "yes", "cy": "yes"}),
    "names of objects": nested(
        "votes", {"ann": {"label": "yes"}, "bo": {"label": "no"}}, {"bo": {"label": "yes"}, "cy": {"label": "yes"}}
    ),
    "fields found by values": nested(
        "reviews",
        [{"who": "ann", "said": "yes"}, {"who": "bo", "said": "yes"}],
        [{"who": "bo", "said": "yes"}, {"who": "cy", "said": "no"}, {"who": "ann", "said": "no"}],
    ),
}


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("kind", ["json", "jsonl", "records", "pandas"])
def test_votes_nested_in_records(tmp_path: Path, name: str, kind: str) -> None:
    records = NESTED[name]
    given: Any = pd.DataFrame(records) if kind == "pandas" else records
    if kind.startswith("json"):
        given = tmp_path / f"items.{kind}"
        given.write_text(json.dumps(records) if kind == "json" else "\n".join(map(json.dumps, records)))
    data = as_dataset(given)
    assert data.votes is not None and data.votes.workers.tolist() == ["ann", "bo", "cy"]
    assert data.votes.counts().tolist() == ([[0, 2], [2, 1]] if name == "fields found by values" else [[1, 1], [0, 2]])
    assert data.gold is not None and data.gold.hard().tolist() == ["yes"]


def test_fields_that_are_not_clear_are_an_error_whose_flags_work() -> None:
    records = nested(
        "reviews", [{"who": "ann", "said": "yes"}, {"who": "bo", "said": "no"}], [{"who": "ann", "said": "no"}]
    )
    with pytest.raises(InputError, match=r"'reviews\.who', 'reviews\.said'"):
        as_dataset(records)
    for worker in ("who", "reviews.who"):
        with pytest.warns(PlurivoxWarning):
            votes = dataset_of_given(records, label="reviews.said", worker=worker).votes
        assert votes is not None and votes.workers.tolist() == ["ann", "bo"] and votes.labels.tolist() == ["no", "yes"]


def test_properties_of_an_item_are_not_votes() -> None:
    records = [{"id": n, "label": "yes", "answers": {"author": f"a{n}", "place": "Rome"}} for n in range(3)]
    assert find_reader_module_of_table(Columns.from_frame_mapping_or_parquet(records)) is None


def test_a_label_that_is_always_the_most_frequent_one_is_not_gold_nor_one_with_several_values_per_task() -> None:
    rows = {
        "id": range(12),
        "text": ["a", "b"] * 6,
        "votes_of_workers": [[1, 1, 0], [0, 0, 1]] * 6,
        "label": [1, 0] * 6,
    }
    with pytest.warns(
        PlurivoxWarning, match="'label' is the most frequent label of every list: it is not read as gold"
    ):
        data = as_dataset(rows)
    assert data.gold is None and data.votes is not None and data.votes.n_tasks == 12  # by id, not by text
    with pytest.warns(PlurivoxWarning, match="'gold' has several values for some tasks: it is not read as gold labels"):
        assert as_dataset({"task": ["a", "a"], "labels": [[1, 0], [1, 1]], "gold": [1, 0]}).gold is None
