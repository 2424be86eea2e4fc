"""Section on workers: how far each agrees with the others beyond chance, other scores, and whom to check first."""

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.count_text import count_text
from plurivox.core.name_encoding import positions
from plurivox.core.results import Scores
from plurivox.workflows.report.commands import report_cards_command
from plurivox.workflows.report.page_content import Block, Cell, Column, Paragraph, Picture, Section, Table
from plurivox.workflows.report.sections._section_input import SectionInput, names_text, percent_text
from plurivox.workflows.report.worker_trust import DROPPED, FEW_VOTES, SHRINKAGE, VERDICT_MEANING, WorkerTrust

FIRST = 10
WRITTEN_SCORES = "agreement-with-rest,trace-pooled,spam-score-pooled"
MAX_PICTURED_LABELS, MAX_PICTURED_SCORES, PICTURED_MATRICES = 30, 4, 3
SAME_RANKING = 0.97  # Spearman correlation from which two scores are one opinion
BY_HAND = "agreement beyond chance"  # the score of `WorkerTrust` in charts
TRUST_COLUMNS = (
    Column("worker"),
    Column("verdict", "flag", VERDICT_MEANING),
    Column("votes", "number", "answers of the worker", 0),
    Column("agreement", "percent", "mean share of the others' votes on the same task that are for the same label"),
    Column("by chance", "percent", "the same for somebody who gives these labels as often, but on any task"),
    Column("beyond chance", "number", "(agreement - by chance) / (1 - by chance): 0 is guessing, 1 full agreement"),
    Column("low", "number", "lower end of the 95% interval of the agreement beyond chance (Wilson)"),
    Column("high", "number", "upper end of that interval"),
    Column(
        "shrunken",
        "number",
        f"beyond chance as if with {SHRINKAGE} more votes like those of the median worker; the table is sorted by it",
    ),
)
GOLD_COLUMNS = (
    Column("gold labels", "number", "votes on tasks with a gold label", 0),
    Column("right", "percent", "share of these votes that are the gold label"),
    Column("right, low", "percent", "lower end of its 95% interval (Wilson)"),
    Column("right, high", "percent", "upper end of that interval"),
)
ESTIMATED = "estimated from the votes alone, by log-pool"
ESTIMATED_COLUMNS = (
    Column("accuracy, low", "percent", f"lower end of the 95% interval of the share of right votes, {ESTIMATED}"),
    Column("accuracy, high", "percent", "upper end of that interval"),
)


def workers_section(given: SectionInput) -> Section | None:
    """Return the section on whom to trust; None if no worker is named."""
    trust = given.results.trust
    if trust is None:
        return None
    blocks: list[Block] = [_first_to_check(trust, given), _effect_of_dropping(given), _all_workers(trust, given)]
    blocks += [*_scores_picture(trust, given), *_confusion_picture(trust, given)]
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
    columns = (Column("worker"), TRUST_COLUMNS[1], Column("why"))
    gold = _gold_accuracy(given)
    rows = [(str(trust.workers[i]), _cell(trust.verdict[i]), _reason(trust, gold, i)) for i in first]
    title = f"The {len(rows)} workers to drop or check first, the most doubtful first"
    return Table(
        title,
        columns,
        rows,
        len(rows),
        note="Only near random and against the others are reasons to drop somebody; read some votes of the others first.",
        command=report_cards_command([str(trust.workers[i]) for i in first[:3]], given.name),
    )


def _gold_accuracy(given: SectionInput) -> Scores | None:
    """Return the accuracies of the workers against gold labels; None without gold labels."""
    return next((one for one in given.results.worker_scores if one.made_by == "gold-accuracy"), None)


def _reason(trust: WorkerTrust, gold: Scores | None, i: int) -> str:
    """Return in words why a worker stands where they do."""
    if not np.isfinite(trust.beyond_chance[i]):
        return f"{count_text(trust.votes[i], 'vote')}, none on a task that others voted on."
    text = (
        f"Agrees with the others on {percent_text(trust.agreement[i])} of {count_text(trust.votes[i], 'vote')}, where "
        f"guessing would give {percent_text(trust.by_chance[i])}: {trust.beyond_chance[i]:.2f} beyond chance "
        f"(95% interval {trust.low[i]:.2f} to {trust.high[i]:.2f}; median worker {trust.median_beyond_chance:.2f})."
    )
    if gold is not None and gold.n is not None and gold.low is not None and gold.high is not None:
        row = int(positions(gold.names, trust.workers[[i]])[0])
        if row >= 0 and gold.n[row] > 0:
            interval = f"{percent_text(gold.low[row])} to {percent_text(gold.high[row])}"
            return f"{text} Right on {percent_text(gold.raw[row])} of {count_text(gold.n[row], 'gold label')} ({interval})."
    if trust.accuracy_low is not None and trust.accuracy_high is not None:
        interval = f"{percent_text(trust.accuracy_low[i])} to {percent_text(trust.accuracy_high[i])}"
        return f"{text} Right on {interval} of the votes, {ESTIMATED}."
    return text


def _effect_of_dropping(given: SectionInput) -> Paragraph:
    """Return what happens to the labels without the workers near random or against the others."""
    found, chosen = given.results.without_doubtful, given.results.chosen
    if found is None:
        return Paragraph(
            "Methods such as log-pool and dawid-skene weigh the votes of each worker by how good the worker seems, so that "
            "dropping somebody changes less than with majority vote."
        )
    text = (
        f"Without the {count_text(found.n_workers, 'worker')} near random or against the others, {chosen} gives "
        f"{count_text(found.n_changed, 'task')} of {found.n_tasks:,} another label"
    )
    if found.n_lost:
        text += f", and {count_text(found.n_lost, 'task')} would have no vote left"
    text += ". The method already weighs votes by how good each worker seems."
    if found.accuracy is not None and found.accuracy_without is not None:
        text += (
            " Against the gold labels of the tasks that keep a vote, the labels are right on "
            f"{percent_text(found.accuracy, 1)} with these workers and {percent_text(found.accuracy_without, 1)} without them."
        )
    return Paragraph(text)


def _all_workers(trust: WorkerTrust, given: SectionInput) -> Table:
    """Return the table of all workers with every score."""
    shown = trust.order[: given.table_rows]
    columns, cells = list(TRUST_COLUMNS), [trust.verdict, trust.votes, trust.agreement, trust.by_chance]
    cells += [trust.beyond_chance, trust.low, trust.high, trust.shrunken]
    gold = _gold_accuracy(given)
    if gold is not None:
        columns += GOLD_COLUMNS
        cells += [_of_workers(gold, column, trust) for column in (gold.n, gold.raw, gold.low, gold.high)]
    elif trust.accuracy_low is not None and trust.accuracy_high is not None:
        columns += ESTIMATED_COLUMNS
        cells += [trust.accuracy_low, trust.accuracy_high]
    for score in given.results.worker_scores:
        if score is not gold:
            columns.append(Column(score.made_by, "number", given.summary_of_score(score.made_by), 3))
            cells.append(_of_workers(score, score.raw, trust))
    rows: list[tuple[Cell, ...]] = [
        (str(trust.workers[i]), *(_cell(column[i]) for column in cells)) for i in shown.tolist()
    ]
    return Table(
        "All workers",
        tuple(columns),
        rows,
        len(trust.workers),
        command=f"plurivox identify rank {given.name} --scores {WRITTEN_SCORES} -o workers.csv",
        sorted_by=8,
    )


def _of_workers(score: Scores, column: Floats | None, trust: WorkerTrust) -> Floats:
    """Return a column of a score in the order of the workers; NaN for those without a score."""
    place = positions(score.names, trust.workers)
    return np.full(len(place), np.nan) if column is None else np.where(place >= 0, column[place], np.nan)


def _cell(value: object) -> Cell:
    """Return a number or a verdict as a cell; nothing if a worker is as the others."""
    if isinstance(value, str):
        return None if value == "as the others" else value
    return float(value)  # type: ignore[arg-type]


def _scores_picture(trust: WorkerTrust, given: SectionInput) -> list[Picture]:
    """Return the chart of scores of workers, of scores that rank the workers differently; none if there is only one."""
    kept = [Scores("worker", trust.workers, trust.beyond_chance, -trust.beyond_chance, BY_HAND)]
    for score in given.results.worker_scores:
        badness = _of_workers(score, score.badness, trust)
        others = [_of_workers(one, one.badness, trust) for one in kept]
        if np.isfinite(badness).sum() > 1 and all(rank_correlation(badness, other) < SAME_RANKING for other in others):
            kept.append(score)
    if len(kept) < 2:
        return []
    kept = kept[:MAX_PICTURED_SCORES]
    flags = f"--scores agreement-with-rest,{','.join(one.made_by for one in kept[1:])}"
    return [given.pictures.draw("worker-scores", given.pictures.with_scores(kept), flags=flags, k=0)]


def rank_correlation(first: Floats, second: Floats) -> float:
    """Return Spearman's correlation of two scores of the same workers; 0 if it is not defined.

    >>> rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 8.0, 27.0])).__round__(6)
    1.0
    """
    known = np.isfinite(first) & np.isfinite(second)
    if known.sum() < 3:
        return 0.0
    from scipy.stats import rankdata  # imported here because it is slow

    ranks = (
        np.corrcoef(rankdata(first[known]), rankdata(second[known]))
        if np.ptp(first[known]) * np.ptp(second[known])
        else np.zeros((2, 2))
    )
    return float(ranks[0, 1])


def _confusion_picture(trust: WorkerTrust, given: SectionInput) -> list[Picture]:
    """Return the confusion matrices of the crowd and of the first workers to check, if a fit has them."""
    has_matrices = any(fit.confusion is not None for fit in given.results.fits.values())
    if not has_matrices or given.inputs.votes.n_labels > MAX_PICTURED_LABELS:
        return []
    names = [str(trust.workers[i]) for i in trust.first_to_check(PICTURED_MATRICES)]
    only = "" if any("," in name for name in names) else ",".join(names)
    return [given.pictures.draw("confusion", only=only) if only else given.pictures.draw("confusion")]
