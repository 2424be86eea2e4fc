"""Compare predictions (soft or hard labels of classifiers or aggregators) against true labels, from files or in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plurivox import evaluate
from plurivox.core.errors import InputError
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.evaluate import PredictionComparison
from plurivox.evaluate.measures.hard_label_measures import Ties
from plurivox.workflows.labels_of_input import read_labels_of_input


def compare_labels(
    predictions: Mapping[str, Any],
    truth: Any,
    *,
    reference: str | None = None,
    measures: str | Sequence[str] | None = None,
    repeats: int = 10_000,
    seed: int = 0,
    ties: Ties = "first",
    part: str | None = None,
) -> PredictionComparison:
    """Return measures of predictions by name, and their differences to one of them, by paired bootstrap over tasks.

    A prediction is SoftLabels, a Fit, or the path of one, or of a table of soft or hard labels; the truth also a data set with
    gold labels. `measures` are a list, or one text separated by commas. See `plurivox.evaluate.compare_several_predictions`.
    """
    if truth is None:
        raise InputError(
            "predictions are compared with true labels: give gold=... (--gold FILE), a table task,label, soft labels or a data "
            "set with gold labels"
        )
    made = {
        name: read_labels_of_input(given, part).soft_labels_else_vote_shares() for name, given in predictions.items()
    }
    known = read_labels_of_input(truth, part).with_gold_covering(next(iter(made.values())).tasks)
    true_labels = known.gold_else_soft_else_vote_shares()
    found = evaluate.compare_several_predictions(
        made,
        true_labels.soft,
        reference=reference,
        measures=split_at_commas_outside_brackets(measures) if isinstance(measures, str) else measures,
        repeats=repeats,
        seed=seed,
        ties=ties,
    )
    if true_labels.votes is None:
        return found
    note = (
        f"{known.name} has no gold labels: the label with the most {true_labels.name} is taken as the true one; if a "
        f"prediction was made from these {true_labels.name}, its measures show how close it stays to them, not how right it is"
    )
    return replace(found, notes=(*found.notes, note))
