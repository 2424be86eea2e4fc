"""Compare label tables task by task: where two differ most, and on which tasks two models are right or wrong."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from plurivox import evaluate
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_transforms import rename_labels
from plurivox.evaluate import Contrast, CorrectnessTable
from plurivox.evaluate.align_tasks_and_labels import shared_task_positions
from plurivox.evaluate.two_model_correctness import Statistic
from plurivox.workflows.labels_of_input import (
    InputLabels,
    Reference,
    is_reference_word,
    read_labels_of_input,
    soft_reference_and_notes,
)


def most_different_tasks(
    prediction: Any,
    truth: Any,
    against: Any = None,
    *,
    n: int | None = None,
    measure: str = "total-variation",
    part: str | None = None,
    rename: Mapping[Any, Any] | None = None,
) -> tuple[Contrast, str]:
    """Return the n tasks (default: all) on which two label tables differ most, and the name of what is compared with.

    The inputs are those of `evaluate_labels`. The tasks are sorted by a measure with one value per task, the largest distance,
    or the lowest accuracy, first. Hard measures compare with the truth; others with `against`, by default the soft labels or
    votes of the truth, else its gold labels.

    >>> one = SoftLabels.of([[.9, .1], [.5, .5]], ["a", "b"], ["no", "yes"])
    >>> two = SoftLabels.of([[.1, .9], [.4, .6]], ["a", "b"], ["no", "yes"])
    >>> found, name = most_different_tasks(one, two)
    >>> found.tasks.tolist(), found.value.round(4).tolist(), name
    (['a', 'b'], [0.8, 0.1], 'truth')
    """
    predicted, known = _prediction_and_truth(prediction, truth, part, rename)
    reference, notes = _reference_of_soft_labels(predicted, known, against, part)
    is_hard = measure in evaluate.MEASURES and evaluate.MEASURES[measure].kind == "hard"
    other = known.gold_else_soft_else_vote_shares() if reference is None or is_hard else reference
    found = evaluate.most_different(predicted, other.soft, n=len(predicted) if n is None else n, measure=measure)
    return replace(found, notes=(*found.notes, *notes)), other.name


def correctness_of_two_models(
    prediction: Any,
    other: Any,
    truth: Any,
    against: Any = None,
    *,
    statistic: Statistic = "kurtosis",
    part: str | None = None,
    rename: Mapping[Any, Any] | None = None,
) -> CorrectnessTable:
    """Return the 2 x 2 table of two predictions, each right or wrong, with the mean ambiguity of the tasks in each cell.

    Ambiguity is a `statistic` of the soft labels that people gave: those of `against`, by default the soft labels or the votes
    of the truth. Fornaciari et al. (2021), section 5, https://doi.org/10.18653/v1/2021.naacl-main.204
    """
    predicted, known = _prediction_and_truth(prediction, truth, part, rename)
    second = rename_labels(read_labels_of_input(other, part).soft_labels_else_vote_shares(), rename or {})
    reference, notes = _reference_of_soft_labels(predicted, known, against, part)
    if reference is None:
        for side in (predicted, second):  # raises InputError if the reason is that no task is shared
            shared_task_positions(side, known.gold_else_soft_else_vote_shares().soft)
        raise InputError(
            f"{known.name} has no soft labels or votes, by which the ambiguity of tasks is measured: give against=... "
            "(--against FILE), a table of soft labels or votes"
        )
    true_labels = known.gold_else_soft_else_vote_shares().soft
    made = evaluate.correctness_table(predicted, second, true_labels, reference.soft, look=statistic)
    return replace(made, notes=(*made.notes, *notes))


def _prediction_and_truth(
    prediction: Any, truth: Any, part: str | None, rename: Mapping[Any, Any] | None
) -> tuple[SoftLabels, InputLabels]:
    """Return the predicted soft labels, and the labels in the input of the truth."""
    predicted = rename_labels(read_labels_of_input(prediction, part).soft_labels_else_vote_shares(), rename or {})
    return predicted, read_labels_of_input(truth, part).with_gold_covering(predicted.tasks)


def _reference_of_soft_labels(
    predicted: SoftLabels, known: InputLabels, against: Any, part: str | None
) -> tuple[Reference | None, tuple[str, ...]]:
    """Return (the soft labels or votes of `against`, by default of the truth, and notes); None if it has none."""
    is_part_of_truth = against is None or is_reference_word(against)
    other = against if is_part_of_truth else read_labels_of_input(against, part)
    return soft_reference_and_notes(predicted, known, other, None)
