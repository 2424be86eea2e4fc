"""The labels in one input of an evaluation: gold labels, soft labels and votes of labels in memory, a file or a data set."""

import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plurivox import evaluate
from plurivox.core.array_types import Ints, Names
from plurivox.core.data_type_base_class import HEADER_FILE, DataType
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate.evaluate_prediction import MIN_HARD_PROB

if TYPE_CHECKING:  # tables need polars; .npz files can be evaluated without it
    from plurivox.io import Dataset

REFERENCE_WORDS = ("gold", "soft", "votes")  # parts of the truth that soft measures may compare with


def is_reference_word(against: Any) -> bool:
    """Return whether `against` is a word for a part of the truth, and not labels, a data set, or a file or folder so named."""
    return isinstance(against, str) and against in REFERENCE_WORDS and not Path(against).exists()


@dataclass(frozen=True)
class Reference:
    """Labels to compare with, their name in the result (gold, soft labels, votes, counts, truth), and the votes, if any."""

    name: str
    soft: SoftLabels
    votes: Votes | None = None


@dataclass(frozen=True)
class InputLabels:
    """The labels in one input (prediction, truth or reference): gold, soft labels, votes."""

    name: str
    gold: SoftLabels | None = None
    soft: SoftLabels | None = None
    # returns ("votes" or "counts", votes); called when they are needed
    read_votes: Callable[[], tuple[str, Votes]] | None = None
    is_labels_only: bool = False  # SoftLabels or a file of labels, and not a data set
    has_name: bool = True  # a file or a data set, and not a value in memory
    fit_workers: Names | None = None  # the workers of a Fit
    gold_covering: Callable[[Names], SoftLabels | None] | None = None  # true labels that cover most of these tasks

    def with_gold_covering(self, tasks: Names) -> "InputLabels":
        """Return the labels with those true labels of the input that cover most of these tasks: its gold labels, or others."""
        return self if self.gold_covering is None else replace(self, gold=self.gold_covering(tasks))

    @cached_property
    def votes_reference(self) -> Reference | None:
        """The vote shares of the input, read on first use; None if it has no votes."""
        if self.read_votes is None:
            return None
        name, votes = self.read_votes()
        return Reference(name, evaluate.shares_of(votes), votes)

    def name_as_further_input(self, reference: Reference) -> str:
        """Return the name in the result of labels of this input, if it is neither the prediction nor the truth."""
        name = Path(self.name).name if self.has_name else ""
        if self.is_labels_only:
            return name or "reference"
        return f"{reference.name} of {name}" if name else reference.name

    def gold_else_soft_else_vote_shares(self) -> Reference:
        """Return the labels of an input as truth: gold labels, else soft labels, else vote shares."""
        if self.gold is not None:
            return Reference("gold", self.gold)
        return self.reference_by_word("votes" if self.soft is None else "soft")

    def soft_labels_else_vote_shares(self) -> SoftLabels:
        """Return the labels of an input as prediction: soft labels, else vote shares; never gold labels."""
        return self.reference_by_word("votes" if self.soft is None else "soft").soft

    def reference_by_word(self, word: str) -> Reference:
        """Return the labels of the input named by one of REFERENCE_WORDS; raise InputError if it has none."""
        if word == "gold" and self.gold is not None:
            return Reference("gold", self.gold)
        if word == "soft" and self.soft is not None:
            is_truth = self.is_labels_only and self.soft.estimates != "people"
            return Reference("truth" if is_truth else "soft labels", self.soft)
        if word == "votes" and self.votes_reference is not None:
            return self.votes_reference
        parts = {"gold labels": self.gold, "soft labels": self.soft, "votes": self.read_votes}
        present = [name for name, part in parts.items() if part is not None]
        if word == "votes" and not present:
            raise InputError(f"{self.name} contains neither soft labels nor votes")
        wanted = {"gold": "gold labels", "soft": "soft labels", "votes": "votes"}[word]
        raise InputError(f"{self.name} has no {wanted} to compare with; it has {' and '.join(present)}")

    def first_soft_reference_or_none(self, prediction: SoftLabels) -> tuple[Reference | None, tuple[str, ...]]:
        """Return (labels that soft measures compare with by default, notes on those that cannot be); None if there are none.

        Soft gold labels come first, then soft labels, then votes: the first that has tasks and labels of the prediction.
        """
        notes: tuple[str, ...] = ()
        for word, has_it in (("gold", self.gold), ("soft", self.soft), ("votes", self.read_votes)):
            if has_it is None:
                continue
            found = self.reference_by_word(word)
            here, there = _positions_of_shared_tasks(prediction, found.soft)
            if not len(here) or (word != "votes" and found.soft.confidence.min() >= MIN_HARD_PROB):
                continue
            if not evaluate.labels_meet(prediction, found.soft, here, there):
                listed = first_few(found.soft.labels, 6)
                notes += (f"soft measures do not use the {found.name} of {self.name}: their labels are {listed}",)
                continue
            return found, notes
        return None, notes


def soft_reference_and_notes(
    prediction: SoftLabels, truth: InputLabels, against: InputLabels | str | None, measures: Sequence[str] | None
) -> tuple[Reference | None, tuple[str, ...]]:
    """Return (labels that soft measures compare with, notes): of another input, of the part of the truth named, or its default.

    None: there are no soft labels or votes to compare with, or no measure needs them.
    """
    if isinstance(against, str):
        return truth.reference_by_word(against), ()
    if against is not None:
        found = against.reference_by_word("votes" if against.soft is None else "soft")
        return (found if against is truth else replace(found, name=against.name_as_further_input(found))), ()
    return truth.first_soft_reference_or_none(prediction) if evaluate.uses_soft_reference(measures) else (None, ())


def _positions_of_shared_tasks(prediction: SoftLabels, other: SoftLabels) -> tuple[Ints, Ints]:
    """Return the positions of the shared tasks in the prediction and in the other soft labels."""
    there = positions(other.tasks, prediction.tasks)
    return np.flatnonzero(there >= 0), there[there >= 0]


def cache_key_of_input(labels_input: Any) -> int | str:
    """Return a cache key of an input: the path as text, or the id of the object."""
    return str(labels_input) if isinstance(labels_input, str | Path) else id(labels_input)


def read_labels_of_input(labels_input: Any, votes_or_counts: str | None) -> InputLabels:
    """Return the labels in one input; raise InputError if it contains none."""
    if isinstance(labels_input, DataType):
        return _soft_labels_or_votes_of_data_type(labels_input)
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
    return InputLabels(str(labels_input), soft=found, is_labels_only=True)


def _gold_votes_and_soft_labels_of_dataset(labels_input: "Dataset | Any", votes_or_counts: str | None) -> InputLabels:
    """Return the labels in a data set or a DataFrame of votes."""
    from plurivox.io.dataset_reader import as_dataset, as_votes

    data = as_dataset(labels_input)
    has_votes = data.has("votes") or data.has("counts")
    chosen = votes_or_counts if data.has("votes") and data.has("counts") else None
    return InputLabels(
        data.name,
        data.gold,
        data.soft_labels,
        (lambda: (data.crowd_part(chosen), as_votes(data, chosen))) if has_votes else None,
        has_name=isinstance(labels_input, str | Path) or hasattr(labels_input, "crowd"),
        gold_covering=data.gold_covering,
    )


def _gold_votes_and_soft_labels_of_npz(npz_path: str) -> InputLabels:
    """Return the labels in an .npz: a saved data type, or training data with its labels. Polars is not needed."""
    names = [HEADER_FILE]
    if zipfile.is_zipfile(npz_path):
        with zipfile.ZipFile(npz_path) as file:
            names = file.namelist()
    if HEADER_FILE in names:
        return _soft_labels_or_votes_of_data_type(DataType.load(npz_path), npz_path)
    from plurivox.train.data.training_data import read_training_data

    packed = read_training_data(npz_path)
    votes = packed.votes
    return InputLabels(npz_path, packed.gold, packed.soft, None if votes is None else lambda: ("votes", votes))


def _soft_labels_or_votes_of_data_type(labels_input: DataType, path: str = "") -> InputLabels:
    """Return the labels in Votes, SoftLabels or a Fit, saved at `path` if given; raise InputError for another type."""
    name = path or type(labels_input).__name__
    if isinstance(labels_input, Votes):
        return InputLabels(name, read_votes=lambda: ("votes", labels_input), has_name=bool(path))
    soft = labels_input.soft if isinstance(labels_input, Fit) else labels_input
    if not isinstance(soft, SoftLabels):
        raise InputError(f"{name} contains {type(labels_input).__name__}; soft labels or votes are needed")
    workers = labels_input.workers if isinstance(labels_input, Fit) else None
    return InputLabels(name, soft=soft, is_labels_only=True, has_name=bool(path), fit_workers=workers)
