"""What is asked for: inputs, a target in any of its forms and a head, brought together and checked."""

import warnings
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plurivox.core.encoding import as_names, duplicates
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning, some
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats, Names
from plurivox.core.votes import Votes
from plurivox.train import heads, targets
from plurivox.train.heads import Head
from plurivox.train.targets import Target
from plurivox.train.targets._contract import Known

PLAIN = {"distribution": "soft", "votes": "all-votes", "pair": "pair"}  # what a target gives -> the plainest such one


@dataclass(frozen=True, eq=False)
class Asked:
    """Who teaches what, and on which of the inputs."""

    target: Target
    known: Known
    head: Head | None
    tasks: Names  # (n_taught,) the tasks that are taught
    labels: Names
    taught: Bools  # (n_inputs,) which inputs they are
    weight: Floats | None  # (n_taught,)


def ask(
    n_inputs: int,
    target: SoftLabels | Votes | Target | str,
    *,
    tasks: Iterable[object] | None,
    known: Known | None,
    labels: Iterable[object] | None,
    head: Head | str | None,
    weight: Any,
) -> Asked:
    """Bring together what was given; tasks that cannot be taught, or weigh nothing, are left out with a word."""
    on_top = None if head is None or head == "" else heads.methods.make(head)
    made, known = _target(target, known or Known(), on_top)
    wanted = "distribution" if on_top is None else on_top.wants
    if made.gives != wanted:
        raise OptionError(
            f"{'no head' if on_top is None else on_top.name()} goes with a target that gives {wanted}; {made.name()} gives "
            f"{made.gives}: take {PLAIN[wanted]!r}, or {_heads_for(made.gives)}"
        )
    names = _task_names(tasks, target, n_inputs)
    taught = made.teaches(known, names)
    if not taught.all():
        _tell_untaught(made, names[~taught], len(names))
    weights = None if weight is None else _weights(weight, names)
    if weights is not None:
        taught &= weights > 0
    if not taught.any():
        raise InputError("no task is left to learn from: none has a target and a weight above 0")
    listed = known.labels() if labels is None else as_names(labels, "labels")
    kept = None if weights is None else weights[taught]
    return Asked(made, known, on_top, names[taught], listed, taught, kept)


def _target(given: SoftLabels | Votes | Target | str, known: Known, head: Head | None) -> tuple[Target, Known]:
    """The target, and what is known with what was given in its place."""
    plain = PLAIN["distribution" if head is None else head.wants]
    if isinstance(given, SoftLabels):
        return targets.methods.make(plain), replace(known, soft=given)
    if isinstance(given, Votes):
        shares = SoftLabels.shares(given.tally(), given.tasks, given.labels, support=given.support)
        voted = shares.on(given.tasks[given.support > 0])
        return targets.methods.make(plain), replace(
            known, votes=given, soft=voted if known.soft is None else known.soft
        )
    return targets.methods.make(given), known


def _heads_for(gives: str) -> str:
    fitting = [name for name in heads.methods if heads.methods[name].wants == gives]
    return f"a head such as {some(fitting)}" if fitting else "no head"


def _task_names(tasks: Iterable[object] | None, target: object, n_inputs: int) -> Names:
    if tasks is None and isinstance(target, SoftLabels | Votes):
        tasks = target.tasks
    if tasks is None:
        raise InputError("the inputs need the names of their tasks: give tasks, one for each row of x")
    names = as_names(tasks, "tasks")
    if len(names) != n_inputs:
        raise InputError(
            f"there are {n_inputs} inputs for {len(names)} tasks; give the task of each row of x in `tasks`"
        )
    if len(twice := duplicates(names)):
        raise InputError(f"the inputs name tasks twice: {some(twice)}")
    return names


def _tell_untaught(target: Target, names: Names, n: int) -> None:
    if len(names) == n:
        raise InputError(
            f"{target.name()} has nothing to teach about any of the {n} tasks, such as {some(names)}; do the names match?"
        )
    warnings.warn(
        f"{len(names)} of {n} tasks are left out: {target.name()} has nothing to teach about {some(names)}",
        PlurivoxWarning,
        stacklevel=4,
    )


def _weights(weight: Any, names: Names) -> Floats:
    column = np.asarray(weight, np.float64)
    if column.shape != names.shape:
        raise InputError(f"there are {column.size} weights for {len(names)} inputs; give one each")
    if not np.isfinite(column).all() or (column < 0).any():
        bad = ~np.isfinite(column) | (column < 0)
        raise InputError(f"weights must be 0 or more; look at the tasks {some(names[bad])}")
    return column


def fingerprint(x: Any, asked: Asked) -> str:
    """A number that changes when the data do."""
    seen = 0
    parts: list[Any] = [np.asarray(x), asked.taught, asked.weight]
    votes, *rows = asked.known.votes, asked.known.soft, asked.known.gold
    parts += [] if votes is None else [votes.task, votes.worker, votes.label, votes.weight]
    for soft in rows:
        parts += [] if soft is None else [block for _, block in soft.rows()]
    for part in parts:
        seen = seen if part is None else zlib.crc32(np.ascontiguousarray(part).data, seen)
    return f"{zlib.crc32(repr(asked.tasks.tolist()).encode(), seen):08x}"
