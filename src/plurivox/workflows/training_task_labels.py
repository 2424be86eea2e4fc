"""Labels and weights of training tasks: soft labels aggregated from votes, a sample of the answers, weights by agreement."""

from dataclasses import replace

from plurivox import aggregate
from plurivox.aggregate import DEFAULT_TRAINING_LABELS, Aggregator
from plurivox.core.array_types import Floats, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import positions
from plurivox.core.sample_existing_answers import subsample
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.train.data.training_data import TrainingData
from plurivox.train.loop.train_spec import AgreementWeighting, TrainSpec


def check_some_task_has_labels(training_data: TrainingData) -> None:
    """Raise InputError if no task with inputs has votes or labels: then the names of the tasks differ."""
    votes = training_data.votes
    labelled = {
        "votes": None if votes is None else votes.tasks_with_votes,
        "gold labels": None if training_data.gold is None else training_data.gold.tasks,
        "soft labels": None if training_data.soft is None else training_data.soft.tasks,
    }
    found = {name: tasks for name, tasks in labelled.items() if tasks is not None and len(tasks)}
    if not found or any((positions(tasks, training_data.tasks) >= 0).any() for tasks in found.values()):
        return
    name, tasks = next(iter(found.items()))
    raise InputError(
        f"no task in common: the {name} have the tasks {first_few(tasks)}, the inputs (features, images or texts) "
        f"{first_few(training_data.tasks)}; use the same task names in both"
    )


def aggregated_or_stored_soft_labels(
    training_data: TrainingData, tasks: Names, aggregator: object, estimates: Estimand
) -> SoftLabels | None:
    """Return the soft labels of the training tasks: by the aggregator if given, else those of the data, else vote shares.

    Instead of vote shares it is the default aggregator for `estimates`, if that is not unknown.
    """
    votes = training_data.votes
    if aggregator is None:
        if training_data.soft is not None or votes is None:
            return training_data.soft
        aggregator = aggregate.methods.make(DEFAULT_TRAINING_LABELS[estimates])
    assert isinstance(aggregator, Aggregator)
    if votes is None:
        others = [name for name, one in (("gold", training_data.gold), ("soft", training_data.soft)) if one is not None]
        instead = f"use the target {' or '.join(others)}, or " if others else ""
        raise InputError(f"{training_data.name} has no votes for {aggregator.spec}; {instead}give votes")
    voted = votes.on(tasks[positions(votes.tasks, tasks) >= 0])
    kept = voted.on(voted.tasks_with_votes)
    return aggregator.fit(kept).soft if kept.n_tasks else None


def with_sample_of_answers(training_data: TrainingData, tasks: Names, spec: TrainSpec) -> TrainingData:
    """Return the data with at most `answers_per_task` random answers to each of these tasks, if the spec says so.

    Soft labels of the data, which come from all answers, are left out.
    """
    m, votes = spec.answers_per_task, training_data.votes
    if m is None:
        return training_data
    if votes is None:
        raise InputError(f"{training_data.name} has no votes; answers per task can be drawn from votes only")
    voted = tasks[positions(votes.tasks_with_votes, tasks) >= 0]
    return replace(training_data, votes=subsample(votes.on(voted), m, spec.plan.seed), soft=None)


def agreement_task_weights(
    training_data: TrainingData, tasks: Names, weighting: AgreementWeighting | None
) -> Floats | None:
    """Return the weights of the training tasks by agreement of their votes; None without weighting."""
    if weighting is None:
        return None
    if training_data.votes is None:
        raise InputError(f"{training_data.name} has no votes; weighting tasks by agreement needs votes")
    return weighting.task_weights_by_agreement(training_data.votes, tasks)
