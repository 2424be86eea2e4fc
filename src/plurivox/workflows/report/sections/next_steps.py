"""Section on what to do next: the steps that help most for these votes, each with the reason and the command."""

from collections.abc import Callable

import numpy as np

from plurivox.core.count_text import count_text
from plurivox.workflows.report.commands import (
    aggregate_command,
    drop_workers_command,
    first_answers_only,
    report_cards_command,
    shell_name,
)
from plurivox.workflows.report.page_content import Section, Step, Steps
from plurivox.workflows.report.sections._section_input import QUESTIONS, SectionInput, names_text, percent_text
from plurivox.workflows.report.worker_trust import DROPPED

ENOUGH_GOLD = 100  # tasks with which accuracy is known to about 8 points
LEAST_GAIN = 0.005  # gain in accuracy of one more vote per task that is worth asking for


def next_steps_section(given: SectionInput) -> Section:
    """Return the section on what to do next."""
    steps, name = [], given.name
    for make in STEPS:
        if (step := make(given, name)) is not None:
            steps.append(step)
            name = first_answers_only(name) if make is _drop_repeats else name
    first = f"First: {steps[0].text[:1].lower()}{steps[0].text[1:]}"
    answer = f"{first} {count_text(len(steps) - 1, 'more step')} below, each with its command."
    return Section("next-steps", "What to do next?", answer, (Steps(tuple(steps)),))


def _mend_leaks(given: SectionInput, name: str) -> Step | None:
    """Return the step to separate the parts of the data, if tasks of one are in another."""
    if not given.leaks:
        return None
    return Step(
        "Keep copies of a task in one part of the data before training.",
        "Otherwise a net is tested on what it has learnt.",
        f"plurivox audit {name}",
    )


def _drop_repeats(given: SectionInput, name: str) -> Step | None:
    """Return the step to keep one answer per worker and task, if there are repeats."""
    if not (n := given.results.about.n_repeats):
        return None
    return Step(
        "Read only the first answer of each worker to each task.",
        f"{count_text(n, 'answer')} repeat an earlier one of the same worker, and count as votes of several people. The "
        "command makes this page without them; the steps below leave them out too.",
        f"plurivox report {first_answers_only(name)} -o report.html",
    )


def _read_votes_of_workers(given: SectionInput, name: str) -> Step | None:
    """Return the step to read votes of the workers near random or against the others."""
    del name  # a recipe takes no flags on how to read the data
    trust = given.results.trust
    if trust is None or not (n := trust.count(*DROPPED)):
        return None
    command = report_cards_command(trust.names(*DROPPED), given.name)
    return Step(
        f"Read some votes of the {count_text(n, 'worker')} near random or against the others.",
        f"They are {names_text(trust.names(*DROPPED))}."
        + (" The command shows their scores, confusion matrices and most unlikely votes." if command else ""),
        command,
    )


def _drop_workers(given: SectionInput, name: str) -> Step | None:
    """Return the step to leave out workers near random or against the others."""
    trust, found = given.results.trust, given.results.without_doubtful
    if trust is None or not trust.count(*DROPPED):
        return None
    why = "The methods weigh votes by how good each worker seems, so that little changes."
    if found is not None:
        why = f"Without them {count_text(found.n_changed, 'task')} of {found.n_tasks:,} would get another label."
        if found.accuracy is not None and found.accuracy_without is not None:
            before, after = percent_text(found.accuracy, 1), percent_text(found.accuracy_without, 1)
            why += f" Accuracy against gold labels: {after} instead of {before}."
    return Step(
        "Leave them out if they are careless.",
        f"{why} Then name kept in place of {name} in the steps below.",
        drop_workers_command(trust.names(*DROPPED), name),
    )


def _inspect_tasks(given: SectionInput, name: str) -> Step | None:
    """Return the step to inspect the hardest tasks."""
    hard = given.hard_tasks
    first = [str(hard.votes.tasks[task]) for task in hard.order[:3].tolist()]
    return Step(
        "Look at the ten most uncertain tasks: is the question clear, is a label missing, is a picture or text broken?",
        f"They are shown below with their votes, first {names_text(first)}. What makes people disagree there is often in "
        "many other tasks too.",
        f"plurivox identify posterior-entropy {name} --by {shell_name(given.results.chosen)} --worst 10",
    )


def _ask_again(given: SectionInput, name: str) -> Step | None:
    """Return the step to ask for more votes, if these are expected to help."""
    made = given.results.recommendation
    if made is None or made.question != "truth" or not given.inputs.has_named_workers:
        return None
    gain = float(made.gain[:, 0].mean())
    if gain < LEAST_GAIN:
        return None
    share, n = made.gain_at_least_certain, max(1, len(given.inputs.votes.tasks_with_votes) // 5)
    where = (
        f"; {percent_text(share)} of that on the least certain fifth of the tasks"
        if np.isfinite(share) and share > 0.3
        else ""
    )
    return Step(
        "Ask for one more vote on the least certain tasks.",
        f"One more vote on every task would raise the expected accuracy by {100 * gain:.1f} points{where}.",
        f"plurivox assign next-best {name} --n {n} -o ask.csv",
    )


def _collect_gold(given: SectionInput, name: str) -> Step | None:
    """Return the step to collect gold labels, if there are too few to measure accuracy."""
    if given.results.quantity != "truth" or given.results.about.n_gold >= ENOUGH_GOLD:
        return None
    n = given.results.about.n_gold
    return Step(
        f"Let an expert label {ENOUGH_GOLD} random tasks.",
        ("There are no gold labels" if not n else f"There are {count_text(n, 'gold label')} only")
        + f", so that accuracy is an estimate; {ENOUGH_GOLD} of them measure it to within about 8 points.",
        f"plurivox report {name} --gold gold.csv -o report.html",
    )


def _write_labels(given: SectionInput, name: str) -> Step:
    """Return the step to write the soft labels."""
    results = given.results
    other = (
        f" For the other question, {results.other}."
        if results.other_fit is not None and results.other != results.chosen
        else ""
    )
    return Step(
        f"Write the soft labels for {QUESTIONS[results.quantity]}.",
        f"By {results.chosen}.{other}",
        aggregate_command(results.chosen, name, "soft.csv"),
    )


def _train(given: SectionInput, name: str) -> Step | None:
    """Return the step to train a net, if the data have inputs and no training is shown."""
    data = given.inputs.dataset
    if given.inputs.runs or not (data.has("features") or data.has("images")):
        return None
    return Step(
        "Train a net on the disagreement, and add it to this page.",
        "The data have inputs for it. Give the page the folder of the training: --run run.",
        f"plurivox train {name} --for {given.results.quantity} --runs 3 -o run",
    )


STEPS: tuple[Callable[[SectionInput, str], Step | None], ...] = (
    _drop_repeats,
    _read_votes_of_workers,
    _drop_workers,
    _inspect_tasks,
    _ask_again,
    _collect_gold,
    _mend_leaks,
    _write_labels,
    _train,
)
