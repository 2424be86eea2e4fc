"""Section on trainings: what nets trained on these votes reach on test tasks, and what they gain over simple labels."""

import numpy as np

from plurivox.core.count_text import count_text
from plurivox.core.name_encoding import as_names, positions
from plurivox.workflows.report.page_content import Block, Cell, Column, Section, Table
from plurivox.workflows.report.sections._section_input import SectionInput, percent_text
from plurivox.workflows.report.trained_runs import TrainedRuns

MEASURES = {  # column of results.csv -> (title, kind, meaning)
    "accuracy": ("accuracy", "percent", "share of test tasks whose gold label is the most probable one"),
    "nll": ("NLL", "number", "mean -log p of the gold label, in nats; lower is better"),
    "ece": ("ECE", "number", "expected calibration error; lower is better"),
    "cross-entropy": ("cross-entropy", "number", "to the vote shares, in nats; lower is better"),
    "jsd": ("JSD", "number", "Jensen-Shannon divergence to the vote shares; lower is better"),
    "total-variation": ("total variation", "number", "to the vote shares; lower is better"),
}
PARTS = ("test", "dev")


def training_section(given: SectionInput) -> Section | None:
    """Return the section on what trained nets gain; None if no training is given."""
    runs = given.inputs.runs
    if not runs:
        return None
    blocks: list[Block] = [_table(runs)]
    if any(run.histories for run in runs):
        blocks.append(
            given.pictures.draw("training", flags=" ".join(str(run.folder) for run in runs), without_input=True)
        )
    return Section("training", "What does a trained model gain?", _answer(given), tuple(blocks))


def part_measured(run: TrainedRuns) -> str:
    """Return the part of the tasks that a training was measured on: test, else dev; "" if neither was."""
    return next((part for part in PARTS if any(name.startswith(f"{part} ") for name in run.measures)), "")


def _answer(given: SectionInput) -> str:
    """Return the accuracy of the best training on test tasks, beside the baseline and the aggregated labels."""
    runs = given.inputs.runs
    best = max(runs, key=lambda run: np.nan_to_num(run.mean(f"{part_measured(run)} accuracy"), nan=-1))
    part = part_measured(best)
    accuracy, deviation = best.mean(f"{part} accuracy"), best.standard_deviation(f"{part} accuracy")
    if not np.isfinite(accuracy):
        return (
            f"{count_text(len(runs), 'training')} on these votes; none was measured against gold labels, so that its "
            "gain is unknown."
        )
    n, n_votes = best.mean(f"{part} tasks with gold"), best.mean(f"{part} tasks with votes")
    text = (
        f"{_title(best)} gives {percent_text(accuracy, 1)} of {count_text(n, f'{part} task')} the gold label"
        + (
            f" (mean of {best.n_runs} runs, standard deviation {percent_text(deviation, 1)})"
            if np.isfinite(deviation)
            else " (one run)"
        )
        + "."
    )
    others = [(run, run.mean(f"{part} accuracy")) for run in runs if run is not best]
    if known := [f"{_title(run)} {percent_text(mean, 1)}" for run, mean in others if np.isfinite(mean)]:
        text += f" The other training{'s' if len(known) > 1 else ''}: {', '.join(known)}."
    if np.isfinite(baseline := best.mean(f"{part} baseline")):
        text += f" Always the most frequent label: {percent_text(baseline, 1)}."
    if n_votes == 0:
        text += " None of these tasks has votes: the net labels what nobody was asked about."
    n_same, own = _accuracy_of_aggregated_labels(given, best, part)
    if n_same:
        text += (
            f" The aggregated labels are right on {percent_text(own, 1)} of the {n_same:,} of these that have votes."
        )
    if part == "dev":
        text += " The dev tasks chose the best epoch, so that this number is too good."
    return text


def _accuracy_of_aggregated_labels(given: SectionInput, run: TrainedRuns, part: str) -> tuple[int, float]:
    """Return (number, accuracy) of the tasks that a training was measured on and that have votes and a gold label."""
    gold, soft = given.inputs.gold, given.results.fit.soft
    if gold is None:
        return 0, float("nan")
    measured = as_names(run.settings.get("parts", {}).get(part, []), "tasks")
    shared = measured[(positions(gold.tasks, measured) >= 0) & (positions(soft.tasks, measured) >= 0)]
    if not len(shared):
        return 0, float("nan")
    right = soft.on(shared).hard() == gold.on(shared).hard()
    return len(shared), float(right.mean())


def _title(run: TrainedRuns) -> str:
    """Return the name of a training with its target, if that is known."""
    words = str(run.settings.get("command", "")).split()
    target = next((words[i + 1] for i, word in enumerate(words[:-1]) if word in ("--target", "--head")), "")
    return f"{run.name} ({target})" if target and target not in run.name else run.name


def _table(runs: tuple[TrainedRuns, ...]) -> Table:
    """Return the table of trainings with the means and standard deviations of their measures over runs."""
    shown = [name for name in MEASURES if any(f"{part_measured(run)} {name}" in run.measures for run in runs)]
    columns = [Column("training"), Column("runs", "number", "nets trained with different seeds", 0)]
    columns += [Column("tasks", "text", "tasks that the nets are measured on")]
    for name in shown:
        title, kind, meaning = MEASURES[name]
        columns.append(
            Column(title, "percent" if kind == "percent" else "number", meaning, 1 if kind == "percent" else 3)
        )
        columns.append(
            Column(
                f"{title}, sd",
                "percent" if kind == "percent" else "number",
                "standard deviation over runs",
                columns[-1].digits,
            )
        )
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        part = part_measured(run)
        n = run.mean(f"{part} tasks with gold")
        cells: list[Cell] = [_title(run), run.n_runs, count_text(n, f"{part} task") if np.isfinite(n) else part]
        for name in shown:
            cells += [run.mean(f"{part} {name}"), run.standard_deviation(f"{part} {name}")]
        rows.append(tuple(cells))
    return Table("Trainings", tuple(columns), rows, len(rows), command=str(runs[0].settings.get("command", "")))
