"""Section with a methods paragraph for a paper, and the BibTeX entries that it cites."""

from collections.abc import Sequence

from plurivox.core.count_text import count_text
from plurivox.core.results import Scores
from plurivox.workflows.report.bibliography import bibtex, citation_text
from plurivox.workflows.report.page_content import CopyText, Section
from plurivox.workflows.report.sections._section_input import QUANTITY_TEXTS, SectionInput, names_text


def citation_section(given: SectionInput) -> Section:
    """Return the section with the methods paragraph."""
    blocks = (
        CopyText("Methods paragraph", methods_paragraph(given), is_code=False),
        CopyText("BibTeX", bibtex(_cited(given), given.version)),
    )
    answer = "A paragraph for a paper, to be shortened, and the entries of what it cites."
    return Section("citation", "How to write about it?", answer, blocks)


def _cited(given: SectionInput) -> list[str]:
    """Return the specs of the methods and measures that the paragraph names."""
    results = given.results
    shown = [*results.fits, *(score.made_by for score in (*results.worker_scores, *results.task_scores))]
    measures = [
        *(["ece"] if results.evaluations and results.quantity == "truth" else []),
        *(["wilson-interval"] if results.trust is not None else []),
    ]
    return [results.chosen, "krippendorff-alpha", *shown, *measures]


def methods_paragraph(given: SectionInput) -> str:
    """Return a paragraph on the data, the agreement, the aggregation and its evaluation, with citations."""
    results, about = given.results, given.results.about
    people = count_text(about.n_workers, "worker") if about.n_workers else "People"
    text = (
        f"{people} gave {count_text(round(about.n_votes), 'vote')} on "
        f"{count_text(about.n_tasks - about.n_tasks_without_votes, 'task')} "
        f"with {count_text(about.n_labels, 'label')} ({about.votes_per_task[0]:.2f} votes per task on average)."
    )
    if results.agreement is not None:
        alpha = results.agreement["krippendorff-alpha"]
        text += (
            f" Krippendorff's alpha{citation_text('krippendorff-alpha')} is {alpha.mean:.3f} (95% bootstrap interval "
            f"{alpha.low:.3f} to {alpha.high:.3f})."
        )
    text += (
        f" Votes were aggregated by {results.chosen}{citation_text(results.chosen)}, which estimates "
        f"{QUANTITY_TEXTS[results.quantity]}, with plurivox {given.version} (seed {given.seed})."
    )
    if others := [f"{spec}{citation_text(spec)}" for spec in results.fits if spec != results.chosen]:
        text += f" Compared with it were {names_text(others, len(others))}."
    if results.quantity == "truth" and (found := results.evaluations.get(results.chosen)) is not None:
        parts = [
            f"{title}{citation_text(name)} {found[name].mean:.3f} [{found[name].low:.3f}, {found[name].high:.3f}]"
            for name, title in TITLES.items()
            if name in found.measure.tolist()
        ]
        text += f" Against {count_text(about.n_gold, 'gold label')}: {', '.join(parts)} (95% bootstrap intervals over tasks)."
    if results.trust is not None:
        text += _scores_text(results.worker_scores, "workers")
        text += (
            " Workers were compared by their agreement with the others beyond chance, with Wilson's interval"
            f"{citation_text('wilson-interval')}."
        )
    return text + _scores_text(results.task_scores, "tasks")


def _scores_text(scores: Sequence[Scores], of: str) -> str:
    """Return a sentence that names scores with their citations; "" if there are none."""
    named = [f"{score.made_by}{citation_text(score.made_by)}" for score in scores]
    return f" Scores of {of}: {names_text(named, len(named))}." if named else ""


TITLES = {"accuracy": "accuracy", "nll": "NLL", "brier": "Brier score", "ece": "expected calibration error"}
