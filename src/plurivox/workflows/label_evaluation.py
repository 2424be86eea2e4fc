"""Evaluate predicted labels against true labels, each given as SoftLabels, Votes, a Fit, a Dataset or a file."""

import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurivox import evaluate
from plurivox.core.array_types import Names
from plurivox.core.data_type_base_class import HEADER_FILE, DataType
from plurivox.core.errors import InputError
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import Evaluation
from plurivox.evaluate.measures.hard_label_measures import Ties

if TYPE_CHECKING:  # tables need polars; .npz files can be evaluated without it
    from plurivox.io import Dataset


def evaluate_labels(
    prediction: Any,
    truth: Any,
    against: Any = None,
    *,
    part: str | None = None,
    measures: str | Sequence[str] | None = None,
    ties: Ties = "first",
    repeats: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Evaluation:
    """Return many measures of predicted against true labels, each with its bootstrap interval over tasks.

    Each of the three is SoftLabels, Votes, a Fit, a Dataset, or the path or the name of one. A prediction is soft labels, else
    vote shares; a truth is gold labels, else soft labels, else vote shares. Soft measures compare with `against` (its votes,
    else its soft labels); default: the truth. `measures` are a list, or one text separated by commas. `part` selects votes or
    counts if a data set has both.

    >>> votes = Votes.of(task=list("aab"), worker=[1, 2, 1], label=["no", "yes", "yes"])
    >>> evaluate_labels(votes, SoftLabels.gold(["a", "b"], ["no", "yes"]), measures="accuracy").value.tolist()
    [1.0]
    """
    sides: dict[int | str, _InputLabels] = {}  # an input that is given twice is read once
    for given in (prediction, truth, against):
        if given is not None and _cache_key_of_input(given) not in sides:
            sides[_cache_key_of_input(given)] = _read_gold_votes_and_soft_labels(given, part)
    other = None if against is None else sides[_cache_key_of_input(against)]
    predicted = sides[_cache_key_of_input(prediction)].soft_labels_else_vote_shares()
    known = sides[_cache_key_of_input(truth)].with_gold_covering(predicted.tasks)
    return evaluate.evaluate_labels(
        predicted,
        known.gold_else_soft_else_vote_shares(),
        against=None if other is None or other.votes is not None else other.soft,
        votes=None if other is None else other.votes,
        measures=split_at_commas_outside_brackets(measures) if isinstance(measures, str) else measures,
        repeats=repeats,
        level=level,
        seed=seed,
        ties=ties,
    )


@dataclass(frozen=True)
class _InputLabels:
    """The labels in one input (prediction, truth or reference): gold, soft labels, votes."""

    name: str
    gold: SoftLabels | None = None
    soft: SoftLabels | None = None
    votes: Votes | None = None
    gold_covering: Callable[[Names], SoftLabels | None] | None = None  # true labels that cover most of these tasks

    def with_gold_covering(self, tasks: Names) -> "_InputLabels":
        """Return the labels with those true labels of the input that cover most of these tasks: its gold labels, or others."""
        return self if self.gold_covering is None else replace(self, gold=self.gold_covering(tasks))

    def gold_else_soft_else_vote_shares(self) -> SoftLabels:
        """Return the labels of an input as truth: gold labels, else soft labels, else vote shares."""
        known = self.gold if self.gold is not None else self.soft
        return known if known is not None else self._vote_shares_or_input_error()

    def soft_labels_else_vote_shares(self) -> SoftLabels:
        """Return the labels of an input as prediction: soft labels, else vote shares; never gold labels."""
        return self.soft if self.soft is not None else self._vote_shares_or_input_error()

    def _vote_shares_or_input_error(self) -> SoftLabels:
        """Return the vote shares of an input; raise InputError if it has no votes."""
        if self.votes is None:
            raise InputError(f"{self.name} contains neither soft labels nor votes")
        return evaluate.shares_of(self.votes)


def _cache_key_of_input(labels_input: Any) -> int | str:
    """Return a cache key of an input: the path as text, or the id of the object."""
    return str(labels_input) if isinstance(labels_input, str | Path) else id(labels_input)


def _read_gold_votes_and_soft_labels(labels_input: Any, votes_or_counts: str | None) -> _InputLabels:
    """Return the labels in one input; raise InputError if it contains none."""
    if isinstance(labels_input, DataType):
        return _soft_labels_or_votes_of_data_type(labels_input, type(labels_input).__name__)
    if not isinstance(labels_input, str | Path):
        return _gold_votes_and_soft_labels_of_dataset(labels_input, votes_or_counts)
    if str(labels_input).endswith(".npz") and Path(labels_input).is_file():
        return _gold_votes_and_soft_labels_of_npz(str(labels_input))
    from plurivox import io

    if not Path(labels_input).is_file():
        return _gold_votes_and_soft_labels_of_dataset(io.read(labels_input), votes_or_counts)
    found = io.read_soft_labels_or_dataset(labels_input)
    if not isinstance(found, SoftLabels):
        return _gold_votes_and_soft_labels_of_dataset(found, votes_or_counts)
    from plurivox.io.votes_from_tables import warn_notes

    warn_notes([f"{labels_input}: {note}" for note in found.notes])
    return _InputLabels(str(labels_input), soft=found)


def _gold_votes_and_soft_labels_of_dataset(labels_input: "Dataset | Any", votes_or_counts: str | None) -> _InputLabels:
    """Return the labels in a data set or a DataFrame of votes."""
    from plurivox.io.dataset_reader import as_dataset, as_votes

    data = as_dataset(labels_input)
    has_votes = data.has("votes") or data.has("counts")
    chosen = votes_or_counts if data.has("votes") and data.has("counts") else None
    return _InputLabels(
        data.name,
        data.gold,
        data.soft_labels,
        as_votes(data, chosen) if has_votes else None,
        data.gold_covering,
    )


def _gold_votes_and_soft_labels_of_npz(npz_path: str) -> _InputLabels:
    """Return the labels in an .npz: a saved data type, or training data with its labels. Polars is not needed."""
    names = [HEADER_FILE]
    if zipfile.is_zipfile(npz_path):
        with zipfile.ZipFile(npz_path) as file:
            names = file.namelist()
    if HEADER_FILE in names:
        return _soft_labels_or_votes_of_data_type(DataType.load(npz_path), npz_path)
    from plurivox.train.data.training_data import read_training_data

    packed = read_training_data(npz_path)
    return _InputLabels(npz_path, packed.gold, packed.soft, packed.votes)


def _soft_labels_or_votes_of_data_type(labels_input: DataType, name: str) -> _InputLabels:
    """Return the labels in Votes, SoftLabels or a Fit; raise InputError for another type."""
    if isinstance(labels_input, Votes):
        return _InputLabels(name, votes=labels_input)
    soft = labels_input.soft if isinstance(labels_input, Fit) else labels_input
    if not isinstance(soft, SoftLabels):
        raise InputError(f"{name} contains {type(labels_input).__name__}; soft labels or votes are needed")
    return _InputLabels(name, soft=soft)
