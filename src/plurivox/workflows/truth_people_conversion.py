"""Convert soft labels from the probability that a label is right to the share of people who give it, and back."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.aggregate import EMAggregator
from plurivox.aggregate import methods as aggregators
from plurivox.core.array_types import Floats
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.estimate_conversion import (
    confusion_matrix_of_all_votes,
    mean_confusion_matrix,
    people_to_truth,
    truth_to_people,
)
from plurivox.core.method import parse_spec
from plurivox.core.name_encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.dataset_reader import as_votes
from plurivox.io.soft_label_files import read_soft


def convert_estimates(
    labels: SoftLabels | Fit | str | Path,
    to: str,
    *,
    model: Fit | str | Path | None = None,
    votes: Any = None,
) -> SoftLabels:
    """Return soft labels converted to what people say (`to="people"`) or to the truth (`to="truth"`), by a model of the crowd.

    To people: q(l|t) = sum_k p(k|t) M[k, l], the truth seen through the confusion matrix M of the whole crowd.
    To truth: p(k|t) is proportional to prior[k] prod_l M[k, l]^(n_t q(l|t)), the posterior of a Dawid-Skene model in which all
    people share M, for n_t answers (`support`, else the answers in `votes`).

    `labels` are soft labels, a Fit, or a file of either. `model` is a Fit of the truth, by default `labels` if that is one.
    With the `votes` it was made from, M is estimated from them and the posterior of the model, so that a worker with many
    votes counts more. Without, M is the mean of the confusion matrices in the model, each worker alike. The fits must be
    posteriors of a model of how workers err, such as dawid-skene: log-pool, average, temperature and weighted vote shares are
    less certain than any model, so that shares made from them would be too even. Labels that already estimate `to` are
    returned unchanged, with a note. The model knows no hard tasks: people are taken to disagree alike on all tasks of a true
    label.

    >>> votes = Votes.of(list("aaabbb"), [1, 2, 3] * 2, ["no", "no", "yes", "yes", "yes", "yes"])
    >>> from plurivox import fit
    >>> made = fit(votes, "dawid-skene", smooth=0.5)
    >>> people = convert_estimates(made, "people", votes=votes)
    >>> people.estimates, bool((people.confidence < made.soft.confidence).all())
    ('people', True)
    """
    if to not in ("truth", "people"):
        raise OptionError(f"soft labels are converted to truth or people, not to {to!r}")
    given = _load_fit_or_soft_labels(labels)
    soft = given.soft if isinstance(given, Fit) else given
    if soft.estimates == to:
        return replace(soft, notes=(*soft.notes, f"these soft labels already estimate {to}; nothing was converted"))
    if soft.estimates == "unknown":
        raise InputError(
            "the soft labels do not say what they estimate: add a column estimates with truth or people to the table "
            '(in Python dataclasses.replace(soft, estimates="truth"))'
        )
    made = _require_fit_of_truth(given if model is None else _load_fit_or_soft_labels(model))
    for fit in (given, made):
        if isinstance(fit, Fit) and fit.soft.estimates == "truth":
            _check_fit_is_posterior_of_a_model(fit)
    crowd = None if votes is None else votes if isinstance(votes, Votes) else as_votes(votes)
    if set(soft.labels.tolist()) != set(made.soft.labels.tolist()):
        raise InputError(
            f"the soft labels and the model have different labels: {first_few(soft.labels, 6)} and "
            f"{first_few(made.soft.labels, 6)}"
        )
    aligned = soft.on_labels(made.soft.labels)
    matrix = _confusion_matrix_of_crowd(made, crowd)
    if to == "people":
        return truth_to_people(aligned, matrix)
    return people_to_truth(aligned, matrix, _label_prior(made), _number_of_answers(aligned, crowd))


def _load_fit_or_soft_labels(given: SoftLabels | Fit | str | Path) -> SoftLabels | Fit:
    """Return a Fit or soft labels unchanged, or load them from a file."""
    if not isinstance(given, str | Path):
        return given
    if str(given).endswith(".npz"):
        saved = DataType.load(given)
        if not isinstance(saved, Fit | SoftLabels):
            raise InputError(f"{given} contains {type(saved).__name__}; a Fit or soft labels are needed")
        return saved
    return read_soft(given)


def _require_fit_of_truth(model: SoftLabels | Fit) -> Fit:
    """Return the model; raise InputError unless it is a Fit that estimates the truth."""
    how = (
        "give the saved fit of a method for the truth, such as dawid-skene or ibcc, as the model: model='fit.npz' "
        "(--model FIT.npz)"
    )
    if not isinstance(model, Fit):
        raise InputError(f"soft labels alone do not say how people err; {how}")
    if model.soft.estimates != "truth":
        raise InputError(f"{model.made_by} estimates {model.soft.estimates}, not the truth; {how}")
    return model


def _check_fit_is_posterior_of_a_model(fit: Fit) -> None:
    """Raise InputError if the method of the fit is known and has no model of how workers err, or is made less certain."""
    name = parse_spec(fit.made_by)[0]
    if name in aggregators and not issubclass(aggregators[name], EMAggregator):
        raise InputError(
            f"the probabilities of {fit.made_by} are not those of a model of how workers err, so that shares made from them "
            "would be wrong: convert the fit of such a model, for example dawid-skene[pool=4], or predict the shares "
            "themselves by calibrated-shares: pv.fit(votes, for_='people') (plurivox aggregate --for people)"
        )


def _confusion_matrix_of_crowd(model: Fit, votes: Votes | None) -> Floats:
    """(n_labels, n_labels) the confusion matrix of the whole crowd, in the order of the model's labels."""
    if votes is not None:
        if not (positions(model.soft.tasks, votes.tasks) >= 0).any():
            raise InputError("the votes have no task of the model; give the votes that it was made from")
        return confusion_matrix_of_all_votes(model.soft, votes)
    if model.confusion is None:
        raise InputError(
            f"{model.made_by} estimates no confusion matrices; give the votes it was made from: votes=... (--votes FILE), or a "
            "model that has them: dawid-skene, ibcc, ebcc"
        )
    order = positions(model.confusion.labels, model.soft.labels)
    return mean_confusion_matrix(model.confusion)[np.ix_(order, order)]


def _label_prior(model: Fit) -> Floats:
    """(n_labels,) the prior of the labels in the model, else the mean of its soft labels."""
    return np.asarray(model.soft.prob).mean(0) if model.prior is None else model.prior


def _number_of_answers(people: SoftLabels, votes: Votes | None) -> Floats:
    """(n_tasks,) the number of answers behind each soft label: its support, else the answers to the task in the votes."""
    if people.support is not None:
        return people.support
    if votes is None:
        raise InputError(
            "the number of answers behind the soft labels is not known; give the votes: votes=... (--votes FILE), or soft "
            "labels saved as .npz"
        )
    place = positions(votes.tasks, people.tasks)
    return np.where(place >= 0, votes.support[place], 0.0)
