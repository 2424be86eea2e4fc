"""`plurivox predict RUN INPUT -o OUT`: predictions of a trained net."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import (
    GENERAL,
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Flag,
    OneOf,
    Operand,
    OutFile,
    Source,
    check_ending,
    keep_apart,
)
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.cli._click.train_flags import pack_pictures, picture_flags
from plurivox.core.errors import InputError

if TYPE_CHECKING:
    from plurivox.core.soft_labels import SoftLabels
    from plurivox.core.types import Names
    from plurivox.train.data.training_data import TrainingData
    from plurivox.train.result import Trained
    from plurivox.workflows.load_training_data import Pictures


def run(
    screen: Screen,
    run_folder: Path,
    source: Source,
    out: Path,
    run: str,
    tasks: str | None,
    device: str,
    trust: bool,
    part: str | None,
    pictures: "Pictures",
) -> Answer:
    """Read, predict, write, measure where the truth is known."""
    from plurivox.workflows.load_training_data import load_training_data
    from plurivox.workflows.net_evaluation import measure_net

    keep_apart(source, out)
    if out.suffix.lower() not in (".npz", ".npy"):
        check_ending(out, ".npy", ".npz")
    nets = read_runs(run_folder, run, device, trust)
    training_data = load_training_data(source.place, pictures, part, screen.note, **source.how)
    wanted = training_data.tasks if tasks is None else tasks_of(run_folder, training_data, tasks)
    prediction = mean_prediction(nets, training_data.on(wanted), wanted)
    write(prediction, out)
    if taught := n_taught(run_folder, wanted):
        screen.note(f"the net learnt from {taught:,} of these {len(wanted):,} tasks: measures on them flatter it")
    found = measure_net(nets[0], training_data, {"all": wanted}) if len(nets) == 1 else {}
    rows = [
        (name.partition(" ")[2].replace("baseline", "always the most frequent label"), f"{value:.4f}")
        for name, value in found.items()
    ]
    facts = {"input": source.where, "command": screen.command, "out": out, "tasks": len(prediction), "measures": found}
    line = f"{nets[0].made_by['net']}: {len(prediction):,} tasks -> {out}"
    return Answer(facts, text=table(rows) if rows else "", line=line)


def read_runs(folder: Path, which: str, device: str, trust: bool) -> "list[Trained]":
    """The net of one run of a folder, or those of all."""
    from plurivox.train.result import WEIGHTS, Trained

    if (folder / WEIGHTS).is_file():
        return [Trained.load(folder, device=device, trust=trust)]
    homes = sorted(home for home in folder.glob("run-*") if (home / WEIGHTS).is_file())
    if not homes:
        raise InputError(f"{folder} holds no trained net; plurivox train -o makes such a folder")
    if which == "all":
        return [Trained.load(home, device=device, trust=trust) for home in homes]
    if not which.isdigit() or f"run-{int(which):03d}" not in {home.name for home in homes}:
        raise InputError(f"{folder} has no run {which!r}; it has {len(homes)}, from 0: give a number, or all")
    return [Trained.load(folder / f"run-{int(which):03d}", device=device, trust=trust)]


def tasks_of(folder: Path, training_data: "TrainingData", split: str) -> "Names":
    """The tasks of a split: that of the data, or else the one that the training made."""
    from plurivox.core.encoding import positions
    from plurivox.workflows.load_training_data import read_splits

    known = training_data.splits() or read_splits(folder)
    found = known.get(split, training_data.tasks[:0])
    found = found[positions(training_data.tasks, found) >= 0]
    if not len(found):
        raise InputError(f"{training_data.name} has no split {split}; it has {', '.join(known) or 'none'}")
    return found


def n_taught(folder: Path, tasks: "Names") -> int:
    """How many of these tasks the nets of the folder were trained on, as far as it tells."""
    from plurivox.core.encoding import positions
    from plurivox.workflows.load_training_data import read_splits

    train = read_splits(folder).get("train")
    return 0 if train is None else int((positions(train, tasks) >= 0).sum())


def mean_prediction(nets: "list[Trained]", x: Any, tasks: Any) -> "SoftLabels":
    """The mean of the predictions of the nets."""
    from plurivox.core.soft_transforms import blend

    predictions = [net.predict(x, tasks) for net in nets]
    return predictions[0] if len(predictions) == 1 else blend(predictions)


def write(prediction: "SoftLabels", out: Path) -> None:
    """The soft labels in the form of the file's ending; .npz needs no tables."""
    if out.suffix.lower() == ".npz":
        prediction.save(out)
        return
    from plurivox import io

    io.write_soft(prediction, out)


class Predict(Command):
    """The command: what is said of images becomes one value."""

    def prepare(self, given: dict[str, Any]) -> None:
        """Turn flags into what the callback takes."""
        super().prepare(given)
        pack_pictures(given)


predict = Predict(
    "predict",
    params=[
        Operand(
            "run_folder",
            IN_AND_OUT,
            "a folder that plurivox train made",
            type=click.Path(path_type=Path),
            metavar="RUN",
        ),
        INPUT,
        Flag(
            ["-o", "--out"],
            IN_AND_OUT,
            type=OutFile(),
            required=True,
            metavar="FILE",
            help="the soft labels: .csv, .parquet, .jsonl, .npy or .npz  [required]",
        ),
        *READING_FLAGS,
        PART,
        Flag(
            ["--run"],
            "Which net, which tasks",
            default="0",
            metavar="N|all",
            help="the run whose net predicts; all: the mean of all  [default: 0]",
        ),
        Flag(
            ["--tasks"],
            "Which net, which tasks",
            type=OneOf("split", ("train", "dev", "test")),
            metavar="[train|dev|test]",
            help="tasks of one split, of the data or else of the training  [default: all]",
        ),
        *picture_flags(),
        Flag(
            ["--trust"], GENERAL, is_flag=True, help="import the code that RUN names, where its net is module:function"
        ),
        Flag(["--device"], GENERAL, default="auto", metavar="TEXT", help="cpu, cuda, ...  [default: auto]"),
    ],
    works=True,
    nets=True,
    callback=run,
    help="Say what a trained net believes: plurivox predict RUN INPUT -o OUT.",
)
