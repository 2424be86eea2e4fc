"""Section on workers: how far each agrees with the others beyond chance, other scores, and whom to check first."""

import numpy as np

from plurivox.charts._shared.names_as_text import count_text
from plurivox.core.name_encoding import positions
from plurivox.workflows.report.page_content import Block, Cell, Column, Paragraph, Section, Table
from plurivox.workflows.report.sections._section_input import SectionInput, names_text, percent_text
from plurivox.workflows.report.worker_trust import DROPPED, FEW_VOTES, VERDICT_MEANING, WorkerTrust

FIRST = 10
WRITTEN_SCORES = "agreement-with-rest,trace-pooled,spam-score-pooled"
MAX_PICTURED_LABELS = 30
TRUST_COLUMNS = (
    Column("worker"),
    Column("verdict", "flag", VERDICT_MEANING),
    Column("votes", "number", "answers of the worker", 0),
    Column("agreement", "percent", "mean share of the others' votes on the same task that are for the same label"),
    Column("by chance", "percent", "the same for somebody who gives these labels as often, but on any task"),
    Column("beyond chance", "number", "(agreement - by chance) / (1 - by chance), as in kappa: 0 is guessing, 1 full "
    "agreement"),
    Column("low", "number", "lower end of the 95% interval of the agreement beyond chance (Wilson)"),
    Column("high", "number", "upper end; the table is sorted by it, so that few votes do not make a worker look bad"),
)  # fmt: skip
ACCURACY = Column("accuracy", "percent", "estimated probability that a vote of the worker is right, by log-pool")
ACCURACY_ENDS = (
    Column(
        "accuracy, low",
        "percent",
        "lower end of the 95% interval of the probability that a vote of the worker is right",
    ),
    Column("accuracy, high", "percent", "upper end of that interval"),
)


def workers_section(given: SectionInput) -> Section | None:
    """Return the section on whom to trust; None if no worker is named."""
    trust = given.results.trust
    if trust is None:
        return None
    blocks: list[Block] = [_first_to_check(trust, given), _effect_of_dropping(given), _all_workers(trust, given)]
    scores = tuple(score for score in given.results.worker_scores if np.isfinite(score.badness).sum() > 1)
    if scores:
        blocks.append(given.pictures.draw("worker-scores"))
    blocks += _confusion_pictures(given)
    return Section("workers", "Whom can one trust?", _answer(trust), tuple(blocks))


def _answer(trust: WorkerTrust) -> str:
    """Return how many workers are to doubt, and who is to be checked first."""
    n_bad, n_below = trust.count(*DROPPED), trust.count("below the others")
    few, n = trust.count("few votes"), len(trust.workers)
    parts = []
    if n_bad:
        verb = "is" if n_bad == 1 else "are"
        parts.append(
            f"{count_text(n_bad, 'worker')} of {n:,} {verb} near random or against the others, and would be dropped first: "
            f"{names_text(trust.names(*DROPPED))}."
        )
    else:
        parts.append(
            f"None of the {count_text(n, 'worker')} is near random, so that there is no reason to drop anybody."
        )
    next_ones = [str(trust.workers[i]) for i in trust.first_to_check(FIRST)[n_bad:]]
    if next_ones:
        parts.append(f"{'Next' if n_bad else 'First'} to check: {names_text(next_ones)}.")
    if n_below:
        verb = "agrees" if n_below == 1 else "agree"
        parts.append(
            f"{count_text(n_below, 'worker')} {verb} clearly less with the others than the median worker does: their votes are "
            "worth less, but not nothing."
        )
    if few:
        parts.append(
            f"{count_text(few, 'worker')} gave fewer than {FEW_VOTES} votes that can be compared: too few to say."
        )
    return " ".join(parts)


def _first_to_check(trust: WorkerTrust, given: SectionInput) -> Table:
    """Return the table of the first workers to drop or to check, each with the reason in words."""
    first = trust.first_to_check(FIRST)
    columns = (
        Column("worker"),
        Column("verdict", "flag", TRUST_COLUMNS[1].meaning),
        Column("why"),
    )
    rows = [(str(trust.workers[i]), _cell(trust.verdict[i]), _reason(trust, i)) for i in first]
    title = f"The {len(rows)} workers to drop or check first, the most doubtful first"
    return Table(
        title,
        columns,
        rows,
        len(rows),
        note="Only near random and against the others are reasons to drop somebody; read some votes of the others first.",
        command=f"plurivox recipe report-cards --data {given.name} -o cards",
    )


def _reason(trust: WorkerTrust, i: int) -> str:
    """Return in words why a worker stands where they do."""
    if not np.isfinite(trust.beyond_chance[i]):
        return f"{count_text(trust.votes[i], 'vote')}, none on a task that others voted on."
    text = (
        f"Agrees with the others on {percent_text(trust.agreement[i])} of {count_text(trust.votes[i], 'vote')}, where guessing "
        f"would give {percent_text(trust.by_chance[i])}: {trust.beyond_chance[i]:.2f} beyond chance "
        f"(95% interval {trust.low[i]:.2f} to {trust.high[i]:.2f}; median worker {trust.median_beyond_chance:.2f})."
    )
    if trust.accuracy_low is not None and trust.accuracy_high is not None:
        text += (
            f" Accuracy, estimated: {percent_text(trust.accuracy_low[i])} to {percent_text(trust.accuracy_high[i])}."
        )
    elif trust.accuracy is not None:
        text += f" Accuracy, estimated: {percent_text(trust.accuracy[i])}."
    return text


def _effect_of_dropping(given: SectionInput) -> Paragraph:
    """Return what happens to the labels without the workers near random or against the others."""
    found = given.results.without_doubtful
    if found is None:
        return Paragraph(
            "Methods such as log-pool and dawid-skene weigh the votes of each worker by how good the worker seems, so that "
            "dropping somebody changes less than with majority vote."
        )
    return Paragraph(
        f"Without the {count_text(found.n_workers, 'worker')} near random or against the others, {given.results.chosen} gives "
        f"{count_text(found.n_changed, 'task')} of {found.n_tasks:,} another most probable label"
        + (f", and {count_text(found.n_lost, 'task')} would have no vote left" if found.n_lost else "")
        + ". The method already weighs votes by how good each worker seems."
    )


def _all_workers(trust: WorkerTrust, given: SectionInput) -> Table:
    """Return the table of all workers with every score."""
    shown = trust.order[: given.table_rows]
    columns, cells = list(TRUST_COLUMNS), [trust.verdict, trust.votes, trust.agreement, trust.by_chance]
    cells += [trust.beyond_chance, trust.low, trust.high]
    if trust.accuracy_low is not None and trust.accuracy_high is not None:
        columns += ACCURACY_ENDS
        cells += [trust.accuracy_low, trust.accuracy_high]
    elif trust.accuracy is not None:
        columns.append(ACCURACY)
        cells.append(trust.accuracy)
    for score in given.results.worker_scores:
        place = positions(score.names, trust.workers)
        columns.append(Column(score.made_by, "number", given.summary_of_score(score.made_by), 3))
        cells.append(np.where(place >= 0, score.raw[place], np.nan))
    rows: list[tuple[Cell, ...]] = [
        (str(trust.workers[i]), *(_cell(column[i]) for column in cells)) for i in shown.tolist()
    ]
    return Table(
        "All workers",
        tuple(columns),
        rows,
        len(trust.workers),
        command=f"plurivox identify rank {given.name} --scores {WRITTEN_SCORES} -o workers.csv",
        sorted_by=7,
    )


def _cell(value: object) -> Cell:
    """Return a number or a verdict as a cell; nothing if a worker is as the others."""
    if isinstance(value, str):
        return None if value == "as the others" else value
    return float(value)  # type: ignore[arg-type]


def _confusion_pictures(given: SectionInput) -> list[Block]:
    """Return the confusion matrices of the crowd and of single workers, if a fit has them."""
    has_matrices = any(fit.confusion is not None for fit in given.results.fits.values())
    if not has_matrices or given.inputs.votes.n_labels > MAX_PICTURED_LABELS:
        return []
    return [given.pictures.draw("confusion")]
