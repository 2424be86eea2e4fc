"""The second copy of answers that were stored twice."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_rows import AnswerRows, joint
from plurivox.core.types import Bools, Ints


@dataclass(frozen=True)
class StoredTwice(Rule):
    """Copies: answers that equal an earlier one of the same person and task to the last mark and millisecond.

    So looks a sitting that was saved twice. Nobody is equally fast twice, so a true repeat is not taken for a copy; an
    answer whose time is not known is never one. The row that comes first stays.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(list("aab"), ["ann"] * 3, ["x", "x", "x"], seconds=[31.958, 31.958, 31.958])
    >>> clean(votes, ["stored-twice"]).audit.reason.tolist()
    ['the same in every respect as row 0']
    """

    needs: ClassVar[tuple[str, ...]] = ("times",)

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        at = _alike(seen)
        which = np.zeros(len(seen), bool)
        which[at] = True
        alike = joint(_about(seen, at), seen.content(which))
        _, first, same = np.unique(alike, return_index=True, return_inverse=True)
        original = at[first][same]  # the first row of everything that is equal
        copies, instead = at[original != at], original[original != at]
        reasons = [f"the same in every respect as row {row}" for row in seen.row[instead].tolist()]
        return (Found("answer", copies, np.full(len(copies), np.nan), reasons, instead=instead),)


def _alike(seen: AnswerRows) -> Ints:
    """The answers of known time that equal another one in all but perhaps what was entered, in their order."""
    timed = np.zeros(len(seen), bool)
    for times in (seen.seconds, seen.when):
        timed |= np.isfinite(times) if times is not None else False
    mine = np.flatnonzero(timed & (seen.worker >= 0))
    pair = seen.task[mine].astype(np.int64) * seen.n_workers + seen.worker[mine]
    mine = mine[_several(pair)]  # few people answer a task twice: only these are looked at closely
    return mine[_several(_about(seen, mine))]


def _several(number: Ints) -> Bools:
    """(n,) which numbers occur more than once."""
    ordered = np.sort(number)
    return np.isin(number, ordered[1:][ordered[1:] == ordered[:-1]])


def _about(seen: AnswerRows, at: Ints) -> Ints:
    """(n,) a number for who answered which task, when, how fast and at which place."""
    known = [seen.worker, seen.task]
    known += [np.nan_to_num(times, nan=-1) for times in (seen.seconds, seen.when) if times is not None]
    if seen.answers is not None:
        places = (seen.answers.position, seen.answers.slot, seen.answers.sitting)
        known += [column for column in places if column is not None]
    return joint(*(column[at] for column in known))
