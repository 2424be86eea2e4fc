"""The page of a report: its title, its summary of questions and answers, and its sections."""

from datetime import date

from plurivox.workflows.report.page_content import Fact, Page, Section, SummaryLine
from plurivox.workflows.report.sections._section_input import QUANTITY_TEXTS, QUESTIONS, SectionInput
from plurivox.workflows.report.sections.agreement import agreement_section
from plurivox.workflows.report.sections.citation import citation_section
from plurivox.workflows.report.sections.computation import computation_section
from plurivox.workflows.report.sections.data import data_section
from plurivox.workflows.report.sections.labels import labels_section
from plurivox.workflows.report.sections.methods import methods_section
from plurivox.workflows.report.sections.next_steps import next_steps_section
from plurivox.workflows.report.sections.problems import problems_section
from plurivox.workflows.report.sections.tasks import tasks_section
from plurivox.workflows.report.sections.training import training_section
from plurivox.workflows.report.sections.workers import workers_section

SECTIONS = (  # in the order of the page
    problems_section,
    next_steps_section,
    data_section,
    agreement_section,
    workers_section,
    tasks_section,
    methods_section,
    labels_section,
    training_section,
    citation_section,
    computation_section,
)
NOT_IN_SUMMARY = ("citation", "computation", "data")


def report_page(given: SectionInput) -> Page:
    """Return the page of a report with these inputs and results."""
    sections = tuple(section for make in SECTIONS if (section := make(given)) is not None)
    return Page(
        title=f"Report on {given.inputs.name}",
        subtitle=_subtitle(given),
        facts=_sizes(given),
        summary=_summary(given, sections),
        sections=sections,
        footer="Made with plurivox. The page contains everything it shows and loads nothing.",
        details={"version": given.version, "seed": str(given.seed), "command": given.command},
    )


def _subtitle(given: SectionInput) -> str:
    """Return what the page is about, when it was made, and where the votes come from."""
    quantity = given.results.quantity
    text = (
        f"About {QUESTIONS[quantity]}: {QUANTITY_TEXTS[quantity]}. Made on {date.today().isoformat()} by plurivox "
        f"{given.version}."
    )
    return f"{text} {given.remark}".strip()


def _sizes(given: SectionInput) -> tuple[Fact, ...]:
    """Return the sizes that stand at the top."""
    about = given.results.about
    found = [Fact("tasks", f"{about.n_tasks:,}"), Fact("votes", f"{about.n_votes:,.0f}")]
    if about.n_workers:
        found.append(Fact("workers", f"{about.n_workers:,}"))
    found.append(Fact("labels", f"{about.n_labels:,}"))
    if about.n_gold:
        found.append(Fact("gold labels", f"{about.n_gold:,}"))
    return tuple(found)


def _summary(given: SectionInput, sections: tuple[Section, ...]) -> tuple[SummaryLine, ...]:
    """Return the questions and answers of the sections, the first of them what the labels are about."""
    quantity = given.results.quantity
    other = "people" if quantity == "truth" else "truth"
    about = f"About {QUESTIONS[quantity]}: a soft label is {QUANTITY_TEXTS[quantity]}."
    if given.inputs.usual_question == "truth":
        about += f" For {QUESTIONS[other]}, make the page with --for {other}."
    else:
        about += " What is true cannot be estimated from counts without worker names."
    first = SummaryLine("Is this about what is true, or about what people say?", about, "labels")
    rest = [SummaryLine(one.title, one.answer, one.id) for one in sections if one.id not in NOT_IN_SUMMARY]
    return (first, *rest)
