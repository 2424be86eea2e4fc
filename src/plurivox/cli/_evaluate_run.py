"""`plurivox evaluate RUN [INPUT] [--attack ATTACK,...]`: evaluate the trained networks of a run, also under attack."""

from pathlib import Path

import click
from click.core import ParameterSource

from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.result_file import check_result_file_type, write_result_file
from plurivox.cli.predict import load_trained_networks
from plurivox.core.errors import InputError, OptionError

FILE_TYPES = (".csv", ".md", ".tex", ".npz")
OPTIONS_OF_LABEL_TABLES = (
    *("against", "rename", "part", "measures", "ties", "repeats"),
    *("tasks", "cells", "statistic"),
)


def is_run_folder(name: str) -> bool:
    """Return whether this is a folder with trained networks."""
    folder = Path(name)
    return folder.is_dir() and (
        any(folder.glob("run-*/weights.safetensors")) or (folder / "weights.safetensors").is_file()
    )


def check_no_options_of_label_tables() -> None:
    """Raise OptionError if the command line has options for two tables of labels, which networks are not evaluated with."""
    context = click.get_current_context()
    given = [
        name for name in OPTIONS_OF_LABEL_TABLES if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if given:
        listed = " and ".join(f"--{name}" for name in given)
        raise OptionError(
            f"{listed} {'is' if len(given) == 1 else 'are'} for two tables of labels, not for a folder of trained networks; "
            "write their labels by plurivox predict RUN INPUT -o A.csv, then plurivox evaluate A.csv TRUTH"
        )


def evaluate_run(
    screen: Screen, run: str, source: str | None, attacks: str | None, seed: int, out: Path | None
) -> CommandResult:
    """Evaluate the networks of a run folder on its test tasks, also under attacks; show the table and write it to `out`."""
    if not is_run_folder(run):
        what = "attacks are on trained networks: give" if attacks else "give TRUTH, or"
        raise InputError(f"{run} is not a folder of a training; {what} a folder written by plurivox train -o")
    from plurivox.core.method import split_at_commas_outside_brackets
    from plurivox.train.attacks import attack_from_spec
    from plurivox.workflows.attack_evaluation import (
        evaluate_nets_under_attack,
        load_data_of_run_folder,
        tasks_to_evaluate_on,
    )

    check_result_file_type(out, "this evaluation", FILE_TYPES)
    made = [attack_from_spec(spec) for spec in split_at_commas_outside_brackets(attacks or "")]
    nets = load_trained_networks(Path(run), "all", "auto", trust=False)
    training_data = load_data_of_run_folder(Path(run), nets[0].shape, source, screen.print_note)
    split, tasks = tasks_to_evaluate_on(Path(run), training_data)
    table = evaluate_nets_under_attack(nets, training_data, split, tasks, made, seed)
    if out is not None:
        write_result_file(table, out)
    document = {"command": screen.quoted_command_line, "run": run, "split": split, "tasks": len(tasks), "seed": seed}
    summary = f"{nets[0].made_by['net']}: {len(nets)} {'run' if len(nets) == 1 else 'runs'}, split {split}"
    return CommandResult(
        {**document, "rows": table.columns(), "out": out},
        text=table.text(),
        summary=summary + (f"; wrote {out}" if out else ""),
    )
