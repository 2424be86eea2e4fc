"""`plurivox clean INPUT --rules ... -o OUT`, or `clean RULE INPUT -o OUT`: a new data set, and why the rest is gone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from plurivox.cli._build import MethodGroup, catalogue, method_list, registry
from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import FORCE, IN_AND_OUT, INPUT, READING, READING_FLAGS, Flag, OneOf, Source, out_flag
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.core.errors import InputError, OptionError, unknown_name
from plurivox.core.method import Method, split_list

if TYPE_CHECKING:
    from plurivox.clean import Rule
    from plurivox.core.audit import Audit
    from plurivox.identify import Identifier

RULES, DROPPING = "Taking out by rules", "Taking out the worst by a score"


OUT = out_flag(
    "a new data-set folder: what is left, the rest of the set, and audit.csv",
    required=True,
    metavar="FOLDER",
    folder=True,
)
GOLD = Flag(
    ["--gold"],
    IN_AND_OUT,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="known labels, such as those of attention checks  [default: those of the data set]",
)
PART = Flag(
    ["--part"],
    READING,
    type=OneOf("part", ("answers", "votes")),
    help="what the rules look at where a data set has both  [default: answers]",
)
SEVERAL = [
    Flag(
        ["--rules"],
        RULES,
        type=method_list("clean"),
        metavar="LIST",
        help="rules in their order, commas between, options in brackets: stored-twice,too-fast[seconds=2]",
    ),
    Flag(["--drop-workers"], DROPPING, type=method_list("identify"), metavar="SCORE", help="drop the worst workers"),
    Flag(["--drop-tasks"], DROPPING, type=method_list("identify"), metavar="SCORE", help="drop the worst tasks"),
    Flag(
        ["--quantile"],
        DROPPING,
        type=float,
        metavar="X",
        help="the share of the worst that goes, such as 0.1; rules are applied first",
    ),
]


def params(method: type[Method]) -> Sequence[click.Parameter]:
    """What every rule is given beside its options."""
    del method
    return [INPUT, OUT, GOLD, FORCE, *READING_FLAGS, PART]


def run(screen: Screen, method: "Rule", **given: Any) -> Answer:
    """One rule, its options given as flags."""
    return clean_by(screen, rules=[method], drops={}, quantile=None, **given)


def run_several(
    screen: Screen,
    rules: str | None,
    drop_workers: str | None,
    drop_tasks: str | None,
    quantile: float | None,
    **given: Any,
) -> Answer:
    """Rules one after the other, then the worst by a score."""
    drops = {of: word for of, word in (("worker", drop_workers), ("task", drop_tasks)) if word}
    if not rules and not drops:
        raise OptionError("say what to take out: --rules LIST, --drop-workers SCORE or --drop-tasks SCORE")
    if drops and quantile is None:
        raise OptionError(
            f"--drop-{next(iter(drops))}s needs --quantile, the share of the worst that goes, such as 0.1"
        )
    if quantile is not None and not drops:
        raise OptionError("--quantile says how many to drop by a score; name one: --drop-workers or --drop-tasks SCORE")
    made = [registry("clean").make(word) for word in split_list(rules or "")]
    scores = {of: scored(of, word) for of, word in drops.items()}
    return clean_by(screen, rules=made, drops=scores, quantile=quantile, **given)


def scored(of: str, word: str) -> "Identifier":
    """The score to drop by, before anything is read."""
    method: Identifier = registry("identify").make(word)
    if method.of != of:
        raise InputError(f"{method.name()} is a score of a {method.of}; --drop-{of}s needs one of a {of}")
    return method


def clean_by(
    screen: Screen,
    source: Source,
    out: Path,
    gold: Path | None,
    force: bool,
    part: str | None,
    rules: "Sequence[Rule]",
    drops: "Mapping[str, Identifier]",
    quantile: float | None,
) -> Answer:
    """Read, clean, drop, write, tell."""
    from plurivox.io.folder_check import check_replaceable, check_separate
    from plurivox.workflows.clean import clean_set, part_sizes, part_to_count, write_cleaned

    if force:
        check_replaceable(out)
    data = source.read()
    check_separate(data.path, out)
    counted = part_to_count(data, part, by_workers=bool(rules) or "worker" in drops)
    with screen.progress("clean") as progress:
        left, audit = clean_set(data, rules, gold, part=part, drop=drops, quantile=quantile, progress=progress)
    write_cleaned(left, audit, out, command=screen.command, replace=force)
    before, after = part_sizes(data, counted), part_sizes(left, counted)
    facts = {"input": source.where, "command": screen.command, "out": out, "before": before, "after": after}
    gone = f"{after['answers']:,} of {before['answers']:,} answers stay -> {out}"
    return Answer({**facts, "rules": audit.summary()}, text=shown(audit), line=gone)


def shown(audit: "Audit") -> str:
    """A line a rule: people, tasks and answers out, and how many are flagged."""
    columns = audit.summary()
    rows = [[str(cell) for cell in row] for row in zip(*(column.tolist() for column in columns.values()), strict=True)]
    return table([list(columns), *rows])


several = Command(
    "clean",
    params=[INPUT, OUT, GOLD, FORCE, *SEVERAL, *READING_FLAGS, PART],
    works=True,
    callback=run_several,
    help="Take out what rules find, then the worst by a score; a new data set and audit.csv say what went and why.",
)


class Cleaning(MethodGroup):
    """A command for every rule, as in all rooms; and, where the first word is no rule, one for several of them."""

    def __init__(self, *given: Any, **about: Any) -> None:
        super().__init__(*given, **about)
        self.kind = "rule"

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The group where there is nothing but help or a rule; else the command for several rules."""
        first = args[0] if args else "--help"
        if first in ("-h", "--help") or first in catalogue(self.step):
            return super().make_context(info_name, args, parent, **extra)
        if len(args) > 1 and not first.startswith("-") and not args[1].startswith("-"):
            raise unknown_name("rule", first, catalogue(self.step))  # two words: RULE INPUT was meant
        return several.make_context(info_name, args, parent, **extra)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Both forms."""
        formatter.write_usage(ctx.command_path, "INPUT --rules LIST -o FOLDER [OPTIONS]")
        formatter.write_usage(ctx.command_path, "RULE INPUT -o FOLDER [OPTIONS]", "       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of the command for several rules, then the rules."""
        several.format_options(click.Context(several, ctx.parent, info_name="clean"), formatter)
        self.format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        if incomplete.startswith("-"):
            return several.shell_complete(click.Context(several, ctx.parent, info_name="clean"), incomplete)
        return [*super().shell_complete(ctx, incomplete), *INPUT.type.shell_complete(ctx, INPUT, incomplete)]


clean = Cleaning("clean", run, params, help=several.help or "")
