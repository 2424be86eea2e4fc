"""Accuracy and cross-entropy of CIFAR-10S answers and CIFAR-10H votes by number of answers and seconds per image."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from plurivox import elicit, evaluate
from plurivox.core.answers import Answers
from plurivox.core.array_types import Floats
from plurivox.core.recipe_tables import Table
from plurivox.core.sample_existing_answers import subsample
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.recipes._papers.cifar10s_smoothing import ADDED, dirichlet_shares, losses_with_setting_of_other_folds
from plurivox.workflows.answer_cost_in_seconds import PLAIN_VOTE_SECONDS, Curve, break_even, curve, seconds_per_answer

PLAIN_M, SOFT_M = (1, 2, 4, 8, 16, 32), (1, 2, 3, 4, 5, 6)


def answer_cost_tables(answers: Answers, cifar10h: Votes, gold: SoftLabels, seeds: int) -> list[Table]:
    """Return tables of accuracy and cross-entropy by answers and seconds per image, and the break-even of each measure."""
    votes, human, seconds = (
        elicit.methods.make("top-two").read(answers).votes,
        cifar10h.on(answers.tasks),
        seconds_per_answer(answers),
    )

    def accuracy(soft: SoftLabels) -> float:
        """Return the accuracy of soft labels against the gold labels; tied labels share the hit."""
        return evaluate.accuracy(soft, gold, ties="share")

    soft = curve(votes, accuracy, SOFT_M, seconds.value, name="soft", seeds=seeds)
    plain = curve(human, accuracy, PLAIN_M, PLAIN_VOTE_SECONDS, name="plain", seeds=seeds)
    all_counts = human.counts()
    soft_entropy = _cross_entropy_curve(soft, votes, lambda _: all_counts, seeds)
    plain_entropy = _cross_entropy_curve(plain, human, lambda drawn: all_counts - drawn, seeds)
    source = f"seconds per answer: soft {seconds.value:.1f} (median of {seconds.n:,}), plain {PLAIN_VOTE_SECONDS} (the paper)"
    target = (
        "accuracy against gold, tied labels share the hit; cross-entropy to the CIFAR-10H votes that were not drawn, "
        f"dirichlet-shares with the setting of the other folds; sd over {seeds} draws of answers"
    )
    return [
        _table_of_curves("Soft answers: by answers and seconds per image", soft, soft_entropy, target),
        _table_of_curves("Plain votes of CIFAR-10H: by votes and seconds per image", plain, plain_entropy, target),
        replace(break_even(plain, soft), notes=(source,)),
        replace(break_even(plain_entropy, soft_entropy, "lower"), notes=(source,)),
    ]


def _cross_entropy_curve(
    accuracy_curve: Curve, votes: Votes, target_counts: Callable[[Floats], Floats], seeds: int
) -> Curve:
    """Return the curve of the cross-entropy to `target_counts(counts of the drawn answers)`, for the M of another curve."""
    values = [
        [
            _smoothed_cross_entropy(drawn, target_counts(drawn))
            for drawn in _counts_of_draws(votes, int(m), range(seeds))
        ]
        for m in accuracy_curve.m
    ]
    return replace(accuracy_curve, measure="cross-entropy", values=np.array(values))


def _counts_of_draws(votes: Votes, m: int, seeds: Sequence[int]) -> list[Floats]:
    """Return (n_tasks, n_labels) vote counts of m random answers per task, for each seed."""
    return [subsample(votes, m, seed).counts() for seed in seeds]


def _smoothed_cross_entropy(counts: Floats, target_counts: Floats) -> float:
    """Return the mean cross-entropy of dirichlet-shares of `counts` to the shares of `target_counts`, `added` held out."""
    target = target_counts / np.maximum(target_counts.sum(1, keepdims=True), 1)
    uniform = 1 / counts.shape[1]
    tried = [-(target * np.log(dirichlet_shares(counts, added, uniform))).sum(1) for added in ADDED]
    return float(losses_with_setting_of_other_folds(np.array(tried))[0].mean())


def _table_of_curves(title: str, accuracy: Curve, cross_entropy: Curve, note: str) -> Table:
    """Return a table with both measures by number of answers and seconds per image."""
    columns: dict[str, object] = {"answers": accuracy.m, "seconds": accuracy.seconds}
    for one in (accuracy, cross_entropy):
        columns[one.measure] = one.values.mean(1)
        columns[f"sd {one.measure}"] = (
            one.values.std(1, ddof=1) if one.values.shape[1] > 1 else np.full(len(one.m), np.nan)
        )
    return Table(title, columns, (note,))
