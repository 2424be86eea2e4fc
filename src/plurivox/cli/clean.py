"""`plurivox clean INPUT --rules ... [-o OUT]`, or `clean RULE INPUT [-o OUT]`: write a cleaned data set and audit.csv."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen, first_rows_text
from plurivox.cli._click.parameters import (
    FORCE,
    IN_AND_OUT,
    INPUT,
    READING,
    READING_FLAGS,
    Choice,
    Flag,
    Source,
    out_flag,
)
from plurivox.cli._method_commands import (
    MethodGroup,
    click_type_of_method_list,
    import_method_registry,
    method_catalogue,
)
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, OptionError, unknown_name_error
from plurivox.core.method import Method, split_at_commas_outside_brackets

if TYPE_CHECKING:
    from plurivox.clean import Rule
    from plurivox.core.cleaning_audit import Audit
    from plurivox.identify import Identifier

RULES, DROPPING = "Remove answers by rules", "Remove the worst workers or tasks by a score"


OUT = out_flag(
    "a new data-set folder: the cleaned data set, and audit.csv with what was removed and why; or a table (.csv, .parquet, "
    ".jsonl) of the answers or votes that are kept  [default: show what would be removed]",
    metavar="OUT",
    folder=True,
    stdout_suffix=".csv",
)
GOLD = Flag(
    ["--gold"],
    IN_AND_OUT,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="gold labels, such as those of attention checks  [default: those of the data set]",
)
PART = Flag(
    ["--part"],
    READING,
    type=Choice("part", ("answers", "votes")),
    help="apply the rules to answers or votes, if a data set has both  [default: answers]",
)
RULES_AND_SCORES = [
    Flag(
        ["--rules"],
        RULES,
        type=click_type_of_method_list("clean"),
        metavar="LIST",
        help="rules in order, comma-separated, options in square brackets: stored-twice,too-fast[seconds=2]",
    ),
    Flag(
        ["--drop-workers"],
        DROPPING,
        type=click_type_of_method_list("identify"),
        metavar="SCORE",
        help="drop the workers who are worst by this score",
    ),
    Flag(
        ["--drop-tasks"],
        DROPPING,
        type=click_type_of_method_list("identify"),
        metavar="SCORE",
        help="drop the tasks that are worst by this score",
    ),
    Flag(
        ["--quantile"],
        DROPPING,
        type=float,
        metavar="X",
        help="fraction of the workers or tasks to drop by the score, such as 0.1; the rules are applied before",
    ),
]


def params_of_clean_beside_rule_options(rule_class: type[Method]) -> Sequence[click.Parameter]:
    """Return the arguments and options of `plurivox clean RULE`, without those of the rule."""
    del rule_class
    return [INPUT, OUT, GOLD, FORCE, *READING_FLAGS, PART]


def run_clean_with_one_rule(screen: Screen, method: "Rule", **other_params: Any) -> CommandResult:
    """Run `plurivox clean RULE`: apply one rule to a data set and write the cleaned data set."""
    return clean_and_write_dataset(screen, rules=[method], drops={}, quantile=None, **other_params)


def run_clean_with_rules_and_scores(
    screen: Screen,
    rules: str | None,
    drop_workers: str | None,
    drop_tasks: str | None,
    quantile: float | None,
    **other_params: Any,
) -> CommandResult:
    """Run `plurivox clean --rules`: apply rules in order, drop the worst workers and tasks by a score, write the result."""
    drops = {of: spec for of, spec in (("worker", drop_workers), ("task", drop_tasks)) if spec}
    if not rules and not drops:
        raise OptionError("nothing to remove; give --rules LIST, --drop-workers SCORE or --drop-tasks SCORE")
    if drops and quantile is None:
        raise OptionError(f"--drop-{next(iter(drops))}s needs --quantile, the share to drop, such as 0.1")
    if quantile is not None and not drops:
        raise OptionError("--quantile needs a score to drop by: --drop-workers SCORE or --drop-tasks SCORE")
    made = [import_method_registry("clean").make(spec) for spec in split_at_commas_outside_brackets(rules or "")]
    scores = {of: make_scoring_method(of, spec) for of, spec in drops.items()}
    return clean_and_write_dataset(screen, rules=made, drops=scores, quantile=quantile, **other_params)


def make_scoring_method(worker_or_task: str, score_spec: str) -> "Identifier":
    """Return the identify method that `score_spec` names; raise InputError if it does not score workers (or tasks)."""
    method: Identifier = import_method_registry("identify").make(score_spec)
    if method.of != worker_or_task:
        raise InputError(
            f"{method.name()} is a score of {method.of}s; --drop-{worker_or_task}s needs a score of {worker_or_task}s"
        )
    return method


def clean_and_write_dataset(
    screen: Screen,
    source: Source,
    out: Path | None,
    gold: Path | None,
    force: bool,
    part: str | None,
    rules: "Sequence[Rule]",
    drops: "Mapping[str, Identifier]",
    quantile: float | None,
) -> CommandResult:
    """Read a data set, apply rules, drop the worst by score, write the cleaned data set and audit.csv, or show the audit."""
    from plurivox.io.dataset_folder_and_overwrite_checks import check_not_overwriting_input, check_replaceable
    from plurivox.workflows.clean_dataset import (
        clean_set,
        count_answers_workers_and_tasks,
        name_of_cleaned_or_largest_part,
        write_cleaned,
    )

    if force and out is not None:
        check_replaceable(out)
    data = source.read_dataset()
    if out is not None:
        check_not_overwriting_input(data.path, out)
    counted = name_of_cleaned_or_largest_part(data, part, by_rules_or_workers=bool(rules) or "worker" in drops)
    with screen.show_progress_bar_while_block_runs("clean") as progress:
        cleaned, audit = clean_set(data, rules, gold, part=part, drop=drops, quantile=quantile, progress=progress)
    if out is not None:
        write_cleaned(cleaned, audit, out, command=screen.quoted_command_line, replace=force)
    before, after = count_answers_workers_and_tasks(data, counted), count_answers_workers_and_tasks(cleaned, counted)
    data_out = {
        "input": source.name,
        "command": screen.quoted_command_line,
        "out": out,
        "before": before,
        "after": after,
    }
    line = f"kept {after['answers']:,} of {count_text(before['answers'], 'answer')}"
    text = audit_counts_per_rule_text(audit)
    if out is None and len(audit.rule):
        text += (
            f"\n\n{first_rows_text(columns_of_audit_to_show(audit), 'row of the audit', plural='rows of the audit')}"
        )
    return CommandResult(
        {**data_out, "rules": audit.removed_and_flagged_counts_by_rule()},
        text=text,
        summary=line + (f"; wrote {out}" if out else "; nothing was written: -o FOLDER writes the cleaned data set"),
    )


def columns_of_audit_to_show(audit: "Audit") -> dict[str, Any]:
    """Return the columns of an audit that fit a terminal: rule, what was removed or flagged, worker, task, reason."""
    columns = audit.columns()
    return {name: columns[name] for name in ("rule", "what", "did", "worker", "task", "reason")}


def audit_counts_per_rule_text(audit: "Audit") -> str:
    """Return a text table with one line per cleaning rule: workers, tasks and answers removed, and answers flagged."""
    columns = audit.removed_and_flagged_counts_by_rule()
    rows = [[str(cell) for cell in row] for row in zip(*(column.tolist() for column in columns.values()), strict=True)]
    return aligned_table_text([list(columns), *rows])


clean_with_rules = Command(
    "clean",
    params=[INPUT, OUT, GOLD, FORCE, *RULES_AND_SCORES, *READING_FLAGS, PART],
    computes=True,
    callback=run_clean_with_rules_and_scores,
    help="Remove answers by rules, then the worst workers or tasks by a score; audit.csv lists what was removed and why.",
)


class CleanGroup(MethodGroup):
    """Group with one command per rule; if the first argument is not a rule, the command `clean INPUT --rules LIST`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the group if `args` begins with --help or a rule, else of `clean INPUT --rules LIST`."""
        first = args[0] if args else "--help"
        if first in ("-h", "--help") or first in method_catalogue(self.step):
            return super().make_context(info_name, args, parent, **extra)
        if len(args) > 1 and not first.startswith("-") and not args[1].startswith("-"):
            # two arguments: RULE INPUT with a misspelt rule
            raise unknown_name_error("rule", first, method_catalogue(self.step))
        return clean_with_rules.make_context(info_name, args, parent, **extra)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage lines of both forms to the help."""
        formatter.write_usage(ctx.command_path, "INPUT --rules LIST [-o OUT] [OPTIONS]")
        formatter.write_usage(ctx.command_path, "RULE INPUT [-o OUT] [OPTIONS]", "       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of `clean INPUT --rules LIST` to the help, then the list of rules."""
        clean_with_rules.format_options(click.Context(clean_with_rules, ctx.parent, info_name="clean"), formatter)
        self.format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        if incomplete.startswith("-"):
            return clean_with_rules.shell_complete(
                click.Context(clean_with_rules, ctx.parent, info_name="clean"), incomplete
            )
        return [*super().shell_complete(ctx, incomplete), *INPUT.type.shell_complete(ctx, INPUT, incomplete)]


clean = CleanGroup(
    "clean", run_clean_with_one_rule, params_of_clean_beside_rule_options, help=clean_with_rules.help or ""
)
