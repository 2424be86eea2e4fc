"""Section on the data: sizes, votes per task and worker, shares of the labels."""

import re

from plurivox.core.count_text import count_text
from plurivox.workflows.report.page_content import Block, Fact, Facts, Section
from plurivox.workflows.report.sections._section_input import SectionInput, parts_text, percent_text

MEANINGS = {
    "observed agreement": "share of pairs of votes on a task that are for the same label",
    "mean entropy of vote shares": "0 if all votes on a task agree; higher if they are spread",
    "votes per task / labels": "the ratio of coders to labels of Uma et al. (2020)",
    "majority vote, ties shared": "accuracy of the most frequent label against the gold labels",
    "always the most frequent label": "accuracy of giving every task the most frequent gold label",
    "gold label got no vote": "no method that only weighs votes can get these tasks right",
}


def data_section(given: SectionInput) -> Section:
    """Return the section on what the data are."""
    about, inputs = given.results.about, given.inputs
    facts = Facts(
        "Sizes and agreement", tuple(Fact(name, value, MEANINGS.get(name, "")) for name, value in about.rows())
    )
    blocks: list[Block] = [facts, given.pictures.draw("votes-per-task")]
    if inputs.has_named_workers:
        blocks.append(given.pictures.draw("workload"))
    blocks.append(given.pictures.draw("labels"))
    return Section("data", "What are the data?", _answer(given), tuple(blocks))


def _fact(name: str, value: str) -> Fact:
    """Return a statistic as a fact; what stands behind its number explains it.

    >>> _fact("repeated answers", "523, not in agreement")
    Fact(name='repeated answers', value='523', meaning='not in agreement')
    """
    found = re.fullmatch(r"(?:median )?([\d.,]*\d(?: nats|%)?)(?:, | )?(.*)", value)
    number, rest = (found[1], found[2]) if found and found[2] else (value, "")
    if value.startswith("median "):
        rest = f"median {rest}".strip()
    return Fact(name, number, "; ".join(one for one in (rest.strip("()"), MEANINGS.get(name, "")) if one))


def _answer(given: SectionInput) -> str:
    """Return the sizes in a sentence."""
    about = given.results.about
    mean, least, most = about.votes_per_task
    people = f"{count_text(about.n_workers, 'worker')} gave" if about.n_workers else "People who are not named gave"
    text = (
        f"{people} {count_text(round(about.n_votes), 'vote')} on {count_text(about.n_tasks, 'task')} with "
        f"{count_text(about.n_labels, 'possible label')}: {mean:.3g} votes per task on average, between {least:g} and {most:g}."
    )
    if about.n_gold and given.results.quantity == "truth":
        verb = "has" if about.n_gold == 1 else "have"
        text += f" {count_text(about.n_gold, 'task')} {verb} a gold label, so accuracy can be measured."
    elif given.results.quantity == "truth":
        text += " There are no gold labels: nothing here measures accuracy, it is estimated."
    if parts := parts_text(given):
        text += f" The data name parts: {parts}."
    if about.share_tied > 0:
        text += f" On {percent_text(about.share_tied)} of the tasks, two labels or more have the most votes."
    return text
