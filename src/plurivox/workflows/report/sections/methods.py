"""Section on aggregation methods: which one to use, what each says, and how far they are from each other."""

from collections.abc import Sequence

import numpy as np

from plurivox import aggregate
from plurivox.charts import ChartData
from plurivox.core.count_text import count_text
from plurivox.core.method import parse_spec
from plurivox.workflows.recommendation import GOALS, TITLES, Recommendation
from plurivox.workflows.report.commands import shell_name
from plurivox.workflows.report.method_differences import MethodDifferences
from plurivox.workflows.report.page_content import Block, Cell, Column, CopyText, Paragraph, Section, Table
from plurivox.workflows.report.pictures import MEASURE_TITLES
from plurivox.workflows.report.sections._section_input import QUESTIONS, SectionInput, percent_text

SHOWN_LINES = ("use", "expected", "how sure", "hidden votes", "one more vote")  # the others are elsewhere on the page
MAX_PICTURED_LABELS, MAX_PICTURED_TASKS = 1_000, 300_000


def methods_section(given: SectionInput) -> Section:
    """Return the section on what each method says."""
    found = given.results.differences
    blocks: list[Block] = [_table(given, found), _descriptions(found)]
    if len(found.methods) > 1:
        blocks.append(_pairs(found))
    blocks += _pictures(given)
    if (made := given.results.recommendation) is not None:
        blocks.append(_candidates(made))
        blocks.append(
            CopyText("How the method was recommended", "\n".join(_recommendation_lines(given)), is_code=False)
        )
        blocks.append(Paragraph(f"Printed by: plurivox recommend {given.name} --for {made.question}"))
    title = "Which method, and what does each say?"
    return Section("methods", title, _answer(given, found), tuple(blocks), given.results.quantity)


def _answer(given: SectionInput, found: MethodDifferences) -> str:
    """Return the method to use, its measured or expected accuracy, and on how many tasks methods disagree."""
    results = given.results
    text = f"Use {results.chosen} for {GOALS[results.quantity]}"
    made = results.recommendation
    if made is not None:
        why = (
            f"the default; on simulated crowds {_rivals_text(made)}"
            if made.recommended == made.default
            else "recommended for votes like these"
        )
        text += f" ({why})"
    text += "."
    if results.quantity == "truth" and (against := results.evaluations.get(results.chosen)) is not None:
        one = against["accuracy"]
        best = max(results.fits_for("truth"), key=lambda spec: _accuracy(given, spec))
        text += (
            f" Against the gold labels its most probable label is right on {percent_text(one.mean, 1)} of "
            f"{count_text(int(against.n[0]), 'task')}"
            f" (95% interval {percent_text(one.low, 1)} to {percent_text(one.high, 1)})."
        )
        if _accuracy(given, best) > one.mean + 1e-9:
            highest = percent_text(_accuracy(given, best), 1)
            text += f" The highest accuracy is that of {best}, {highest}, which is one of four measures below."
    elif results.quantity == "truth" and made is not None:
        mean, low, high = made.expected("accuracy")
        text += (
            f" Its expected accuracy, on simulated crowds like this one, is {percent_text(mean)} ({percent_text(low)} "
            f"to {percent_text(high)})."
        )
    same = [spec for spec in results.fits_for(results.quantity) if spec != results.chosen]
    if same:
        at = found.methods.index(results.chosen)
        differ = {spec: float(found.other_top[at, found.methods.index(spec)]) for spec in same}
        far = max(differ, key=lambda spec: differ[spec])
        text += (
            f" The other {'method' if len(same) == 1 else 'methods'} for {QUESTIONS[results.quantity]} name another label "
            f"first on {percent_text(min(differ.values()))} to {percent_text(differ[far])} of the tasks ({far} on most)."
            if len(same) > 1
            else f" {far} names another label first on {percent_text(differ[far])} of the tasks."
        )
    return text


def _accuracy(given: SectionInput, spec: str) -> float:
    """Return the accuracy of a method against gold labels; -1 if it was not measured."""
    found = given.results.evaluations.get(spec)
    return -1.0 if found is None else float(found["accuracy"].mean)


def _rivals_text(made: Recommendation) -> str:
    """Return how many candidates cannot be told apart from the recommended one."""
    n = len(made.rivals)
    if not n:
        return f"it is clearly better than the {len(made.method) - 1} other candidates"
    return f"{n} of {len(made.method) - 1} other candidates cannot be told apart from it"


def _table(given: SectionInput, found: MethodDifferences) -> Table:
    """Return the table of methods: what each estimates, how sure it is, distance to the chosen one, measures."""
    results, at = given.results, found.methods.index(given.results.chosen)
    shows_measures = results.evaluations and results.quantity == "truth"
    measures = {title: name for name, title in MEASURE_TITLES.items()} if shows_measures else {}
    meaning = "against the gold labels; intervals are in the figure below"
    columns = [
        Column("method"),
        Column(
            "about",
            "flag",
            "truth: the probability that a label is right; people: the share of people who would give it",
        ),
        *(Column(title, "number", f"{title} {meaning}", 3) for title in measures),
        Column(
            "other label first",
            "percent",
            f"share of tasks on which another label is first than by {results.chosen}; equal probabilities do not count",
            1,
        ),
        Column("distance", "number", f"mean total variation to the soft labels of {results.chosen}", 3),
        Column("mean confidence", "percent", "mean probability of the most probable label", 1),
        Column("mean entropy", "number", "of the soft labels, in nats", 3),
    ]
    cells: list[list[Cell]] = [
        [results.fits[spec].soft.estimates for spec in found.methods],
        *_measures(given, found.methods, list(measures.values())),
        found.other_top[at].tolist(),
        found.total_variation.tolist(),
        found.confidence.tolist(),
        found.entropy.tolist(),
    ]
    columns.append(Column("seconds", "number", "time of the fit", 2))
    cells.append([results.seconds.get(spec, np.nan) for spec in found.methods])
    rows = [(spec, *row) for spec, row in zip(found.methods, zip(*cells, strict=True), strict=True)]
    note = " ".join(
        f"{one.spec} is left out: {one.reason}." for one in results.left_out if one.spec in results.asked_methods
    )
    command = (
        f"plurivox compare {given.name} --methods {shell_name(','.join(found.methods))}"
        if given.inputs.gold is not None
        else ""
    )
    return Table("Methods", tuple(columns), rows, len(rows), note, command)


def _descriptions(found: MethodDifferences) -> Table:
    """Return the table that says what each method does."""
    rows: list[tuple[Cell, ...]] = [(spec, aggregate.methods.summary(parse_spec(spec)[0])) for spec in found.methods]
    return Table("What the methods do", (Column("method"), Column("what it does")), rows, len(rows))


def _measures(given: SectionInput, specs: Sequence[str], names: Sequence[str]) -> list[list[Cell]]:
    """Return a column per measure against gold, with a cell per method; None if it was not computed."""
    found = [given.results.evaluations.get(spec) for spec in specs]
    return [
        [None if one is None or name not in one.measure.tolist() else one[name].mean for one in found] for name in names
    ]


def _pairs(found: MethodDifferences) -> Table:
    """Return the table of pairs of methods: on what share of tasks their most probable labels differ."""
    meaning = (
        "share of tasks on which the two methods name different labels first; labels of equal probability do not count"
    )
    columns = (
        Column("method"),
        *(Column(spec, "percent", meaning if not i else "", 1) for i, spec in enumerate(found.methods)),
    )
    rows: list[tuple[Cell, ...]] = [
        (spec, *(None if i == j else float(found.other_top[i, j]) for j in range(len(found.methods))))
        for i, spec in enumerate(found.methods)
    ]
    return Table("Share of tasks on which two methods name different labels first", columns, rows, len(rows))


def _candidates(made: Recommendation) -> Table:
    """Return the table of the candidates of the recommendation with their expected measures on simulated crowds."""
    found = made.columns()
    columns, cells = [Column("candidate")], []
    for name in made.measures:
        title = TITLES.get(name, name)
        columns.append(Column(title, "number", f"expected {title}: mean over {len(made.world)} simulated crowds", 3))
        columns.append(Column(f"{title}, 90% of crowds", "text", "between these are 90% of the simulated crowds"))
        ends = zip(found[f"{name}_low"].tolist(), found[f"{name}_high"].tolist(), strict=True)
        cells += [found[name].tolist(), [f"{low:.3f} to {high:.3f}" for low, high in ends]]
    if "hidden_log_loss" in found:
        columns.append(
            Column("hidden votes", "number", "mean -log p of one hidden vote per task, in nats; lower is better", 3)
        )
        cells.append(found["hidden_log_loss"].tolist())
    rows: list[tuple[Cell, ...]] = list(zip(made.method.tolist(), *cells, strict=True))
    title = TITLES.get(made.decided_by, made.decided_by)
    note = f"The {title} decides; methods within {made.noise:g} of the best cannot be told apart from it."
    return Table("Candidates on simulated crowds like this one", tuple(columns), rows, len(rows), note)


def _pictures(given: SectionInput) -> list[Block]:
    """Return the charts of measures and calibration, and of tasks on which the chosen method moves labels most."""
    results, pictures = given.results, given.pictures
    blocks: list[Block] = []
    if results.evaluations and results.quantity == "truth":
        blocks.append(pictures.draw("comparison"))
        truth = {spec: fit.soft for spec, fit in results.fits_for("truth").items()}
        if truth:
            blocks.append(pictures.draw("reliability", pictures.with_soft(truth)))
    simple = next(
        (spec for spec in ("vote-shares", results.other) if spec in results.fits and spec != results.chosen), ""
    )
    few = given.inputs.votes.n_labels <= MAX_PICTURED_LABELS and given.inputs.votes.n_tasks <= MAX_PICTURED_TASKS
    if simple and few:
        data: ChartData = pictures.with_soft({spec: results.fits[spec].soft for spec in (results.chosen, simple)})
        blocks.append(pictures.draw("label-shift", data, flags=f"--methods {shell_name(f'{results.chosen},{simple}')}"))
    return blocks


def _recommendation_lines(given: SectionInput) -> list[str]:
    """Return the sentences of the recommendation."""
    made = given.results.recommendation
    assert made is not None
    return [f"{head}: {text}" for head, text in made.lines() if head in SHOWN_LINES]
