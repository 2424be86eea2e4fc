"""Write the pages that are made from the code: the methods of every room, the commands, the picture. `make docs`."""

import inspect
from pathlib import Path

from docs.measures import evaluate_page
from docs.walk import walk_svg
from plurivox import aggregate, assign, clean, elicit, identify, recipes, simulate
from plurivox.cli.main import main as command
from plurivox.core.method import Method, Option
from plurivox.core.registry import Methods
from plurivox.train import heads, losses, nets, targets

HERE = Path(__file__).parent
STEPS: dict[str, tuple[Methods, str]] = {
    "aggregate": (aggregate.methods, "Votes in, a `Fit` out: soft labels, and what was learnt of workers and tasks."),
    "assign": (
        assign.methods,
        "What is open to whoever has come in, what that person is asked out; the studio and plans go by the same methods. "
        "`plurivox assign quota|strata|batches ITEMS -o batches.csv` writes batches that `plurivox studio new --batches` "
        "takes. `next-best` also ranks questions for a whole crowd, from votes: `plurivox assign next-best VOTES`.",
    ),
    "clean": (
        clean.methods,
        "Answers or votes in, the same without some out, and an `Audit`: which, by which rule, why. Rules are applied in "
        "the order given, each to what is left; their options stand in brackets, or are flags where a rule comes alone:\n\n"
        "    plurivox clean cifar10s --rules 'stored-twice,collins2022,repeats-once[keep=first]' -o cleaned\n"
        "    plurivox clean too-fast votes.csv --seconds 2 -o cleaned\n"
        "    plurivox clean votes.csv --drop-workers spam-score --quantile 0.1 -o cleaned\n\n"
        "In Python: `pv.clean.clean(answers, rules, gold)`, `pv.clean_set(dataset, rules)` and `pv.prune(votes, score, "
        "quantile)`. All rules but the three on percents and the two of Collins et al. look at plain votes as well.",
    ),
    "elicit": (elicit.methods, "What people entered in, votes out, and what was odd about each answer."),
    "identify": (
        identify.methods,
        "Votes, fits, dynamics in, `Scores` out: hard tasks, workers to doubt, agreement.",
    ),
    "recipes": (recipes.methods, "Whole walks that end in tables: `plurivox recipe NAME`."),
    "simulate": (simulate.methods, "A seed in, a crowd with known truth out."),
    "train-heads": (heads.methods, "What sits on a net while it learns from people: `plurivox train --head WORD`."),
    "train-losses": (losses.methods, "Logits and a distribution in, one number an example out: `--loss WORD`."),
    "train-nets": (nets.methods, "The shape of an input in, a network that gives logits out: `--net WORD`."),
    "train-targets": (targets.methods, "What a task teaches when it is drawn: `plurivox train --target WORD`."),
}
MADE = "<!-- made by `make docs` -->"


def room_page(step: str) -> str:
    """A page a room: what it does, its methods, each with formula, reference and options."""
    methods, about = STEPS[step]
    lines = [MADE, f"# {step}", "", about, "", "| method | what it is |", "|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {methods.summary(name)} |" for name in methods]
    for name in methods:
        lines += ["", f"## {name}", "", *method_lines(methods[name])]
    return "\n".join(lines) + "\n"


def method_lines(method: type[Method]) -> list[str]:
    """The docstring without its examples, what the method takes, and a table of its options."""
    text = inspect.cleandoc(method.__doc__ or "").split(">>>")[0].rstrip()
    lines = [text.replace("\n\n", "\n\n"), ""]
    if issubclass(method, identify.Identifier):
        lines += [score_line(method), ""]
    if method.takes:
        lines += [f"Takes {', '.join(sorted(method.takes))}.", ""]
    if method.options():
        lines += ["| option | default | range | |", "|---|---|---|---|"]
        lines += [f"| `--{o.flag}` | {default_of(o)} | {o.range} | {o.help} |" for o in method.options()]
    return lines


def score_line(method: type[identify.Identifier]) -> str:
    """What a score is of and needs."""
    needs = ", ".join(one.replace("_", " ").replace("|", " or ") for one in method.needs)
    made = f"; where no fit is given, {', '.join(method.fitted_by)} makes it" if method.fitted_by else ""
    return f"A score of {'the crowd' if method.of == 'crowd' else f'each {method.of}'}. Needs {needs}{made}."


def default_of(option: Option) -> str:
    return "none" if option.default is None or option.default == "" else f"`{option.default}`"


def commands_page() -> str:
    """The commands in the order of their help."""
    import click

    context = click.Context(command, info_name="plurivox")
    lines = [MADE, "# The command line", "", "Every command has `--help`, `--json` and `--quiet`.", ""]
    lines += ["| command | what it does |", "|---|---|"]
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        lines.append(f"| `plurivox {name}` | {found.get_short_help_str(120)} |")
    lines += ["", "A mistake is one line on stderr and exit code 2; Ctrl-C is exit code 130."]
    lines += ['Shell completion: `eval "$(plurivox completion bash)"`, likewise `zsh` and `fish`.']
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Every page by its path."""
    steps = {HERE / f"{step}.md": room_page(step) for step in STEPS}
    steps[HERE / "evaluate.md"] = evaluate_page(MADE)
    return {**steps, HERE / "commands.md": commands_page(), HERE / "walk.svg": walk_svg()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
