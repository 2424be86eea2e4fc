"""What every rule is, what it says, and how rules are applied one after the other."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np

from plurivox.clean._shared.answer_rows import UNKNOWN, AnswerRows
from plurivox.core.answers import Answers
from plurivox.core.audit import Audit, AuditAction, AuditRow, AuditTarget
from plurivox.core.encoding import as_text
from plurivox.core.errors import InputError, first_few
from plurivox.core.method import Method
from plurivox.core.registry import Methods
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes

__all__ = ["AnswerRows", "Cleaned", "Found", "Rule", "clean", "methods"]

A = TypeVar("A", Answers, Votes)
HOW = {  # what is missing -> what it is, and how to get it
    "marks": "what people entered, percents and ruled-out labels included; these are votes: give the answers table",
    "gold": "known labels: give them (--gold FILE), or a data set that has gold",
    "seconds": "how long each answer took: give a column 'seconds' (or 'rt_ms')",
    "times": "the time of each answer, to tell a copy from a repeat: give a column 'seconds', 'rt_ms' or 'when'",
    "repeats": "tasks that a person answered twice, and there are none: ask some again and mark them in a column "
    "'repeat_of' or 'repeat', and put this rule before those that remove repeats",
    "order": "to know which answer came first, and votes are sorted: give a column 'when', or read them with "
    "repeats='first' (--repeats first)",
}


@dataclass(frozen=True, eq=False)
class Found:
    """What a rule says of some answers or some workers: that they go, or only a word about them, and why."""

    what: AuditTarget  # answer or worker
    at: Ints  # (n,) their numbers in what was seen
    value: Floats  # (n,) what was measured of each
    reason: Sequence[str]  # (n,)
    did: AuditAction = "removed"
    instead: Ints | None = None  # (n,) of copies: the answer that stays in the place of each

    @classmethod
    def where(
        cls,
        what: AuditTarget,
        which: Bools,
        value: Floats | Ints,
        why: Callable[[int], str],
        did: AuditAction = "removed",
    ) -> Self:
        """Those where `which` is true; `why` writes the reason of one."""
        at = np.flatnonzero(which)
        return cls(what, at, np.asarray(value, np.float64)[at], [why(one) for one in at.tolist()], did)


@dataclass(frozen=True)
class Rule(Method, ABC):
    """A rule looks at what people entered and says which answers go, or which people with all their answers, and why.

    `needs` names what must be there (see HOW). A rule that `takes` votes can look at plain votes as well as at answers.
    One that `settles` finds nothing more when it is applied a second time.
    """

    takes: ClassVar[frozenset[str]] = frozenset({"votes"})
    needs: ClassVar[tuple[str, ...]] = ()
    settles: ClassVar[bool] = True

    def check(self, seen: AnswerRows) -> tuple[Found, ...]:
        """What the rule finds in all that was entered; nothing is changed."""
        for name in self.needs:
            if not _there(seen, name):
                raise InputError(f"{self.name()} needs {HOW[name]}")
        if "gold" in self.needs and seen.truth is not None and len(seen.tasks) and (seen.truth == UNKNOWN).all():
            raise InputError(
                f"{self.name()} needs known labels, and those given are of none of these tasks: {first_few(seen.tasks)}; are "
                "tasks called alike in both?"
            )
        return self._check(seen)

    @abstractmethod
    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        """The rule itself; everything it needs is there."""


def _there(seen: AnswerRows, name: str) -> bool:
    """Whether that is there which a rule needs."""
    match name:
        case "marks":
            return seen.answers is not None
        case "gold":
            return seen.truth is not None
        case "seconds":
            return seen.seconds is not None
        case "times":
            return seen.seconds is not None or seen.when is not None
        case "repeats":
            return (seen.answers is not None and seen.answers.repeat_of is not None) or len(seen.pairs[0]) > 0
        case _:
            assert name == "order", name
            return seen.is_ordered


@dataclass(frozen=True, eq=False)
class Cleaned(Generic[A]):
    """What is left, in the order it had, and the audit of what is not."""

    answers: A
    audit: Audit


def clean(given: A, rules: Sequence[str | Rule], gold: SoftLabels | None = None) -> Cleaned[A]:
    """Apply rules in the order given, each to what the ones before it left; `given` itself stays as it is.

    People who are out are out of the list of workers too. Tasks and labels stay, some perhaps without an answer.

    >>> answers = Answers.of(["a", "b"], ["ann", "ann"], [[("named", "cat", "170")], [("named", "dog", "80")]])
    >>> cleaned = clean(answers, ["out-of-range"])
    >>> cleaned.answers
    <Answers: 1 answer, 2 tasks, 1 worker, 2 labels>
    >>> cleaned.audit.reason.tolist()
    ["'170' beside 'cat' is outside 0 to 100"]
    """
    made = [methods.make(rule) for rule in rules]
    if not made:
        raise InputError(f"name at least one rule; there are {', '.join(methods)}")
    left: A = given
    source, parts = np.arange(len(given)), []
    for rule in made:
        seen = AnswerRows.of(left, gold, source)
        found = rule.check(seen)
        people, answers = _out(seen, found)
        parts.append(_audit(rule.spec, seen, found))
        keep = ~(answers | np.append(people, False)[seen.worker])[seen.unit]
        left, source = _left(left, keep, people, found, rule.spec), source[keep]
    return Cleaned(left, Audit.joined(parts))


def _out(seen: AnswerRows, found: Sequence[Found]) -> tuple[Bools, Bools]:
    """(people, answers) that go: (n_workers,) and (n,)."""
    people, answers = np.zeros(seen.n_workers, bool), np.zeros(len(seen), bool)
    for one in found:
        if one.did == "removed":
            (people if one.what == "worker" else answers)[one.at] = True
    return people, answers


def _audit(rule: str, seen: AnswerRows, found: Sequence[Found]) -> Audit:
    """A row for every person out, every other answer out, and whatever else has a word said about it."""
    people, answers = _out(seen, found)
    gone = {"worker": people, "answer": answers | np.append(people, False)[seen.worker]}
    workload, workers = seen.tally(), as_text(seen.workers)
    rows: list[AuditRow] = []
    told: set[tuple[str, int]] = set()  # of several reasons for one thing the first is written down
    for one in sorted(found, key=lambda one: (one.did, one.what), reverse=True):  # removed first, and people first
        for at, value, reason in zip(one.at.tolist(), one.value.tolist(), one.reason, strict=True):
            who = int(seen.worker[at]) if one.what == "answer" else at
            with_person = one.what == "answer" and who >= 0 and bool(people[who])  # whose row tells of them all
            if with_person or (one.did == "flagged" and gone[one.what][at]) or (one.what, at) in told:
                continue
            told.add((one.what, at))
            of_answer = one.what == "answer"
            task, row = (str(seen.tasks[seen.task[at]]), int(seen.row[at])) if of_answer else ("", -1)
            n = 0 if one.did == "flagged" else 1 if of_answer else int(workload[at])
            rows.append((rule, one.what, one.did, str(workers[who]) if who >= 0 else "", task, row, n, value, reason))
    return Audit.of([rule], rows)


def _left(given: A, keep: Bools, people: Bools, found: Sequence[Found], rule: str) -> A:
    """What is left of the rows and of the names of the workers; repeats of a copy become repeats of what it copies."""
    if keep.all() and not people.any():
        return given
    if isinstance(given, Answers) and given.repeat_of is not None:
        for one in found:
            if one.instead is not None:
                back = np.append(np.arange(len(given)), -1)
                back[one.at] = one.instead
                given = replace(given, repeat_of=back[given.repeat_of])
    rank = np.append(np.cumsum(~people) - 1, -1)
    cut = given.where(keep)
    note = f"{rule}: {int((~keep).sum()):,} of {len(keep):,} rows removed"
    return replace(cut, worker=rank[cut.worker], workers=given.workers[~people], notes=(*given.notes, note))


methods: Methods[Rule] = Methods(__package__, Rule)
