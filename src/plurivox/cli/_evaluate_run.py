"""`plurivox evaluate RUN [INPUT] [--attack ATTACK,...]`: evaluate the trained networks of a run, also under attack."""

from pathlib import Path

from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.result_file import check_result_file_type, write_result_file
from plurivox.cli.predict import load_trained_networks
from plurivox.core.errors import InputError

FILE_TYPES = (".csv", ".md", ".tex", ".npz")


def is_run_folder(name: str) -> bool:
    """Return whether this is a folder with trained networks."""
    folder = Path(name)
    return folder.is_dir() and (
        any(folder.glob("run-*/weights.safetensors")) or (folder / "weights.safetensors").is_file()
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
