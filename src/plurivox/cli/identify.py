"""`plurivox identify SCORE INPUT -o OUT`: which tasks are hard, whom to doubt; `identify rank` joins several scores."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._build import MethodGroup, method_list
from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import (
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Flag,
    Source,
    check_ending,
    keep_apart,
    out_flag,
)
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.core.method import Method, split_list

if TYPE_CHECKING:
    from plurivox.core.results import Scores
    from plurivox.identify import Identifier
    from plurivox.workflows.rank_scores import Ranking

OUT = out_flag("all scores: .csv, .parquet, .jsonl or .npz")
WORST = Flag(
    ["--worst"],
    IN_AND_OUT,
    type=click.IntRange(min=0),
    default=10,
    metavar="N",
    help="how many of the worst to show  [default: 10]",
)


EVIDENCE = ("soft", "fit", "fits", "gold", "prediction", "dynamics", "worker_dynamics")


def evidence_flags(looked_at: Collection[str]) -> Sequence[Flag]:
    """A flag for every kind of evidence, those that are not looked at hidden."""
    fit = "fit" in looked_at or "fits" in looked_at
    trained = "dynamics" in looked_at or "worker_dynamics" in looked_at
    return [
        _file_flag("--soft", "soft" in looked_at, "FILE", "soft labels to look at instead of the votes"),
        _file_flag("--gold", "gold" in looked_at, "FILE", "known labels  [default: those of the data set]"),
        _file_flag(
            "--prediction",
            "prediction" in looked_at,
            "FILE",
            "a classifier's probabilities, of tasks it was not trained on",
        ),
        _file_flag("--dynamics", trained, "PATH", "logits recorded in training, .npz; a folder of one file a worker"),
        _file_flag("--fit", fit, "FILE.npz", "what plurivox aggregate --save kept; may be given again", multiple=True),
        Flag(
            ["--by"],
            "Evidence",
            hidden=not fit,
            metavar="METHODS",
            help="the aggregation that makes the fit  [default: the one that the score names]",
        ),
    ]


def _file_flag(name: str, shown: bool, metavar: str, help: str, **more: Any) -> Flag:
    return Flag(
        [name], "Evidence", hidden=not shown, type=click.Path(path_type=Path), metavar=metavar, help=help, **more
    )


def _evidence(by: str | None, fit: Sequence[Path], **given: Any) -> dict[str, Any]:
    """What the flags of evidence say, as `score` and `rank` take it."""
    return {"by": split_list(by) if by else None, "fit": list(fit) or None, **given}


def params(method: type[Method]) -> Sequence[click.Parameter]:
    """What every score is given beside its options: the evidence it looks at, and no other."""
    from plurivox.identify import Identifier

    assert issubclass(method, Identifier)
    return [INPUT, OUT, WORST, *evidence_flags(method.usable_evidence()), *READING_FLAGS, PART]


def run(screen: Screen, method: "Identifier", source: Source, out: Path | None, worst: int, **given: Any) -> Answer:
    """Gather what the score looks at, score, write, tell."""
    from plurivox import io
    from plurivox.workflows.score_tasks_workers import score

    check_out(source, out)
    data = source.read()
    with screen.progress(method.name()) as progress:
        scores = score(data, method, **_evidence(**given), progress=progress)
    if out is not None:
        io.write_saved(scores, out)
    rows = shown(scores, worst)
    facts = {"input": source.where, "command": screen.command, "out": out, **scores.info(), "of": scores.of}
    head = worst_words(scores.of, min(worst, len(scores.worst(worst))))
    return Answer(
        {**facts, "worst": rows},
        text=head + as_table(rows),
        line=coefficient(scores) + told(scores.made_by, scores.of, len(scores.names), n_untold(scores.value), out),
    )


def run_rank(screen: Screen, source: Source, scores: str, out: Path | None, worst: int, **given: Any) -> Answer:
    """Make every score, join them by name, write, tell."""
    from plurivox import io
    from plurivox.workflows.score_tasks_workers import rank

    check_out(source, out)
    data = source.read()
    with screen.progress("rank") as progress:
        joined = rank(data, scores, **_evidence(**given), progress=progress)
    if out is not None:
        io.write_saved(joined, out)
    rows = shown(joined, worst)
    likeness = joined.likeness()
    facts = {"input": source.where, "command": screen.command, "out": out, **joined.info(), "of": joined.of}
    words = worst_words(joined.of, min(worst, len(joined.worst(worst)))) + as_table(rows)
    return Answer(
        {**facts, "scores": joined.scores, "worst": rows, "likeness": likeness},
        text=f"{words}\n\nhow alike the scores rank (Spearman)\n{as_table(likeness_rows(joined, likeness))}",
        line=told(", ".join(joined.scores.tolist()), joined.of, len(joined.names), n_untold(joined.mean_rank), out),
    )


def check_out(source: Source, out: Path | None) -> None:
    """Refuse, before the work begins, a file that cannot be written."""
    if out is not None:
        keep_apart(source, out)
        check_ending(out, ".npz")


# ---- what is shown


def shown(scores: "Scores | Ranking", n: int) -> list[dict[str, Any]]:
    """The worst, a row each: name, value, raw, interval and what it rests on, or values and ranks."""
    from plurivox.core.encoding import positions

    at = positions(scores.names, scores.worst(n))
    return _records({name: column[at] for name, column in scores.columns().items()})


def likeness_rows(joined: "Ranking", likeness: Any) -> list[dict[str, Any]]:
    """The table of correlations, a row a score."""
    words = joined.scores.tolist()
    return [
        {"": word, **dict(zip(words, row, strict=True))} for word, row in zip(words, likeness.tolist(), strict=True)
    ]


def as_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Records in aligned columns, numbers with four figures, whole ones in full.

    >>> print(as_table([{"worker": "ann", "value": 0.123456, "n": 44682.0}]))
    worker  value   n
    ann     0.1235  44,682
    """
    if not rows:
        return ""
    return table([list(rows[0]), *([_cell(one) for one in row.values()] for row in rows)])


def _cell(one: Any) -> str:
    if not isinstance(one, float):
        return str(one)
    return f"{one:,.0f}" if one.is_integer() and abs(one) < 1e15 else f"{one:.4g}"


def worst_words(of: str, n: int) -> str:
    """The line above the table."""
    if of == "crowd" or not n:
        return ""
    return f"the worst {of}\n" if n == 1 else f"the {n} worst {of}s\n"


def told(word: str, of: str, n: int, untold: int, out: Path | None) -> str:
    """The closing line."""
    size = "" if of == "crowd" else f": {n:,} {of}{'' if n == 1 else 's'}"
    return (
        word
        + size
        + (f", {untold:,} of which cannot be told" if size and untold else "")
        + (f" -> {out}" if out else "")
    )


def n_untold(values: Any) -> int:
    """How many have no value."""
    return int((values != values).sum())  # nan is not itself


def coefficient(scores: "Scores") -> str:
    """For a crowd: the coefficient as the paper defines it, with its interval; that of the table is of the value."""
    if scores.of != "crowd" or scores.raw is None or n_untold(scores.raw):
        return ""
    raw, value = float(scores.raw[0]), float(scores.value[0])
    if scores.low is None or scores.high is None or n_untold(scores.low):
        return f"{raw:.4g} by "
    low, high = raw + value - float(scores.high[0]), raw + value - float(scores.low[0])  # value falls as raw grows
    return f"{raw:.4g}, 95% interval {low:.4g} to {high:.4g}, by "


def _records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        dict(zip(columns, row, strict=True)) for row in zip(*(one.tolist() for one in columns.values()), strict=True)
    ]


RANK = Command(
    "rank",
    params=[
        INPUT,
        Flag(
            ["--scores"],
            IN_AND_OUT,
            type=method_list("identify"),
            required=True,
            metavar="LIST",
            help="scores with commas between, options in brackets: entropy[unit=bits],glad-difficulty  [required]",
        ),
        OUT,
        WORST,
        *evidence_flags(EVIDENCE),
        *READING_FLAGS,
        PART,
    ],
    works=True,
    callback=run_rank,
    help="Join several scores of tasks, or of workers, in one table of values and ranks.",
)


class Scoring(MethodGroup):
    """The room's scores, and `rank`, which joins them."""

    def lines(self) -> Mapping[str, str]:
        return {**super().lines(), "rank": RANK.help or ""}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return RANK if cmd_name == "rank" else super().get_command(ctx, cmd_name)


identify = Scoring(
    "identify",
    run,
    params,
    help="Find hard tasks and workers to doubt: plurivox identify SCORE INPUT -o OUT.",
)
