"""Check that gold labels belong to the votes: they must have tasks and labels in common."""

import shlex

from plurivox.core.array_types import Names
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few, warn_user
from plurivox.core.name_encoding import as_text, positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import shares_of
from plurivox.evaluate.label_mismatch import notes_on_gold_labels_of_votes


def gold_of_tasks_with_votes(votes: Votes, gold: SoftLabels, error_prefix: str = "") -> SoftLabels:
    """Return the gold labels of tasks with votes; raise InputError, its message after `error_prefix`, if none can be compared.

    That is if no task has both, or the votes and the gold labels have (almost) no label in common.
    """
    return gold_of_tasks_with_votes_and_notes(votes, gold, error_prefix)[0]


def gold_of_tasks_with_votes_and_notes(
    votes: Votes, gold: SoftLabels, prefix: str = "", *, counts_others: bool = False
) -> tuple[SoftLabels, tuple[str, ...]]:
    """Return (gold labels of tasks with votes, notes for the user on labels that the votes do not have).

    With `counts_others`, as for gold labels that the caller gives, a note counts those of tasks without votes. InputError as
    of `gold_of_tasks_with_votes`; messages begin with `prefix`.

    >>> votes = Votes.of(task=list("aab"), worker=[1, 2, 1], label=["cat", "dog", "dog"])
    >>> gold_of_tasks_with_votes_and_notes(votes, SoftLabels.gold(["a", "z"], ["cat", "dog"]), counts_others=True)[1]
    ("1 of 2 gold labels is not used, because its task has no votes: 'z'",)
    """
    known = _gold_of_tasks(gold, votes.tasks_with_votes, prefix)
    notes = notes_on_gold_labels_of_votes(shares_of(votes.on(known.tasks)), known, prefix)
    return known, (_left_out_note(gold, known, prefix) if counts_others else ()) + notes


def notes_on_gold_tasks(gold: SoftLabels, tasks: Names) -> tuple[str, ...]:
    """Return a note that counts gold labels of other tasks than these; raise InputError if no task has a gold label."""
    return _left_out_note(gold, _gold_of_tasks(gold, tasks, ""), "")


def check_gold_labels_to_fit(votes: Votes, gold: SoftLabels) -> None:
    """Raise InputError if gold labels cannot be used in a fit of the votes: another label, or no task; warn of other tasks."""
    known = _gold_of_tasks(gold, votes.tasks, "")
    for note in _left_out_note(gold, known, ""):
        warn_user(note)
    absent = known.labels[(positions(votes.labels, known.labels) < 0) & (known.on_labels(known.labels).prob > 0).any(0)]
    if not len(absent):
        return
    if len(known) > 1:
        notes_on_gold_labels_of_votes(shares_of(votes.on(known.tasks)), known)  # raises InputError for other names
    everything = [*as_text(votes.labels).tolist(), *as_text(absent).tolist()]
    listed = (
        f"labels={everything} (--labels {shlex.quote(','.join(everything))})" if len(everything) <= 20 else "labels=..."
    )
    raise InputError(
        f"nobody voted for the gold {'label' if len(absent) == 1 else 'labels'} {first_few(absent)}; the votes have "
        f"{first_few(votes.labels, 6)}: use the same names in both, or name all labels: {listed}"
    )


def _gold_of_tasks(gold: SoftLabels, tasks: Names, prefix: str) -> SoftLabels:
    """Return the gold labels of these tasks; raise InputError if none of them has one."""
    known = gold.shared(tasks)
    if not len(known):
        raise InputError(
            f"{prefix}no task has both votes and a gold label; the votes are on the tasks {first_few(tasks)}, the gold labels "
            f"on {first_few(gold.tasks)}"
        )
    return known


def _left_out_note(gold: SoftLabels, known: SoftLabels, prefix: str) -> tuple[str, ...]:
    """Return a note that counts the gold labels of tasks without votes; () if there are none."""
    if not (n := len(gold) - len(known)):
        return ()
    others = set(gold.tasks.tolist()) - set(known.tasks.tolist())
    listed = first_few(task for task in gold.tasks.tolist() if task in others)
    why = "is not used, because its task has" if n == 1 else "are not used, because their tasks have"
    return (f"{prefix}{n:,} of {count_text(len(gold), 'gold label')} {why} no votes: {listed}",)
