"""Statistics of a snapshot: every task is in the histograms, and agreement by hour of a study that runs for days."""

import numpy as np
import pytest

from plurivox import aggregate, elicit
from plurivox.core.answers import Answers
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.web.jobs.study_statistics import (
    MAX_HOURS,
    compute_agreement_statistics,
    soft_label_histograms_and_label_shares,
)
from plurivox.web.store.report.answer_cache import CollectedAnswers


@pytest.mark.parametrize("n_labels", [2, 3, 5, 12, 13])
def test_every_task_is_in_the_histograms(n_labels: int) -> None:
    prob = np.concatenate([np.full((4, n_labels), 1 / n_labels), np.eye(n_labels)[:2]])
    found = soft_label_histograms_and_label_shares(Fit(SoftLabels.of(prob, range(6), range(n_labels)), [], "by hand"))
    assert found.entropy == [2, 0, 0, 0, 0, 0, 0, 0, 0, 4] and sum(found.confidence) == 6


def collected(answers: Answers) -> CollectedAnswers:
    """Return answers with the columns of the database, without practice, extras and unseen images."""
    ids, unknown, no = np.arange(len(answers)), np.full(len(answers), np.nan), np.zeros(len(answers), bool)
    columns = (ids, answers.task, answers.worker, no, no, unknown, unknown, unknown, no, no, unknown)
    return CollectedAnswers(answers, *columns)


def test_agreement_by_hour_lists_the_latest_hours_of_a_long_study() -> None:
    """Every hour three workers label one task; in every fourth hour one of them disagrees with the others."""
    n, first = MAX_HOURS + 30, 450_000 * 3600.0
    row = np.random.default_rng(0).permutation(3 * n)  # answers of an hour are not next to each other
    hour, worker = row // 3, row % 3
    said = np.where((worker == 2) & (hour % 4 == 0), "dog", "cat")
    answers = Answers.of(
        task=[f"t{i:03}" for i in hour],
        worker=[f"w{i}" for i in worker],
        marks=[[("named", label, "")] for label in said],
        labels=["cat", "dog"],
        when=first + hour * 3600 + np.array([0.0, 1800.0, 3599.0])[worker],
        repeat_of=np.full(3 * n, -1),
    )
    elicited = elicit.methods.make("one-label").read(answers)
    fitted = aggregate.methods.make("vote-shares").fit(elicited.votes)
    found = compute_agreement_statistics(collected(answers), elicited.votes, fitted)
    want = [(first + i * 3600, round(2 / 3, 4) if i % 4 == 0 else 1.0, 3) for i in range(30, n)]
    assert found.by_hour == want and len(want) == MAX_HOURS
