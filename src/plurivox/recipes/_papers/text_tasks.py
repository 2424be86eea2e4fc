"""Texts: words as codes with what is known of them, from a data set or from one .npz that needs no tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.atomic_write import atomic_file
from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Ints, Names
from plurivox.core.votes import Votes
from plurivox.train.data import text

if TYPE_CHECKING:
    from plurivox.io import Dataset

BY_RULE = 177  # votes of a token that a rule tagged: the source shows its tag for all 177 workers
SPLITS = {"trn": "train", "tst": "test", "hard-tst": "test"}


@dataclass(frozen=True, eq=False)
class Texts:
    """Inputs of the nets for text, a row a task."""

    name: str
    tasks: Names  # (n,)
    x: NDArray[np.int64]  # (n, width) codes
    group: Names  # (n,) the tweet of a token, the word of a pair: what must not part
    split: Names  # (n,) train, dev, test, ...
    y: Names  # (n,) the true label, "" where none is known
    counts: Floats  # (n, n_labels) votes, all 0 where there are none
    labels: Names

    def gold(self, tasks: Names) -> SoftLabels | None:
        """The true labels of those of these tasks that have one."""
        at = self.at(tasks)
        at = at[self.y[at] != ""]
        return SoftLabels.gold(self.tasks[at], self.y[at], self.labels) if len(at) else None

    def votes(self, tasks: Names) -> Votes | None:
        """The votes on those of these tasks that have some, as counts."""
        at = self.at(tasks)
        at = at[self.counts[at].sum(1) > 0]
        return Votes.from_counts(self.counts[at], self.tasks[at], self.labels) if len(at) else None

    def at(self, tasks: Names) -> Ints:
        """(n,) where these tasks stand."""
        return positions(self.tasks, tasks)

    def part(self, split: str) -> Names:
        """The tasks of a split."""
        return self.tasks[self.split == split]


def write_texts(texts: Texts, path: str | Path) -> None:
    """One .npz of plain arrays."""
    if Path(path).suffix != ".npz":
        raise InputError(f"{path} must end in .npz, the form of packed inputs")
    words = {
        name: np.array(getattr(texts, name).tolist(), np.str_) for name in ("tasks", "group", "split", "y", "labels")
    }
    with atomic_file(path) as part, part.open("wb") as file:
        np.savez_compressed(
            file, allow_pickle=False, name=texts.name, x=texts.x.astype(np.int32), counts=texts.counts, **words
        )


def read_texts(path: str | Path) -> Texts:
    """What `write_texts` wrote."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as box:
            words = {name: as_names(box[name], name) for name in ("tasks", "group", "split", "y", "labels")}
            return Texts(str(box["name"]), x=box["x"].astype(np.int64), counts=box["counts"], **words)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, KeyError, OSError, EOFError) as cause:
        raise InputError(f"{path} holds no packed texts (option pack makes them): {cause}") from None


def tokens_of(data: "Dataset", context: int, letters: int) -> Texts:
    """Tokens of tweets: those with votes, and where they are there the two test sets of the data set `pos_twitter`."""
    items, gold = _table(data, ("task", "sentence", "position", "token", "split"))
    items = items.sort("sentence", "position")
    tasks = as_names(items["task"].to_list())
    counts = _counts(data, tasks)
    if "automatic" in items.columns:
        by_rule = items["automatic"].to_numpy()
        counts[by_rule, gold.on(tasks).codes()[by_rule]] = BY_RULE
    columns: dict[str, list[Any]] = {
        "tasks": tasks.tolist(),
        "token": items["token"].to_list(),
        "group": [f"tweet {one}" for one in items["sentence"].to_list()],
        "split": [SPLITS.get(one, one) for one in items["split"].to_list()],
        "y": gold.on(tasks).hard().tolist(),
    }
    every = [counts]
    for table, split in (("test_lowlands", "test"), ("double_annotated", "double")):
        if table in data.tables:
            every.append(_add_test(columns, data.tables[table]().sort("sentence", "position"), split, gold.labels))
    learnt = [one for one, split in zip(columns["token"], columns["split"], strict=True) if split == "train"]
    words = text.Vocabulary.of(learnt, least=2, lower=True)  # words seen once teach what an unknown word is
    chars = text.Vocabulary.of("".join(learnt))
    x = text.encode_tokens(
        columns.pop("token"), columns["group"], words, chars, context=context or None, letters=letters
    )
    return _texts(data.name, columns, x, np.concatenate(every), gold.labels)


def _add_test(columns: dict[str, list[Any]], table: Any, split: str, labels: Names) -> Floats:
    """Add the tokens of a test set; (n, n_labels) the counts of its two annotators, where there are two."""
    rows = list(zip(table["sentence"].to_list(), table["position"].to_list(), strict=True))
    columns["tasks"] += [f"{split}-{sentence}-{place}" for sentence, place in rows]
    columns["token"] += table["token"].to_list()
    columns["group"] += [f"{split} {sentence}" for sentence, _ in rows]
    columns["split"] += [split] * len(rows)
    counts = np.zeros((len(rows), len(labels)))
    one = "label" in table.columns
    columns["y"] += table["label"].to_list() if one else [""] * len(rows)
    for name in () if one else ("label1", "label2"):
        np.add.at(counts, (np.arange(len(rows)), positions(labels, as_names(table[name].to_list()))), 1)
    return counts


def pairs_of(data: "Dataset", letters: int) -> Texts:
    """Pairs of a word and a stem."""
    items, gold = _table(data, ("task", "word", "stem", "split"))
    tasks = as_names(items["task"].to_list())
    first, second = items["word"].to_list(), items["stem"].to_list()
    chars = text.Vocabulary.of("".join(first + second))
    columns = {
        "tasks": tasks.tolist(),
        "group": first,
        "split": [SPLITS.get(one, one) for one in items["split"].to_list()],
        "y": gold.on(tasks).hard().tolist(),
    }
    x = text.encode_pairs(first, second, chars, letters=letters or None)
    return _texts(data.name, columns, x, _counts(data, tasks), gold.labels)


def _texts(name: str, columns: dict[str, Any], x: NDArray[np.int64], counts: Floats, labels: Names) -> Texts:
    return Texts(name, x=x, counts=counts, labels=labels, **{key: as_names(column) for key, column in columns.items()})


def _table(data: "Dataset", needed: Iterable[str]) -> tuple[Any, SoftLabels]:
    if data.items is None or data.gold is None or not set(needed) <= set(data.items.columns):
        raise InputError(f"{data.name} needs gold labels, and a table of items with the columns {', '.join(needed)}")
    return data.items, data.gold


def _counts(data: "Dataset", tasks: Names) -> Floats:
    """(n, n_labels) votes over the labels of the gold; 0 where a task has none."""
    votes, gold = data.crowd(), data.gold
    assert gold is not None
    here = positions(votes.tasks, tasks)
    counts = np.zeros((len(tasks), gold.n_labels))
    counts[here >= 0] = votes.with_labels(gold.labels).counts()[here[here >= 0]]
    return counts
