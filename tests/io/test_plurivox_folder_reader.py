"""Data set folders: round trips, errors, and real folders."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowds import crowd, soft_crowd, some_answers, some_soft
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.name_encoding import as_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset, convert, dataset_catalog, read, write
from plurivox.io.features import Features

VOTES = Votes.of(
    ["a", "a", "b"], ["w", "v", "w"], ["2", "10", "2"], tasks=["a", "b", "c"], labels=["10", "2", "7"], ordered=True
)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_every_part_round_trips(tmp_path: Path, form: str) -> None:
    items = pl.DataFrame({"task": ["a", "b"], "split": ["train", "test"], "image": [b"\x89PNG", b"\xff\xd8"]})
    data = Dataset(
        "whole",
        about={"description": 'Two tasks, "quoted" and more.'},
        votes=VOTES,
        gold=SoftLabels.gold(["a", "b", "c"], ["2", "10", "7"], labels=VOTES.labels),
        soft_labels=some_soft(),
        items=items,
        workers=pl.DataFrame({"worker": ["v", "w"], "age": ["30", "41"]}),
        features=Features(
            as_names(["a", "b"]),
            np.eye(2, dtype=np.float16),
            as_names(["train", "test"]),
            SoftLabels.gold(["a", "b"], ["x", "y"]),
        ),
        tables={"senses": lambda: pl.DataFrame({"sense": ["1"]})},
    )
    write(data, tmp_path / "set", form=form)
    back = read(tmp_path / "set")
    assert back.name == "whole" and back.about["description"] == data.about["description"]
    for name in ("task", "worker", "label", "tasks", "workers", "labels", "scale"):
        assert getattr(back.votes, name).tolist() == getattr(VOTES, name).tolist(), name
    assert back.gold.hard().tolist() == ["2", "10", "7"] and back.gold.labels.tolist() == ["10", "2", "7"]
    np.testing.assert_allclose(back.soft_labels.prob, some_soft().prob)
    assert back.items.equals(items) and back.workers["age"].to_list() == ["30", "41"]
    assert back.features.x.dtype == np.float16 and back.features.on(["b"]).tolist() == [[0, 1]]
    assert back.features.split.tolist() == ["train", "test"] and back.features.gold.hard().tolist() == ["x", "y"]
    assert back.tables["senses"]()["sense"].to_list() == ["1"]
    assert {split: tasks.tolist() for split, tasks in back.splits.items()} == {"train": ["a"], "test": ["b"]}


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_soft_votes_counts_and_answers_round_trip(tmp_path: Path, form: str) -> None:
    soft = soft_crowd(n_tasks=3)
    counts = Votes.from_counts(np.array([[3, 0], [1, 2]]), ["a", "b"], ["x", "y"])
    write(Dataset("soft", votes=soft), tmp_path / "soft", form=form)
    write(Dataset("counts", counts=counts), tmp_path / "counts", form=form)
    write(Dataset("answers", answers=some_answers()), tmp_path / "answers", form=form)
    np.testing.assert_allclose(read(tmp_path / "soft").votes.weight, soft.weight, atol=1e-12)
    assert read(tmp_path / "counts").crowd().counts().tolist() == counts.counts().tolist()
    back = read(tmp_path / "answers")
    assert back.answers.typed_texts_at_rank(1).tolist() == ["8p", "", ""] and back.answers.abstain.tolist() == [
        False,
        False,
        True,
    ]
    with pytest.raises(InputError, match="answers has no votes; it contains answers: turn them into votes first"):
        back.crowd()


def test_tables_become_votes_counts_or_answers_by_their_columns(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\n007,1,x\n")
    (tmp_path / "counts.csv").write_text("task,x,y\na,1,2\n")
    (tmp_path / "either.csv").write_text("task,x,y\na,1,2\n")
    (tmp_path / "typed.csv").write_text("task,worker,label,percent\na,w,x,8p\n")
    (tmp_path / "wide.csv").write_text("task,ann,bo\na,x,\nb,y,y\n")
    assert read(tmp_path / "votes.csv").votes.tasks.tolist() == ["007"]
    assert read(tmp_path / "counts.csv").crowd().counts().tolist() == [[1, 2]]
    with pytest.raises(InputError, match=r"name that ends in counts; .* read it as a wide table"):
        read(tmp_path / "either.csv")
    assert read(tmp_path / "either.csv", wide=True).votes.workers.tolist() == ["x", "y"]
    assert read(tmp_path / "typed.csv").answers.typed_texts_at_rank(0).tolist() == ["8p"]
    assert read(tmp_path / "wide.csv", wide=True).votes.workers.tolist() == ["ann", "bo"]
    assert read(tmp_path / "wide.csv", worker=["bo"]).votes.workers.tolist() == ["bo"]


def test_numeric_gold_is_matched_with_text_votes(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\na,w,1\nb,w,2\n")
    pl.DataFrame({"task": ["a", "b", "c"], "label": [1.0, 2.0, None]}).write_parquet(tmp_path / "gold.parquet")
    data = read(tmp_path)
    with pytest.warns(PlurivoxWarning, match="1 row of .*/gold.parquet dropped: no task or no label"):
        gold = data.gold
    assert (gold.on_labels(data.votes.labels).most_probable_label_codes() == data.votes.label).all()


@pytest.mark.parametrize(
    "data",
    [
        Dataset("soft gold", gold=SoftLabels.of([[0.7, 0.3]], ["a"], ["x", "y"])),
        Dataset("floats", votes=Votes.of(["a"], ["w"], [0.5], labels=[0.5, 2.0], ordered=True)),
        Dataset("truth", votes=Votes.of([1], [2], [True], labels=[True, False])),
        Dataset("unnamed", votes=Votes.of(["a", "b"], None, ["x", "y"])),
        Dataset("counts", counts=Votes.from_counts(np.array([[1, 2]]), ["a"], ["x", "y"], ordered=[1, 5])),
        Dataset("stranger", votes=Votes.of(["a"], ["w"], ["x"]), gold=SoftLabels.gold(["a"], ["z"])),
        Dataset("odd\x7fname", votes=Votes.of(["a"], ["w"], ['\x7f"quoted"\n'])),
        Dataset("empty", votes=Votes.of(["a", "b"], ["w", "w"], ["x", "y"]).where(np.array([False, False]))),
    ],
    ids=lambda data: data.name,
)
def test_unusual_data_sets_round_trip(tmp_path: Path, data: Dataset) -> None:
    write(data, tmp_path / "set")
    back = read(tmp_path / "set")
    assert back.name == data.name
    for part in data.parts():
        was, now = getattr(data, part), getattr(back, part)
        assert was.tasks.tolist() == now.tasks.tolist()
        assert part == "gold" or was.labels.tolist() == now.labels.tolist()[: len(was.labels)]
        assert (was.scale is None) == (now.scale is None) and (
            was.scale is None or was.scale.tolist() == now.scale.tolist()
        )
        if part == "gold":
            np.testing.assert_allclose(now.on_labels(was.labels).prob, was.prob)
        else:
            np.testing.assert_array_equal(now.counts()[:, : was.n_labels], was.counts())


def test_labels_with_bars_and_images_round_trip(tmp_path: Path) -> None:
    answers = Answers.of(
        ["a"], ["w"], [[("named", "x", "70"), ("never", "y|z", ""), ("never", "q", "")]], labels=["x", "y|z", "q"]
    )
    (tmp_path / "pic.png").write_bytes(b"\x89PNG")
    write(Dataset("typed", answers=answers, images={"a": tmp_path / "pic.png"}), tmp_path / "set")
    back = read(tmp_path / "set")
    assert back.answers.labels.tolist() == ["x", "y|z", "q"] and back.answers.mask_marked_labels_per_answer(
        "never"
    ).tolist() == [[False, True, True]]
    assert back.items.rows() == [("a", b"\x89PNG")]


def test_answers_to_further_questions_are_not_lost(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "votes.csv").write_text("task,worker,label,label_rude\na,w,x,yes\na,v,y,no\n")
    write(read(tmp_path / "set"), tmp_path / "out")
    assert read(tmp_path / "out").tables["votes_as_read"]()["label_rude"].to_list() == ["yes", "no"]


def test_a_gold_label_without_votes_is_among_the_labels(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\na,w,x\n")
    (tmp_path / "gold.csv").write_text("task,label\na,z\n")
    data = read(tmp_path)
    assert data.votes.labels.tolist() == data.gold.labels.tolist() == ["x", "z"]


def test_constant_columns_of_votes_become_items_and_workers(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label,age,word\na,w,x,30,run\na,v,y,41,run\nb,w,x,30,sit\n")
    data = read(tmp_path)
    assert data.workers.rows() == [("v", "41"), ("w", "30")] and data.items.rows() == [("a", "run"), ("b", "sit")]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"notes.txt": "hello"}, "is not a data set; it needs a table named votes, answers, counts or gold"),
        ({"votes.csv": "task,worker,label\na,w,x\n", "dataset.toml": "label = "}, "dataset.toml is not valid TOML"),
        (
            {"votes.csv": "task,worker,label\na,w,x\n", "dataset.toml": "colour = 1"},
            r"has the unknown keys \['colour'\]",
        ),
        ({"votes.csv": "task,who,label\na,w,x\n"}, r"missing column 'worker' in"),
        (
            {"votes.csv": "task,worker,label\na,w,x\n", "votes.tsv": "t"},
            "twice: votes.csv, votes.tsv; keep one of them",
        ),
        (
            {"votes.csv": "task,worker,label\na,w,x\n", "dataset.toml": 'ordered = "yes"'},
            "value 'yes' of ordered has the wrong type",
        ),
        ({"votes.parquet": "PAR1 cut"}, "votes.parquet cannot be read as Parquet"),
    ],
)
def test_missing_or_invalid_contents_are_errors(tmp_path: Path, files: dict[str, str], words: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=words):
        _ = read(tmp_path).votes


def test_suffixes_may_be_upper_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "votes.CSV").write_text("task,worker,label\na,w,x\nb,w,y\n")
    pl.DataFrame({"task": ["a", "b"], "label": ["x", "y"]}).write_parquet(folder / "gold.Parquet")
    monkeypatch.setenv("PLURIVOX_DATA", str(tmp_path / "shelf"))
    dataset_catalog.install("large", folder)
    data = read("large")
    assert data.parts() == ["votes", "gold"] and data.votes.n_tasks == len(data.gold) == 2
    assert (tmp_path / "shelf" / "large" / "votes.CSV").is_file()  # a plurivox folder is installed as a plain copy
    data.votes.save(tmp_path / "votes.NPZ")
    assert read(tmp_path / "votes.NPZ").votes.n_tasks == 2


def _set_with(folder: Path, **boxes: dict[str, object]) -> Dataset:
    """Write votes on tasks a and b, and one `.npz` file per name in `boxes`; read the folder as a data set."""
    (folder / "votes.csv").write_text("task,worker,label\na,w,x\nb,w,y\n")
    for name, arrays in boxes.items():
        np.savez(folder / f"{name}.npz", **arrays)
    return read(folder)


def test_features_may_have_another_name(tmp_path: Path) -> None:
    assert _set_with(tmp_path, vgg16={"x_train": np.ones((2, 3))}).features.x.shape == (2, 3)
    some_soft().save(tmp_path / "soft.npz")  # an .npz saved by plurivox is ignored without a warning
    assert read(tmp_path).features.x.shape == (2, 3)
    (tmp_path / "vgg16.npz").unlink()
    assert not read(tmp_path).has("features")


def test_an_npz_without_features_is_warned_about(tmp_path: Path) -> None:
    with pytest.warns(
        PlurivoxWarning, match=r"not read in .*: 'weights.npz'; a file of features has the arrays x and task"
    ):
        assert not _set_with(tmp_path, weights={"w": np.ones(2)}).has("features")
    (tmp_path / "weights.npz").write_bytes(b"cut short")
    with pytest.warns(PlurivoxWarning, match=r"not read in .*: 'weights.npz'"):
        assert read(tmp_path).parts() == ["votes"]


def test_several_feature_files_are_warned_about(tmp_path: Path) -> None:
    rows = {"task": ["a", "b"]}
    with pytest.warns(PlurivoxWarning, match=r"contain features: 'one.npz', 'two.npz'; rename the one to read"):
        made = _set_with(tmp_path, one={"x": np.zeros((2, 1)), **rows}, two={"x": np.ones((2, 1)), **rows})
    assert not made.has("features")
    (tmp_path / "two.npz").rename(tmp_path / "features.npz")
    assert read(tmp_path).features.x.tolist() == [[1], [1]]


def test_dataset_toml_sets_labels_columns_and_missing_values(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("item,who,said\na,w,high\nb,w,?\n")
    (tmp_path / "dataset.toml").write_text(
        'task = "item"\nworker = "who"\nlabel = "said"\nmissing = "?"\nlabels = ["low", "high"]\nordered = true\n'
    )
    with pytest.warns(PlurivoxWarning, match="which means no answer"):
        votes = read(tmp_path).votes
    assert (
        votes.labels.tolist() == ["low", "high"] and votes.scale.tolist() == [0, 1] and votes.support.tolist() == [1, 0]
    )


@pytest.mark.parametrize("target", ["v.csv", "v.parquet", "v.jsonl.gz", "v.npz", "folder", "peerannot"])
def test_convert_round_trips(tmp_path: Path, target: str) -> None:
    columns = {name: column.astype(str) for name, column in crowd(n_tasks=5).items()}
    Votes.of(**columns).save(tmp_path / "source.npz")
    form = "peerannot" if target == "peerannot" else "plurivox"
    with pytest.warns(PlurivoxWarning) if form == "peerannot" else _nothing():
        convert(tmp_path / "source.npz", tmp_path / target, form=form)
    assert read(tmp_path / target).votes.to_polars().equals(Votes.of(**columns).to_polars())


def _nothing() -> object:
    import contextlib

    return contextlib.nullcontext()


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize(
    ("name", "n_votes", "n_workers"),
    [("cifar10h", 511_000, 0), ("labelme", 2_547, 59), ("adult2", 92_721, 825), ("popquorn_offensive", 13_036, 262),
     ("masc_wordsense", 1_084_551, 276), ("cifar10s", 6_723, 248), ("pos_twitter", 70_177, 177)],
)  # fmt: skip
def test_real_folders_of_every_kind(data_set: Callable[[str], Path], name: str, n_votes: int, n_workers: int) -> None:
    data = read(data_set(name))
    votes = data.crowd()
    assert round(votes.n_answers) == n_votes and votes.n_workers == n_workers
    if name == "labelme":
        assert data.features.x.shape == (2688, 512) and len(data.items) == 2688
        assert data.features.on(data.votes.tasks).shape == (1000, 512)
        assert (data.features.gold.on(data.votes.tasks).hard() == data.gold.on(data.votes.tasks).hard()).all()
    if name == "popquorn_offensive":
        assert data.workers.columns == ["worker", "gender", "race", "age", "education"]
    if name == "cifar10s":
        assert len(data.answers) == 6_723 and (data.answers.repeat_of >= 0).sum() == 498


def test_the_votes_of_a_folder_may_be_a_wide_table_with_named_worker_columns(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,ann,bo,comment\na,x,y,dark\nb,x,x,far\nc,y,y,fine\n")
    (tmp_path / "dataset.toml").write_text('worker = ["ann", "bo"]\n')
    assert read(tmp_path).votes.workers.tolist() == ["ann", "bo"]
    assert read(tmp_path, worker=["ann"]).votes.workers.tolist() == ["ann"]
