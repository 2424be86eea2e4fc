"""Spreading what is left of 100 percent over the labels that are still open."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from plurivox.core.errors import InputError
from plurivox.core.names import Bools, Floats, Ints
from plurivox.elicit._flags import raised
from plurivox.elicit._marks import Pairs
from plurivox.elicit._shares import Shares

Spread: TypeAlias = Literal["clamp", "uniform", "none"]
Find: TypeAlias = Callable[[Bools], Pairs]  # the open labels of the answers that want any
SPREAD = (
    "where the rest of 100 percent goes: to labels neither named nor ruled out, to all labels not named, or nowhere"
)
CELLS = 2**24  # of the table of open labels that is in memory at a time
ROWS = 2**31  # of votes that answers may become
_NOTHING = np.zeros(0, np.int64), np.zeros(0, np.int64)


def spread(
    named: Pairs, points: Floats, find: Find, gamma: float, flags: Ints, n_labels: int, *, bare: bool = False
) -> Shares:
    """Percents on labels, and the rest of 100 in equal parts on the open ones.

    `named` is sorted by answer and label, each pair once; `points` (n_named,) are percents of 0 and more. `find` gives the
    open labels of the answers that want any; `bare` answers, which name no label, want them too. With P the sum of an
    answer's percents and n its open labels:

        P < 100:   named p / 100,            open (100 - P) / (100 n)
        P >= 100:  named (1 - gamma) p / P,  open gamma / n
        n = 0:     named p / P

    Each is one division of exact numbers as long as percents are whole, so equal answers have equal weights.
    """
    total = np.bincount(named.answer, points, minlength=len(flags))
    raised(flags, "over-100", total > 100)
    wanted = (total > 0) | bare
    left = np.where(total < 100, 100 - total, 100 * gamma)  # (n_answers,) in percent
    others = find(wanted & (left > 0))
    n_open = others.counts
    opened, full = n_open > 0, total >= 100
    raised(flags, "no-room", wanted & ~full & ~opened & (total > 0))
    whole = np.where(opened & ~full, 100.0, np.where(total > 0, total, 1))
    kept = np.where(opened & full, 1 - gamma, 1.0)
    weight = points * kept[named.answer] / whole[named.answer]
    each = left / (100.0 * np.maximum(n_open, 1))
    raised(flags, "spread-above-top", opened & (total > 0) & (each > _largest(named, weight)))
    return _merged(named, weight, others, each[others.answer], flags, n_labels)


def find_open(named: Pairs, never: Pairs, how: Spread, n_labels: int) -> Find:
    """The labels that are open: neither named nor ruled out (clamp), not named (uniform), none."""
    if how == "none":
        return lambda wanted: Pairs(*_NOTHING, len(wanted))
    closed = (named, never) if how == "clamp" else (named,)
    return lambda wanted: open_labels(wanted, closed, n_labels)


def open_labels(wanted: Bools, closed: tuple[Pairs, ...], n_labels: int) -> Pairs:
    """The labels left to the answers that want any: all but the closed ones, sorted.

    The table is made of the answers that want labels only, a block at a time.
    """
    rows = np.flatnonzero(wanted)
    if not len(rows):
        return Pairs(*_NOTHING, len(wanted))
    place = np.full(len(wanted), -1)
    place[rows] = np.arange(len(rows))
    step = max(CELLS // n_labels, 1)
    parts = []
    for begin in range(0, len(rows), step):
        block = rows[begin : begin + step]
        table = np.ones((len(block), n_labels), bool)
        for pairs in closed:
            low, high = np.searchsorted(pairs.answer, [block[0], block[-1] + 1])
            row = place[pairs.answer[low:high]]
            near = row >= 0
            table[row[near] - begin, pairs.label[low:high][near]] = False
        row, label = np.nonzero(table)
        parts.append((block[row], label))
        if sum(len(part) for part, _ in parts) > ROWS:
            raise InputError(
                f"{len(rows):,} answers with {n_labels:,} labels leave too many labels open to spread over: "
                "leave the rest where it is (spread=none)"
            )
    return Pairs(np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts]), len(wanted))


def _largest(named: Pairs, weight: Floats) -> Floats:
    """(n_answers,) the largest weight of each answer."""
    out = np.zeros(named.n_answers)
    if len(weight):
        first = np.flatnonzero(np.diff(named.answer, prepend=-1))
        out[named.answer[first]] = np.maximum.reduceat(weight, first)
    return out


def _merged(named: Pairs, weight: Floats, others: Pairs, each: Floats, flags: Ints, n_labels: int) -> Shares:
    """Named and open labels in one order; what weighs nothing is left out."""
    answer, label, weights = named.answer, named.label, weight
    if len(others.answer):
        answer = np.concatenate([answer, others.answer])
        label = np.concatenate([label, others.label])
        weights = np.concatenate([weights, each])
        order = np.argsort(answer * np.int64(n_labels) + label, kind="stable")  # two sorted runs, only to be merged
        answer, label, weights = answer[order], label[order], weights[order]
    kept = weights > 0
    return Shares(answer[kept], label[kept], weights[kept], flags)
