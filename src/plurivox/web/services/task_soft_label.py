"""How the soft labels of a task were made: what each answer became, votes and beliefs by label, the methods in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np

from plurivox.aggregate import LogPool
from plurivox.aggregate import methods as aggregators
from plurivox.core.answers import Answers
from plurivox.core.array_types import TEXT, Floats, Ints
from plurivox.core.method import parse_spec
from plurivox.elicit import Form
from plurivox.web.store.report.answer_kinds import SOFT_LABEL_KINDS
from plurivox.web.store.report.result_snapshots import Snapshot
from plurivox.web.store.report.task_detail import TaskAnswer, TaskDetail
from plurivox.web.study.config import Study
from plurivox.web.study.question_forms import elicit_form_name_of_study_form
from plurivox.workflows import TRUTH_AND_PEOPLE

MEAN_OF_ANSWERS = "vote-shares"  # the aggregator that weights all answers equally
MAX_LABELS = 50  # shown of an answer or of the task, the most probable ones
WHICH_ANSWERS = "Late answers are included; repeats, practice, replaced answers and answers of excluded people are not."


@dataclass(frozen=True)
class LabelShare:
    """The share of one label in an answer."""

    label: str
    p: float


@dataclass(frozen=True)
class AnswerDistribution:
    """The distribution that an answer becomes; empty for "can't tell" and "none of these"."""

    top: list[LabelShare]  # labels with a share, the largest first, at most MAX_LABELS
    n_further: int  # labels with a share beside them
    p_further: float  # their shares together


@dataclass(frozen=True)
class LabelSummary:
    """One label of a task: how many named it first, what people believed of it, and its part of both soft labels."""

    label: str
    votes: int  # answers that name it first
    vote_share: float  # among the answers that name a label
    belief: float  # mean of the distributions as entered, without gamma
    mean: float  # mean of the distributions that the answers became
    p: float | None  # the share of people who would give it, from the latest snapshot; None if there is none yet
    low: float | None
    high: float | None
    truth: float | None  # the probability that it is right, from the latest snapshot; None if there is none yet


@dataclass(frozen=True)
class SoftLabelExplained:
    """What the answers of a task became, its labels, and how its soft labels were made."""

    distributions: list[AnswerDistribution]  # one per answer of the task
    labels: list[LabelSummary]
    n_further_labels: int  # beside those in `labels`
    has_gamma: bool  # whether a form gives a part of an answer to labels that it does not name
    n_answers: int  # now, that the soft labels are to be computed from
    how: list[str]  # sentences


def explain_soft_label(study: Study, detail: TaskDetail, snapshot: Snapshot) -> SoftLabelExplained:
    """Return what each answer of a task became, votes and beliefs of each label, and how the soft labels were made."""
    marked = (mark.label for one in detail.answers for mark in one.marks if mark.label)
    labels = list(dict.fromkeys([*study.labels, *snapshot.label_shares, *marked]))
    used = np.array([one.counted_as in SOFT_LABEL_KINDS for one in detail.answers], bool)
    became = _distributions(study, detail.answers, labels, without_gamma=False)  # (n_answers, n_labels)
    entered = _distributions(study, detail.answers, labels, without_gamma=True)
    used &= became.sum(1) > 0
    top = np.array([_code_of_label_named_first(one, labels) for one in detail.answers], np.int64)
    votes = np.bincount(top[used & (top >= 0)], minlength=len(labels))
    names = list(dict.fromkeys(one.form for one in detail.answers)) or _forms_of_study(study)
    forms = [study.elicit_form(name) for name in names]
    return SoftLabelExplained(
        distributions=[_distribution_of_answer(row, labels) for row in became],
        labels=_summaries(detail, labels, votes, entered[used], became[used]),
        n_further_labels=max(0, len(labels) - MAX_LABELS),
        has_gamma=any(getattr(form, "gamma", 0) for form in forms),
        n_answers=int(used.sum()),
        how=[
            *_explain_forms(forms),
            *explain_truth_and_people(snapshot, detail.n),
            f"{WHICH_ANSWERS} “Can't tell” and “none of these” name no label, so they have no distribution.",
        ],
    )


# ---- distributions


def _distributions(
    study: Study, task_answers: Sequence[TaskAnswer], labels: Sequence[str], *, without_gamma: bool
) -> Floats:
    """(n_answers, n_labels) the share of each label in each answer, read as for soft labels, or with gamma = 0; zeros for
    answers that name no label."""
    shares = np.zeros((len(task_answers), len(labels)))
    names = np.array([one.form for one in task_answers], object)
    for name in dict.fromkeys(names.tolist()):
        rows = np.flatnonzero(names == name)
        form: Any = study.elicit_form(name)
        form = replace(form, gamma=0.0) if without_gamma and hasattr(form, "gamma") else form
        read = form.read(_answers_of_rows([task_answers[row] for row in rows.tolist()], labels))
        shares[rows[read.votes.answer], _codes_of_labels(read.votes.labels, labels)[read.votes.label]] = (
            read.votes.weights
        )
    return shares


def _answers_of_rows(task_answers: Sequence[TaskAnswer], labels: Sequence[str]) -> Answers:
    """Return answers of one task as `Answers`, in their order, as if each were by another worker."""
    return Answers.of(
        task=["task"] * len(task_answers),
        worker=range(len(task_answers)),
        marks=[[(kind, label or None, typed) for kind, label, typed in one.marks] for one in task_answers],
        labels=labels,
        form=np.array([one.form for one in task_answers], dtype=TEXT),
        abstain=np.array([one.abstain for one in task_answers], bool),
        none_of_these=np.array([one.none_of_these for one in task_answers], bool),
    )


def _codes_of_labels(names: Any, labels: Sequence[str]) -> Ints:
    """(n_names,) the position of each name in `labels`."""
    place = {label: at for at, label in enumerate(labels)}
    return np.array([place[str(name)] for name in names.tolist()], np.int64)


def _code_of_label_named_first(answer: TaskAnswer, labels: Sequence[str]) -> int:
    """Return the position in `labels` of the label that an answer names first; -1 if it names none."""
    if answer.abstain or answer.none_of_these:
        return -1
    return next((labels.index(mark.label) for mark in answer.marks if mark.kind == "named" and mark.label), -1)


def _distribution_of_answer(shares: Floats, labels: Sequence[str]) -> AnswerDistribution:
    """Return the shares (n_labels,) of an answer as a list, the largest first, without labels of share 0."""
    order = [at for at in np.argsort(-shares, kind="stable").tolist() if shares[at] > 0]
    further = order[MAX_LABELS:]
    return AnswerDistribution(
        top=[LabelShare(labels[at], round(float(shares[at]), 6)) for at in order[:MAX_LABELS]],
        n_further=len(further),
        p_further=round(float(shares[further].sum()), 6),
    )


def _summaries(
    detail: TaskDetail, labels: Sequence[str], votes: Ints, entered: Floats, became: Floats
) -> list[LabelSummary]:
    """Return votes, mean belief and both soft labels of each label, at most MAX_LABELS, those that most would give first."""
    soft, truth = {one.label: one for one in detail.soft}, {one.label: one.p for one in detail.truth}
    belief, mean = (one.mean(0) if len(one) else np.zeros(len(labels)) for one in (entered, became))
    order = sorted(range(len(labels)), key=lambda k: (-(soft[labels[k]].p if labels[k] in soft else 0.0), -mean[k], k))
    return [
        LabelSummary(
            label=labels[k],
            votes=int(votes[k]),
            vote_share=round(float(votes[k] / max(votes.sum(), 1)), 6),
            belief=round(float(belief[k]), 6),
            mean=round(float(mean[k]), 6),
            p=soft[labels[k]].p if labels[k] in soft else None,
            low=soft[labels[k]].low if labels[k] in soft else None,
            high=soft[labels[k]].high if labels[k] in soft else None,
            truth=truth.get(labels[k]),
        )
        for k in order[:MAX_LABELS]
    ]


# ---- words


def _forms_of_study(study: Study) -> list[str]:
    """Return the forms of `elicit` that read the answers of a study: one, or those of its arms."""
    ways = [study.config_of_arm(one.name) for one in study.arms] or [study]
    return list(dict.fromkeys(elicit_form_name_of_study_form(one.form) for one in ways))


def _explain_forms(forms: Sequence[Form]) -> list[str]:
    """Return sentences that say how an answer becomes a distribution, for each form by its name if there are several."""
    opening = "Each answer becomes a distribution over the labels."
    if len(forms) == 1:
        return [f"{opening} {forms[0].explain()}"]
    return [f"{opening} It depends on the form of the answer."] + [f"{form.name()}: {form.explain()}" for form in forms]


def explain_truth_and_people(snapshot: Snapshot, n_answers: int | None = None) -> list[str]:
    """Return the difference between truth and people in a sentence, and a sentence about the method of each in a snapshot.

    `n_answers` are those of one task, None: any task.
    """
    if n_answers == 0:
        return ["No answer names a label yet, so there is no soft label."]
    told = [TRUTH_AND_PEOPLE]
    if snapshot.truth_by:
        told.append(f"Truth: {_explain_method(snapshot.truth_by, snapshot.truth_weights_people, n_answers)}")
        told[-1] += _explain_highest_probability(snapshot.truth_by, n_answers, len(snapshot.truth_label_shares))
        if snapshot.truth_due is not None:
            told[-1] += " Computing it takes long, so that the latest answers are still to be added."
    return [*told, f"People: {_explain_method(snapshot.by or MEAN_OF_ANSWERS, snapshot.weights_people, n_answers)}"]


def _explain_highest_probability(by: str, n_answers: int | None, n_labels: int) -> str:
    """Return a sentence on the highest probability that log-pool gives with this number of answers; "" for other methods."""
    method = aggregators.make(by)
    if not isinstance(method, LogPool) or not method.background or not n_labels:
        return ""
    if n_answers is None:
        return " Even if all agree, they may all be misled: no label gets 100%."
    highest = floor(100 * method.highest_probability(n_answers, n_labels) + 0.5)
    return f" Even if all agree, they may all be misled: no label gets more than {highest}% here."


def _explain_method(by: str, weights_people: bool, n_answers: int | None) -> str:
    """Return how an aggregator makes a soft label of the answers to a task, in words that follow a colon."""
    these = "the answers to a task" if n_answers is None else "1 answer" if n_answers == 1 else f"{n_answers} answers"
    if by == MEAN_OF_ANSWERS:
        if n_answers == 1:
            return f"the distribution of the only answer (aggregator {by})."
        return f"the mean of {these}, and all people count the same (aggregator {by})."
    if weights_people:
        return (
            f"computed from {these} by the aggregator {by}. It estimates from all tasks how reliable each "
            "person is and gives the answers of reliable people more weight, so it can differ from their mean."
        )
    return f"computed from {these} by the aggregator {by}: “{aggregators.summary(parse_spec(by)[0])}”"
