"""The recipe fornaciari2021 on a few generated tweets and pairs, and on the real data if installed."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plurivox import io
from plurivox.core.errors import InputError, UnknownName
from plurivox.core.recipe_tables import Tables
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset
from plurivox.recipes._papers.fornaciari2021_texts import (
    encode_word_stem_pairs,
    encode_words_of_tweets,
    read_texts,
    write_texts,
)
from plurivox.recipes.fornaciari2021 import Fornaciari2021

pytestmark = pytest.mark.usefixtures("one_thread")
TINY = "tagger[word_width=8,char_width=4,hidden=8,layers=1,inner=16]"
WORDS = {"a": "DET", "the": "DET", "cat": "NOUN", "dog": "NOUN", "@USER": "NOUN", "runs": "VERB", "sleeps": "VERB"}


def tweets(n: int = 60) -> Dataset:
    """Return a data set of three-word tweets, tagged by three workers who are mostly right."""
    rng = np.random.default_rng(0)
    rows = [[str(rng.choice(["a", "the"])), str(rng.choice(["cat", "dog", "@USER"])), "runs"] for _ in range(n)]
    tokens = [word for row in rows for word in row]
    tasks = [f"g{i:03d}" for i in range(len(tokens))]
    gold = [WORDS[one] for one in tokens]
    automatic = [one == "@USER" for one in tokens]
    said = [
        (task, worker, label if rng.random() < 0.8 else "NOUN")
        for task, label, auto in zip(tasks, gold, automatic, strict=True)
        for worker in ("u", "v", "w")
        if not auto
    ]
    split = np.repeat(["trn"] * (n - 20) + ["dev"] * 20, 3)
    items = {"task": tasks, "sentence": np.repeat(np.arange(n), 3), "position": np.tile(np.arange(3), n)}
    frame = io.frame_of({**items, "token": tokens, "split": split, "automatic": automatic}, "items")
    test = {"sentence": [0, 0, 0], "position": [0, 1, 2], "token": ["a", "cat", "sleeps"]}
    tables = {
        "test_lowlands": lambda: io.frame_of({**test, "label": ["DET", "NOUN", "VERB"]}, "test"),
        "double_annotated": lambda: io.frame_of(
            {**test, "label1": ["DET"] * 3, "label2": ["DET", "NOUN", "VERB"]}, "two"
        ),
    }
    votes = Votes.of(*zip(*said, strict=True))  # type: ignore[arg-type]
    return Dataset("tweets", votes=votes, gold=SoftLabels.gold(tasks, gold), items=frame, tables=tables)


def pairs(n: int = 60) -> Dataset:
    """Return a data set of words with their own stem or that of another word."""
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abcdef"), 5)) + "s" for _ in range(n)]
    right = np.arange(n) % 3 > 0
    stems = [words[i if ok else i - 1][:-1] for i, ok in enumerate(right.tolist())]
    tasks = [f"p{i:02d}" for i in range(n)]
    task, worker = np.repeat(tasks, 4), np.tile(["a", "b", "c", "d"], n)
    said = np.where(rng.random(4 * n) < 0.8, np.repeat(right, 4), ~np.repeat(right, 4)).astype(int).astype(str)
    items = io.frame_of(
        {"task": tasks, "word": words, "stem": stems, "split": ["trn"] * 40 + ["dev"] * 10 + ["hard-tst"] * 10}, "items"
    )
    gold = SoftLabels.gold(tasks, right.astype(int).astype(str))
    return Dataset("pairs", votes=Votes.of(task, worker, said), gold=gold, items=items)


def run_recipe(**options: object) -> Tables:
    small = {"net": TINY, "epochs": 2, "batch": 32, "runs": 2, "repeats": 50, "letters": 5, "device": "cpu"}
    return Fornaciari2021(**(small | options)).run(read=lambda _: tweets())  # type: ignore[arg-type]


def test_tokens_of_a_tweet_are_grouped_and_rules_count_as_votes() -> None:
    texts = encode_words_of_tweets(tweets(), n_context_words=0, n_letters=5)
    assert texts.x.shape == (186, 1 + 3 + 5) and set(texts.split.tolist()) == {"train", "dev", "test", "double"}
    assert texts.counts.max() == 177 and len(texts.task_names_of_split("double")) == 3
    assert (
        texts.gold_of_tasks(texts.task_names_of_split("double")) is None
        and texts.votes_of_tasks(texts.task_names_of_split("test")) is None
    )
    assert texts.counts[texts.split == "double"].sum(1).tolist() == [2, 2, 2]


def test_one_head_and_two_are_compared() -> None:
    made = run_recipe()
    assert len(made["Measures"]) == 8 and len(made["Two heads minus one head"]) == 6 and len(made["Every run"]) == 16
    gain, every = made["Two heads minus one head"].columns(), made["Every run"].columns()
    assert (gain["accuracy p, Holm"] >= 0).all() and (gain["macro-f1 p, Holm"] <= 1).all()
    kl, ce = (every["nll"][every["condition"] == f"gold, two heads, {loss}"] for loss in ("kl", "ce"))
    np.testing.assert_allclose(kl, ce, rtol=1e-3)  # the losses differ by a constant: equal gradients
    assert made["Tasks"].columns()["its share"][0] > 0.3
    assert "gold labels are used as training labels and to choose the epoch in" in made["Measures"].notes[1]


def test_folds_give_the_table_of_correct_and_wrong_tasks() -> None:
    made = run_recipe(folds=2, mains="silver", losses="ce", runs=1)
    assert "gold labels are used neither" in made["Measures"].notes[1]
    cell = made["Correct and wrong"].columns()
    assert cell["against one head"].tolist() == ["silver, two heads, ce"]
    assert sum(int(cell[name][0]) for name in ("both right", "one head", "two heads", "neither")) == 180


def test_stems_and_continuing_from_a_folder(tmp_path: Path) -> None:
    options = {
        "task": "stemming",
        "net": "stem-cnn[width=6,channels=4,inner=8]",
        "letters": 0,
        "epochs": 1,
        "batch": 16,
    }
    recipe = Fornaciari2021(**options, runs=1, losses="kl", repeats=20, folder=str(tmp_path / "kept"), device="cpu")  # type: ignore[arg-type]
    first, again = (recipe.run(read=lambda _: pairs()).text() for _ in range(2))
    assert first == again and "entropy, one head" in first and len(list((tmp_path / "kept").glob("*.npz"))) == 4


@pytest.mark.slow
def test_packed_inputs_are_trained_without_polars(tmp_path: Path) -> None:
    path = tmp_path / "tweets.npz"
    assert run_recipe(pack=str(path)).title == "Packed tweets"
    (one, two) = encode_words_of_tweets(tweets(), 0, 5), read_texts(path)
    assert (one.x == two.x).all() and (one.counts == two.counts).all() and one.tasks.tolist() == two.tasks.tolist()
    code = (
        "import sys\n"
        "for name in ('polars', 'narwhals', 'pandas', 'pyarrow', 'safetensors', 'sklearn'): sys.modules[name] = None\n"
        "from plurivox.cli.main import main\n"
        f"main(['recipe', 'fornaciari2021', '--packed', {str(path)!r}, '--net', {TINY!r}, '--epochs', '1', '--runs', '1',"
        " '--letters', '5', '--mains', 'gold', '--losses', 'kl', '--repeats', '20', '--device', 'cpu'])"
    )
    alone = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=alone)
    assert done.returncode == 0 and "gold, two heads, kl" in done.stdout, done.stderr


def test_invalid_options_and_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean"):
        Fornaciari2021(losses="kll")
    with pytest.raises(InputError, match="no file"):
        read_texts(tmp_path / "absent.npz")
    with pytest.raises(InputError, match="packed inputs"):
        write_texts(encode_word_stem_pairs(pairs(), 0), tmp_path / "mine.txt")


def test_sizes_of_the_real_texts(data_set: Callable[[str], Path]) -> None:
    texts = encode_words_of_tweets(io.read(data_set("pos_twitter")), 0, 15)
    sizes = {one: len(texts.task_names_of_split(one)) for one in ("train", "dev", "test", "double")}
    assert sizes == {"train": 13000, "dev": 1439, "test": 3064, "double": 7876}
    stems = encode_word_stem_pairs(io.read(data_set("stemming")), 0)
    assert {one: len(stems.task_names_of_split(one)) for one in ("train", "dev", "test")} == {
        "train": 5478,
        "dev": 600,
        "test": 601,
    }
