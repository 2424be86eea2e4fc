"""Drop the worst workers or tasks by a score, and compare an aggregator before and after."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from plurivox import aggregate, evaluate, identify
from plurivox.aggregate import Aggregator
from plurivox.core.answers import Answers
from plurivox.core.array_types import Bools, Ints, Names
from plurivox.core.cleaning_audit import Audit, AuditRow
from plurivox.core.errors import InputError, OptionError, warn_user
from plurivox.core.name_encoding import as_text, positions
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step, no_progress
from plurivox.core.recipe_tables import Table
from plurivox.core.results import Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Evidence, Identifier
from plurivox.io.dataset import CROWD_PARTS, Dataset
from plurivox.io.dataset_reader import as_dataset
from plurivox.io.soft_label_inputs import as_soft_labels
from plurivox.workflows.gold_of_voted_tasks import gold_of_tasks_with_votes
from plurivox.workflows.score_tasks_workers import EvidenceCache, warn_if_too_few_votes_to_rank_workers

G = TypeVar("G", Votes, Answers, Dataset)
MIN_LEFT = {"worker": 2, "task": 1}  # at least this many must be left


def prune(
    given: G,
    score: str | Identifier | Scores,
    quantile: float,
    *,
    of: str | None = None,
    gold: Any = None,
    progress: Progress = no_progress,
) -> tuple[G, Audit]:
    """Return the data without the workers or tasks whose score is among the worst `quantile`, and an audit of those dropped.

    A higher badness is worse. Of n with a score, floor(quantile x n) are dropped, fewer if the last of them is tied with one
    that stays: all tied with it stay. Those without a score (NaN) stay. `of` may require a score of a `worker` or of a
    `task`; another score is then an error. A DataFrame or a path is read as a Dataset; `gold` is given as to `pv.fit`.

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyyxyz"))
    >>> left, audit = prune(votes, "disagreement", 0.4)
    >>> left.tasks.tolist(), audit.reason.tolist()
    (['a', 'b'], ['0.6667, rank 1 of 3: among the worst 40%'])
    """
    if not 0 < quantile < 1:
        raise OptionError(f"quantile must be between 0 and 1, such as 0.1 for the worst tenth; got {quantile}")
    data: Any = given if isinstance(given, Votes | Answers) else as_dataset(given)
    scores = (
        score
        if isinstance(score, Scores)
        else _score_workers_or_tasks(data, score, as_soft_labels(gold, data), progress)
    )
    if scores.of not in MIN_LEFT or (of is not None and scores.of != of):
        wanted = of or "worker or task"
        raise InputError(f"{scores.made_by} is a score of a {scores.of}; dropping needs a score of a {wanted}")
    out = _positions_of_worst_share_without_ties(scores, quantile)
    left = len(scores.names) - len(out)
    if len(out) and left < MIN_LEFT[scores.of]:
        raise InputError(
            f"{scores.made_by}: dropping the worst {quantile:g} of {len(scores.names)} {scores.of}s leaves {left}; at least "
            f"{MIN_LEFT[scores.of]} must be left: lower the quantile"
        )
    return _drop_names_at_score_positions(data, scores, out), _audit_of_dropped_workers_or_tasks(
        data, scores, out, quantile
    )


def _score_workers_or_tasks(
    data: Votes | Answers | Dataset, method: str | Identifier, gold: SoftLabels | None, progress: Progress
) -> Scores:
    """Return the Scores of workers or tasks by this method from the votes; answers count as votes for their first label."""
    made = identify.methods.make(method)
    if isinstance(data, Answers):
        votes, evidence = votes_for_first_labels(data), Evidence(gold=gold, answers=data)
    elif isinstance(data, Dataset):
        known = data.gold if gold is None else gold
        votes, evidence = votes_for_scoring_method(data, made), Evidence(gold=known, answers=data.answers)
    else:
        votes, evidence = data, Evidence(gold=gold)
    scores = EvidenceCache(votes, evidence, single_score=True).collect_evidence_and_score(made, progress)
    warn_if_too_few_votes_to_rank_workers(scores, votes.n_labels)
    return scores


def votes_for_scoring_method(data: Dataset, method: str | Identifier) -> Votes:
    """Return the votes of a data set that a score is computed from: votes with worker names for a score of workers."""
    if data.has("votes") and identify.methods.make(method).of == "worker":
        votes = data.votes  # counts may cover more tasks, but have no worker names
        assert votes is not None
        return votes
    if data.has("votes") or data.has("counts") or data.answers is None:
        return data.crowd()
    return votes_for_first_labels(data.answers)


def votes_for_first_labels(answers: Answers) -> Votes:
    """Return one vote per answer, for the label it names first; answers without a label and abstentions are left out.

    >>> votes_for_first_labels(Answers.of(["a"], ["ann"], [[("named", "cat", "70"), ("named", "dog", "20")]]))
    <Votes: 1 vote, 1 task, 1 worker, 2 labels>
    """
    top = answers.label_codes_at_rank(0)
    keep = top >= 0
    for aside in (answers.abstain, answers.none_of_these):
        if aside is not None:
            keep &= ~aside
    times = {name: None if (c := getattr(answers, name)) is None else c[keep] for name in ("when", "seconds")}
    return Votes.coded(
        task=answers.task[keep],
        worker=answers.worker[keep],
        label=top[keep],
        tasks=answers.tasks,
        workers=answers.workers,
        labels=answers.labels,
        scale=answers.scale,
        **times,
    )


def _positions_of_worst_share_without_ties(scores: Scores, quantile: float) -> Ints:
    """Return the positions of the worst workers or tasks in the scores, worst first; warn if none, or fewer because of ties."""
    known = np.flatnonzero(~np.isnan(scores.badness))
    order = known[np.argsort(-scores.badness[known], kind="stable")]
    n = math.floor(quantile * len(known) + 1e-9)
    if not n:
        warn_user(
            f"{scores.made_by}: nothing is dropped; {quantile:g} of {len(known):,} {scores.of}s is less than one"
            f"{_hint_smallest_quantile_that_drops_one(len(known))}"
        )
    if n in (0, len(order)):
        return order[:n]
    border = scores.badness[order[n]]  # the worst badness that stays
    out = order[:n][scores.badness[order[:n]] > border]
    if len(out) < n:
        tied = int((scores.badness == border).sum())
        warn_user(
            f"{scores.made_by}: {len(out):,} instead of {n:,} are dropped; {tied:,} {scores.of}s are tied at badness "
            f"{border:.4g} and stay"
        )
    return out


def _hint_smallest_quantile_that_drops_one(n_scored: int) -> str:
    """Return the smallest quantile that drops one of n, as a hint; "" if there is none below 1.

    >>> _hint_smallest_quantile_that_drops_one(3), _hint_smallest_quantile_that_drops_one(1)
    (': use 0.34 or more', '')
    """
    return f": use {math.ceil(100 / n_scored) / 100:g} or more" if n_scored > 1 else ""


def _audit_of_dropped_workers_or_tasks(data: Any, scores: Scores, dropped_positions: Ints, quantile: float) -> Audit:
    """Return the audit: one row per worker or task dropped, with its score, rank and number of answers."""
    rule = f"drop-{scores.of}s {scores.made_by}"
    parts = [data] if not isinstance(data, Dataset) else [getattr(data, one) for one in CROWD_PARTS if data.has(one)]
    names, n_known = as_text(scores.names[dropped_positions]), int((~np.isnan(scores.badness)).sum())
    # several parts contain the same answers: count a worker's in the part with names, a task's in the largest part
    counted = parts[0] if scores.of == "worker" else max(parts, key=_number_of_answers)
    n_answers = _count_answers_per_worker_or_task(counted, scores.of, scores.names[dropped_positions])
    rows: list[AuditRow] = []
    for rank, (at, text, n) in enumerate(
        zip(dropped_positions.tolist(), names.tolist(), n_answers.tolist(), strict=True), start=1
    ):
        name, raw = str(text), float(scores.raw[at])
        reason = f"{raw:.4g}, rank {rank:,} of {n_known:,}: among the worst {100 * quantile:g}%"
        worker, task = (name, "") if scores.of == "worker" else ("", name)
        rows.append((rule, "worker" if worker else "task", "removed", worker, task, -1, n, raw, reason))
    return Audit.of([rule], rows)


def _number_of_answers(crowd: Votes | Answers) -> float:
    """Return the number of answers in votes or answers (a soft answer counts once)."""
    return crowd.n_answers if isinstance(crowd, Votes) else len(crowd)


def _count_answers_per_worker_or_task(crowd: Votes | Answers, worker_or_task: str, names: Names) -> Ints:
    """Return (n,) the number of answers of each of these workers, or to each of these tasks."""
    all_names, code = getattr(crowd, f"{worker_or_task}s"), getattr(crowd, worker_or_task)
    place, named = positions(all_names, names), code >= 0
    weight = crowd.weight[named] if isinstance(crowd, Votes) and crowd.weight is not None else None
    # the last is for names that are absent here
    n = np.append(np.bincount(code[named], weight, minlength=len(all_names)), 0)
    return np.rint(n[place]).astype(np.int64)


def _drop_names_at_score_positions(data: G, scores: Scores, dropped_positions: Ints) -> G:
    """Return the votes, answers or data set without the workers or tasks at these positions in the scores."""
    gone = scores.names[dropped_positions]
    if isinstance(data, Dataset):
        crowds = {one: getattr(data, one) for one in _names_of_parts_to_prune(data, scores.of, len(gone))}
        return data.with_crowd({one: _drop_workers_or_tasks(crowd, scores.of, gone) for one, crowd in crowds.items()})
    return _drop_workers_or_tasks(data, scores.of, gone)


def _names_of_parts_to_prune(data: Dataset, worker_or_task: str, n_dropped: int) -> list[str]:
    """Return the names of the parts to prune: answers, votes and counts; not counts if workers (no names there) are dropped."""
    parts = [one for one in CROWD_PARTS if data.has(one)]
    if worker_or_task == "task" or not n_dropped or "counts" not in parts:
        return parts
    parts.remove("counts")
    if not parts:
        raise InputError(
            f"{data.name} has counts without worker names; workers can be dropped only from answers or votes"
        )
    message = (
        f"{data.name}: workers are dropped from the {' and '.join(parts)}; left out: counts, which have no worker names"
    )
    warn_user(message)
    return parts


N = TypeVar("N", Votes, Answers)


def _drop_workers_or_tasks(crowd: N, worker_or_task: str, dropped_names: Names) -> N:
    """Return votes or answers without these workers (or tasks), and without their names in the list of names."""
    names = getattr(crowd, f"{worker_or_task}s")
    place = positions(names, dropped_names)
    stays: Bools = np.ones(len(names) + 1, bool)  # the last is for unnamed workers
    stays[place[place >= 0]] = False
    code = getattr(crowd, worker_or_task)
    cut = crowd.where(stays[code])
    rank = np.append(np.cumsum(stays[:-1]) - 1, -1)
    note = f"{int((~stays).sum()):,} {worker_or_task}s dropped"
    changes: Any = {
        worker_or_task: rank[getattr(cut, worker_or_task)],
        f"{worker_or_task}s": names[stays[:-1]],
        "notes": (*crowd.notes, note),
    }
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
    """Return a table of the accuracy, NLL and ECE of an aggregator before and after dropping the worst, for each quantile.

    Two rows per quantile: on the tasks that still have votes, the same tasks before and after; and on all tasks that had
    votes, where a task that lost all its votes gets a uniform prediction. A gain in the first row that is a loss in the
    second only means that hard tasks are no longer counted.

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyyxyz"))
    >>> gold = SoftLabels.gold(list("abc"), list("xyz"))
    >>> table = prune_and_compare(votes, gold, "disagreement", [0.4])
    >>> table.columns()["accuracy after"].round(3).tolist()
    [1.0, 0.778]
    """
    if not quantiles:
        raise InputError("give at least one quantile, such as 0.1 for the worst tenth")
    maker = aggregate.methods.make(method)
    truth = gold_of_tasks_with_votes(votes, gold)
    total = 2 + len(quantiles)
    scores = (
        score
        if isinstance(score, Scores)
        else _score_workers_or_tasks(votes, score, gold, callback_reporting_only_outer_step(progress, 0, total))
    )
    before = maker.fit(votes, progress=callback_reporting_only_outer_step(progress, 1, total)).soft
    rows: list[dict[str, Any]] = []
    for step, quantile in enumerate(quantiles):
        left, audit = prune(votes, scores, quantile)
        after = maker.fit(left, progress=callback_reporting_only_outer_step(progress, 2 + step, total)).soft
        voted = left.tasks_with_votes
        head = {"quantile": quantile, f"{scores.of}s out": len(audit), "votes out": int(audit.answers.sum())}
        for on, known in (("tasks left", truth.shared(voted)), ("all tasks", truth)):
            rows.append(
                {
                    **head,
                    "on": on,
                    "tasks": len(known),
                    **_measures_before_and_after_pruning(
                        before, _fitted_labels_or_uniform_without_votes(after, voted, known), known
                    ),
                }
            )
    title = f"{maker.spec} before and after the worst {scores.of}s by {scores.made_by} are dropped"
    note = "tasks left: before and after on the same tasks; all tasks: those without a vote get a uniform prediction"
    return Table.of_rows(title, rows, (note,))


def _measures_before_and_after_pruning(
    prediction_before: SoftLabels, prediction_after: SoftLabels, truth: SoftLabels
) -> dict[str, float]:
    """Return {"<measure> before", "<measure> after"} of predictions before and after pruning, on the tasks of the truth."""
    out: dict[str, float] = {}
    for name in ("accuracy", "NLL", "ECE"):
        for when, prediction in (("before", prediction_before), ("after", prediction_after)):
            out[f"{name} {when}"] = _accuracy_nll_or_ece(name, prediction, truth) if len(truth) else np.nan
    return out


def _accuracy_nll_or_ece(measure_name: str, prediction: SoftLabels, truth: SoftLabels) -> float:
    """Return the accuracy, NLL or ECE of a prediction; tied top labels share the accuracy."""
    if measure_name == "NLL":
        return evaluate.nll(prediction, truth)
    return (evaluate.accuracy if measure_name == "accuracy" else evaluate.ece)(prediction, truth, ties="share")


def _fitted_labels_or_uniform_without_votes(soft: SoftLabels, voted_tasks: Names, truth: SoftLabels) -> SoftLabels:
    """Return predictions for the tasks of the truth: as fitted for the tasks in `voted_tasks`, uniform for the others."""
    here = positions(voted_tasks, truth.tasks) >= 0
    prob = np.full((len(truth), soft.n_labels), 1 / soft.n_labels)
    prob[here] = soft.on(truth.tasks[here]).prob
    return SoftLabels.of(prob, truth.tasks, soft.labels)
