"""Section on how every number was computed: the definition of each, times, versions and the seed."""

import platform
from importlib.metadata import PackageNotFoundError, version

from plurivox.workflows.report.page_content import Block, Cell, Column, Paragraph, Section, Table
from plurivox.workflows.report.report_results import GOLD_MEASURES, SAMPLED_VOTES
from plurivox.workflows.report.sections._section_input import SectionInput
from plurivox.workflows.report.worker_trust import SHRINKAGE, VERDICT_MEANING

PACKAGES = ("numpy", "scipy", "numba", "polars", "matplotlib")
DEFINITIONS = (
    (
        "Agreement",
        f"Coefficients with percentile bootstrap intervals over tasks; of more than {SAMPLED_VOTES:,} votes, those on "
        "random tasks. A worker's repeated answers to a task are not taken for another person's.",
    ),
    (
        "Workers",
        "Agreement is the mean share of the others' votes on the same task that are for the worker's label; by chance, what "
        "somebody who gives labels as often would have on any task. What is beyond chance is "
        "(agreement - by chance) / (1 - by chance), with Wilson's 95% interval. "
        f"Verdicts: {VERDICT_MEANING}. Workers are sorted by the agreement "
        f"beyond chance as if with {SHRINKAGE} more votes like those of the median worker.",
    ),
    (
        "Tasks",
        "Sorted by the entropy -sum p log p of the soft label by the method chosen; of equal ones those with more votes first.",
    ),
    (
        "Method",
        "Chosen by plurivox recommend: crowds with known truth are simulated from models fitted to these votes, and every "
        "candidate is scored on them; gold labels are weighed in. The default stays unless another method is clearly "
        "better.",
    ),
    (
        "Against gold",
        f"{', '.join(GOLD_MEASURES)} with percentile bootstrap intervals over tasks; a task with several most probable "
        "labels is shared among them.",
    ),
    (
        "Intervals of shares",
        "Of the posterior Beta distribution of the share, with the concentration that the method estimates.",
    ),
)


def computation_section(given: SectionInput) -> Section:
    """Return the section on how every number was computed."""
    blocks: list[Block] = [*_definitions(), _versions(given), _times(given)]
    text = f"By {given.command}, with the seed {given.seed}: the same command gives the same numbers."
    return Section("computation", "How was every number computed?", text, tuple(blocks))


def _definitions() -> list[Block]:
    """Return a paragraph per group of numbers."""
    return [Paragraph(f"{name}: {text}") for name, text in DEFINITIONS]


def _versions(given: SectionInput) -> Table:
    """Return the table of the packages that computed the numbers, with their versions."""
    rows: list[tuple[Cell, ...]] = [("plurivox", given.version), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return Table("Versions", (Column("package"), Column("version")), rows, len(rows))


def _times(given: SectionInput) -> Table:
    """Return the table of computations with their times."""
    rows: list[tuple[Cell, ...]] = [(name, seconds) for name, seconds in given.results.seconds.items()]
    total = sum(given.results.seconds.values())
    columns = (Column("computation"), Column("seconds", "number", "time, with the compilation at first use", 2))
    return Table("Computations", columns, rows, len(rows), f"{total:.1f} s together, without charts.")
