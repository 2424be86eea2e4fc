"""People who always give the same label, or click at the same place."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.reason_text import percent, several
from plurivox.core.method import option
from plurivox.core.types import Bools, Floats, Ints


@dataclass(frozen=True)
class StraightLining(Rule):
    """People who always give the same label, or different ones always at the same place of the list.

    share(person) = answers with their most frequent label / their answers. The label is no ground where the others give
    it to the same tasks almost as often. Places are looked at where a column `slot` says where on the list the label
    stood.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> tasks = list("abcd") * 2
    >>> votes = Votes.of(tasks, ["ann"] * 4 + ["bo"] * 4, ["x", "x", "x", "x", "x", "y", "z", "y"])
    >>> clean(votes, ["straight-lining[fewest=4]"]).audit.reason.tolist()
    ["'x' in 100% of 4 answers; others gave it to the same tasks in 25%"]
    """

    settles: ClassVar[bool] = False  # whoever goes is no longer among the others

    share: float = option(1.0, "people go whose most frequent label, or place, has at least this share", low=0, high=1)
    fewest: int = option(10, "only people with at least so many answers", low=2)
    others: float = option(
        0.8, "nobody goes for a label that the others give to the same tasks at least this often", low=0, high=1
    )

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        label, part, n = _favourite(seen, seen.top)
        same = (n >= self.fewest) & (part >= self.share)
        like = _others(seen, label, same)
        out = same & ~(like >= self.others)

        def why(who: int) -> str:
            often = f"others gave it to the same tasks in {percent(like[who])}"
            said = "nobody else answered these tasks" if np.isnan(like[who]) else often
            name = str(seen.labels[label[who]])
            return f"{name!r} in {percent(part[who])} of {several(int(n[who]), 'answer')}; {said}"

        found = [Found.where("worker", out, part, why)]
        if seen.answers is not None and seen.answers.slot is not None:
            slot, there, shown = _favourite(seen, seen.answers.slot)
            still = ~same & (shown >= self.fewest) & (there >= self.share)

            def why_place(who: int) -> str:
                return f"place {slot[who]} of the list in {percent(there[who])} of {several(int(shown[who]), 'answer')}"

            found.append(Found.where("worker", still, there, why_place))
        return tuple(found)


def _favourite(seen: AnswerRows, chosen: Ints) -> tuple[Ints, Floats, Ints]:
    """(n_workers,) what each chose most often (the lowest of a tie), its share, and of how many choices."""
    mine = (chosen >= 0) & (seen.worker >= 0)
    width = int(chosen.max(initial=0)) + 1
    key, count = np.unique(seen.worker[mine].astype(np.int64) * width + chosen[mine], return_counts=True)
    order = np.lexsort((key, -count, key // width))
    who, first = np.unique((key // width)[order], return_index=True)
    best, most = np.full(seen.n_workers, -1), np.zeros(seen.n_workers)
    best[who], most[who] = (key % width)[order][first], count[order][first]
    n = seen.tally(mine)
    return best, most / np.maximum(n, 1), n


def _others(seen: AnswerRows, label: Ints, whose: Bools) -> Floats:
    """(n_workers,) how often other people give a worker's favourite label to the tasks of that worker; nan: nobody else.

    Only of the workers in `whose`, for it takes a while; nan for the rest.
    """
    if not whose.any():
        return np.full(seen.n_workers, np.nan)
    named = np.flatnonzero(np.append(whose, False)[seen.worker] & (seen.top >= 0))
    task, who = seen.task[named].astype(np.int64), seen.worker[named]
    k, w = len(seen.labels), max(seen.n_workers, 1)
    every = seen.top >= 0
    in_all = np.bincount(seen.task[every], minlength=len(seen.tasks))[task]
    in_label = _times(task * k + label[who], seen.task[every].astype(np.int64) * k + seen.top[every])
    own = _times(task * w + who, task * w + who)
    same = seen.top[named] == label[who]
    own_label = _times(task * w + who, (task * w + who)[same])
    # an answer counts the others once; a person's repeats count them again, in both sums alike
    met, alike = np.bincount(who, in_all - own, minlength=w), np.bincount(who, in_label - own_label, minlength=w)
    return np.where(met > 0, alike / np.maximum(met, 1), np.nan)[: seen.n_workers]


def _times(wanted: Ints, keys: Ints) -> Ints:
    """How often each number occurs among the keys."""
    ordered = np.sort(keys)
    return np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted, "left")
