"""The second copy of answers that were stored twice."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Found, Rule
from plurivox.clean._entered import Entered, joint
from plurivox.core.names import Bools, Ints


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

    def _check(self, seen: Entered) -> tuple[Found, ...]:
        key, timed = _identity(seen)
        mine = np.flatnonzero(timed & (seen.worker >= 0))
        _, first, same = np.unique(key[mine], return_index=True, return_inverse=True)
        original = mine[first][same]  # the first row of everything that is equal
        copies = mine[original != mine]
        instead = original[original != mine]
        reasons = [f"the same in every respect as row {row}" for row in seen.row[instead].tolist()]
        return (Found("answer", copies, np.full(len(copies), np.nan), reasons, instead=instead),)


def _identity(seen: Entered) -> tuple[Ints, Bools]:
    """(n,) a number for all that is known of an answer, and whether its time is among it."""
    known = [seen.worker, seen.task, seen.content]
    timed = np.zeros(len(seen), bool)
    for times in (seen.seconds, seen.when):
        if times is not None:
            timed |= np.isfinite(times)
            known.append(joint(np.nan_to_num(times, nan=-1)))
    if seen.answers is not None:
        places = (seen.answers.position, seen.answers.slot, seen.answers.sitting)
        known.extend(joint(column) for column in places if column is not None)
    return joint(*known), timed
