"""plurivox train on label files, columns of numbers, texts and images, and evaluate on a folder of a training."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import Result
from PIL import Image

from plurivox.core.soft_labels import SoftLabels
from plurivox.train.data.training_data import read_training_data
from plurivox.train.trained_net import Trained
from toy_training import toy_data

pytestmark = pytest.mark.training
pytest.importorskip("polars")
X, GOLD, VOTES = toy_data(40)
FAST = ("--net", "linear", "--lr", "0.1", "--epochs", 3, "--device", "cpu")
TAGGER = "tagger[hidden=3,word-width=4,char-width=3,inner=4,layers=1{}]"
TASKS = [f"t{i:02d}" for i in range(40)]
SPLIT = ["train"] * 24 + ["valid"] * 8 + ["test"] * 8


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def write_set(home: Path, items: str) -> Path:
    """Write a data set of the toy votes and gold labels, with these items."""
    home.mkdir()
    rows = zip(*VOTES.columns().values(), strict=True)
    votes = "".join(f"{TASKS[task]},{worker},{label}\n" for task, worker, label in rows)
    (home / "votes.csv").write_text("task,worker,label\n" + votes)
    gold = zip(TASKS, GOLD.hard().tolist(), strict=True)
    (home / "gold.csv").write_text("task,label\n" + "".join(f"{task},{label}\n" for task, label in gold))
    (home / "items.csv").write_text(items)
    return home


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    """Write a data set whose items have the columns of numbers a, b and c, and the splits; return its folder."""
    rows = (f"{task},{x[0]},{100 * x[1]},{x[2]},{part}\n" for task, x, part in zip(TASKS, X, SPLIT, strict=True))
    return write_set(tmp_path / "set", "task,a,b,c,split\n" + "".join(rows))


@pytest.fixture
def peerannot(tmp_path: Path) -> Path:
    """Write a peerannot folder of 12 training and 4 test images, dark or light, with answers; return the folder."""
    home, rng = tmp_path / "pe", np.random.default_rng(0)
    for split, n in (("train", 12), ("test", 4)):
        for i in range(n):
            folder = home / split / ("dark", "light")[i % 2]
            folder.mkdir(parents=True, exist_ok=True)
            pixels = rng.integers(0, 60, (8, 8, 3)) + 150 * (i % 2)
            Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{folder.name}-{i}.png")
    answers = {str(i): {"0": i % 2, "1": i % 2, "2": int(i == 3)} for i in range(12)}
    (home / "answers.json").write_text(json.dumps(answers))
    return home


def measures(done: Result) -> dict[str, float]:
    assert done.exit_code == 0, done.output
    return {name: values[0] for name, values in json.loads(done.stdout)["runs"].items()}


# ---- labels from a file


def test_labels_of_a_table_npz_or_npy_are_trained_on(call, columns: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for name in ("soft.csv", "soft.npz", "soft.npy"):
        assert call("aggregate", "dawid-skene", columns, "-o", tmp_path / name).exit_code == 0
    base = ("train", columns, *FAST, "--features", "a,b,c", "--json")
    found = [
        call(*base, "--labels", tmp_path / name, "-o", tmp_path / f"run-{i}")
        for i, name in enumerate(("soft.csv", "soft.npz", "soft.npy"))
    ]
    assert measures(found[0]) == measures(found[1]) == pytest.approx(measures(found[2]), abs=1e-6)
    assert (
        "row i of soft.npy is task i of the tasks of the votes, sorted: the first is 't00', the last 't39'"
        in found[2].stderr
    )
    assert "training labels: 40 tasks of soft.csv" in found[0].stderr
    np.save(tmp_path / "short.npy", np.zeros(5, np.int64))
    with_numbers = tmp_path / "votes.csv"
    with_numbers.write_text("task,worker,label\n" + "".join(f"{i},w,label{i % 3}\n" for i in range(40)))
    numbers = ("train", with_numbers, *FAST, "--features", tmp_path / "f.npz", "--labels", tmp_path / "soft.npy")
    np.savez(tmp_path / "f.npz", x=X, task=range(40))
    assert "as text, the tasks sort as '0', '1', '10'" in call(*numbers, "-o", tmp_path / "no").stderr
    for words, want in (
        (("--labels", tmp_path / "short.npy"), "it needs one row per task, and the data set has 40 tasks"),
        (("--labels", tmp_path / "absent.npy"), "there is no file"),
        (
            ("--labels", tmp_path / "soft.csv", "--target", "gold"),
            "the target gold does not use the labels in the file",
        ),
        (("--labels", tmp_path / "soft.csv", "--soft", "glad"), "leave soft (--soft) out"),
    ):
        done = call(*base, *words, "-o", tmp_path / "no")
        assert done.exit_code == 2 and want in done.stderr, done.output
    assert call(*base, "--labels", "label0,label1,label2", "-o", tmp_path / "list").exit_code == 0  # a list, as before


def test_labels_of_peerannot_are_in_the_order_of_its_task_numbers(call, peerannot: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (peerannot / "labels").mkdir()
    soft = np.eye(2)[[i % 2 for i in range(12)]]
    np.save(peerannot / "labels" / "labels_pe_ds.npy", soft)
    np.save(tmp_path / "hard.npy", soft.argmax(1))
    base = ("train", peerannot, "--net", "linear", "--lr", "0.1", "--epochs", 60, "--device", "cpu", "--json")
    for file in (peerannot / "labels" / "labels_pe_ds.npy", tmp_path / "hard.npy"):
        done = call(*base, "--labels", file, "-o", tmp_path / file.stem)
        assert "row i " in done.stderr and measures(done)["test accuracy"] == 1
    (peerannot / "answers.json").unlink()  # only images, whose names end with the numbers of the tasks
    done = call(*base, "--labels", tmp_path / "hard.npy", "-o", tmp_path / "images")
    assert "the numbers at the end of the names of the images" in done.stderr
    assert measures(done)["test accuracy"] == 1


def test_answers_per_task_are_drawn_from_training_tasks_only(call, columns: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    base = ("train", columns, *FAST, "--features", "a,b,c", "--target", "repeated-labelling", "--json")
    all_answers, one, again, other = (
        measures(call(*base, *words, "-o", tmp_path / name))
        for name, words in (
            ("all", ()),
            ("one", ("--answers-per-task", 1)),
            ("again", ("--answers-per-task", 1)),
            ("other", ("--answers-per-task", 4)),
        )
    )
    assert one == again != all_answers == other  # four votes per task
    assert (
        one["test soft entropy-correlation"] == one["test soft entropy-correlation"]
    )  # not NaN: test tasks keep 4 votes


# ---- inputs


def test_columns_of_numbers_are_standardised_on_the_training_tasks(call, columns: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    pack, run = tmp_path / "pack.npz", tmp_path / "run"
    assert call("train", columns, "--features", "a,b", "--pack", pack).exit_code == 0
    made = read_training_data(pack)
    train = made.inputs_of(made.tasks_by_standard_split()["train"])
    np.testing.assert_allclose([train.mean(0), train.std(0)], [[0, 0], [1, 1]], atol=1e-9)
    assert not np.allclose(made.x.mean(0), 0, atol=1e-3)
    found = measures(call("train", columns, *FAST, "--features", "a,b", "-o", run, "--json"))
    said = json.loads(call("predict", run, columns, "--tasks", "test", "-o", tmp_path / "p.npz", "--json").stdout)
    assert said["measures"]["all accuracy"] == found["test accuracy"]  # predict standardises in the same way
    asked = call("train", columns, *FAST, "-o", tmp_path / "no")
    assert "name columns of numbers (--features a,b,c)" in asked.stderr
    wrong = call("train", columns, *FAST, "--features", "a,split", "-o", tmp_path / "no")
    assert "no file of features, and no column of numbers in the items of set: 'split'" in wrong.stderr
    np.savez(tmp_path / "f.npz", x=X, task=TASKS)
    assert call("train", columns, *FAST, "--features", tmp_path / "f.npz", "-o", tmp_path / "file").exit_code == 0


def test_texts_are_encoded_by_the_words_of_the_training_texts(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    words = {"label0": "dull slow", "label1": "fine warm", "label2": "odd new"}
    rows = [f"{TASKS[i]},a {words[label]} film,{SPLIT[i]}\n" for i, label in enumerate(GOLD.hard().tolist())]
    home = write_set(tmp_path / "set", "task,text,split\n" + "".join(rows))
    done = call("train", home, "--lr", "0.05", "--epochs", 20, "--device", "cpu", "-o", tmp_path / "run", "--json")
    assert "TF-IDF weights of the words in the column text" in done.stderr
    assert measures(done)["test accuracy"] == 1
    assert call("predict", tmp_path / "run", home, "--tasks", "test", "-o", tmp_path / "p.csv").exit_code == 0
    folds = call("train", home, "--epochs", 2, "--device", "cpu", "--folds", 2, "-o", tmp_path / "folds")
    assert folds.exit_code == 0, folds.output


def test_one_file_of_votes_may_have_texts_and_numbers_of_its_tasks(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    rows = [
        f"d{i:02d},a {'fine' if i % 2 else 'dull'} film,{i % 2 + i / 90},{w},{i % 2}\n"
        for i in range(40)
        for w in "abc"
    ]
    (tmp_path / "votes.csv").write_text("text_id,text,age,annotator,label\n" + "".join(rows))
    for i, words in enumerate(((), ("--features", "age"))):
        how = ("--lr", "0.05", "--epochs", 30, "--device", "cpu", "-o", tmp_path / f"run{i}", "--json")
        done = call("train", tmp_path / "votes.csv", *words, *how)
        assert measures(done)["test soft total-variation"] < 0.2


def test_a_tagger_reads_words_in_sentences_and_word_vectors_work_with_a_pack(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    tokens = ["the", "cat", "sat", "down"]
    rows = [f"{TASKS[i]},{i // 4},{i % 4},{tokens[i % 4]},{'trn' if i < 32 else 'dev'}\n" for i in range(40)]
    home = write_set(tmp_path / "set", "task,sentence,position,token,split\n" + "".join(reversed(rows)))
    (home / "gold.csv").write_text(
        "task,label\n" + "".join(f"{TASKS[i]},label{i % 3}\n" for i in range(36))
    )  # four have none
    (tmp_path / "glove.txt").write_text("the 1 2 3 4\ncat 2 3 4 5\n")
    net = TAGGER.format(f",vectors={tmp_path / 'glove.txt'}")
    pack = tmp_path / "pack.npz"
    assert call("train", home, "--net", "tagger", "--pack", pack).exit_code == 0
    made = read_training_data(pack)
    assert made.votes is not None and made.votes.workers.tolist() == ["w0", "w1", "w2", "w3"]
    assert made.gold is not None and len(made.gold) == 36 and made.gold.labels.tolist() == GOLD.labels.tolist()
    assert made.encoding is not None and made.encoding.vocabulary is not None
    assert set(made.encoding.vocabulary.names) == set(tokens)
    how = ("--net", net, "--epochs", 1, "--device", "cpu", "--json")
    one, two = (measures(call("train", given, *how, "-o", tmp_path / f"run-{given.stem}")) for given in (home, pack))
    assert one["dev soft cross-entropy"] == pytest.approx(
        two["dev soft cross-entropy"], abs=0.1
    )  # another order of rows
    assert call("predict", tmp_path / "run-set", home, "--tasks", "dev", "-o", tmp_path / "p.npz").exit_code == 0
    text = write_set(tmp_path / "plain", "task,text\nt00,a film\n")
    assert (
        "the net reads tokens, for which the items need the columns sentence, position, token"
        in call("train", text, *how, "-o", tmp_path / "no").stderr
    )


def test_images_are_used_if_they_are_named_and_features_else(call, columns: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (columns / "images").mkdir()
    for i, label in enumerate(GOLD.hard().tolist()):
        pixels = np.full((4, 4, 3), 80 * int(label[-1]), np.uint8)
        Image.fromarray(pixels).save(columns / "images" / f"{TASKS[i]}.png")
    items = "".join(f"{task},images/{task}.png,{part}\n" for task, part in zip(TASKS, SPLIT, strict=True))
    (columns / "items.csv").write_text("task,image,split\n" + items)  # paths relative to the folder
    np.savez(columns / "features.npz", x=X, task=TASKS)
    for name, words, shape in (
        ("features", (), (3,)),
        ("input", ("--images",), (3, 4, 4)),
        ("folder", ("--images", columns / "images"), (3, 4, 4)),
    ):
        done = call("train", columns, *words, *FAST, "-o", tmp_path / name)
        assert done.exit_code == 0, done.output
        assert ("has features and images; the features are used" in done.stderr) == (name == "features")
        assert Trained.load(tmp_path / name / "run-000").shape == shape
        assert call("predict", tmp_path / name, columns, "-o", tmp_path / "p.npz").exit_code == 0  # the same inputs
    both = call("train", columns, "--images", "--features", tmp_path / "f.npz", *FAST, "-o", tmp_path / "no")
    assert "give only one of" in both.stderr


# ---- evaluate on a folder of a training


def test_evaluate_a_run_under_attack(call, peerannot: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    run = tmp_path / "run"
    words = ("--net", "linear", "--lr", "0.1", "--epochs", 60, "--device", "cpu", "--runs", 2, "--image-size", 4)
    trained = call("train", peerannot, *words, "-o", run, "--json")
    assert trained.exit_code == 0, trained.output
    attacks = "fgsm[epsilon=120],pgd[epsilon=4,steps=2]"
    done = call("evaluate", run, "--attack", attacks, "-o", tmp_path / "t.csv", "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    assert rows["inputs"] == ["unchanged", "fgsm[epsilon=120]", "pgd[epsilon=4,steps=2]"] and rows["runs"] == [2] * 3
    accuracy = [float(text.split()[0]) for text in rows["accuracy"]]
    assert accuracy[0] == np.mean(json.loads(trained.stdout)["runs"]["test accuracy"]) and accuracy[1] < accuracy[0]
    assert (tmp_path / "t.csv").read_text().startswith("inputs,runs,accuracy,nll")
    assert call("evaluate", run, peerannot).exit_code == 0  # the data may be named
    for wrong, want in (
        ((run, "--attack", "fgms"), "did you mean 'fgsm'"),
        ((peerannot / "answers.json", "--attack", "fgsm"), "is not a folder of a training"),
        ((tmp_path / "p.csv",), "give TRUTH"),
    ):
        failed = call("evaluate", *wrong)
        assert failed.exit_code == 2 and want in failed.stderr, failed.output


def test_attacks_need_images(call, columns: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert call("train", columns, *FAST, "--features", "a,b", "-o", tmp_path / "run").exit_code == 0
    done = call("evaluate", tmp_path / "run", "--attack", "fgsm")
    assert done.exit_code == 2 and "attacks change the pixels of images" in done.stderr
    assert call("evaluate", tmp_path / "run").exit_code == 0  # without an attack


# ---- recipes on images


def test_aum_finds_wrong_labels_in_a_folder_of_images_per_label(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    for i in range(30):
        folder = tmp_path / "photos" / ("dark", "light")[i % 2 if i != 7 else 0]  # 7 is light, but filed under dark
        folder.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 60, (6, 6, 3)) + 150 * (i % 2)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"photo{i}.png")
    words = ("--net", "linear", "--epochs", 10, "--lr", "0.05", "--runs", 1, "--n", 2, "--image-size", 4)
    done = call("recipe", "aum", tmp_path / "photos", *words, "--json")
    assert done.exit_code == 0, done.output
    (worst,) = json.loads(done.stdout)["tables"].values()
    assert worst["task"][0] == "photo7" and worst["votes"][0] == "dark 1"
    wrong = call("recipe", "waum", tmp_path / "photos", *words)
    assert wrong.exit_code == 2 and "needs votes of named workers: use aum" in wrong.stderr


def test_recipes_train_on_images_of_a_data_set(call, peerannot: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    fast = ("--net", "cifar-resnet[n=1,width=2]", "--epochs", 1, "--runs", 1)
    for words in (
        ("waum", peerannot, *fast),
        ("prune-and-train", peerannot, *fast, "--score-epochs", 1, "--alphas", "0.2"),
        (
            "labelme",
            peerannot,
            *fast,
            "--methods",
            "conal[scale=0],geo-crowd-net[variant=W],majority",
            "--reference",
            "majority",
        ),
    ):
        done = call("recipe", *words)
        assert done.exit_code == 0, done.output
    assert "conal[scale=0]" in done.stdout
    wrong = call("recipe", "labelme", peerannot, *fast, "--methods", "conal[scales=0]")
    assert wrong.exit_code == 2 and "did you mean 'scale'" in wrong.stderr, wrong.output


def test_packed_votes_may_be_soft_and_gold_may_be_partial(tmp_path: Path) -> None:
    from plurivox.core.votes import Votes
    from plurivox.train.data.training_data import TrainingData, write_training_data

    votes = Votes.of(["a", "a", "b"], ["u", "u", "v"], ["x", "y", "y"], weight=[0.7, 0.3, 1], answer=[0, 0, 1])
    gold = SoftLabels.gold(["b"], ["y"], ["x", "y"])
    data = TrainingData("made", votes.tasks, np.zeros((2, 1)), None, gold, votes)
    write_training_data(data, tmp_path / "made.npz")
    again = read_training_data(tmp_path / "made.npz")
    assert again.votes is not None and np.array_equal(again.votes.counts(), votes.counts())
    assert again.votes.answer is not None and again.votes.workers.tolist() == ["u", "v"]
    assert again.gold is not None and again.gold.tasks.tolist() == ["b"]
