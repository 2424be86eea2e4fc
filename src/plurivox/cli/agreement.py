"""`plurivox agreement INPUT`: agreement of a crowd, per label and per pair of workers, with intervals."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import (
    GENERAL,
    IN_AND_OUT,
    INPUT,
    PART,
    READING,
    READING_FLAGS,
    Choice,
    Flag,
    Source,
    out_flag,
)
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.count_text import count_text
from plurivox.core.errors import OptionError

if TYPE_CHECKING:
    from plurivox.workflows.crowd_agreement import Agreement

MAX_LABELS = 30  # rows of the table of labels on a terminal
SECTION = "Agreement"
LEVEL_TEXTS = {
    "nominal": "equal or not (nominal)",
    "ordinal": "ordered (ordinal)",
    "interval": "numbers on a scale (interval)",
}
HOW_TO_READ = (
    "1: all agree; 0: as much as by chance; below 0: less than by chance. No threshold fits every use: Krippendorff (2004,\n"
    "Content Analysis, p. 241) relies on data with alpha of at least .800, and on tentative conclusions from .667."
)


def run_agreement(
    screen: Screen,
    source: Source,
    out: Path | None,
    force: bool,
    part: str | None,
    level: str | None,
    pairs: str,
    least: int,
    resamples: int,
    seed: int,
) -> CommandResult:
    """Run `plurivox agreement`: read votes, show their agreement, and write all tables to the folder `out`."""
    from plurivox.workflows.crowd_agreement import Level, Repeats, check_folder_for_agreement
    from plurivox.workflows.crowd_agreement import agreement as compute_agreement

    n_pairs = _number_of_pairs_to_show(pairs)
    if out is not None:
        check_folder_for_agreement(out, replace=force)
    how: dict[str, Any] = dict(source.read_options)
    with screen.show_progress_bar_while_block_runs("agreement") as progress:
        made = compute_agreement(
            source.path_or_dataset_to_read,
            level=cast("Level | None", level),
            repeats=cast("Repeats | None", how.pop("repeats", None)),
            part=part,
            least=least,
            resamples=resamples,
            seed=seed,
            progress=progress,
            **how,
        )
    for note in made.notes:
        screen.print_note(note)
    if out is not None:
        made.write_tables(out, replace=force)
    document = {
        "command": screen.quoted_command_line,
        "input": source.name,
        **{name: getattr(made, name) for name in ("level", "n_tasks", "n_votes", "n_workers", "n_labels")},
        "coefficients": made.crowd.columns(),
        "labels": made.labels.columns(),
        "pairs": {name: column[:n_pairs] for name, column in made.pairs.columns().items()},
        "n_pairs": len(made.pairs),
        "least": least,
        "resamples": resamples,
        "seed": seed,
        "out": out,
    }
    return CommandResult(document, text=agreement_text(made, n_pairs), summary=f"wrote {out}" if out else "")


def _number_of_pairs_to_show(text: str) -> int | None:
    """Return the number of pairs of workers to show; None for all. Raise OptionError if the text is neither."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise OptionError(f"--pairs is a number or all; got {text!r}")
    return int(text)


def agreement_text(made: "Agreement", n_pairs: int | None) -> str:
    """Return the agreement as text for a terminal: what it rests on, coefficients, labels, pairs of workers."""
    workers = count_text(made.n_workers, "worker") if made.n_workers else "unnamed workers"
    parts = [
        f"{count_text(made.n_votes, 'vote')} of {workers} on {count_text(made.n_tasks, 'task')} with two votes or more; "
        f"{count_text(made.n_labels, 'label')}, {LEVEL_TEXTS[made.level]}",
        aligned_table_text([("coefficient", "value", "95% interval", "what it says"), *_coefficient_rows(made)]),
        f"{HOW_TO_READ}\n{_interval_text(made)}",
        _label_text(made),
    ]
    if len(made.pairs) and n_pairs != 0:
        parts.append(_pair_text(made, n_pairs))
    return "\n\n".join(parts)


def _interval_text(made: "Agreement") -> str:
    """Return how the intervals were computed."""
    text = f"{made.resamples:,} bootstrap resamples of the tasks" if made.resamples else "no bootstrap"
    if len(made.pairs):
        text += "; of mean kappas of pairs the delta method over tasks;\nof a pair's kappa Wilson's interval of its agreement"
    return f"Intervals: {text}."


def _coefficient_rows(made: "Agreement") -> list[tuple[str, str, str, str]]:
    """Return the table of coefficients as texts; means over pairs of workers say how many pairs."""
    cells = made.crowd.columns()
    return [
        (
            title,
            _number(value),
            _interval(low, high),
            meaning.replace("mean of pairs", f"mean of {n:,.0f} pairs"),
        )
        for title, value, low, high, n, meaning in zip(
            *(cells[name].tolist() for name in ("coefficient", "value", "low", "high", "n", "meaning")), strict=True
        )
    ]


def _label_text(made: "Agreement") -> str:
    """Return the table of labels as text; of very many labels those with the most votes."""
    cells = made.labels.columns()
    shown = range(len(made.labels))
    title = "Per label. agreement: given one vote for the label, the share of the other votes on the task that are for it too"
    if len(shown) > MAX_LABELS:
        shown = sorted(sorted(shown, key=lambda k: -cells["votes"][k])[:MAX_LABELS])  # type: ignore[assignment]
        title += f"\n({MAX_LABELS} of {len(made.labels):,} labels, those with the most votes; -o writes all)"
    rows = [("label", "votes", "tasks", "agreement", "95% interval", "alpha, label or not", "95% interval")]
    rows += [
        (
            str(cells["label"][k]),
            f"{cells['votes'][k]:,.0f}",
            f"{cells['tasks'][k]:,}",
            _number(cells["agreement"][k]),
            _interval(cells["agreement_low"][k], cells["agreement_high"][k]),
            _number(cells["alpha"][k]),
            _interval(cells["alpha_low"][k], cells["alpha_high"][k]),
        )
        for k in shown
    ]
    return f"{title}\n{aligned_table_text(rows)}"


def _pair_text(made: "Agreement", n_pairs: int | None) -> str:
    """Return the table of pairs of workers as text, up to `n_pairs` of them."""
    cells, n = made.pairs.columns(), len(made.pairs)
    n_shown = n if n_pairs is None else min(n_pairs, n)
    number = f"{n_shown:,} of {n:,} pairs" if n_shown < n else f"{n:,} pairs" if n > 1 else "one pair"
    order = "\n(lowest upper end of the interval of kappa first" if n > 1 else ""
    order += ("; --pairs all shows all, -o writes all)" if n_shown < n else ")") if order else ""
    title = f"Per pair of workers with {made.least} common tasks or more: {number}{order}"
    weighted = "weighted_kappa" in cells
    rows = [("worker", "worker", "tasks", "agreement", "Cohen's kappa", "95% interval")]
    if weighted:
        rows = [(*rows[0], "weighted kappa", "95% interval")]  # type: ignore[list-item]
    for i in range(n_shown):
        row = (
            str(cells["first"][i]),
            str(cells["second"][i]),
            f"{cells['tasks'][i]:,}",
            _number(cells["agreement"][i]),
            _number(cells["kappa"][i]),
            _interval(cells["low"][i], cells["high"][i]),
        )
        if weighted:
            extra = (
                _number(cells["weighted_kappa"][i]),
                _interval(cells["weighted_low"][i], cells["weighted_high"][i]),
            )
            row = (*row, *extra)  # type: ignore[assignment]
        rows.append(row)
    return f"{title}\n{aligned_table_text(rows)}"


def _number(value: float) -> str:
    """Return a coefficient with three decimals; "-" if it is undefined (NaN)."""
    return "-" if value != value else f"{value:.3f}"


def _interval(low: float, high: float) -> str:
    """Return an interval as text; empty if it is unknown (NaN)."""
    return "" if low != low else f"{low:.3f} to {high:.3f}"


LEVELS: tuple[Literal["nominal", "ordinal", "interval"], ...] = ("nominal", "ordinal", "interval")
REPEATS = Flag(
    ["--repeats"],
    READING,
    default=None,
    type=Choice("rule", ("first", "last", "set", "all")),
    help="if a worker gave several labels to a task: use the first or the last (by time, else by row), take them as one set "
    "of labels, or count all as if other workers gave them  [default: the first if times or answer numbers tell which it "
    "is; else the labels share one vote]",
)
agreement = Command(
    "agreement",
    params=[
        INPUT,
        out_flag("folder for agreement.csv, labels.csv, pairs.csv and agreement.npz", metavar="FOLDER", folder=True),
        Flag(["--force"], IN_AND_OUT, is_flag=True, help="replace the tables of an earlier run in this folder"),
        *(REPEATS if flag.name == "repeats" else flag for flag in READING_FLAGS),
        PART,
        Flag(
            ["--level"],
            SECTION,
            type=Choice("level", LEVELS),
            help="labels are equal or not (nominal), ordered (ordinal), or numbers (interval); with an order, weighted "
            "coefficients are shown too  [default: ordinal with --ordered, else nominal]",
        ),
        Flag(["--pairs"], SECTION, default="10", metavar="N|all", help="pairs of workers to show  [default: 10]"),
        Flag(
            ["--least"],
            SECTION,
            type=click.IntRange(min=1),
            default=5,
            metavar="N",
            help="smallest number of common tasks of a pair of workers  [default: 5]",
        ),
        Flag(
            ["--resamples"],
            SECTION,
            type=click.IntRange(min=0),
            default=1000,
            metavar="N",
            help="number of bootstrap resamples of the tasks for the intervals; 0: no intervals  [default: 1000]",
        ),
        Flag(
            ["--seed"],
            GENERAL,
            type=click.IntRange(min=0),
            default=0,
            metavar="N",
            help="seed of the bootstrap resamples  [default: 0]",
        ),
    ],
    computes=True,
    callback=run_agreement,
    help="Show how much workers agree: alpha, kappas, AC1 and more with intervals, per label and per pair of workers.",
)
