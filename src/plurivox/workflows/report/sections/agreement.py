"""Section on agreement: coefficients with intervals, agreement per label, a heat map of pairs of workers."""

import numpy as np

from plurivox.workflows.crowd_agreement import Agreement
from plurivox.workflows.report.page_content import Block, Column, Paragraph, Section, Table
from plurivox.workflows.report.sections._section_input import SectionInput, percent_text, sampled_text

RELIABLE, TENTATIVE = 0.8, 0.667  # Krippendorff (2004), p. 241
COEFFICIENT_COLUMNS = (
    Column("coefficient"),
    Column("value", "number", "1: all agree; 0: as by chance", 3),
    Column("low", "number", "lower end of the 95% interval", 3),
    Column("high", "number", "upper end of the 95% interval", 3),
    Column("what it says"),
)
LABEL_COLUMNS = (
    Column("label"),
    Column("votes", "number", "votes for the label on tasks with two votes or more", 0),
    Column("tasks", "number", "tasks on which the label got a vote", 0),
    Column(
        "agreement", "percent", "given one vote for the label, share of the other votes on the task that are for it"
    ),
    Column("low", "percent", "lower end of the 95% interval"),
    Column("high", "percent", "upper end of the 95% interval"),
    Column("alpha", "number", "Krippendorff's alpha of this label against all others", 3),
)
MAX_PICTURED_WORKERS, PICTURED_WORKERS = 20_000, 30


def agreement_section(given: SectionInput) -> Section:
    """Return the section on how far people agree."""
    found = given.results.agreement
    if found is None:
        reason = next((one.reason for one in given.results.left_out if one.spec == "agreement"), "")
        return Section("agreement", "How far do people agree?", f"Agreement could not be computed: {reason}", ())
    blocks: list[Block] = [_coefficients(found, given), _labels(found, given)]
    if given.inputs.has_named_workers and 1 < given.inputs.votes.n_workers <= MAX_PICTURED_WORKERS:
        blocks.append(given.pictures.draw("agreement", k=PICTURED_WORKERS))
    if sampled := sampled_text(given.results):
        blocks.append(Paragraph(sampled))
    return Section("agreement", "How far do people agree?", _answer(found, given), tuple(blocks))


def _answer(found: Agreement, given: SectionInput) -> str:
    """Return the observed agreement and alpha in words."""
    observed, alpha = found["observed-agreement"], found["krippendorff-alpha"]
    if not np.isfinite(alpha.mean):
        return (
            "Agreement beyond chance is not defined for these votes: no two people voted on the same task, or all said "
            "the same."
        )
    if alpha.mean >= RELIABLE:
        meaning = "high enough that Krippendorff (2004) would rely on the data"
    elif alpha.mean >= TENTATIVE:
        meaning = "in the range in which Krippendorff (2004) draws tentative conclusions only"
    else:
        meaning = "below what Krippendorff (2004) accepts for data that are to be right or wrong"
    unanimous = percent_text(given.results.about.share_unanimous)
    return (
        f"Two people with the same task give the same label in {percent_text(observed.mean)} of the cases. Krippendorff's "
        f"alpha, which leaves out agreement by chance, is {alpha.mean:.2f} (95% interval {alpha.low:.2f} to "
        f"{alpha.high:.2f}): {meaning}. On {unanimous} of the tasks everybody gave the same label. Low agreement may mean "
        "careless people, or tasks on which people rightly differ."
    )


def _coefficients(found: Agreement, given: SectionInput) -> Table:
    """Return the table of coefficients."""
    cells = found.crowd.cells
    rows = [
        (str(name), float(value), float(low), float(high), str(meaning))
        for name, value, low, high, meaning in zip(
            *(cells[column] for column in ("coefficient", "value", "low", "high", "meaning")), strict=True
        )
    ]
    return Table(
        "Coefficients of agreement", COEFFICIENT_COLUMNS, rows, len(rows), command=f"plurivox agreement {given.name}"
    )


def _labels(found: Agreement, given: SectionInput) -> Table:
    """Return the table of labels, those with the lowest agreement first."""
    cells = found.labels.cells
    rows = [
        (str(label), float(votes), float(tasks), float(agreement), float(low), float(high), float(alpha))
        for label, votes, tasks, agreement, low, high, alpha in zip(
            *(
                cells[column]
                for column in ("label", "votes", "tasks", "agreement", "agreement_low", "agreement_high", "alpha")
            ),
            strict=True,
        )
    ]
    rows.sort(key=lambda row: (np.isnan(row[3]), row[3]))
    return Table(
        "Agreement per label",
        LABEL_COLUMNS,
        rows[: given.table_rows],
        len(rows),
        command=f"plurivox agreement {given.name} -o agreement",
        sorted_by=3,
    )
