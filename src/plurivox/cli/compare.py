"""`plurivox compare INPUT...`: compare aggregation methods on votes, or predictions (tables of labels) with each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import (
    GOLD,
    IN_AND_OUT,
    PART,
    READING_FLAGS,
    SOURCE_NAME,
    Argument,
    Flag,
    Source,
    out_flag,
)
from plurivox.cli._click.result_file import check_result_file_type, write_result_file
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.errors import InputError, OptionError, first_few

if TYPE_CHECKING:
    from plurivox.io import Dataset
    from plurivox.workflows.compare_against_people import PeopleComparison
    from plurivox.workflows.compare_aggregators import Comparison

FILE_TYPES = (".csv", ".md", ".npz")
PEOPLE = "Comparison with people"
PREDICTIONS = "Comparison of predictions"


def run_compare(
    screen: Screen,
    sources: tuple[Source, ...],
    methods: str | None,
    reference: str | None,
    out: Path | None,
    gold: Path | None,
    part: str | None,
    clip: float,
    against: str | None,
    measures: str | None,
    resamples: int | None,
    **people_options: Any,
) -> CommandResult:
    """Run `plurivox compare`: fit every method to every data set, show the means, and write the whole comparison to `out`.

    Inputs that are all tables of labels are predictions, which are compared with each other.
    """
    from plurivox.workflows import compare_aggregators
    from plurivox.workflows.comparison_tables import rank_tests_by_measure

    check_result_file_type(out, "a comparison", FILE_TYPES)
    given = {name: value for name, value in people_options.items() if value is not None}
    data = [source.read_dataset() for source in sources]
    if are_all_predictions(data):
        fitting = {"methods": methods, "against": against, "part": part, **given}
        seed = fitting.pop("seed", 0)
        if unused := [f"--{name.replace('_', '-')}" for name, value in fitting.items() if value is not None]:
            raise OptionError(
                f"{first_few(unused)} are for methods that are fitted to votes, but {sources[0].name} is a table of labels"
            )
        numbers = {"measures": measures, "repeats": resamples or 10_000, "seed": seed}
        return compare_predictions_and_show(screen, [one.name for one in sources], data, gold, reference, out, numbers)
    if measures is not None or resamples is not None:
        raise OptionError(
            "--measures and --resamples are for predictions; for methods on votes, all measures are computed: leave them out"
        )
    # one call for both kinds of comparison: it checks what fits together
    compare_methods: Any = compare_aggregators.compare
    with screen.show_progress_bar_while_block_runs("compare") as progress:
        made: Comparison | PeopleComparison = compare_methods(
            data,
            methods or None,
            gold=gold,
            part=part,
            reference=reference,
            clip=clip,
            against=against,
            progress=progress,
            **given,
        ).best_first()
    for note in made.notes:
        screen.print_note(note)
    if out is not None:
        write_result_file(made, out)
    means = made.means_and_differences_of_each_method()
    document: dict[str, Any] = {
        "command": screen.quoted_command_line,
        "datasets": made.dataset_names,
        "reference": made.reference,
        "means": means,
        "tests": rank_tests_by_measure(made),
    }
    document |= {"rows": made.columns(), "out": out} | settings_of_measures(made)
    return CommandResult(document, text=made.text(), summary=f"wrote {out}" if out else "")


def are_all_predictions(data: "list[Dataset]") -> bool:
    """Return whether all inputs are tables of labels without votes; raise InputError if only some are."""
    labels_only = [one.parts() == ["soft_labels"] for one in data]
    if any(labels_only) and not all(labels_only):
        labels, votes = (
            next(one.name for one, is_it in zip(data, labels_only, strict=True) if is_it is k) for k in (True, False)
        )
        raise InputError(
            f"{labels} is a table of labels and {votes} is not: give votes, on which methods are compared, or tables of labels "
            "(predictions), which are compared with each other"
        )
    return all(labels_only)


def compare_predictions_and_show(
    screen: Screen,
    typed_names: list[str],
    data: "list[Dataset]",
    gold: Path | None,
    reference: str | None,
    out: Path | None,
    settings: dict[str, Any],
) -> CommandResult:
    """Compare predictions by gold labels with the paired bootstrap, show measures and differences, write them to `out`."""
    from plurivox.workflows.compare_predictions import compare_labels

    short = [Path(name).name for name in typed_names]
    names = short if len(set(short)) == len(short) else typed_names
    if len(set(names)) < len(names):
        raise InputError(
            f"{first_few([name for name in names if names.count(name) > 1])} is given twice; give each table once"
        )
    base = dict(zip(typed_names, names, strict=True)).get(reference, reference) if reference else None
    predictions = {name: one.soft_labels for name, one in zip(names, data, strict=True)}
    made = compare_labels(predictions, gold, reference=base, **settings)
    for note in made.notes:
        screen.print_note(note)
    if out is not None:
        write_result_file(made, out)
    document: dict[str, Any] = {
        "command": screen.quoted_command_line,
        "predictions": typed_names,
        "gold": gold,
        "reference": made.reference,
    }
    document |= {"tasks": made.n_tasks, "repeats": made.repeats, "seed": made.seed, "rows": made.columns(), "out": out}
    text = f"{aligned_table_text(made.text_rows())}\n{made.sentence()}"
    return CommandResult(document, text=text, summary=f"wrote {out}" if out else "")


def settings_of_measures(comparison: "Comparison | PeopleComparison") -> dict[str, Any]:
    """Return the settings of the measures, for JSON."""
    from plurivox.workflows.compare_against_people import PeopleComparison

    if isinstance(comparison, PeopleComparison):
        return {name: getattr(comparison, name) for name in ("smoothing", "bootstrap", "seed")}
    return {"clip": comparison.clip}


compare = Command(
    "compare",
    params=[
        Argument(
            "inputs",
            IN_AND_OUT,
            "votes: files, data-set folders or names of data sets, with gold labels (or give --gold, or --against); or "
            "predictions: two or more tables of soft or hard labels, with --gold; - is standard input",
            type=SOURCE_NAME,
            metavar="INPUT...",
            nargs=-1,
            required=True,
        ),
        out_flag("write all results: .csv, .md or .npz"),
        GOLD,
        *READING_FLAGS,
        PART,
        Flag(
            ["--methods"],
            "Methods",
            metavar="LIST",
            help="methods, comma-separated, options in square brackets: glad,iwmv[weights=li-yu]  [default: all]",
        ),
        Flag(
            ["--reference"],
            "Methods",
            metavar="METHOD",
            help="method, or prediction, that the others are compared with  [default: log-pool, with --against "
            "calibrated-shares, else first]",
        ),
        Flag(
            ["--measures"],
            PREDICTIONS,
            metavar="LIST",
            help="measures of predictions, comma-separated, as in plurivox evaluate  [default: accuracy, macro-f1, and for "
            "soft labels nll and brier]",
        ),
        Flag(
            ["--resamples"],
            PREDICTIONS,
            type=click.IntRange(min=1),
            metavar="N",
            help="number of paired bootstrap resamples of the tasks, for differences between predictions  [default: 10,000]",
        ),
        Flag(
            ["--clip"],
            "Methods",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=1e-6,
            metavar="X",
            help="in the NLL, raise probabilities below X to X  [default: 1e-06]",
        ),
        Flag(
            ["--against"],
            PEOPLE,
            type=SOURCE_NAME,
            metavar="REFERENCE",
            help="compare with what other people say, without gold labels: votes (some are hidden from the methods), counts "
            "(of INPUT, without the votes that the methods see), or votes, counts or soft labels of others on the same tasks",
        ),
        Flag(
            ["--hide"],
            PEOPLE,
            type=click.IntRange(min=1),
            metavar="K",
            help="with --against votes: hide the votes of K people per task; only tasks that keep a vote count  [default: 1]",
        ),
        Flag(
            ["--hide-workers"],
            PEOPLE,
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            metavar="SHARE",
            help="with --against votes: hide all votes of this share of the workers instead, such as .2",
        ),
        Flag(
            ["--votes-per-task"],
            PEOPLE,
            type=click.IntRange(min=1),
            metavar="N",
            help="show the methods the votes of N people per task only; with --against votes or counts compare with all others",
        ),
        Flag(
            ["--splits"],
            PEOPLE,
            type=click.IntRange(min=1),
            metavar="N",
            help="number of random splits into visible and hidden votes, over which results are averaged  [default: 3, "
            "fewer with 10,000 tasks or more]",
        ),
        Flag(
            ["--max-tasks"],
            PEOPLE,
            type=click.IntRange(min=1),
            metavar="N",
            help="with --against votes or counts: use at most N random tasks of a data set  [default: 10,000]",
        ),
        Flag(
            ["--smoothing"],
            PEOPLE,
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            metavar="S",
            help="in CE and NLL mix the share S of the uniform distribution into every prediction: "
            "(1 - S) q + S / K  [default: .01]",
        ),
        Flag(
            ["--seed"],
            PEOPLE,
            type=click.IntRange(min=0),
            metavar="N",
            help="seed of the splits and of the bootstrap over tasks  [default: 0]",
        ),
    ],
    computes=True,
    callback=run_compare,
    help="Compare methods by gold labels, or by what other people say (--against), the best first; or compare predictions, two "
    "tables of labels or more, with --gold and the paired bootstrap: plurivox compare A B --gold TRUTH. By gold labels: "
    "accuracy, NLL, Brier score, ECE and time (first use: with compilation). By what people say: Manhattan distance, "
    "Jensen-Shannon divergence, cross-entropy and entropy correlation, each beside the value that the true distribution would "
    "have. With three data sets or more: mean ranks and tests corrected for the number of methods.",
)
