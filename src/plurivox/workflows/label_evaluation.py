"""Judge soft labels against true ones, whatever either is given as: a data type, a data set, a file."""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurivox import evaluate
from plurivox.core.base import HEADER, DataType
from plurivox.core.errors import InputError
from plurivox.core.method import split_list
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import Evaluation
from plurivox.evaluate.measures.hard import Ties

if TYPE_CHECKING:  # tables need polars, and arrays in .npz files can be judged without it
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
    """Many measures of a prediction, each with its bootstrap interval over tasks, on types, tables or files.

    Each of the three is SoftLabels, Votes, a Fit, a Dataset, or the path or the name of one. A prediction is soft labels, or
    the shares of votes; a truth is known labels, else soft labels, else the shares of votes. Soft measures look at what
    stands in `against`, votes before soft labels; without it at the truth. `measures` are a list, or one text with commas
    between. `part` says which to take where a data set has votes and counts.

    >>> votes = Votes.of(task=list("aab"), worker=[1, 2, 1], label=["no", "yes", "yes"])
    >>> evaluate_labels(votes, SoftLabels.gold(["a", "b"], ["no", "yes"]), measures="accuracy").value.tolist()
    [1.0]
    """
    sides: dict[int | str, _Side] = {}  # what is named twice is read once
    for given in (prediction, truth, against):
        if given is not None and _key(given) not in sides:
            sides[_key(given)] = _side(given, part)
    other = None if against is None else sides[_key(against)]
    return evaluate.evaluate_labels(
        sides[_key(prediction)].belief(),
        sides[_key(truth)].truth(),
        against=None if other is None or other.votes is not None else other.soft,
        votes=None if other is None else other.votes,
        measures=split_list(measures) if isinstance(measures, str) else measures,
        repeats=repeats,
        level=level,
        seed=seed,
        ties=ties,
    )


@dataclass(frozen=True)
class _Side:
    """What a file or data set can say about tasks."""

    name: str
    gold: SoftLabels | None = None
    soft: SoftLabels | None = None
    votes: Votes | None = None

    def truth(self) -> SoftLabels:
        """Its gold, its soft labels, or the shares of its votes."""
        known = self.gold if self.gold is not None else self.soft
        return known if known is not None else self._shares()

    def belief(self) -> SoftLabels:
        """Its soft labels, or the shares of its votes; gold is no prediction."""
        return self.soft if self.soft is not None else self._shares()

    def _shares(self) -> SoftLabels:
        if self.votes is None:
            raise InputError(f"{self.name} holds neither soft labels nor votes")
        return evaluate.shares_of(self.votes)


def _key(given: Any) -> int | str:
    return str(given) if isinstance(given, str | Path) else id(given)


def _side(given: Any, part: str | None) -> _Side:
    """What was given; raises where it can say nothing about tasks."""
    if isinstance(given, DataType):
        return _of_type(given, type(given).__name__)
    if not isinstance(given, str | Path):
        return _of_data(given, part)
    if str(given).endswith(".npz") and Path(given).is_file():
        return _of_arrays(str(given))
    from plurivox import io

    if not Path(given).is_file():
        return _of_data(io.read(given), part)
    found = io.read_labels(given)
    if not isinstance(found, SoftLabels):
        return _of_data(found, part)
    from plurivox.io.vote_frames import warn_notes

    warn_notes([f"{given}: {note}" for note in found.notes])
    return _Side(str(given), soft=found)


def _of_data(given: "Dataset | Any", part: str | None) -> _Side:
    from plurivox.io.dataset_reader import as_dataset, as_votes

    data = as_dataset(given)
    speaks = data.has("votes") or data.has("counts")
    chosen = part if data.has("votes") and data.has("counts") else None
    return _Side(data.name, data.gold, data.soft_labels, as_votes(data, chosen) if speaks else None)


def _of_arrays(where: str) -> _Side:
    """What an .npz says: a saved data type, or packed inputs with what is known of them. Neither needs tables."""
    names = [HEADER]
    if zipfile.is_zipfile(where):
        with zipfile.ZipFile(where) as file:
            names = file.namelist()
    if HEADER in names:
        return _of_type(DataType.load(where), where)
    from plurivox.train.data.training_data import read_training_data

    packed = read_training_data(where)
    return _Side(where, packed.gold, packed.soft, packed.votes)


def _of_type(given: DataType, name: str) -> _Side:
    if isinstance(given, Votes):
        return _Side(name, votes=given)
    soft = given.soft if isinstance(given, Fit) else given
    if not isinstance(soft, SoftLabels):
        raise InputError(f"{name} holds {type(given).__name__}, neither soft labels nor votes")
    return _Side(name, soft=soft)
