"""Which measures fit a prediction: those of the truth for `truth`, those of what people say for `people`."""

from collections.abc import Iterable

from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.evaluate.measures.measure_registry import Kind, Measure

MEANINGS: dict[Estimand, str] = {
    "truth": "the probability that a label is right",
    "people": "the probability that a person gives a label",
}


def measure_fits(kind: Kind, prediction: Estimand, reference: Estimand) -> bool:
    """Return whether a measure says how good a prediction of this kind of estimate is; true if that is not known.

    Hard measures fit both: only the most probable label counts. Calibration measures (NLL, Brier, ECE) take the
    probabilities as those that a label is right, which `people` are not. Soft measures compare two distributions, which must
    estimate the same.

    >>> measure_fits("hard", "people", "truth"), measure_fits("calibration", "people", "truth")
    (True, False)
    >>> measure_fits("soft", "truth", "people"), measure_fits("soft", "unknown", "people")
    (False, True)
    """
    if kind == "hard":
        return True
    if kind == "calibration":
        return prediction != "people"
    return "unknown" in (prediction, reference) or prediction == reference


def note_on_measures_that_do_not_fit(
    measures: Iterable[str], prediction: Estimand, where: str = "marked with * ", name: str = "the prediction"
) -> tuple[str, ...]:
    """Return one sentence on the measures that do not fit the prediction, and where to see which they are; () if none."""
    names = list(measures)
    if not names:
        return ()
    other: Estimand = "truth" if prediction == "people" else "people"
    listed = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return (
        f"{name} estimates {prediction} ({MEANINGS[prediction]}), but the measures {where}({listed}) evaluate "
        f"estimates of {other} ({MEANINGS[other]}): they do not say how good it is",
    )


def note_if_estimates_differ(
    one: Estimand, two: Estimand, names: tuple[str, str] = ("the first", "the second")
) -> tuple[str, ...]:
    """Return a sentence if two sets of soft labels that are compared estimate different things; () if not or unknown.

    >>> note_if_estimates_differ("truth", "truth"), note_if_estimates_differ("unknown", "people")
    ((), ())
    """
    if one == two or "unknown" in (one, two):
        return ()
    return (
        f"{names[0]} estimates {one} ({MEANINGS[one]}), {names[1]} {two} ({MEANINGS[two]}): "
        "they differ by design, and only accuracy and similar measures of the most probable label are fair to both",
    )


def notes_on_compared_predictions(
    one: SoftLabels,
    two: SoftLabels,
    truth: SoftLabels,
    measures: Iterable[Measure],
    names: tuple[str, str] = ("the first", "the second"),
) -> tuple[str, ...]:
    """Return notes on the measures of two predictions that fit only one of them, or neither; () if all fit both.

    `names` are those of the two predictions.
    """
    unfit = [
        (name, side.estimates, measure.name)
        for measure in measures
        for name, side in zip(names, (one, two), strict=True)
        if not measure_fits(measure.kind, side.estimates, truth.estimates)
    ]
    notes = note_if_estimates_differ(one.estimates, two.estimates, names) if unfit else ()
    for name, kind in dict.fromkeys((name, kind) for name, kind, _ in unfit):
        listed = [measure for of, _, measure in unfit if of == name]
        notes += note_on_measures_that_do_not_fit(listed, kind, where="", name=name)
    return notes
