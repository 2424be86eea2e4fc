"""Drop the worst workers or tasks by a score, aggregate again, compare."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from plurivox import aggregate, evaluate, identify
from plurivox.aggregate import Aggregator
from plurivox.core.answers import Answers
from plurivox.core.audit import Audit, AuditRow
from plurivox.core.encoding import as_text, positions
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning
from plurivox.core.progress import Progress, nested_progress, no_progress
from plurivox.core.results import Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.tables import Table
from plurivox.core.types import Bools, Ints, Names
from plurivox.core.votes import Votes
from plurivox.identify import Evidence, Identifier
from plurivox.io.dataset import CROWD_PARTS, Dataset
from plurivox.workflows.compare_methods import known_of
from plurivox.workflows.score_crowd import EvidenceCache

G = TypeVar("G", Votes, Answers, Dataset)
FEWEST = {"worker": 2, "task": 1}  # so many must stay


def prune(
    given: G,
    score: str | Identifier | Scores,
    quantile: float,
    *,
    of: str | None = None,
    gold: SoftLabels | None = None,
    progress: Progress = no_progress,
) -> tuple[G, Audit]:
    """The same without the workers, or the tasks, whose score is among the worst `quantile`; and an audit of them.

    Higher values are worse. Of n that have a value floor(quantile x n) go, fewer where the last of them is tied with one
    that would stay: those tied there stay together. Whatever cannot be told (nan) stays. `of` may say what is meant to
    be dropped, `worker` or `task`; a score of something else is then an error.

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyyxyz"))
    >>> left, audit = prune(votes, "disagreement", 0.4)
    >>> left.tasks.tolist(), audit.reason.tolist()
    (['a', 'b'], ['0.6667, rank 1 of 3: among the worst 40%'])
    """
    if not 0 < quantile < 1:
        raise OptionError(f"quantile must lie between 0 and 1, such as 0.1 for the worst tenth; got {quantile}")
    scores = score if isinstance(score, Scores) else _score(given, score, gold, progress)
    if scores.of not in FEWEST or (of is not None and scores.of != of):
        wanted = of or "worker or task"
        raise InputError(f"{scores.made_by} is a score of a {scores.of}; to drop by it takes one of a {wanted}")
    out = _worst(scores, quantile)
    left = len(scores.names) - len(out)
    if len(out) and left < FEWEST[scores.of]:
        raise InputError(
            f"{scores.made_by}: the worst {quantile:g} of {len(scores.names)} {scores.of}s leave {left}; at least "
            f"{FEWEST[scores.of]} must stay: lower the quantile"
        )
    return _without(given, scores, out), _audit(given, scores, out, quantile)


def _score(
    given: Votes | Answers | Dataset, method: str | Identifier, gold: SoftLabels | None, progress: Progress
) -> Scores:
    """The score by name, of votes; of answers, of the votes for the label that each names first."""
    made = identify.methods.make(method)
    if isinstance(given, Answers):
        votes, seen = top_votes(given), Evidence(gold=gold, answers=given)
    elif isinstance(given, Dataset):
        known = given.gold if gold is None else gold
        votes, seen = votes_to_score(given, made), Evidence(gold=known, answers=given.answers)
    else:
        votes, seen = given, Evidence(gold=gold)
    return EvidenceCache(votes, seen, alone=True).score(made, progress)


def votes_to_score(data: Dataset, method: str | Identifier) -> Votes:
    """The votes of a data set that a score looks at: those of named people for a score of workers."""
    if data.has("votes") and identify.methods.make(method).of == "worker":
        votes = data.votes  # counts may cover more tasks, but name nobody
        assert votes is not None
        return votes
    if data.has("votes") or data.has("counts") or data.answers is None:
        return data.crowd()
    return top_votes(data.answers)


def top_votes(answers: Answers) -> Votes:
    """A plain vote for the label that each answer names first; answers without any, or set aside, are no votes.

    >>> top_votes(Answers.of(["a"], ["ann"], [[("named", "cat", "70"), ("named", "dog", "20")]]))
    <Votes: 1 vote, 1 task, 1 worker, 2 labels>
    """
    top = answers.named(0)
    said = top >= 0
    for aside in (answers.abstain, answers.none_of_these):
        if aside is not None:
            said &= ~aside
    times = {name: None if (c := getattr(answers, name)) is None else c[said] for name in ("when", "seconds")}
    return Votes.coded(
        task=answers.task[said],
        worker=answers.worker[said],
        label=top[said],
        tasks=answers.tasks,
        workers=answers.workers,
        labels=answers.labels,
        scale=answers.scale,
        **times,
    )


def _worst(scores: Scores, quantile: float) -> Ints:
    """The places of those that go, worst first."""
    known = np.flatnonzero(~np.isnan(scores.value))
    order = known[np.argsort(-scores.value[known], kind="stable")]
    n = math.floor(quantile * len(known) + 1e-9)
    if not n:
        warnings.warn(
            f"{scores.made_by}: none goes; {quantile:g} of {len(known):,} {scores.of}s is less than one{_way_out(len(known))}",
            PlurivoxWarning,
            stacklevel=3,
        )
    if n in (0, len(order)):
        return order[:n]
    border = scores.value[order[n]]  # the best value that stays
    out = order[:n][scores.value[order[:n]] > border]
    if len(out) < n:
        tied = int((scores.value == border).sum())
        warnings.warn(
            f"{scores.made_by}: {len(out):,} go instead of {n:,}; {tied:,} {scores.of}s are tied at {border:.4g} and stay",
            PlurivoxWarning,
            stacklevel=3,
        )
    return out


def _way_out(n: int) -> str:
    """The share from which one of n goes, where there is one below 1.

    >>> _way_out(3), _way_out(1)
    (': take 0.34 or more', '')
    """
    return f": take {math.ceil(100 / n) / 100:g} or more" if n > 1 else ""


def _audit(given: Any, scores: Scores, out: Ints, quantile: float) -> Audit:
    rule = f"drop-{scores.of}s {scores.made_by}"
    parts = (
        [given] if not isinstance(given, Dataset) else [getattr(given, one) for one in CROWD_PARTS if given.has(one)]
    )
    names, n_known = as_text(scores.names[out]), int((~np.isnan(scores.value)).sum())
    # several parts tell of the same people: a worker's answers are those with names, a task's are in the fullest part
    told = parts[0] if scores.of == "worker" else max(parts, key=_size)
    n_answers = _n_answers(told, scores.of, scores.names[out])
    rows: list[AuditRow] = []
    for rank, (at, word, n) in enumerate(zip(out.tolist(), names.tolist(), n_answers.tolist(), strict=True), start=1):
        name, value = str(word), float(scores.value[at])
        reason = f"{value:.4g}, rank {rank:,} of {n_known:,}: among the worst {100 * quantile:g}%"
        who, task = (name, "") if scores.of == "worker" else ("", name)
        rows.append((rule, "worker" if who else "task", "removed", who, task, -1, n, value, reason))
    return Audit.of([rule], rows)


def _size(said: Votes | Answers) -> float:
    return said.n_answers if isinstance(said, Votes) else len(said)


def _n_answers(said: Votes | Answers, of: str, names: Names) -> Ints:
    """(n,) how many answers each of these workers gave, or each of these tasks got."""
    all_names, code = getattr(said, f"{of}s"), getattr(said, of)
    place, named = positions(all_names, names), code >= 0
    weight = said.weight[named] if isinstance(said, Votes) and said.weight is not None else None
    n = np.append(np.bincount(code[named], weight, minlength=len(all_names)), 0)  # the last one for those unknown here
    return np.rint(n[place]).astype(np.int64)


def _without(given: G, scores: Scores, out: Ints) -> G:
    gone = scores.names[out]
    if isinstance(given, Dataset):
        said = {one: getattr(given, one) for one in _parts_to_cut(given, scores.of, len(gone))}
        return given.with_crowd({one: _cut(noun, scores.of, gone) for one, noun in said.items()})
    return _cut(given, scores.of, gone)


def _parts_to_cut(data: Dataset, of: str, n_gone: int) -> list[str]:
    """What people said; without counts where workers go: they name nobody, and would still hold what those said."""
    parts = [one for one in CROWD_PARTS if data.has(one)]
    if of == "task" or not n_gone or "counts" not in parts:
        return parts
    parts.remove("counts")
    if not parts:
        raise InputError(f"{data.name} has counts without names; workers can be dropped from answers or votes only")
    words = f"{data.name}: workers go from the {' and '.join(parts)}; left out: counts, which would hold what they said"
    warnings.warn(words, PlurivoxWarning, stacklevel=4)
    return parts


N = TypeVar("N", Votes, Answers)


def _cut(said: N, of: str, gone: Names) -> N:
    """Without all that is said by these workers, or of these tasks, and without their names."""
    names = getattr(said, f"{of}s")
    place = positions(names, gone)
    stays: Bools = np.ones(len(names) + 1, bool)  # the last one stands for those who are not named
    stays[place[place >= 0]] = False
    code = getattr(said, of)
    cut = said.where(stays[code])
    rank = np.append(np.cumsum(stays[:-1]) - 1, -1)
    note = f"{int((~stays).sum()):,} {of}s dropped"
    changes: Any = {of: rank[getattr(cut, of)], f"{of}s": names[stays[:-1]], "notes": (*said.notes, note)}
    return replace(cut, **changes)


def prune_and_compare(
    votes: Votes,
    gold: SoftLabels,
    score: str | Identifier | Scores,
    quantiles: Sequence[float],
    method: str | Aggregator = "vote-shares",
    *,
    progress: Progress = no_progress,
) -> Table:
    """Accuracy, NLL and ECE of an aggregator before and after the worst are dropped, for each quantile.

    Two rows a quantile: on the tasks that still have a vote, where before and after are measured on the same tasks; and
    on all tasks that had one, where a task that lost all its votes gets a uniform prediction. A gain in the first row
    that is a loss in the second only says that hard tasks are no longer counted.

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyyxyz"))
    >>> gold = SoftLabels.gold(list("abc"), list("xyz"))
    >>> table = prune_and_compare(votes, gold, "disagreement", [0.4])
    >>> table.columns()["accuracy after"].round(3).tolist()
    [1.0, 0.778]
    """
    if not quantiles:
        raise InputError("name at least one quantile, such as 0.1 for the worst tenth")
    maker = aggregate.methods.make(method)
    truth = known_of(votes, gold)
    total = 2 + len(quantiles)
    scores = score if isinstance(score, Scores) else _score(votes, score, gold, nested_progress(progress, 0, total))
    before = maker.fit(votes, progress=nested_progress(progress, 1, total)).soft
    rows: list[dict[str, Any]] = []
    for step, quantile in enumerate(quantiles):
        left, audit = prune(votes, scores, quantile)
        after = maker.fit(left, progress=nested_progress(progress, 2 + step, total)).soft
        voted = left.voted
        head = {"quantile": quantile, f"{scores.of}s out": len(audit), "votes out": int(audit.answers.sum())}
        for on, known in (("tasks left", truth.shared(voted)), ("all tasks", truth)):
            rows.append(
                {
                    **head,
                    "on": on,
                    "tasks": len(known),
                    **_measured(before, _even_where_absent(after, voted, known), known),
                }
            )
    title = f"{maker.spec} before and after the worst {scores.of}s by {scores.made_by} are dropped"
    note = "tasks left: before and after on the same tasks; all tasks: those without a vote get a uniform prediction"
    return Table.of_rows(title, rows, (note,))


def _measured(before: SoftLabels, after: SoftLabels, truth: SoftLabels) -> dict[str, float]:
    """Each measure before and after, on the tasks of the truth; nan where there are none."""
    out: dict[str, float] = {}
    for name in ("accuracy", "NLL", "ECE"):
        for when, prediction in (("before", before), ("after", after)):
            out[f"{name} {when}"] = _measure(name, prediction, truth) if len(truth) else np.nan
    return out


def _measure(name: str, prediction: SoftLabels, truth: SoftLabels) -> float:
    if name == "NLL":
        return evaluate.nll(prediction, truth)
    return (evaluate.accuracy if name == "accuracy" else evaluate.ece)(prediction, truth, ties="share")


def _even_where_absent(soft: SoftLabels, voted: Names, truth: SoftLabels) -> SoftLabels:
    """What is believed of the tasks of the truth: as fitted where there is a vote, else every label alike."""
    here = positions(voted, truth.tasks) >= 0
    prob = np.full((len(truth), soft.n_labels), 1 / soft.n_labels)
    prob[here] = soft.on(truth.tasks[here]).prob
    return SoftLabels.of(prob, truth.tasks, soft.labels)
