"""`plurivox identify SCORE INPUT -o OUT`: score tasks or workers; `identify rank` joins several scores in one table."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import (
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Flag,
    Source,
    check_distinct_files,
    check_table_file_type,
    out_flag,
)
from plurivox.cli._method_commands import MethodGroup, click_type_of_method_list
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.count_text import count_text
from plurivox.core.method import Method, split_at_commas_outside_brackets

if TYPE_CHECKING:
    from plurivox.core.results import Scores
    from plurivox.identify import Identifier
    from plurivox.workflows.ranking_by_several_scores import Ranking

OUT = out_flag("write all scores: .csv, .parquet, .jsonl or .npz")
WORST = Flag(
    ["--worst"],
    IN_AND_OUT,
    type=click.IntRange(min=0),
    default=10,
    metavar="N",
    help="show the N worst tasks or workers  [default: 10]",
)


EVIDENCE_KINDS = ("soft", "fit", "fits", "gold", "prediction", "dynamics", "worker_dynamics")


def evidence_flags_hiding_unusable(usable_kinds: Collection[str]) -> Sequence[Flag]:
    """Return the options by which a score gets evidence (fits, predictions, dynamics); those that it cannot use are hidden."""
    fit = "fit" in usable_kinds or "fits" in usable_kinds
    trained = "dynamics" in usable_kinds or "worker_dynamics" in usable_kinds
    return [
        _evidence_file_flag("--soft", "soft" in usable_kinds, "FILE", "soft labels to score instead of the votes"),
        _evidence_file_flag("--gold", "gold" in usable_kinds, "FILE", "gold labels  [default: those of the data set]"),
        _evidence_file_flag(
            "--prediction",
            "prediction" in usable_kinds,
            "FILE",
            "predicted probabilities of a classifier for tasks it was not trained on",
        ),
        _evidence_file_flag("--guess", False, "FILE", "former name of --prediction"),
        _evidence_file_flag(
            "--dynamics", trained, "PATH", "logits recorded in training: .npz, or a folder with one file per worker"
        ),
        _evidence_file_flag(
            "--fit", fit, "FILE.npz", "fit written by plurivox aggregate --save; may be repeated", multiple=True
        ),
        Flag(
            ["--by"],
            "Evidence",
            hidden=not fit,
            metavar="METHODS",
            help="aggregation method that is fitted to the votes for the score  [default: depends on the score]",
        ),
    ]


def _evidence_file_flag(name: str, visible: bool, metavar: str, help: str, **more: Any) -> Flag:
    """Return an option for a file with evidence; hidden from the help if not `visible`."""
    return Flag(
        [name], "Evidence", hidden=not visible, type=click.Path(path_type=Path), metavar=metavar, help=help, **more
    )


def _flag_values_as_score_arguments(
    by: str | None, fit: Sequence[Path], prediction: Path | None, guess: Path | None, **evidence: Any
) -> dict[str, Any]:
    """Return the evidence options (methods, fits, predictions) as keyword arguments of `score` and `rank`."""
    return {
        "by": split_at_commas_outside_brackets(by) if by else None,
        "fit": list(fit) or None,
        "prediction": prediction or guess,
        **evidence,
    }


def params_of_identify_beside_method_options(method: type[Method]) -> Sequence[click.Parameter]:
    """Return the arguments and options of `plurivox identify SCORE`, without those of the score."""
    from plurivox.identify import Identifier

    assert issubclass(method, Identifier)
    return [INPUT, OUT, WORST, *evidence_flags_hiding_unusable(method.usable_evidence()), *READING_FLAGS, PART]


def run_identify_score(
    screen: Screen, method: "Identifier", source: Source, out: Path | None, worst: int, **evidence: Any
) -> CommandResult:
    """Run `plurivox identify SCORE`: compute the score of every task or worker, show the worst, write all."""
    from plurivox import io
    from plurivox.workflows.score_tasks_workers import score

    check_scores_output_file(source, out)
    data = source.read_dataset()
    with screen.show_progress_bar_while_block_runs(method.name()) as progress:
        scores = score(data, method, **_flag_values_as_score_arguments(**evidence), progress=progress)
    if out is not None:
        io.save_npz_or_write_table(scores, out)
    rows = records_of_n_worst(scores, worst)
    document = {
        "input": source.name,
        "command": screen.quoted_command_line,
        "out": out,
        **scores.summary_values(),
        "of": scores.of,
    }
    title = title_of_worst_table(scores.of, min(worst, len(scores.worst(worst))))
    fits, fits_text = default_fits_and_their_text([method], **evidence)
    left_out, left_out_text = repeats_left_out_and_their_text(data, [method], evidence.get("part"))
    return CommandResult(
        {**document, "fits": fits, "repeats_left_out": left_out, "worst": rows},
        text=title + records_table_text(rows) + fits_text + left_out_text,
        summary=crowd_coefficient_text(scores) + identify_summary_line(scores.made_by, scores.of, scores.raw, out),
    )


def run_identify_rank(
    screen: Screen, source: Source, scores: str, out: Path | None, worst: int, **evidence: Any
) -> CommandResult:
    """Run `plurivox identify rank`: compute several scores, join them by task or worker, show the worst, write all."""
    from plurivox import io
    from plurivox.identify import methods
    from plurivox.workflows.score_tasks_workers import rank

    check_scores_output_file(source, out)
    data = source.read_dataset()
    with screen.show_progress_bar_while_block_runs("rank") as progress:
        joined = rank(data, scores, **_flag_values_as_score_arguments(**evidence), progress=progress)
    if out is not None:
        io.save_npz_or_write_table(joined, out)
    rows = records_of_n_worst(joined, worst)
    correlations = joined.rank_correlations()
    document = {
        "input": source.name,
        "command": screen.quoted_command_line,
        "out": out,
        **joined.summary_values(),
        "of": joined.of,
    }
    worst_text = title_of_worst_table(joined.of, min(worst, len(joined.worst(worst)))) + records_table_text(rows)
    made = [methods.make(spec) for spec in split_at_commas_outside_brackets(scores)]
    fits, fits_text = default_fits_and_their_text(made, **evidence)
    matrix = records_table_text(correlation_records(joined, correlations))
    left_out, left_out_text = repeats_left_out_and_their_text(data, made, evidence.get("part"))
    document |= {"scores": joined.scores, "fits": fits, "repeats_left_out": left_out}
    return CommandResult(
        {**document, "worst": rows, "likeness": correlations},
        text=f"{worst_text}{fits_text}{left_out_text}\n\n"
        f"rank correlations of the scores (Spearman), of their badness\n{matrix}",
        summary=identify_summary_line(", ".join(joined.scores.tolist()), joined.of, joined.mean_rank_over_scores, out),
    )


def check_scores_output_file(source: Source, out: Path | None) -> None:
    """Raise InputError if `out`, the file for the scores, is the input file or has an unsupported file type."""
    if out is not None:
        check_distinct_files(source, out)
        check_table_file_type(out, ".npz")


# ---- text output


def records_of_n_worst(scores: "Scores | Ranking", n_worst: int) -> list[dict[str, Any]]:
    """Return one row per task or worker for the `n_worst` worst: raw, interval, n and badness; or raw and ranks."""
    from plurivox.core.name_encoding import positions

    rows = positions(scores.names, scores.worst(n_worst))
    return _columns_to_records({name: column[rows] for name, column in scores.columns().items()})


def correlation_records(ranking: "Ranking", correlations: Any) -> list[dict[str, Any]]:
    """Return the rank correlations between scores as one {score: correlation} per score, for a table."""
    names = ranking.scores.tolist()
    return [
        {"": name, **dict(zip(names, row, strict=True))} for name, row in zip(names, correlations.tolist(), strict=True)
    ]


def records_table_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Return records as an aligned table; floats with four significant digits, integers in full.

    >>> print(records_table_text([{"worker": "ann", "raw": 0.123456, "n": 44682.0}]))
    worker  raw     n
    ann     0.1235  44,682
    """
    if not records:
        return ""
    return aligned_table_text(
        [list(records[0]), *([_format_cell_with_four_digits(value) for value in row.values()] for row in records)]
    )


def _format_cell_with_four_digits(value: Any) -> str:
    """Return a table cell as text; floats with four significant digits, whole numbers in full."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def default_fits_and_their_text(
    methods: Sequence["Identifier"], by: str | None = None, fit: Sequence[Path] = (), **other: Any
) -> tuple[dict[str, tuple[str, ...]], str]:
    """Return the aggregators whose fits scores use by default, also as text; ({}, "") if --by or --fit chose other fits."""
    from plurivox.workflows.score_tasks_workers import default_fits_of_scores, notes_on_fits_of_scores

    del other
    if by or fit:
        return {}, ""
    return default_fits_of_scores(methods), "".join(f"\n{note}" for note in notes_on_fits_of_scores(methods))


def repeats_left_out_and_their_text(data: Any, methods: Sequence["Identifier"], part: str | None) -> tuple[int, str]:
    """Return how many repeated answers the scores of agreement leave out, also as a line of text; (0, "") if none."""
    from plurivox.workflows.score_tasks_workers import count_repeats_left_out

    n = count_repeats_left_out(data, methods, part)
    names = [one.name() for one in methods if getattr(one, "repeated", "all") == "first"]
    count = f"{n:,} answer is not its" if n == 1 else f"{n:,} answers are not their"
    option = "--repeated all" if len(methods) == 1 else f"{names[0] if names else ''}[repeated=all]"
    line = f"\n{count} worker's first to the task and left out of {', '.join(names)}; {option} counts them"
    return n, line if n else ""


def title_of_worst_table(task_worker_or_crowd: str, n_worst: int) -> str:
    """Return the title of the table of the `n_worst` worst tasks or workers; "" for a score of the whole crowd."""
    if task_worker_or_crowd == "crowd" or not n_worst:
        return ""
    return f"the worst {task_worker_or_crowd}\n" if n_worst == 1 else f"the {n_worst} worst {task_worker_or_crowd}s\n"


def identify_summary_line(score_spec: str, task_worker_or_crowd: str, score_values: Any, out: Path | None) -> str:
    """Return the last line of `plurivox identify`: the score, number of tasks or workers, number without a score, the file."""
    n, n_missing = len(score_values), count_nan(score_values)
    size = "" if task_worker_or_crowd == "crowd" else f": {count_text(n, task_worker_or_crowd)}"
    missing = f", {n_missing:,} without a score" if size and n_missing else ""
    return score_spec + size + missing + (f"; wrote {out}" if out else "")


def count_nan(values: Any) -> int:
    """Return the number of NaN in an array of scores."""
    return int((values != values).sum())  # NaN is not equal to itself


def crowd_coefficient_text(scores: "Scores") -> str:
    """Return the coefficient of a crowd score as the paper defines it, with its interval, as text; "" for other scores."""
    if scores.of != "crowd" or count_nan(scores.raw):
        return ""
    if scores.low is None or scores.high is None or count_nan(scores.low):
        return f"{scores.raw[0]:.4g} by "
    return f"{scores.raw[0]:.4g}, 95% interval {scores.low[0]:.4g} to {scores.high[0]:.4g}, by "


def _columns_to_records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return columns of arrays as one {column: value} per row."""
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*(column.tolist() for column in columns.values()), strict=True)
    ]


RANK = Command(
    "rank",
    params=[
        INPUT,
        Flag(
            ["--scores"],
            IN_AND_OUT,
            type=click_type_of_method_list("identify"),
            required=True,
            metavar="LIST",
            help="scores, comma-separated, options in square brackets: entropy[unit=bits],glad-difficulty  [required]",
        ),
        OUT,
        WORST,
        *evidence_flags_hiding_unusable(EVIDENCE_KINDS),
        *READING_FLAGS,
        PART,
    ],
    computes=True,
    callback=run_identify_rank,
    help="Join several scores of tasks, or of workers, in one table with the published numbers and ranks.",
)


class IdentifyGroup(MethodGroup):
    """Group with one command per score, and the command `rank`."""

    def summary_by_command_name(self) -> Mapping[str, str]:
        return {**super().summary_by_command_name(), "rank": RANK.help or ""}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return RANK if cmd_name == "rank" else super().get_command(ctx, cmd_name)


identify = IdentifyGroup(
    "identify",
    run_identify_score,
    params_of_identify_beside_method_options,
    help="Find hard tasks and unreliable workers: plurivox identify SCORE INPUT -o OUT.",
)
