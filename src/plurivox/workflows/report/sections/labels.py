"""Section on the soft labels: how sure they are, task by task, with intervals, and where truth and people differ."""

import numpy as np

from plurivox.charts._shared.share_intervals import has_intervals, intervals_of_probabilities
from plurivox.core.count_text import count_text
from plurivox.core.results import Fit
from plurivox.workflows.report.commands import aggregate_command
from plurivox.workflows.report.page_content import Block, Cell, Column, Fact, Facts, Section, Table
from plurivox.workflows.report.sections._section_input import SectionInput, percent_text
from plurivox.workflows.truth_and_people import TRUTH_AND_PEOPLE, BothFits

SURE = 0.9  # probability from which a label is called sure
LEVELS = ((0.9, "90% or more"), (0.75, "75 to 90%"), (0.5, "50 to 75%"), (0.0, "below 50%"))


def labels_section(given: SectionInput) -> Section:
    """Return the section on how sure the labels are."""
    facts = Facts(f"Tasks by the soft label of their {given.top_label}", _levels(given))
    blocks: list[Block] = [facts, *_pictures(given)]
    if (both := _both(given)) is not None:
        blocks.append(_truth_and_people(given, both))
    title = "How sure are the labels?"
    return Section("labels", title, _answer(given), tuple(blocks), given.results.quantity)


def expected_errors(fit: Fit) -> float:
    """Return how many most probable labels of tasks with votes are wrong if the probabilities are right."""
    return float((1 - _confidence(fit)).sum())


def _confidence(fit: Fit) -> np.ndarray:
    """(n,) the probability of the most probable label of the tasks with votes."""
    support = fit.soft.support
    return fit.soft.confidence if support is None else fit.soft.confidence[support > 0]


def _answer(given: SectionInput) -> str:
    """Return how sure the labels are on average, how many are expected to be wrong, and whether gold labels confirm that."""
    results, confidence = given.results, _confidence(given.results.fit)
    n, mean = len(confidence), float(confidence.mean()) if len(confidence) else np.nan
    sure = float((confidence >= SURE).mean()) if n else np.nan
    if results.quantity == "people":
        return (
            f"By {results.chosen}, {percent_text(mean)} of people like these would give a task's most frequent label, on "
            f"average; on {percent_text(sure)} of the tasks {SURE:.0%} or more would. A low share is not an error: it says "
            "that people disagree."
        )
    expected = (
        f"By {results.chosen} the most probable label is right with a probability of {percent_text(mean)} on average: "
        f"about {count_text(round(expected_errors(results.fit)), 'label')} of {n:,} would be wrong. {percent_text(sure)} "
        f"of the labels have {SURE:.0%} or more."
    )
    if (against := results.evaluations.get(results.chosen)) is None:
        return f"{expected} There are no gold labels to check these probabilities."
    ece, right, n_gold = against["ece"], against["accuracy"], int(against.n[0])
    if right.low <= mean <= right.high:
        verdict = "These probabilities hold on average"
    else:
        verdict = f"The labels are {'more' if right.mean > mean else 'less'} often right than these probabilities say"
    return (
        f"{percent_text(right.mean, 1)} of the labels are right by the gold labels, so that "
        f"{round((1 - right.mean) * n_gold):,} of {n_gold:,} are wrong. {expected} {verdict} (expected calibration error "
        f"{ece.mean:.3f}, 95% interval {ece.low:.3f} to {ece.high:.3f})."
    )


def _levels(given: SectionInput) -> tuple[Fact, ...]:
    """Return the number of tasks per level of probability."""
    confidence, high, found = _confidence(given.results.fit), np.inf, []
    for low, name in LEVELS:
        n = int(((confidence >= low) & (confidence < high)).sum())
        found.append(Fact(name, f"{n:,}", f"{percent_text(n / max(len(confidence), 1))} of the tasks with votes"))
        high = low
    return tuple(found)


def _pictures(given: SectionInput) -> list[Block]:
    """Return the chart of soft labels with intervals and of their entropies, for both questions."""
    results, pictures = given.results, given.pictures
    fits = {results.chosen: results.fit} | ({results.other: results.other_fit} if results.other_fit is not None else {})
    data = pictures.with_soft({spec: fit.soft for spec, fit in fits.items()})
    return [pictures.draw("posterior", data, flags=f"--methods {','.join(fits)}")]


def _both(given: SectionInput) -> BothFits | None:
    """Return the fits for truth and for people, if both are there."""
    fit, other = given.results.fit, given.results.other_fit
    if other is None or {fit.soft.estimates, other.soft.estimates} != {"truth", "people"}:
        return None
    return BothFits(fit, other) if fit.soft.estimates == "truth" else BothFits(other, fit)


def _truth_and_people(given: SectionInput, both: BothFits) -> Table:
    """Return the table of soft labels for both questions, tasks in which these differ first, with intervals of the shares."""
    cells = both.columns()
    truth, people = cells["p_right"], cells["share"]
    order = np.lexsort((np.arange(len(truth)), truth, ~cells["differ"]))[: given.table_rows]
    low, high = _intervals(both.people, order)
    columns = [
        Column("task"),
        Column("votes", "number", "number of votes", 0),
        Column("truth", "text", f"label that is most probably right, by {both.truth.made_by}"),
        Column("probability", "percent", "the probability that it is right", 1),
        Column("people", "text", f"label that most people would give, by {both.people.made_by}"),
        Column("share", "percent", "the share of people like these who would give it", 1),
        Column("low", "percent", "lower end of the 95% interval of the share", 0),
        Column("high", "percent", "upper end of that interval", 0),
        Column("differ", "flag", "whether the two labels differ"),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            str(cells["task"][i]),
            float(cells["votes"][i]),
            str(cells["truth"][i]),
            float(truth[i]),
            str(cells["people"][i]),
            float(people[i]),
            float(low[k]),
            float(high[k]),
            "differ" if cells["differ"][i] else None,
        )
        for k, i in enumerate(order.tolist())
    ]
    n = int(cells["differ"].sum())
    note = f"{TRUTH_AND_PEOPLE} The most probable labels differ on {count_text(n, 'task')} of {len(truth):,}."
    command = aggregate_command(given.results.chosen, given.name, "soft.csv")
    return Table("Soft labels: what is true, and what people say", tuple(columns), rows, len(truth), note, command)


def _intervals(fit: Fit, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (low, high) of the 95% intervals of the largest shares of some tasks; NaN if the method has none."""
    p = fit.soft.confidence[rows]
    return intervals_of_probabilities(fit, p, rows) if has_intervals(fit) else (np.full(len(p), np.nan),) * 2
