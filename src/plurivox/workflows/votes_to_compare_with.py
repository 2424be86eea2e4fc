"""Split a data set into the votes that methods are fitted to and the other people's votes that they are compared with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, OptionError
from plurivox.core.hidden_answers import SplitVotes, draw_answers, hide_answers, hide_workers
from plurivox.core.name_encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import shares_of
from plurivox.evaluate.align_tasks_and_labels import shared_task_positions
from plurivox.evaluate.evaluate_prediction import MIN_HARD_PROB
from plurivox.evaluate.label_mismatch import check_labels_meet
from plurivox.io import Dataset, read, read_soft_labels_or_dataset
from plurivox.io.dataset_reader import as_dataset, as_votes

MAX_SPLITS, ENOUGH_TASKS = 3, 10_000  # splits by default: so many, or fewer if they have this many tasks together
SAME = 1e-4  # shares that differ by less everywhere are those of the same votes; tables are rounded
WORDS = ("votes", "counts")  # parts of the compared data set itself


@dataclass(frozen=True)
class HowToHide:
    """Which votes are hidden: of `hide` people per task, of a share of the workers, or of all but `votes_per_task` people."""

    hide: int | None = None
    hide_workers: float | None = None
    votes_per_task: int | None = None

    def __post_init__(self) -> None:
        given = [name for name, value in vars(self).items() if value is not None]
        if len(given) > 1:
            raise OptionError(f"{' and '.join(given)} exclude each other: give one of them")

    @property
    def is_given(self) -> bool:
        """Whether one of the three is set."""
        return any(value is not None for value in vars(self).values())

    def split(self, votes: Votes, seed: int) -> SplitVotes:
        """Return the votes split at random; by default one person per task is hidden."""
        if self.hide_workers is not None:
            return hide_workers(votes, self.hide_workers, seed)
        if self.votes_per_task is not None:
            return draw_answers(votes, self.votes_per_task, seed)
        return hide_answers(votes, 1 if self.hide is None else self.hide, seed)

    def text(self) -> str:
        """Return what is hidden as text."""
        if self.hide_workers is not None:
            return f"the votes of {self.hide_workers:.0%} of the workers, which are hidden from the methods"
        if self.votes_per_task is not None:
            return f"all votes but {self.votes_per_task} per task, which the methods see"
        k = 1 if self.hide is None else self.hide
        return f"{count_text(k, 'hidden vote')} per task"


@dataclass(frozen=True, eq=False)
class VisibleVotesAndPeople:
    """Votes to fit, and what other people said of the same tasks: shares with the number of votes (`support`), if known."""

    visible: Votes
    people: SoftLabels
    all_counts: Floats | None = None  # (len(people), n_labels) votes of both kinds; None: not known, or soft answers


def splits_of_dataset(
    data: Dataset, against: Any, part: str | None, how: HowToHide, n_splits: int | None, max_tasks: int, seed: int
) -> tuple[list[VisibleVotesAndPeople], str]:
    """Return the random splits of a data set, or one if nothing is random, and what the methods are compared with, as text.

    `against` is "votes" or "counts" of the data set, or other people's soft labels or votes, or their path.
    """
    word = against if isinstance(against, str) and against in WORDS and not Path(against).exists() else None
    if word == "counts" and not how.is_given:
        return [_votes_and_rest_of_counts(data)], "the counts of the data set"
    if word is not None:
        whole = data.crowd("counts") if word == "counts" else _crowd(data, part)
        crowd = _on_random_tasks(whole, max_tasks, seed)
        of_tasks = "" if crowd is whole else f", on {max_tasks:,} random tasks of {whole.n_tasks:,}"
        found = [_split_of_votes(crowd, how, seed + i, data.name) for i in _splits(crowd, n_splits)]
        return found, how.text() + of_tasks
    if how.hide is not None or how.hide_workers is not None:
        raise OptionError(
            "hide and hide_workers (--hide, --hide-workers) apply only with against='votes' (--against votes)"
        )
    people, name = _people_of_reference(against)
    crowd = _crowd(data, part)
    _check_reference_is_not_the_votes(crowd, people, name)
    if how.votes_per_task is None:
        return [_with_other_people(crowd, people, name, data.name)], name
    drawn = [draw_answers(crowd, how.votes_per_task, seed + i).visible for i in _splits(crowd, n_splits)]
    text = f"{name}; the methods see {count_text(how.votes_per_task, 'vote')} per task"
    return [_with_other_people(votes, people, name, data.name) for votes in drawn], text


def _on_random_tasks(votes: Votes, max_tasks: int, seed: int) -> Votes:
    """Return the votes on at most `max_tasks` random tasks; the votes themselves if there are not more."""
    if votes.n_tasks <= max_tasks:
        return votes
    return votes.on(votes.tasks[np.sort(np.random.default_rng(seed).permutation(votes.n_tasks)[:max_tasks])])


def _splits(votes: Votes, n_splits: int | None) -> range:
    """Return the numbers of the random splits of the votes; by default three, fewer for many tasks."""
    return range(min(max(ENOUGH_TASKS // max(votes.n_tasks, 1), 1), MAX_SPLITS) if n_splits is None else n_splits)


def _crowd(data: Dataset, part: str | None) -> Votes:
    """Return the votes of a data set to fit: the part named if it has both, else the one with more tasks."""
    return as_votes(data, part if data.has("votes") and data.has("counts") else None)


def _split_of_votes(votes: Votes, how: HowToHide, seed: int, name: str) -> VisibleVotesAndPeople:
    """Return votes split by `how`; raise InputError if no task has votes in both parts."""
    split = how.split(votes, seed)
    if not len(split.hidden):
        most = int(np.max(votes.support, initial=0))
        if most < 2:
            raise InputError(f"{name}: no task has the votes of two people, so none can be hidden from the methods")
        raise InputError(
            f"{name}: no task has more votes than are hidden or shown ({how.text()}); a task has {most} at most: hide or "
            "show fewer"
        )
    people = shares_of(split.hidden)
    return VisibleVotesAndPeople(split.visible, people, _counts_on(votes, people))


def _counts_on(votes: Votes, people: SoftLabels) -> Floats | None:
    """Return (len(people), n_labels) the votes on the tasks of `people`; None for soft answers, which are not drawn votes."""
    return None if votes.answer is not None else votes.on(people.tasks).counts()


def _votes_and_rest_of_counts(data: Dataset) -> VisibleVotesAndPeople:
    """Return the votes of a data set and its counts without those votes; raise InputError if they do not contain them."""
    if not data.has("votes"):
        raise InputError(
            f"{data.name} has counts only, so the methods would be compared with what they are fitted to: draw some of the "
            "votes behind the counts with votes_per_task=10 (--votes-per-task 10); the others are what they are compared with"
        )
    votes, counts = data.crowd("votes"), data.crowd("counts")
    shared = votes.tasks_with_votes[positions(counts.tasks, votes.tasks_with_votes) >= 0]
    if not len(shared):
        raise InputError(f"{data.name}: no task has both votes and counts")
    total: Floats = counts.on(shared).counts()
    own: Floats = votes.on(shared).with_labels(counts.labels).counts()
    if not (total >= own).all() or (total == own).all():
        raise InputError(
            f"the counts of {data.name} are not its votes and those of further people, so the methods might be compared with "
            "what they are fitted to: show them a few of the counts with votes_per_task=10 (--votes-per-task 10), or hide "
            "votes with against='votes' (--against votes)"
        )
    people = shares_of(Votes.from_counts(total - own, shared, counts.labels))
    return VisibleVotesAndPeople(votes, people, total[positions(shared, people.tasks)])


def _people_of_reference(against: Any) -> tuple[SoftLabels, str]:
    """Return the soft labels of a reference and its name: a table or data set (votes or counts, else soft labels), or a Fit."""
    if isinstance(against, Fit):
        return against.soft, "the soft labels given"
    if isinstance(against, SoftLabels):
        return against, "the soft labels given"
    if isinstance(against, str | Path):
        found = read_soft_labels_or_dataset(against) if Path(against).is_file() else read(against)
        if isinstance(found, SoftLabels):
            return found, Path(against).name
        data = found
    else:
        data = as_dataset(against)
    if not (data.has("votes") or data.has("counts")):
        if data.soft_labels is None:
            raise InputError(f"{data.name} has neither votes, counts nor soft labels to compare with")
        return data.soft_labels, f"the soft labels of {data.name}"
    chosen, crowd = data.crowd_part(), data.crowd()
    shares = shares_of(crowd)
    return (shares if crowd.answer is None else _without_support(shares)), f"the {chosen} of {data.name}"


def _without_support(soft: SoftLabels) -> SoftLabels:
    """Return soft labels that do not say how many votes they are made from."""
    return SoftLabels(soft.body, soft.tasks, soft.labels, scale=soft.scale, notes=soft.notes, estimates=soft.estimates)


def _with_other_people(votes: Votes, people: SoftLabels, people_name: str, name: str) -> VisibleVotesAndPeople:
    """Return votes with the soft labels of other people on the same tasks; raise InputError if they cannot be compared."""
    own = shares_of(votes)
    if people.estimates == "truth":
        raise InputError(
            f"{people_name} estimates which label is right, not what people say: give votes, counts or their shares"
        )
    if not (positions(people.tasks, own.tasks) >= 0).any():
        raise InputError(f"{name}: no task has votes and is in {people_name}")
    here, there = shared_task_positions(own, people)
    check_labels_meet(own, people, here, there, people_name)
    known = people.shared(own.tasks)
    if len(known) and known.confidence.min() >= MIN_HARD_PROB:
        raise InputError(
            f"{people_name} has one certain label per task, as gold labels have, and no shares of people: compare with gold "
            "labels by gold=... (--gold FILE)"
        )
    if known.support is None:
        return VisibleVotesAndPeople(votes, known)
    return VisibleVotesAndPeople(votes, known, known.prob * known.support[:, None])


def _check_reference_is_not_the_votes(votes: Votes, people: SoftLabels, people_name: str) -> None:
    """Raise InputError if the reference are the shares of the very votes that methods are fitted to, in any label order."""
    own, known = shares_of(votes), people.shared(votes.tasks)
    own = own.shared(known.tasks).on(known.tasks) if len(known) else own
    if len(own) != len(known) or not len(known):
        return
    counted = known.support is not None and own.support is not None and votes.answer is None
    if counted and not np.allclose(np.asarray(known.support), np.asarray(own.support)):
        return
    both = sorted({*own.labels.tolist(), *known.labels.tolist()})
    if np.allclose(own.on_labels(both).prob, known.on_labels(both).prob, atol=SAME):
        raise InputError(
            f"the methods would be fitted to the votes behind {people_name}, which they are compared with: hide some votes "
            "instead with against='votes' (--against votes)"
        )
