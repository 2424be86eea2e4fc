"""Write the generated pages of docs/ (`make docs`): methods of every step, measures, charts, commands, the pipeline picture."""

import inspect
from pathlib import Path

from docs.charts_page import charts_page
from docs.measures import evaluate_page
from docs.method_options import option_lines
from docs.pipeline import pipeline_svg
from plurivox import aggregate, assign, clean, elicit, identify, recipes, simulate
from plurivox.cli.main import main as command
from plurivox.core.method import Method
from plurivox.core.registry import Methods
from plurivox.train import heads, losses, nets, targets

DOCS = Path(__file__).parent
STEPS: dict[str, tuple[Methods, str]] = {
    "aggregate": (
        aggregate.methods,
        "From `Votes` to a `Fit`: soft labels, and estimates of workers and tasks. A method estimates one of two things: "
        "**truth**, the probability that a label is right, or **people**, the share of people like these who would give it. "
        f"Without a method, `plurivox aggregate VOTES` uses `{aggregate.DEFAULT_METHODS['truth']}`, with `--for people` "
        f"`{aggregate.DEFAULT_METHODS['people']}`. [Which method](which-method.md); [soft answers](soft_answers.md).",
    ),
    "assign": (
        assign.methods,
        "Choose the tasks of an arriving worker; the studio and planned batches use the same methods. "
        "`plurivox assign quota|tasks-per-stratum|batches ITEMS -o batches.csv` writes batches for `plurivox studio new "
        "--batches`. "
        "`next-best` also proposes worker and task pairs from existing votes: `plurivox assign next-best VOTES`.",
    ),
    "clean": (
        clean.methods,
        "Remove answers or votes by rules; an `Audit` lists what was removed or flagged, by which rule and why. Rules are "
        "applied in order, each to what the previous ones left. Options are written in brackets or, for a single rule, as "
        "flags:\n\n"
        "    plurivox clean cifar10s --rules 'stored-twice,collins2022,repeats-once[keep=first]' -o cleaned\n"
        "    plurivox clean too-fast votes.csv --seconds 2 -o cleaned\n"
        "    plurivox clean votes.csv --drop-workers spam-score-pooled --quantile 0.1 -o cleaned\n\n"
        "In Python: `pv.clean.clean(answers, rules, gold)`, `pv.clean_set(dataset, rules)` and `pv.prune(votes, score, "
        "quantile)`. All rules but `contradiction`, `missing-percent`, `percent-out-of-range` and the two of "
        "Collins et al. also work on plain votes.",
    ),
    "elicit": (
        elicit.methods,
        "From `Answers`, as people entered them, to `Votes`, with flags for odd answers. What percents gain over a single "
        "label, and how to aggregate them: [soft answers](soft_answers.md).",
    ),
    "identify": (
        identify.methods,
        "From votes, fits or training dynamics to `Scores`: hard tasks, unreliable workers, agreement of the crowd.",
    ),
    "recipes": (recipes.methods, "Whole experiments that return tables: `plurivox recipe NAME`."),
    "simulate": (simulate.methods, "Simulate a crowd with known true labels, from a seed."),
    "train-heads": (
        heads.methods,
        "Output layers that model the workers during training: `plurivox train --head HEAD`.",
    ),
    "train-losses": (losses.methods, "From logits and a target distribution to one loss per example: `--loss LOSS`."),
    "train-nets": (nets.methods, "Networks that return logits, built for the shape of the inputs: `--net NET`."),
    "train-targets": (targets.methods, "Training labels of a task: `plurivox train --target TARGET`."),
}
GENERATED = "<!-- made by `make docs` -->"


def step_page(step: str) -> str:
    """Return the page of a step: a table of its methods, then each with formula, reference and options."""
    methods, about = STEPS[step]
    lines = [GENERATED, f"# {step}", "", about, "", "| method | what it is |", "|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {methods.summary(name)} |" for name in methods]
    for name in methods:
        lines += ["", f"## {name}", "", *method_lines(methods[name])]
    return "\n".join(lines) + "\n"


def method_lines(method: type[Method]) -> list[str]:
    """Return the section of a method: its docstring without examples, its optional inputs, a table of its options."""
    text = inspect.cleandoc(method.__doc__ or "").split(">>>")[0].rstrip()
    lines = [text.replace("\n\n", "\n\n"), ""]
    if issubclass(method, identify.Identifier):
        lines += [score_line(method), ""]
    if issubclass(method, aggregate.Aggregator):
        lines += [f"Estimates {method().estimated_quantity()}.", ""]
    if method.takes:
        lines += [f"Takes {', '.join(sorted(method.takes))}.", ""]
    return lines + option_lines(method)


def score_line(method: type[identify.Identifier]) -> str:
    """Return a sentence that says what a score is of and which inputs it needs."""
    needs = ", ".join(need.replace("_", " ").replace("|", " or ") for need in method.needs)
    fitted = f"; if no fit is given, {', '.join(method.fitted_by)} is fitted" if method.fitted_by else ""
    return f"A score of {'the crowd' if method.of == 'crowd' else f'each {method.of}'}. Needs {needs}{fitted}."


def commands_page() -> str:
    """Return the page that lists all commands with their summaries."""
    import click

    context = click.Context(command, info_name="plurivox")
    lines = [GENERATED, "# The command line", "", "Every command has `--help`, `--json` and `--quiet`.", ""]
    lines += ["| command | what it does |", "|---|---|"]
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        lines.append(f"| `plurivox {name}` | {found.get_short_help_str(120)} |")
    lines += ["", "A user error prints one line on stderr and exits with code 2; Ctrl-C exits with code 130."]
    lines += [
        'Shell completion: `eval "$(plurivox completion bash)"`, or with `zsh`; `plurivox completion fish | source`.'
    ]
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Return {path: text} of all generated pages."""
    steps = {DOCS / f"{step}.md": step_page(step) for step in STEPS}
    steps[DOCS / "evaluate.md"] = evaluate_page(GENERATED)
    steps[DOCS / "charts.md"] = charts_page(GENERATED)
    return {**steps, DOCS / "commands.md": commands_page(), DOCS / "pipeline.svg": pipeline_svg()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
