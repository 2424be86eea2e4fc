"""Encoded texts of Fornaciari et al. (2021) with labels and votes, from a data set or one .npz file (read without polars)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.npz_arrays_and_task_rows import without_stringdtype
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train.data import text_encoding
from plurivox.train.data.input_encodings import InputEncoding, TokenCodes, WordPairCodes

if TYPE_CHECKING:
    from plurivox.io import Dataset

VOTES_OF_RULE = 177  # votes of a token that a rule tagged: the source lists its tag for all 177 workers
SPLIT_NAMES = {"trn": "train", "tst": "test", "hard-tst": "test"}


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts encoded as numbers, with split, gold label and vote counts; one row per task."""

    name: str
    tasks: Names  # (n,)
    x: NDArray[np.int64]  # (n, width) codes of words and letters
    group: Names  # (n,) the tweet of a token, or the word of a pair; a group is never split
    split: Names  # (n,) train, dev, test, ...
    y: Names  # (n,) the gold label, or ""
    counts: Floats  # (n, n_labels) votes, all 0 for a task without votes
    labels: Names
    named_votes: Votes | None = None  # the votes with their workers, for the packed file
    encoding: InputEncoding | None = None  # how x was made, with the vocabulary, for the packed file

    def gold_of_tasks(self, tasks: Names) -> SoftLabels | None:
        """Return the gold labels of those of `tasks` that have one; None if none has."""
        rows = self.row_numbers_of_tasks(tasks)
        rows = rows[self.y[rows] != ""]
        return SoftLabels.gold(self.tasks[rows], self.y[rows], self.labels) if len(rows) else None

    def votes_of_tasks(self, tasks: Names) -> Votes | None:
        """Return the votes on those of `tasks` that have some, as counts; None if none has."""
        rows = self.row_numbers_of_tasks(tasks)
        rows = rows[self.counts[rows].sum(1) > 0]
        return Votes.from_counts(self.counts[rows], self.tasks[rows], self.labels) if len(rows) else None

    def row_numbers_of_tasks(self, tasks: Names) -> Ints:
        """Return (n,) the row number of each of `tasks` in the arrays of the texts."""
        return positions(self.tasks, tasks)

    def task_names_of_split(self, split: str) -> Names:
        """Return the names of the tasks in a split (train, dev, test, ...)."""
        return self.tasks[self.split == split]


def write_texts(texts: Texts, path: str | Path) -> None:
    """Write encoded texts to one .npz file of arrays, which `plurivox train` reads too: with named votes and vocabulary."""
    if Path(path).suffix != ".npz":
        raise InputError(f"unsupported file type of {path}; packed inputs are written as .npz")
    names: dict[str, Any] = {
        name: np.array(getattr(texts, name).tolist(), np.str_) for name in ("tasks", "group", "split", "y", "labels")
    }
    more: dict[str, Any] = {} if texts.encoding is None else {"encoding": np.array(texts.encoding.to_json())}
    if texts.named_votes is not None:
        columns = texts.named_votes.columns()
        more |= {f"vote_{name}": without_stringdtype(columns[name]) for name in ("task", "worker", "label")}
    x = texts.x.astype(np.int32)
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, name=texts.name, x=x, counts=texts.counts, **names, **more)


def read_texts(path: str | Path) -> Texts:
    """Return the encoded texts in an .npz file written by `write_texts`; raise InputError if it is missing or invalid."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as box:
            names: dict[str, Any] = {
                name: as_names(box[name], name) for name in ("tasks", "group", "split", "y", "labels")
            }
            return Texts(str(box["name"]), x=box["x"].astype(np.int64), counts=box["counts"], **names)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, KeyError, OSError, EOFError) as cause:
        raise InputError(f"{path} is not a file of packed texts (written by the option pack): {cause}") from None


def encode_words_of_tweets(data: "Dataset", n_context_words: int, n_letters: int) -> Texts:
    """Return the encoded words of tweets that have votes, and those of the two test sets of `pos_twitter` if present."""
    items, gold = _get_required_items_and_gold(data, ("task", "sentence", "position", "token", "split"))
    items = items.sort("sentence", "position")
    tasks = as_names(items["task"].to_list())
    counts = _vote_counts_of_tasks(data, tasks)
    if "automatic" in items.columns:
        by_rule = items["automatic"].to_numpy()
        counts[by_rule, gold.on(tasks).most_probable_label_codes()[by_rule]] = VOTES_OF_RULE
    columns: dict[str, list[Any]] = {
        "tasks": tasks.tolist(),
        "token": items["token"].to_list(),
        "group": [f"tweet {sentence}" for sentence in items["sentence"].to_list()],
        "split": [SPLIT_NAMES.get(split, split) for split in items["split"].to_list()],
        "y": gold.on(tasks).hard().tolist(),
    }
    all_counts = [counts]
    for table, split in (("test_lowlands", "test"), ("double_annotated", "double")):
        if table in data.tables:
            all_counts.append(
                _append_test_set_return_label_counts(
                    columns, data.tables[table]().sort("sentence", "position"), split, gold.labels
                )
            )
    train = [token for token, split in zip(columns["token"], columns["split"], strict=True) if split == "train"]
    # words that occur once train the code of unknown words
    words = text_encoding.Vocabulary.of(train, least=2, lower=True)
    chars = text_encoding.Vocabulary.of("".join(train))
    x = text_encoding.encode_tokens(
        columns.pop("token"), columns["group"], words, chars, context=n_context_words or None, letters=n_letters
    )
    made = TokenCodes(("sentence", "position", "token"), n_letters, x.shape[1] - 1 - n_letters, words, chars)
    found = _texts_from_columns(data.name, columns, x, np.concatenate(all_counts), gold.labels)
    return replace(found, named_votes=_votes_with_names(data), encoding=made)


def _append_test_set_return_label_counts(
    columns: dict[str, list[Any]], table: Any, split: str, labels: Names
) -> Floats:
    """Append the tokens of a test set to `columns` in place; return (n, n_labels) the vote counts of its two annotators."""
    rows = list(zip(table["sentence"].to_list(), table["position"].to_list(), strict=True))
    columns["tasks"] += [f"{split}-{sentence}-{place}" for sentence, place in rows]
    columns["token"] += table["token"].to_list()
    columns["group"] += [f"{split} {sentence}" for sentence, _ in rows]
    columns["split"] += [split] * len(rows)
    counts = np.zeros((len(rows), len(labels)))
    has_gold = "label" in table.columns
    columns["y"] += table["label"].to_list() if has_gold else [""] * len(rows)
    for name in () if has_gold else ("label1", "label2"):
        np.add.at(counts, (np.arange(len(rows)), positions(labels, as_names(table[name].to_list()))), 1)
    return counts


def encode_word_stem_pairs(data: "Dataset", n_letters: int) -> Texts:
    """Return the letters of the (word, stem) pairs of a data set encoded as numbers, with gold labels and votes."""
    items, gold = _get_required_items_and_gold(data, ("task", "word", "stem", "split"))
    tasks = as_names(items["task"].to_list())
    first, second = items["word"].to_list(), items["stem"].to_list()
    chars = text_encoding.Vocabulary.of("".join(first + second))
    columns = {
        "tasks": tasks.tolist(),
        "group": first,
        "split": [SPLIT_NAMES.get(split, split) for split in items["split"].to_list()],
        "y": gold.on(tasks).hard().tolist(),
    }
    x = text_encoding.encode_pairs(first, second, chars, letters=n_letters or None)
    made = WordPairCodes(("word", "stem"), x.shape[1] // 2, chars)
    found = _texts_from_columns(data.name, columns, x, _vote_counts_of_tasks(data, tasks), gold.labels)
    return replace(found, named_votes=_votes_with_names(data), encoding=made)


def _votes_with_names(data: "Dataset") -> Votes | None:
    """Return the votes of a data set if each is a plain vote of a named worker; else None."""
    votes = data.crowd()
    return votes if votes.weight is None and not (votes.worker < 0).any() else None


def _texts_from_columns(
    name: str, columns: dict[str, Any], x: NDArray[np.int64], counts: Floats, labels: Names
) -> Texts:
    """Return the Texts of encoded inputs `x` (one row per task), vote counts, and columns of task names, splits, ..."""
    named: dict[str, Any] = {key: as_names(column) for key, column in columns.items()}
    return Texts(name, x=x, counts=counts, labels=labels, **named)


def _get_required_items_and_gold(data: "Dataset", needed_columns: Iterable[str]) -> tuple[Any, SoftLabels]:
    """Return the items table and the gold labels; raise InputError if they or `needed_columns` are missing."""
    if data.items is None or data.gold is None or not set(needed_columns) <= set(data.items.columns):
        raise InputError(
            f"{data.name} needs gold labels, and a table of items with the columns {', '.join(needed_columns)}"
        )
    return data.items, data.gold


def _vote_counts_of_tasks(data: "Dataset", tasks: Names) -> Floats:
    """Return (n_tasks, n_labels) the vote counts of each task over the labels of gold; 0 for a task without votes."""
    votes, gold = data.crowd(), data.gold
    assert gold is not None
    rows = positions(votes.tasks, tasks)
    counts = np.zeros((len(tasks), gold.n_labels))
    counts[rows >= 0] = votes.with_labels(gold.labels).counts()[rows[rows >= 0]]
    return counts
