"""plurivox train and plurivox predict, run as a user would."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import Result

from interfaces.cli.cli_process import environment
from plurivox.core.soft_labels import SoftLabels
from plurivox.train import nets
from plurivox.train.data.training_data import TrainingData, read_training_data, write_training_data
from plurivox.train.loop.safetensors_files import write_safetensors
from plurivox.train.trained_net import Trained
from toy_training import toy_data

pytestmark = pytest.mark.training
X, GOLD, VOTES = toy_data(60)
FAST = ("--net", "mlp[hidden=8]", "--lr", "0.02", "--epochs", "5", "--batch", "16", "--device", "cpu")


@pytest.fixture
def box(tmp_path: Path) -> Path:
    torch.set_num_threads(1)
    split = np.repeat(np.array(["train", "valid", "test"], dtype=np.dtypes.StringDType()), [40, 8, 12])
    write_training_data(TrainingData("made", GOLD.tasks, X, split, GOLD, VOTES), tmp_path / "made.npz")
    return tmp_path / "made.npz"


def test_training_data_round_trip(box: Path) -> None:
    made = read_training_data(box)
    assert made.tasks.tolist() == GOLD.tasks.tolist() and np.array_equal(made.x, X)
    assert made.gold is not None and made.gold.hard().tolist() == GOLD.hard().tolist()
    assert made.votes is not None and np.array_equal(made.votes.counts(), VOTES.counts())
    assert {name: len(part) for name, part in made.tasks_by_standard_split().items()} == {
        "train": 40,
        "dev": 8,
        "test": 12,
    }


def test_train_prints_mean_and_std_and_predict_gives_the_same_measures(call, box: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    run = tmp_path / "run"
    done: Result = call("train", box, *FAST, "--runs", 2, "--best", "cross-entropy", "-o", run)
    assert done.exit_code == 0, done.output
    assert "test: 12 tasks" in done.stdout and " ± " in done.stdout and "always the most frequent label" in done.stdout
    assert "soft cross-entropy" in done.stdout
    again = json.loads(call("train", box, *FAST, "--runs", 3, "--best", "cross-entropy", "-o", run, "--json").stdout)
    assert again["runs"]["run"] == [0, 1, 2] and again["tasks"] == {"train": 40, "dev": 8, "test": 12}
    said = json.loads(
        call("predict", run, box, "--tasks", "test", "--run", 1, "-o", tmp_path / "g.npz", "--json").stdout
    )
    assert said["measures"]["all accuracy"] == again["runs"]["test accuracy"][1] and said["tasks"] == 12
    prediction = SoftLabels.load(tmp_path / "g.npz")
    assert prediction.tasks.tolist() == GOLD.tasks[48:].tolist() and prediction.labels.tolist() == GOLD.labels.tolist()
    assert call("predict", run, box, "--run", "all", "-o", tmp_path / "g.csv").exit_code == 0


def test_runs_on_features_are_stacked_with_a_note(call, box: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    told = call("train", box, *FAST, "--runs", 3, "-o", tmp_path / "one", "--json")
    apart = call("train", box, *FAST, "--runs", 3, "--at-once", 1, "-o", tmp_path / "two", "--json")
    assert "note: 3 runs at a time are trained as one stacked net; at_once=1 (--at-once 1)" in told.stderr
    assert "stacked" not in apart.stderr
    one, two = json.loads(told.stdout), json.loads(apart.stdout)
    assert (one["at_once"], two["at_once"]) == (3, 1) and len(set(one["runs"]["dev nll"])) == 3
    for name, values in two["runs"].items():
        np.testing.assert_allclose(one["runs"][name], values, atol=1e-3)


def test_a_log_without_tensorboard_is_an_error_before_training(call, box: Path, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    done = call("train", box, *FAST, "--log", "tensorboard", "-o", tmp_path / "run")
    assert done.exit_code != 0 and "pip install 'plurivox[tensorboard]'" in done.stderr
    assert not list((tmp_path / "run").glob("run-*"))


@pytest.mark.parametrize(
    "words", [("gold",), ("majority",), ("de-aggregated",), ("dawid-skene",), ("smoothed[of=majority]",)]
)
def test_any_target_or_aggregator_can_be_trained_on(call, box: Path, tmp_path: Path, words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    done: Result = call("train", box, *FAST, "--target", *words, "-o", tmp_path / "run")
    assert done.exit_code == 0 and f"mlp[hidden=8] on {words[0]}: 1 run, 40 training tasks" in done.stdout, done.output


def test_two_heads_weights_and_splits_by_file(call, box: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "split.csv").write_text(
        "task,split\n" + "".join(f"{i},{'train' if i % 2 else 'test'}\n" for i in range(60))
    )
    how = ("--target", "softmax-shares", "--head", "two-heads", "--main", "majority", "--split", tmp_path / "split.csv")
    done: Result = call(
        "train", box, *FAST, *how, "--weigh", "--least-agreement", 0.3, "-o", tmp_path / "run", "--json"
    )
    assert json.loads(done.stdout)["tasks"] == {"train": 30, "test": 30}, done.output


def test_errors_are_one_line(call, box: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    (tmp_path / "odd.csv").write_text("task,split\n0,a\n1,a\n")
    for words, want in (
        (("--target", "golden"), "there is no target or aggregator 'golden'; did you mean 'gold'"),
        (("--net", "mpl"), "did you mean 'mlp'"),
        (("--best", "acuracy"), "there is no measure 'acuracy'; did you mean 'accuracy'"),
        (("--shares", "1,2"), "three numbers"),
        (("--schedule", "multistep"), "need milestones"),
        (("-o", tmp_path / "full"), "is not empty and contains no runs"),
        (("--device", "cuda"), "no CUDA device"),
        (("--soft", "dawid-skene"), "give only one, as the target"),
        (
            ("--target", "vote-shares", "--head", "crowd-layer"),
            "vote-shares is of the kind distribution: leave the target out",
        ),
        (
            ("--main", "majority"),
            "main=majority is the hard target of two heads; add head='two-heads' (--head two-heads)",
        ),
        (("--split", tmp_path / "odd.csv"), "odd.csv has the splits 'a'; rename them to train, dev and test"),
    ):
        done: Result = call("train", box, "-o", tmp_path / "run", *words)
        assert done.exit_code == 2 and want in done.stderr and "\n" not in done.stderr.strip(), done.output
    assert call("train", box, *FAST, "-o", tmp_path / "run").exit_code == 0
    other: Result = call("train", box, *FAST, "--seed", 5, "-o", tmp_path / "run")
    assert other.exit_code == 2 and "belongs to another training: its plan is" in other.stderr
    assert "contains no trained network" in call("predict", tmp_path, box, "-o", tmp_path / "g.npz").stderr


def test_entropy_correlation_is_against_votes_even_with_gold(call, box: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done: Result = call("train", box, *FAST, "--best", "entropy-correlation", "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output
    rows = (tmp_path / "run/run-000/history.csv").read_text().splitlines()
    place = rows[0].split(",").index("dev_entropy-correlation")
    assert all(np.isfinite(float(row.split(",")[place])) for row in rows[1:])


def test_nan_in_test_inputs_is_an_error_before_training(call, box: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    made = dict(np.load(box))
    made["x"][-1, 0] = np.nan
    np.savez(tmp_path / "nan.npz", **made)
    done: Result = call("train", tmp_path / "nan.npz", *FAST, "-o", tmp_path / "run")
    assert done.exit_code == 2 and "1 of 12 inputs contain" in done.stderr and str(GOLD.tasks[-1]) in done.stderr, (
        done.output
    )
    assert not list((tmp_path / "run").glob("run-*/*"))


def test_runs_of_another_split_are_an_error(call, box: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for name, first in (("one.csv", "dev"), ("two.csv", "test")):
        parts = ["train"] * 40 + [first] * 10 + [{"dev": "test", "test": "dev"}[first]] * 10
        rows = "".join(f"{task},{part}\n" for task, part in zip(GOLD.tasks, parts, strict=True))
        (tmp_path / name).write_text("task,split\n" + rows)
    how = (box, *FAST, "-o", tmp_path / "run", "--split")
    assert call("train", *how, tmp_path / "one.csv").exit_code == 0
    other: Result = call("train", *how, tmp_path / "two.csv")
    assert other.exit_code == 2 and "other train, dev and test splits" in other.stderr


def test_targets_of_heads_and_unusable_targets_are_reported(call, box: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done: Result = call("train", box, *FAST, "--head", "crowd-layer", "--loss", "kl", "-o", tmp_path / "run")
    assert "under crowd-layer on all-votes: 1 run" in done.stdout and "kl is only used" in done.stderr, done.output
    made = dict(np.load(box))
    y, labels = made["y"].astype("U9"), [*made["labels"].astype("U9"), "new"]
    y[-3:] = "new"
    np.savez(tmp_path / "new.npz", **{**made, "y": y, "labels": labels})
    done = call("train", tmp_path / "new.npz", *FAST, "-o", tmp_path / "run2")
    assert done.exit_code == 0 and "so the net cannot learn them: 'new'" in done.stderr, done.output
    said: Result = call("predict", tmp_path / "run2", tmp_path / "new.npz", "-o", tmp_path / "g.npz")
    assert "trained on 40 of these 60 tasks" in said.stderr, said.output


def test_images_of_a_table_and_packing(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    image, pl = pytest.importorskip("PIL.Image"), pytest.importorskip("polars")
    pictures = []
    for i in range(12):
        buffer = io.BytesIO()
        image.fromarray(np.full((8, 8, 3), 20 * i, np.uint8)).save(buffer, "PNG")
        pictures.append(buffer.getvalue())
    pl.DataFrame({"idx": range(12), "image": pictures}).write_parquet(tmp_path / "images.parquet")
    votes = pl.DataFrame(
        {
            "task": [*range(12)] * 2,
            "worker": ["u"] * 12 + ["v"] * 12,
            "label": ["dark"] * 6 + ["light"] * 6 + ["dark"] * 7 + ["light"] * 5,
        }
    )
    votes.write_csv(tmp_path / "votes.csv")
    given = (tmp_path / "votes.csv", "--images", tmp_path / "images.parquet")
    torn = pl.DataFrame({"idx": range(12), "image": [b"no picture", *pictures[1:]]})
    torn.write_parquet(tmp_path / "torn.parquet")
    bad = (tmp_path / "votes.csv", "--images", tmp_path / "torn.parquet", "--pack", tmp_path / "some.npz")
    assert "1 of 12 pictures cannot be read: 0" in call("train", *bad).stderr
    skipped = call("train", *bad, "--skip-damaged")
    assert "left out, because they cannot be read: 1 image, 0" in skipped.stderr and "11 tasks" in skipped.stdout
    done: Result = call("train", *given, "--pack", tmp_path / "all.npz")
    assert done.exit_code == 0 and "12 tasks" in done.stdout, done.output
    made = read_training_data(tmp_path / "all.npz")
    assert made.x.shape == (12, 3, 8, 8) and made.x.dtype == np.uint8 and made.votes is not None
    how = ("--net", "linear", "--epochs", 2, "--device", "cpu", "--shares", "60,20,20", "--augment", "crop-flip[pad=1]")
    for where in (given, (tmp_path / "all.npz",)):
        out = tmp_path / f"run{len(where)}"
        assert call("train", *where, *how, "-o", out).exit_code == 0
    assert (tmp_path / "run1/results.csv").read_text() == (tmp_path / "run3/results.csv").read_text()
    assert "give -o RUN" in call("train", *given).stderr


def test_pretrained_weights_are_loaded_and_frozen(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    torch.set_num_threads(1)
    pixels = np.random.default_rng(0).integers(0, 256, (60, 3, 32, 32)).astype(np.uint8)
    write_training_data(TrainingData("made", GOLD.tasks, pixels, None, GOLD), tmp_path / "images.npz")
    word, file = "vgg16[width=2,hidden=4]", tmp_path / "w.safetensors"
    seen = nets.methods.make(word).build((3, 32, 32), 3).get_submodule("trunk.see.1")
    write_safetensors(file, {f"features.{name}": one for name, one in seen.state_dict().items()}, {})
    how = ("--net", word, "--target", "gold", "--epochs", 1, "--device", "cpu", "--pretrained", file)
    for freeze in (False, True):
        run = tmp_path / f"run-{freeze}"
        done: Result = call("train", tmp_path / "images.npz", *how, *(["--freeze"] if freeze else []), "-o", run)
        assert done.exit_code == 0, done.output
        learnt = Trained.load(run / "run-000").net.get_submodule("trunk.see.1").state_dict()
        assert all(torch.equal(learnt[name], one) for name, one in seen.state_dict().items()) == freeze
    plain = ("train", tmp_path / "images.npz", "--net", "mlp", "-o", tmp_path / "no")
    assert "no option of mlp called 'freeze'" in call(*plain, "--target", "gold", "--freeze").stderr
    assert "images has no votes for vote-shares; use the target gold, or give votes" in call(*plain).stderr


@pytest.mark.slow
def test_train_and_predict_work_without_polars(box: Path, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "for name in ('polars', 'narwhals', 'pandas', 'pyarrow', 'safetensors', 'sklearn'): sys.modules[name] = None\n"
        "from plurivox.cli.main import main\n"
        f"words = {[str(box), *FAST]!r}\n"
        f"train = ['train', *words, '--target', 'dawid-skene', '-o', {str(tmp_path / 'r')!r}]\n"
        "assert main(train, standalone_mode=False) in (None, 0)\n"
        f"main(['predict', {str(tmp_path / 'r')!r}, words[0], '-o', {str(tmp_path / 'g.npz')!r}], standalone_mode=False)\n"
        f"main(['evaluate', {str(tmp_path / 'g.npz')!r}, words[0], '--against', words[0]])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
    assert done.returncode == 0 and "60 tasks" in done.stdout and "kl-divergence-floor" in done.stdout, done.stderr


def test_images_in_items_are_trained_on(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    image, pl = pytest.importorskip("PIL.Image"), pytest.importorskip("polars")
    (folder := tmp_path / "set").mkdir()
    buffer = io.BytesIO()
    image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(buffer, "PNG")
    tasks = [f"t{i}" for i in range(6)]
    votes = pl.DataFrame({"task": tasks, "worker": ["u"] * 6, "label": ["a", "b"] * 3})
    pl.DataFrame({"task": [*tasks, "text"], "image": [buffer.getvalue()] * 6 + [None]}).write_parquet(
        folder / "items.parquet"
    )
    votes.write_csv(folder / "votes.csv")
    assert call("train", folder, "--pack", tmp_path / "all.npz").exit_code == 0
    assert read_training_data(tmp_path / "all.npz").x.shape == (6, 3, 8, 8)
    (folder / "items.parquet").unlink()
    assert "add features.npz" in call("train", folder, "--pack", tmp_path / "no.npz").stderr
    votes.rename({"label": "top"}).with_columns(top_percent=70).write_csv(folder / "answers.csv")
    (folder / "votes.csv").unlink()
    assert "plurivox elicit form-column" in call("train", folder, "--pack", tmp_path / "no.npz").stderr


def test_images_without_labels_are_predicted_with_the_split_of_the_run(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from PIL import Image

    rng = np.random.default_rng(0)
    for name in [f"known/{kind}/{kind}{i}" for kind in ("dark", "light") for i in range(6)] + ["new/x", "new/y"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 90, (8, 8, 3)) + 150 * ("light" in name)
        Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / f"{name}.png")
    run = tmp_path / "run"
    assert call("train", tmp_path / "known", *FAST, "--target", "gold", "-o", run).exit_code == 0
    tested = json.loads((run / "settings.json").read_text())["parts"]["test"]
    for words, tasks in ((("known", "--tasks", "test"), tested), (("new",), ["x", "y"])):
        done: Result = call("predict", run, tmp_path / words[0], *words[1:], "-o", tmp_path / "prediction.npz")
        assert done.exit_code == 0, done.output
        assert SoftLabels.load(tmp_path / "prediction.npz").tasks.tolist() == tasks
    assert "no votes; it contains images" in call("describe", tmp_path / "new").stderr


def test_folds_write_predictions_for_crowdlab(call, box: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (home := tmp_path / "set").mkdir()
    data = read_training_data(box)
    np.savez(home / "features.npz", x=data.x, task=data.tasks)
    rows = zip(*VOTES.columns().values(), strict=True)
    (home / "votes.csv").write_text("task,worker,label\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    done: Result = call("train", home, *FAST, "--folds", 3, "--runs", 2, "-o", tmp_path / "run")
    assert done.exit_code == 0 and "held out: 60 tasks" in done.stdout and "out_of_fold.csv" in done.output, done.output
    assert "soft cross-entropy" in done.stdout and " ± " in done.stdout
    again = json.loads(call("train", home, *FAST, "--folds", 3, "--runs", 2, "-o", tmp_path / "run", "--json").stdout)
    assert again["folds"] == 3 and again["tasks"] == {"held-out": 60, "others": 0}
    file = tmp_path / "run" / "out_of_fold.csv"
    scored: Result = call("identify", "crowdlab", home, "--prediction", file)
    assert scored.exit_code == 0 and "crowdlab: 60 tasks" in scored.output, scored.output
    assert call("evaluate", file, home, "--measures", "accuracy").exit_code == 0
    asked: Result = call("identify", "crowdlab", home)
    assert asked.exit_code == 2 and "plurivox train --folds 5 -o RUN" in asked.stderr
    wrong: Result = call("predict", tmp_path / "run", home, "-o", tmp_path / "p.csv")
    assert wrong.exit_code == 2 and "contains the networks of folds" in wrong.stderr


@pytest.mark.slow
def test_folds_are_of_the_training_split_and_work_without_polars(box: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['polars'] = None; sys.modules['narwhals'] = None\n"
        f"from plurivox.cli.main import main; main(['train', {str(box)!r}, *{FAST!r}, '--folds', '4', '-o', "
        f"{str(tmp_path / 'run')!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    assert "held out: 40 tasks" in done.stdout and "20 tasks of the splits dev and test are in no fold" in done.stderr
    assert len(SoftLabels.load(tmp_path / "run" / "out_of_fold.npz")) == 60


def test_predictions_of_the_test_tasks_of_labelme_are_evaluated(call, data_set, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    labelme, run, out = data_set("labelme"), tmp_path / "run", tmp_path / "predictions.csv"
    fast = ("--net", "linear", "--epochs", 2, "--device", "cpu", "--json")
    trained = json.loads(call("train", labelme, *fast, "-o", run).stdout)
    assert call("predict", run, labelme, "--tasks", "test", "-o", out).exit_code == 0
    found = json.loads(call("evaluate", out, labelme, "--measures", "accuracy", "--repeats", 0, "--json").stdout)[
        "rows"
    ]
    assert found["n"] == [1188] and found["value"][0] == pytest.approx(trained["runs"]["test accuracy"][0])
