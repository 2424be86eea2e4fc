"""`plurivox predict RUN INPUT -o OUT`: predict soft labels with a trained network."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.image_and_split_flags import (
    make_features_flag,
    make_image_flags,
    replace_image_options_by_pictures,
)
from plurivox.cli._click.output import CommandResult, Screen, first_rows_text
from plurivox.cli._click.parameters import (
    GENERAL,
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Argument,
    Choice,
    Flag,
    Source,
    check_distinct_files,
    check_table_file_type,
    out_flag,
)
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError

if TYPE_CHECKING:
    from plurivox.core.array_types import Names
    from plurivox.core.soft_labels import SoftLabels
    from plurivox.train.data.training_data import TrainingData
    from plurivox.train.trained_net import Trained
    from plurivox.workflows.training_inputs import Pictures


def run_predict(
    screen: Screen,
    run_folder: Path,
    source: Source,
    out: Path | None,
    run: str,
    tasks: str | None,
    device: str,
    trust: bool,
    part: str | None,
    pictures: "Pictures",
    features: str,
) -> CommandResult:
    """Run `plurivox predict`: predict soft labels of the tasks, write them, and show measures if the true labels are known."""
    from plurivox.workflows.load_training_data import inputs_of_trained_net, load_training_data
    from plurivox.workflows.net_evaluation import (
        count_tasks_of_each_split,
        measure_net_on_each_split,
        references_of_measures_text,
    )

    check_distinct_files(source, out)
    if out is not None and out.suffix.lower() not in (".npz", ".npy"):
        check_table_file_type(out, ".npy", ".npz")
    nets = load_trained_networks(run_folder, run, device, trust)
    pictures, choice = inputs_of_trained_net(run_folder, nets[0].shape, pictures, features)
    training_data = load_training_data(
        source.path_or_dataset_to_read, pictures, part, screen.print_note, choice, **source.read_options
    )
    wanted = training_data.tasks if tasks is None else task_names_of_split(run_folder, training_data, tasks)
    prediction = mean_prediction(nets, training_data.inputs_of(wanted), wanted)
    if out is not None:
        write_prediction(prediction, out)
    if training_note := note_on_tasks_used_in_training(run_folder, wanted):
        screen.print_note(training_note)
    counts = count_tasks_of_each_split(training_data, {"all": wanted})["all"]
    found = measure_net_on_each_split(nets[0], training_data, {"all": wanted}) if len(nets) == 1 else {}
    n_tasks = {name: counts.n_tasks_of_measure(name.partition(" ")[2]) for name in found}
    rows = [
        (
            name.partition(" ")[2].replace("baseline", "always the most frequent label"),
            f"{value:.4f}",
            count_text(n_tasks[name], "task"),
        )
        for name, value in found.items()
    ]
    document = {
        "input": source.name,
        "command": screen.quoted_command_line,
        "out": out,
        "tasks": len(prediction),
        "measures": found,
        "measure_tasks": n_tasks,
    }
    line = f"{nets[0].made_by['net']}: {count_text(len(prediction), 'task')}" + (f"; wrote {out}" if out else "")
    texts = [] if out else [first_rows_text(prediction.columns(), "task", ".3f")]
    texts += [f"{aligned_table_text(rows)}\n{references_of_measures_text(found)}"] if rows else []
    return CommandResult(document, text="\n\n".join(texts), summary=line)


def load_trained_networks(folder: Path, run_number: str, device: str, trust: bool) -> "list[Trained]":
    """Load the trained network of one run from a folder of `plurivox train`, or of every run if `run_number` is "all"."""
    from plurivox.train.trained_net import WEIGHTS, Trained

    if (folder / WEIGHTS).is_file():
        return [Trained.load(folder, device=device, trust=trust)]
    homes = sorted(home for home in folder.glob("run-*") if (home / WEIGHTS).is_file())
    if not homes and (folder / "fold-0").is_dir():
        raise InputError(
            f"{folder} contains the networks of folds, whose predictions are in its file out_of_fold; to predict other tasks, "
            f"give one of its folders, such as {folder / 'fold-0'}"
        )
    if not homes:
        raise InputError(f"{folder} contains no trained network; give a folder written by plurivox train -o")
    if run_number == "all":
        return [Trained.load(home, device=device, trust=trust) for home in homes]
    if not run_number.isdigit() or f"run-{int(run_number):03d}" not in {home.name for home in homes}:
        raise InputError(f"{folder} has no run {run_number!r}; give a number from 0 to {len(homes) - 1}, or all")
    return [Trained.load(folder / f"run-{int(run_number):03d}", device=device, trust=trust)]


def task_names_of_split(run_folder: Path, training_data: "TrainingData", split: str) -> "Names":
    """Return the names of the tasks in a split (train, dev, test), as defined by the data or else by the training run."""
    from plurivox.core.name_encoding import positions
    from plurivox.workflows.load_training_data import read_splits_of_run_folder

    known = training_data.tasks_by_standard_split() or read_splits_of_run_folder(run_folder)
    found = known.get(split, training_data.tasks[:0])
    found = found[positions(training_data.tasks, found) >= 0]
    if not len(found):
        raise InputError(f"{training_data.name} has no split {split}; it has {', '.join(known) or 'none'}")
    return found


def note_on_tasks_used_in_training(run_folder: Path, tasks: "Names") -> str:
    """Return a note on how many of `tasks` the network was trained on; "" if on none, or if that is not recorded."""
    from plurivox.core.name_encoding import positions
    from plurivox.workflows.load_training_data import read_splits_of_run_folder, read_tasks_trained_on

    trained_on = read_tasks_trained_on(run_folder)
    train = read_splits_of_run_folder(run_folder).get("train") if trained_on is None else trained_on
    n = 0 if train is None else int((positions(train, tasks) >= 0).sum())
    if not n:
        return ""
    text = f"{n:,} of these {count_text(len(tasks), 'task')}" + (" or fewer" if trained_on is None else "")
    return f"the network was trained on {text}: its measures are too optimistic"


def mean_prediction(nets: "list[Trained]", inputs: Any, tasks: Any) -> "SoftLabels":
    """Return soft labels of tasks: the mean of the predictions of several networks."""
    from plurivox.core.soft_transforms import mean_of_soft_labels

    predictions = [net.predict(inputs, tasks) for net in nets]
    return predictions[0] if len(predictions) == 1 else mean_of_soft_labels(predictions)


def write_prediction(prediction: "SoftLabels", out: Path) -> None:
    """Write predicted soft labels to a file in the format of its suffix; .npz works without polars."""
    if out.suffix.lower() == ".npz":
        prediction.save(out)
        return
    from plurivox import io

    io.write_soft(prediction, out)


class Predict(Command):
    """The command `predict`, with the image options packed into one argument."""

    def convert_params_to_callback_args_in_place(self, param_values: dict[str, Any]) -> None:
        """Convert {parameter name: value} to arguments of the callback, in place; the image options become `pictures`."""
        super().convert_params_to_callback_args_in_place(param_values)
        replace_image_options_by_pictures(param_values)


predict = Predict(
    "predict",
    params=[
        Argument(
            "run_folder",
            IN_AND_OUT,
            "a folder written by plurivox train",
            type=click.Path(path_type=Path),
            metavar="RUN",
        ),
        INPUT,
        out_flag("write the soft labels: .csv, .parquet, .jsonl, .npy or .npz  [default: show the first tasks]"),
        *READING_FLAGS,
        PART,
        Flag(
            ["--run"],
            "Network and tasks",
            default="0",
            metavar="N|all",
            help="run whose network predicts; all: mean over all runs  [default: 0]",
        ),
        Flag(
            ["--tasks"],
            "Network and tasks",
            type=Choice("split", ("train", "dev", "test")),
            metavar="[train|dev|test]",
            help="predict only the tasks of one split, from INPUT or else from RUN  [default: all tasks]",
        ),
        make_features_flag("Features"),
        *make_image_flags(),
        Flag(
            ["--trust"], GENERAL, is_flag=True, help="allow importing the module of a network given as module:function"
        ),
        Flag(
            ["--device"],
            GENERAL,
            default="auto",
            metavar="TEXT",
            help="device on which the network runs: cpu, cuda, ...  [default: auto]",
        ),
    ],
    computes=True,
    nets=True,
    callback=run_predict,
    help="Predict soft labels with a trained network: plurivox predict RUN INPUT -o OUT.",
)
