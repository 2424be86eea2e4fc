"""peerannot folders are read and written; image folders are read."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.confusion_matrix_reader import read_confusion
from plurivox.io.dataset_catalog import install
from plurivox.io.dataset_conversion import convert
from plurivox.io.dataset_reader import read
from plurivox.io.formats import find_reader_module_of_folder, image_folder, peerannot
from plurivox.io.soft_label_files import read_soft, write_soft
from plurivox.io.tabular.table_files import read_table, write_table

TOY = {"0": {"0": 1, "1": 0, "2": 1, "3": 1}, "1": {"0": 1, "2": 0, "3": 0}, "2": {"1": 1, "3": 1}}
IMAGES = ("train/frown/sad-1.png", "train/smile/xtra-smile-0.png", "train/smile/smile-2.png")


def make(folder: Path, answers: object = TOY, images: tuple[str, ...] = (), **metadata: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "answers.json").write_text(answers if isinstance(answers, str) else json.dumps(answers))
    if metadata:
        (folder / "metadata.json").write_text(json.dumps(metadata))
    for image in images:
        (folder / image).parent.mkdir(parents=True, exist_ok=True)
        (folder / image).write_bytes(image.encode())
    return folder


def rows(votes: Votes) -> list[tuple[object, ...]]:
    return sorted(zip(*(column.tolist() for column in votes.columns().values()), strict=True), key=repr)


def test_a_folder_with_images_is_read(tmp_path: Path) -> None:
    folder = make(tmp_path / "toy", images=IMAGES, name="toy-data", n_classes=2, n_workers=4, n_tasks=3)
    assert find_reader_module_of_folder(folder) is peerannot
    found = peerannot.read(folder)
    assert found.name == "toy-data" and found.votes is not None and found.gold is not None
    assert found.votes.tasks.tolist() == [0, 1, 2] and found.votes.workers.tolist() == [0, 1, 2, 3]
    assert found.votes.labels.tolist() == ["frown", "smile"]
    assert found.votes.counts().tolist() == [[1, 3], [2, 1], [0, 2]]
    assert found.gold.on(found.votes.tasks).hard().tolist() == ["smile", "frown", "smile"]
    assert found.images == {"0": folder / IMAGES[1], "1": folder / IMAGES[0], "2": folder / IMAGES[2]}
    assert found.splits == dict.fromkeys("012", "train")
    assert found.notes == ("labels 0 to 1 are named by the sorted image folders",)


def test_answers_alone_keep_their_numbers(tmp_path: Path) -> None:
    folder = make(tmp_path / "toy", answers={**TOY, "10": {}}, n_classes=3, n_workers=77)
    found = peerannot.read(folder)
    assert found.votes is not None and found.gold is None and found.images is None
    assert found.votes.tasks.tolist() == [0, 1, 2, 10] and found.votes.labels.tolist() == [0, 1, 2]
    assert found.votes.support.tolist() == [4, 3, 2, 0]
    assert found.notes == ("metadata.json has n_workers = 77, but answers.json has 4",)
    named = peerannot.read(folder / "answers.json", labels=["no", "yes", "maybe"]).votes
    assert named is not None and named.labels.tolist() == ["no", "yes", "maybe"] and named.counts()[0, 1] == 3


def test_text_keys_and_labels_stay_text(tmp_path: Path) -> None:
    votes = peerannot.read(make(tmp_path / "toy", answers={"007": {"ann": "x"}, "8": {"1": "y"}})).votes
    assert votes is not None and rows(votes) == [("007", "ann", "x"), ("8", "1", "y")]


def test_label_numbers_that_differ_from_the_order_of_folders(tmp_path: Path) -> None:
    images = tuple(f"train/{label}/{label}-{i}.png" for i, label in enumerate(["plane", "car", "bird"]))
    found = peerannot.read(make(tmp_path / "cifar", {str(i): {"0": i, "1": i} for i in range(3)}, images))
    assert found.votes is not None and found.votes.labels.tolist() == [0, 1, 2]
    assert "perhaps labels=['plane', 'car', 'bird'] (--labels plane,car,bird)" in found.notes[0]


def test_a_split_that_repeats_task_keys(tmp_path: Path) -> None:
    more = (
        "val/smile/joy-7.jpg",
        "test/smile/grin-0.jpg",
        "test/frown/grim-1.jpg",
        "test/frown/notes.txt",
        "test/a.png",
    )
    found = peerannot.read(make(tmp_path / "toy", images=(*IMAGES, *more)))
    assert found.gold is not None and found.splits is not None
    assert {task: split for task, split in found.splits.items() if split != "train"} == {
        "7": "val",
        "test/0": "test",
        "test/1": "test",
    }
    assert found.gold.on(["0", "test/0", "test/1"]).hard().tolist() == ["smile", "smile", "frown"]
    assert found.notes[1:] == (
        "1 file is not an image and was skipped",
        "1 image outside of label folders was skipped",
        "keys under test repeat those of another split; these tasks are named test/<key>",
    )


def test_dropped_answers_are_counted_in_notes(tmp_path: Path) -> None:
    text = '{"0": {"0": 1, "0": 0, "1": null}, "1": {"0": -1}}'
    images = ("train/a/x-0.png", "train/b/y-0.png", "train/b/z-0009.png")
    found = peerannot.read(make(tmp_path / "odd", text, images, n_classes=0))
    assert found.votes is not None and rows(found.votes) == [(0, 0, 0), (1, 0, -1)]
    assert found.notes == (
        "1 key occurs twice in answers.json: '0'; the last value was used",
        "1 vote without a label was dropped",
        "1 vote has the label -1, which is read as a label; if it means no answer, set missing=-1 (--missing -1)",
        "1 image has the same task key as an earlier one and was skipped",
        "1 train image has no task in answers.json",
        "1 task in answers.json has no image",
        "metadata.json has n_classes = 0, but answers.json has labels up to 0",
    )


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ("[1]", "must contain {task: {worker: label}}"),
        ('{"0": 1}', "must contain {task: {worker: label}}"),
        ('{"0": {"0": [1, 2]}}', r"one label per worker and task; it has \[1, 2\]"),
        ('{"0": {"0": 1, "1": "x"}}', "mix"),
        ('{"0": {"0": 1', "not valid JSON, or it is incomplete"),
        ("", "is empty"),
    ],
)
def test_invalid_answers_are_errors(tmp_path: Path, answers: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        peerannot.read(make(tmp_path / "bad", answers))


def test_too_few_label_names_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has the labels 1; the 1 names given are for labels 0 to 0"):
        peerannot.read(make(tmp_path / "toy"), labels=["only"])
    with pytest.raises(InputError, match="there is no file"):
        peerannot.read(tmp_path / "nowhere")
    peerannot.write_peerannot_folder(Votes.of(["a"], ["w"], ["x"]), tmp_path / "out")
    make(tmp_path / "out")
    with pytest.raises(InputError, match=r"tasks that names\.json does not name: '1', '2'"):
        peerannot.read(tmp_path / "out")
    (tmp_path / "out" / "names.json").write_text((tmp_path / "out" / "names.json").read_text().replace("scale", "s"))
    with pytest.raises(InputError, match=r"names\.json is damaged"):
        peerannot.read(tmp_path / "out")


KINDS = (st.text(max_size=4), st.integers(-(2**60), 2**60), st.booleans(), st.floats(allow_nan=False))


@st.composite
def plain_votes(draw: st.DrawFn) -> Votes:
    n = draw(st.integers(1, 12))
    task, worker, label = ([*draw(st.lists(draw(st.sampled_from(KINDS)), min_size=n, max_size=n))] for _ in range(3))
    votes = Votes.of(task, worker, label, ordered=draw(st.booleans()))
    if not draw(st.booleans()):
        return votes
    names = {name: getattr(votes, name) for name in ("task", "label", "tasks", "workers", "labels", "scale")}
    return Votes.coded(worker=np.where(np.arange(n) % 2, -1, votes.worker), **names)  # every second vote has no worker


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(plain_votes())
def test_votes_survive_a_round_trip(tmp_path: Path, votes: Votes) -> None:
    """Repeats, votes without a worker, names of any type and workers without votes survive a round trip."""
    peerannot.write_peerannot_folder(votes, tmp_path / "out", replace=True)
    back = peerannot.read(tmp_path / "out").votes
    assert back is not None
    for name in ("task", "worker", "label", "tasks", "workers", "labels"):
        left, right = getattr(back, name), getattr(votes, name)
        assert left.dtype.kind == right.dtype.kind and left.tolist() == right.tolist()
    assert (back.scale is None) == (votes.scale is None)


def test_written_files_follow_the_peerannot_format(tmp_path: Path) -> None:
    votes = Votes.of(["b", "b", "b", "a"], ["ann", "ann", "bo", "bo"], ["y", "x", "x", "y"], tasks=["a", "b", "c"])
    notes = peerannot.write_peerannot_folder(votes, tmp_path / "out", name="tiny")
    assert json.loads((tmp_path / "out" / "answers.json").read_text()) == {
        "0": {"1": 1},
        "1": {"0": 0, "1": 0, "2": 1},
        "2": {},
    }
    assert json.loads((tmp_path / "out" / "metadata.json").read_text()) == {
        "name": "tiny",
        "n_classes": 2,
        "n_workers": 3,
        "n_tasks": 3,
    }
    assert "names.json contains their names" in notes[0] and notes[1].startswith("1 repeated or unnamed vote")
    with pytest.raises(InputError, match="not empty"):
        peerannot.write_peerannot_folder(votes, tmp_path / "out")


def test_soft_votes_are_refused(tmp_path: Path) -> None:
    votes = Votes.of(["a", "a"], ["w", "w"], ["x", "y"], weight=[0.5, 0.5], answer=[0, 0])
    with pytest.raises(InputError, match="soft answers or counts"):
        peerannot.write_peerannot_folder(votes, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_images_are_copied_and_numbered(tmp_path: Path) -> None:
    source = make(tmp_path / "toy", images=(*IMAGES, "test/smile/grin-0.jpg"))
    toy = peerannot.read(source)
    assert toy.votes is not None
    votes = Votes.of(**toy.votes.columns(), labels=["smile", "frown", "wink"])
    gold, images = toy.gold, {**(toy.images or {}), "loose": source / IMAGES[0]}
    notes = peerannot.write_peerannot_folder(votes, tmp_path / "out", gold=gold, images=images, splits=toy.splits)
    assert notes[-1] == "1 image without a gold label was left out"
    assert (tmp_path / "out" / "test" / "smile" / "grin-0-3.jpg").read_bytes() == b"test/smile/grin-0.jpg"
    assert (tmp_path / "out" / "train" / "wink").is_dir()  # empty, so that label numbers do not change
    assert json.loads((tmp_path / "out" / "answers.json").read_text())["1"] == {"0": 1, "2": 0, "3": 0}
    back = peerannot.read(tmp_path / "out")
    assert back.votes is not None and back.gold is not None and gold is not None
    assert back.votes.labels.tolist() == ["smile", "frown", "wink"] and rows(back.votes) == rows(votes)
    assert back.gold.on(gold.tasks).hard().tolist() == gold.hard().tolist()
    assert back.splits == toy.splits
    bad = SoftLabels.gold(["0"], ["../up"])
    with pytest.raises(InputError, match=r"cannot name a folder: '\.\./up'"):
        peerannot.write_peerannot_folder(votes, tmp_path / "bad", gold=bad, images=images)


def test_soft_labels_are_written_as_labels_of_peerannot(tmp_path: Path) -> None:
    votes = Votes.of(["b", "a"], ["w", "w"], ["y", "x"])
    peerannot.write_peerannot_folder(votes, tmp_path / "out", name="tiny")
    soft = SoftLabels.of([[0.9, 0.1], [0.3, 0.7]], ["b", "a"], ["y", "x"])
    file = peerannot.write_labels(soft, tmp_path / "out", "ds")
    assert file == tmp_path / "out" / "labels" / "labels_tiny_ds.npy"
    np.testing.assert_array_equal(np.load(file), [[0.7, 0.3], [0.1, 0.9]])
    hard = peerannot.write_labels(soft, tmp_path / "out", "ds", hard=True)
    assert hard.name == "labels_tiny_ds_hard.npy" and np.load(hard).tolist() == [0, 1]
    with pytest.raises(InputError, match="have no soft label: 'a'"):
        peerannot.write_labels(SoftLabels.of([[1, 0]], ["b"], ["y", "x"]), tmp_path / "out", "ds")
    with pytest.raises(InputError, match="must number its tasks from 0 to 1"):
        peerannot.write_labels(soft, make(tmp_path / "gaps", {"1": {"0": 0}, "5": {"0": 1}}), "ds")


def test_an_image_folder_is_read_as_gold_labels(tmp_path: Path) -> None:
    make(
        tmp_path,
        images=("pets/cat/1.png", "pets/dog/2.JPG", "pets/dog/deep/3.gif", "pets/dog/.hidden.png", "pets/x.txt"),
    )
    (tmp_path / "pets" / "fish").mkdir()
    found = image_folder.read(tmp_path / "pets")
    assert (
        find_reader_module_of_folder(tmp_path / "pets") is image_folder
        and found.votes is None
        and found.gold is not None
    )
    assert dict(zip(found.gold.tasks.tolist(), found.gold.hard().tolist(), strict=True)) == {
        "1": "cat",
        "2": "dog",
        "3": "dog",
    }
    assert found.gold.labels.tolist() == ["cat", "dog", "fish"] and found.splits is None
    assert found.notes == ("1 file is not an image and was skipped",)


def test_files_that_share_a_name_are_named_by_their_path(tmp_path: Path) -> None:
    make(tmp_path, images=("pets/train/cat/1.png", "pets/test/cat/1.png"))
    found = image_folder.read(tmp_path / "pets")
    assert found.splits == {"train/cat/1.png": "train", "test/cat/1.png": "test"}
    assert found.notes == ("tasks are named by their path: some files share a name",)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no images in label folders"):
        image_folder.read(tmp_path / "empty")
    alone = image_folder.read(tmp_path / "pets" / "train" / "cat")
    assert alone.gold is None and list(alone.images or {}) == ["1"]
    with pytest.raises(InputError, match="there is no folder"):
        image_folder.read(tmp_path / "none")


@pytest.mark.parametrize("name", ["labelme", "adult2", "cifar10n"])
def test_real_votes_round_trip(tmp_path: Path, name: str) -> None:
    """The data sets have named workers, repeats, or votes without a worker."""
    folder = os.environ.get("PLURIVOX_DATA")
    if not folder or not Path(folder, name).is_dir():
        pytest.skip(f"set PLURIVOX_DATA to a folder that holds {name}")
    table = read_table(Path(folder, name, "votes.parquet"))
    worker = table["worker"].to_list() if "worker" in table.columns else None
    votes = Votes.of(table["task"].to_list(), worker, table["label"].to_list())
    peerannot.write_peerannot_folder(votes, tmp_path / name)
    back = peerannot.read(tmp_path / name).votes
    assert back is not None
    for column in ("task", "worker", "label", "tasks", "workers", "labels"):
        assert (getattr(back, column) == getattr(votes, column)).all()


SIMULATED = {"0": {"0": 1, "1": 0}, "1": {"0": 0}, "2": {"1": 1}}


def simulated(folder: Path) -> Path:
    """Write what `peerannot simulate` and `peerannot aggregate` write: arrays beside answers.json, and labels/*.npy."""
    make(folder, SIMULATED, name="hammer-spammer", n_classes=3, n_workers=2, n_task=3)
    np.save(folder / "ground_truth.npy", np.array([1, 0, 2]))
    np.save(folder / "matrices.npy", np.stack([np.eye(3), np.full((3, 3), 1 / 3)]))
    (folder / "labels").mkdir()
    np.save(folder / "labels" / "labels_hammer-spammer_naivesoft.npy", np.array([[0.5, 0.5, 0], [1, 0, 0], [0, 1, 0]]))
    np.save(folder / "labels" / "labels_hammer-spammer_mv_hard.npy", np.array([1, 0, 1]))
    return folder


def test_a_simulation_has_gold_labels_and_confusion_matrices(tmp_path: Path) -> None:
    data = read(simulated(tmp_path / "simus"))
    assert data.gold is not None and data.gold.tasks.tolist() == [0, 1, 2] and data.gold.hard().tolist() == [1, 0, 2]
    matrices = data.tables["confusion_matrices"]()
    assert matrices.columns == ["worker", "true", "said", "p"] and matrices["p"].to_list()[:3] == [1, 0, 0]
    write_table(matrices, tmp_path / "c.csv")
    assert read_confusion(tmp_path / "c.csv").matrices[1, 0, 0] == pytest.approx(1 / 3)


def test_aggregated_labels_are_read_in_the_task_order_of_the_folder(tmp_path: Path) -> None:
    folder = simulated(tmp_path / "simus")
    soft = read_soft(folder / "labels" / "labels_hammer-spammer_naivesoft.npy")
    assert (
        soft.tasks.tolist() == [0, 1, 2]
        and soft.labels.tolist() == [0, 1, 2]
        and soft.prob[0].tolist() == [0.5, 0.5, 0]
    )
    assert read_soft(folder / "labels" / "labels_hammer-spammer_mv_hard.npy").hard().tolist() == [1, 0, 1]
    np.save(folder / "labels" / "short.npy", np.array([1, 0]))
    with pytest.raises(
        InputError, match=r"short.npy has shape \(2,\); labels of the 3 tasks in answers.json need 3 rows"
    ):
        read_soft(folder / "labels" / "short.npy")
    np.save(tmp_path / "alone.npy", np.eye(2))
    with pytest.raises(InputError, match="no task and label names"):
        read_soft(tmp_path / "alone.npy")


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_soft_labels_are_added_to_a_peerannot_folder_and_read_back(tmp_path: Path) -> None:
    votes = Votes.of(["b", "a", "b"], ["ann", "ann", "bo"], ["x", "y", "y"])
    peerannot.write_peerannot_folder(votes, tmp_path / "set")
    soft = SoftLabels.of([[0.25, 0.75], [0.9, 0.1]], ["a", "b"], ["x", "y"])
    write_soft(soft, tmp_path / "ds.csv")
    convert(tmp_path / "ds.csv", tmp_path / "set", form="peerannot")
    again = read_soft(tmp_path / "set" / "labels" / "labels_set_ds.npy")
    assert again.on(["a", "b"]).on_labels(["x", "y"]).prob.tolist() == soft.prob.tolist()
    assert np.load(tmp_path / "set" / "labels" / "labels_set_ds_hard.npy").tolist() == [1, 0]
    with pytest.raises(InputError, match="give a peerannot folder to add them to"):
        convert(tmp_path / "ds.csv", tmp_path / "other", form="peerannot")


def test_installers_of_peerannot_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "labelme" / "labelme.py"
    for attempt in (lambda: read(path), lambda: install("labelme.py"), lambda: install("labelme", path)):
        with pytest.raises(
            InputError, match=r"peerannot install .*labelme.py\), then read the folder .* plurivox describe"
        ):
            attempt()
