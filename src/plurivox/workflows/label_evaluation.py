"""Evaluate predicted labels against true labels, each given as SoftLabels, Votes, a Fit, a Dataset or a file."""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurivox import evaluate
from plurivox.core.base import HEADER_FILE, DataType
from plurivox.core.errors import InputError
from plurivox.core.method import split_at_commas
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import Evaluation
from plurivox.evaluate.measures.hard import Ties

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
    """Return many measures of a prediction, each with its bootstrap interval over tasks, from data types, tables or files.

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
        if given is not None and _input_key(given) not in sides:
            sides[_input_key(given)] = _read_input(given, part)
    other = None if against is None else sides[_input_key(against)]
    return evaluate.evaluate_labels(
        sides[_input_key(prediction)].prediction_labels(),
        sides[_input_key(truth)].truth(),
        against=None if other is None or other.votes is not None else other.soft,
        votes=None if other is None else other.votes,
        measures=split_at_commas(measures) if isinstance(measures, str) else measures,
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

    def truth(self) -> SoftLabels:
        """Return its gold labels, else its soft labels, else its vote shares."""
        known = self.gold if self.gold is not None else self.soft
        return known if known is not None else self._vote_shares()

    def prediction_labels(self) -> SoftLabels:
        """Return its soft labels, else its vote shares; gold labels are not used as a prediction."""
        return self.soft if self.soft is not None else self._vote_shares()

    def _vote_shares(self) -> SoftLabels:
        """Return its vote shares; raise InputError if there are no votes."""
        if self.votes is None:
            raise InputError(f"{self.name} contains neither soft labels nor votes")
        return evaluate.shares_of(self.votes)


def _input_key(given: Any) -> int | str:
    """Return a key that is equal for equal paths and for the same object."""
    return str(given) if isinstance(given, str | Path) else id(given)


def _read_input(given: Any, part: str | None) -> _InputLabels:
    """Return the labels in one input; raise InputError if it contains none."""
    if isinstance(given, DataType):
        return _labels_of_type(given, type(given).__name__)
    if not isinstance(given, str | Path):
        return _labels_of_dataset(given, part)
    if str(given).endswith(".npz") and Path(given).is_file():
        return _labels_of_npz(str(given))
    from plurivox import io

    if not Path(given).is_file():
        return _labels_of_dataset(io.read(given), part)
    found = io.read_labels(given)
    if not isinstance(found, SoftLabels):
        return _labels_of_dataset(found, part)
    from plurivox.io.vote_frames import warn_notes

    warn_notes([f"{given}: {note}" for note in found.notes])
    return _InputLabels(str(given), soft=found)


def _labels_of_dataset(given: "Dataset | Any", part: str | None) -> _InputLabels:
    """Return the labels in a data set or a DataFrame of votes."""
    from plurivox.io.dataset_reader import as_dataset, as_votes

    data = as_dataset(given)
    has_votes = data.has("votes") or data.has("counts")
    chosen = part if data.has("votes") and data.has("counts") else None
    return _InputLabels(data.name, data.gold, data.soft_labels, as_votes(data, chosen) if has_votes else None)


def _labels_of_npz(where: str) -> _InputLabels:
    """Return the labels in an .npz: a saved data type, or training data with its labels. Polars is not needed."""
    names = [HEADER_FILE]
    if zipfile.is_zipfile(where):
        with zipfile.ZipFile(where) as file:
            names = file.namelist()
    if HEADER_FILE in names:
        return _labels_of_type(DataType.load(where), where)
    from plurivox.train.data.training_data import read_training_data

    packed = read_training_data(where)
    return _InputLabels(where, packed.gold, packed.soft, packed.votes)


def _labels_of_type(given: DataType, name: str) -> _InputLabels:
    """Return the labels in Votes, SoftLabels or a Fit; raise InputError for another type."""
    if isinstance(given, Votes):
        return _InputLabels(name, votes=given)
    soft = given.soft if isinstance(given, Fit) else given
    if not isinstance(soft, SoftLabels):
        raise InputError(f"{name} contains {type(given).__name__}; soft labels or votes are needed")
    return _InputLabels(name, soft=soft)
