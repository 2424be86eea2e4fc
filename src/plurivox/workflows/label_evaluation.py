"""Evaluate predicted labels against true labels, each given as SoftLabels, Votes, a Fit, a Dataset or a file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plurivox import evaluate
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.soft_transforms import rename_labels
from plurivox.evaluate import Evaluation
from plurivox.evaluate.measures.hard_label_measures import Ties
from plurivox.workflows.labels_of_input import (
    InputLabels,
    Reference,
    cache_key_of_input,
    is_reference_word,
    read_labels_of_input,
    soft_reference_and_notes,
)


def evaluate_labels(
    prediction: Any,
    truth: Any,
    against: Any = None,
    *,
    part: str | None = None,
    measures: str | Sequence[str] | None = None,
    ties: Ties = "first",
    repeats: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    rename: Mapping[Any, Any] | None = None,
) -> Evaluation:
    """Return many measures of predicted against true labels, each with its bootstrap interval over tasks.

    Each of the three is SoftLabels, Votes, a Fit, a Dataset, or the path or the name of one. A prediction is soft labels, else
    vote shares; a truth is gold labels, else soft labels, else vote shares. Soft measures compare with `against`: the soft
    labels of this input, else the shares of its votes; or "gold", "soft" or "votes" for those of the truth, unless there is a
    file or folder of this name. Default: the soft labels of the truth, else the shares of its votes, else its gold labels. The
    column `against` of the result names the reference of each measure. `measures` are a list, or one text separated by commas.
    `part` selects votes or counts if a data set has both. `rename` maps labels of the prediction to labels of the truth.

    A prediction that was made from the same votes (an aggregate) is close to their shares by construction: measures against
    these votes then do not show how right it is.

    >>> from plurivox import SoftLabels, Votes
    >>> votes = Votes.of(task=list("aab"), worker=[1, 2, 1], label=["no", "yes", "yes"])
    >>> evaluate_labels(votes, SoftLabels.gold(["a", "b"], ["no", "yes"]), measures="accuracy").value.tolist()
    [1.0]
    """
    sides: dict[int | str, InputLabels] = {}  # an input that is given twice is read once
    other_input = None if against is None or is_reference_word(against) else against
    for given in (prediction, truth, other_input):
        if given is not None and cache_key_of_input(given) not in sides:
            sides[cache_key_of_input(given)] = read_labels_of_input(given, part)
    source = sides[cache_key_of_input(prediction)]
    predicted = rename_labels(source.soft_labels_else_vote_shares(), rename or {})
    known = sides[cache_key_of_input(truth)] = sides[cache_key_of_input(truth)].with_gold_covering(predicted.tasks)
    other = None if other_input is None else sides[cache_key_of_input(other_input)]
    names = split_at_commas_outside_brackets(measures) if isinstance(measures, str) else measures
    true_labels = known.gold_else_soft_else_vote_shares()
    reference, notes = soft_reference_and_notes(predicted, known, other or against, names)
    made = evaluate.evaluate_labels(
        predicted,
        true_labels.soft,
        against=None if reference is None or reference.votes is not None else reference.soft,
        votes=None if reference is None else reference.votes,
        measures=names,
        repeats=repeats,
        level=level,
        seed=seed,
        ties=ties,
        truth_name=true_labels.name,
        reference_name="" if reference is None else reference.name,
    )
    own = () if reference is None else _note_if_compared_with_own_votes(made, source, reference)
    return replace(made, notes=(*made.notes, *notes, *own))


def _note_if_compared_with_own_votes(
    made: Evaluation, prediction: InputLabels, reference: Reference
) -> tuple[str, ...]:
    """Return a note if measures compare an aggregate with the votes it was, or may have been, made from."""
    workers, is_identical = prediction.fit_workers, any("compared with itself" in note for note in made.notes)
    if reference.votes is None or reference.name not in made.against.tolist() or is_identical:
        return ()
    if workers is not None and not (len(workers) and np.array_equal(workers, reference.votes.workers)):
        return ()  # a Fit of other votes
    effect = f"measures against the {reference.name} show how close it stays to them, not how right it is"
    if workers is None:
        return (f"if the prediction was made from the {reference.name} (as an aggregate is), {effect}",)
    return (f"the prediction was made from the {reference.name} (by the same workers): {effect}",)
