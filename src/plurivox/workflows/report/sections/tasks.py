"""Section on tasks: which ten to look at, with their images or texts and votes, and why each of them is hard."""

import numpy as np

from plurivox.charts._shared.votes_in_words import known_labels, votes_in_words, votes_per_label
from plurivox.core.array_types import Ints
from plurivox.core.count_text import count_text
from plurivox.core.name_encoding import positions
from plurivox.workflows.report.commands import shell_name
from plurivox.workflows.report.hard_tasks import SURE, HardTasks
from plurivox.workflows.report.page_content import Block, Cell, Column, Section, Table, TaskCard, TaskCards
from plurivox.workflows.report.sections._section_input import SectionInput, names_text, percent_text
from plurivox.workflows.report.thumbnails import small_image_file

FIRST, FIRST_AGAINST_GOLD = 10, 5
LONGEST_TEXT = 4_000  # characters
MAX_CARD_LABELS = 30
UNSURE = 0.6  # a most probable label with less is called uncertain


def tasks_section(given: SectionInput) -> Section:
    """Return the section on hard tasks."""
    hard = given.hard_tasks
    first = [task for task in hard.order[:FIRST].tolist() if hard.votes.support[task] > 0]
    blocks: list[Block] = [
        TaskCards(
            f"The {len(first)} tasks to look at first",
            tuple(_card(given, hard, task) for task in first),
            _soft_title(given),
            "Sorted by the entropy of the soft label, which is highest if all labels have the same share of it; of equal "
            "tasks the one with more votes comes first.",
        )
    ]
    if len(clear := hard.against_gold):
        shown = min(len(clear), FIRST_AGAINST_GOLD)
        blocks.append(
            TaskCards(
                f"Tasks with a clear label that is not the gold label: {shown} of {len(clear):,}",
                tuple(_card(given, hard, task) for task in clear[:shown].tolist()),
                _soft_title(given),
                f"The {given.top_label} has {SURE:.0%} or more. Either the crowd misread the task, or the gold label is wrong.",
            )
        )
        if len(clear) > shown:
            blocks.append(_tasks_and_gold(given, hard, clear, "Tasks with a clear label that is not the gold label"))
    if len(unvoted := hard.gold_without_votes):
        blocks.append(_tasks_and_gold(given, hard, unvoted, "Tasks whose gold label got no vote"))
    blocks.append(_all_tasks(given, hard))
    return Section("tasks", "Which tasks are hard?", _answer(given, hard, first), tuple(blocks), given.results.quantity)


def _answer(given: SectionInput, hard: HardTasks, first: list[int]) -> str:
    """Return which tasks to look at, how many are uncertain, and how many have a clear label against the gold label."""
    confidence = hard.confidence[hard.has_votes]
    n = len(confidence)
    below = int((confidence < UNSURE).sum())
    text = f"Look first at {names_text(hard.votes.tasks[first])}."
    text += (
        f" On {below:,} of {count_text(n, 'task')} with votes ({percent_text(below / max(n, 1))}) the {given.top_label} "
        f"has less than {UNSURE:.0%} by {given.results.chosen}."
    )
    if len(hard.against_gold):
        text += (
            f" {count_text(len(hard.against_gold), 'task')} {'has' if len(hard.against_gold) == 1 else 'have'} a clear "
            "label that differs from the gold label."
        )
    return text


def _soft_title(given: SectionInput) -> str:
    """Return what the soft labels of the cards are, and why they are not the shares of the votes."""
    if given.results.quantity == "truth":
        what = "the probability that the label is right"
        why = "Votes of workers who seem reliable count more"
    else:
        what = "the share of people who would give it"
        why = "Labels that people often confuse with those voted for get a share too, and careless workers count less"
    repeats = " Votes count repeated answers." if given.results.about.n_repeats else ""
    return f"Soft label: {what}, by {given.results.chosen}. {why}.{repeats}"


def _tasks_and_gold(given: SectionInput, hard: HardTasks, tasks: Ints, title: str) -> Table:
    """Return the table of some tasks with their label, gold label and votes."""
    shown = tasks[: given.table_rows]
    names, labels = hard.votes.tasks, hard.votes.labels
    gold = known_labels(given.inputs.gold, names[shown])
    columns = (
        Column("task"),
        Column("label"),
        Column("soft label", "percent", "of that label", 1),
        Column("gold"),
        Column("votes"),
    )
    rows = [
        (str(names[t]), str(labels[hard.top[t]]), float(hard.confidence[t]), known, votes_in_words(hard.votes, t))
        for t, known in zip(shown.tolist(), gold, strict=True)
    ]
    return Table(title, columns, rows, len(tasks))


def _card(given: SectionInput, hard: HardTasks, task: int) -> TaskCard:
    """Return the card of a task: image or text, votes, soft label, gold label, and why it is hard."""
    name, votes, labels = str(hard.votes.tasks[task]), hard.votes, hard.votes.labels
    counts = votes_per_label(votes, task)
    codes, p = given.results.fit.soft.body.take(np.array([task])).top_label_codes_and_probs(
        min(len(labels), MAX_CARD_LABELS)
    )
    soft = [(str(labels[code]), float(share)) for code, share in zip(codes[0], p[0], strict=True)]
    gold = known_labels(given.inputs.gold, votes.tasks[[task]])[0]
    contents = given.inputs.contents
    image = small_image_file(contents, name)
    return TaskCard(
        name,
        image=image,
        text=(contents.text_of(name) or "")[:LONGEST_TEXT],
        votes=tuple((str(labels[code]), n) for code, n in counts.items() if n > 0),
        soft=tuple(
            (label, share) for label, share in soft if share >= 0.005 or label in {str(labels[c]) for c in counts}
        ),
        gold=gold or "",
        facts=(("entropy", f"{hard.entropy[task]:.2f} nats"),),
        remark=hard.reason(task) + (" Its image cannot be shown." if contents.images and image is None else ""),
    )


def _all_tasks(given: SectionInput, hard: HardTasks) -> Table:
    """Return the table of tasks, the most uncertain first, with every score."""
    shown = hard.order[: given.table_rows]
    names, labels = hard.votes.tasks, hard.votes.labels
    gold = known_labels(given.inputs.gold, names[shown])
    columns = [
        Column("task"),
        Column("votes", "text", "labels and their number of votes, most first"),
        Column("label", "text", f"{given.top_label} by {given.results.chosen}"),
        Column("soft label", "percent", "of that label", 1),
        Column("its entropy", "number", "entropy of the soft label in nats; the table is sorted by it", 3),
        Column(
            "other methods", "number", "number of other methods for the same question that name another label first", 0
        ),
    ]
    cells: list[list[Cell]] = [
        [votes_in_words(hard.votes, task) for task in shown.tolist()],
        [str(labels[hard.top[task]]) for task in shown.tolist()],
        hard.confidence[shown].tolist(),
        hard.entropy[shown].tolist(),
        hard.n_other_tops[shown].tolist(),
    ]
    if any(gold):
        columns.append(Column("gold"))
        cells.append([label or None for label in gold])
    for score in given.results.task_scores:
        place = positions(score.names, names[shown])
        title = "entropy of votes" if score.made_by == "entropy" else score.made_by
        columns.append(Column(title, "number", given.summary_of_score(score.made_by), 3))
        cells.append(np.where(place >= 0, score.raw[place], np.nan).tolist())
    rows = [(str(names[task]), *row) for task, row in zip(shown.tolist(), zip(*cells, strict=True), strict=True)]
    return Table(
        "Tasks, the most uncertain first",
        tuple(columns),
        rows,
        len(names),
        command=f"plurivox identify posterior-entropy {given.name} --by {shell_name(given.results.chosen)} -o tasks.csv",
        sorted_by=4,
        descending=True,
    )
