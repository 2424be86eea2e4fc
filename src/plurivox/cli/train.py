"""`plurivox train INPUT --net NET --target TARGET -o RUN`: inputs and a crowd in, trained nets and their measures out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._build import flag_of
from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import (
    GENERAL,
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Flag,
    OneOf,
    OutFile,
    OutFolder,
    Source,
)
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.cli._click.train_flags import pack_pictures, picture_flags, split_flag
from plurivox.core.errors import InputError
from plurivox.train.plan import DEFAULT_LOSS, DEFAULT_NET, Plan

if TYPE_CHECKING:
    from plurivox.train.data.training_data import TrainingData
    from plurivox.workflows.load_training_data import Pictures
    from plurivox.workflows.net_evaluation import Series

WHAT, HOW, SPLITS = "What is trained", "How it is trained", "Splits"
WORDS = (  # flags that are arguments of `train_spec`
    *("target", "soft", "main", "net", "pretrained", "freeze", "loss", "head"),
    *("augment", "augment_once", "weigh", "least_agreement"),
)


class Train(Command):
    """The command: the options of a plan are flags of their own."""

    def prepare(self, given: dict[str, Any]) -> None:
        """Turn flags into what the callback takes."""
        plan = Plan(**{one.name: given.pop(one.name) for one in Plan.options()})
        super().prepare(given)
        pack_pictures(given)
        record = given.pop("record")
        given["options"] = {**{word: given.pop(word) for word in WORDS}, "record": record or False, "plan": plan}


def run(
    screen: Screen,
    source: Source,
    options: dict[str, Any],
    out: Path | None,
    runs: int,
    at_once: int | None,
    log: str | None,
    split: Path | None,
    shares: str,
    part: str | None,
    pictures: "Pictures",
    pack: Path | None,
) -> Answer:
    """Read, divide, train, measure, tell."""
    from plurivox.workflows.load_training_data import RunFolder, load_training_data, split_tasks
    from plurivox.workflows.train import train_runs, train_spec

    spec = train_spec(**options)
    if out is None and pack is None:
        raise InputError("say where the trained nets go: -o RUN")
    home = None if out is None else RunFolder.of(out)  # refused before much is read
    training_data = load_training_data(source.place, pictures, part, screen.note, **source.how)
    if pack is not None:
        return packed(training_data, pack)
    splits = split_tasks(training_data, split, read_shares(shares), spec.plan.seed)
    sizes = {name: len(tasks) for name, tasks in splits.items()}
    how: dict[str, Any] = {"runs": runs, "folder": home, "at_once": at_once, "log": log or "", "note": screen.note}
    origin = {"command": screen.command, "source": source.where}
    with screen.progress("train") as progress:
        series = train_runs(training_data, splits, spec, **(how | origin), progress=progress)
    facts = {"input": source.where, "command": screen.command, "out": out, "tasks": sizes, "at_once": series.at_once}
    told = {name: {"mean": series.mean(name), "std": series.std(name)} for name in series.measures}
    plural = f"{runs} runs" if runs > 1 else "1 run"
    return Answer(
        {**facts, "measures": told, "runs": series.columns()},
        text=shown(series, sizes),
        line=f"{spec.description}: {plural}, {sizes['train']:,} tasks -> {out}",
    )


def packed(training_data: "TrainingData", out: Path) -> Answer:
    """Write inputs and what is known of them for a machine that reads no tables."""
    from plurivox.train.data.training_data import write_training_data

    if out.suffix != ".npz":
        raise InputError(f"{out} must end in .npz, the form of packed inputs")
    write_training_data(training_data, out)
    return Answer({"out": out, "tasks": len(training_data.tasks)}, line=f"{len(training_data.tasks):,} tasks -> {out}")


def shown(series: "Series", sizes: dict[str, int]) -> str:
    """The measures of every split as mean ± std; the baseline is the share of the split's most frequent label."""
    blocks = []
    for split, size in sizes.items():
        mine = [name for name in series.measures if name.startswith(f"{split} ")]
        rows = [
            (name.partition(" ")[2].replace("baseline", "always the most frequent label"), series.format(name))
            for name in mine
        ]
        if rows:
            blocks.append(f"{split}: {size:,} tasks\n" + table(rows, indent="  "))
    return "\n\n".join(blocks)


def read_shares(text: str) -> dict[str, float]:
    """70,10,20 as shares of train, dev and test."""
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        raise InputError(f"--shares are numbers with commas between, such as 70,10,20; got {text!r}") from None
    if len(numbers) != 3 or min(numbers) < 0 or not numbers[0]:
        raise InputError(f"--shares are three numbers for train, dev and test, such as 70,10,20; got {text!r}")
    return dict(zip(("train", "dev", "test"), numbers, strict=True))


def _word(name: str, default: str, help: str) -> Flag:
    shown_default = f"  [default: {default}]" if default else ""
    return Flag([f"--{name}"], WHAT, default=default, metavar="WORD", help=help + shown_default)


train = Train(
    "train",
    params=[
        INPUT,
        Flag(
            ["-o", "--out"],
            IN_AND_OUT,
            type=OutFolder(),
            metavar="RUN",
            help="a folder; a series stopped in it goes on",
        ),
        Flag(
            ["--pack"],
            IN_AND_OUT,
            type=OutFile(),
            metavar="FILE.npz",
            help="do not train: write all that is needed, for a machine that reads no tables",
        ),
        *READING_FLAGS,
        PART,
        _word(
            "target",
            "",
            "what a task teaches: gold, majority, de-aggregated, ..., or an aggregator  [default: vote-shares; under a head "
            "what it learns from]",
        ),
        _word(
            "soft", "", "aggregator of the soft labels that a target uses  [default: the data's own, else vote-shares]"
        ),
        _word("net", DEFAULT_NET, "the net, options in brackets: mlp[hidden=64]; torchvision:NAME; module:function"),
        Flag(
            ["--pretrained"],
            WHAT,
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="weights that the net begins with, all but its last layer: .safetensors or .pth",
        ),
        Flag(["--freeze"], WHAT, is_flag=True, help="leave those weights as they are and train what is upon them"),
        _word("loss", DEFAULT_LOSS, "the loss"),
        _word("head", "", "a head that learns from people: two-heads, ...  [default: none]"),
        _word("main", "gold", "two-heads: the hard target, gold or majority"),
        _word("augment", "none", "change images anew in every epoch: crop-flip, shear-flip-resize"),
        Flag(["--augment-once"], WHAT, is_flag=True, help="change images once, as the papers' code does"),
        Flag(["--weigh"], WHAT, is_flag=True, help="weigh tasks by the agreement of those who answered"),
        Flag(
            ["--least-agreement"],
            WHAT,
            type=click.FloatRange(0, 1),
            default=0.0,
            metavar="X",
            help="leave out tasks with less agreement  [0 to 1; default: 0]",
        ),
        Flag(
            ["--record"],
            WHAT,
            type=OneOf("way to record", ("visit", "after")),
            metavar="[visit|after]",
            help="keep the logits of every epoch: when a task is learnt from (visit), or after it  [default: none]",
        ),
        *picture_flags(),
        split_flag(SPLITS),
        Flag(
            ["--shares"],
            SPLITS,
            default="70,10,20",
            metavar="A,B,C",
            help="shares of train, dev and test where no split is known, stratified  [default: 70,10,20]",
        ),
        *[flag_of(one, HOW) for one in Plan.options() if one.name != "seed"],
        Flag(
            ["--runs"],
            GENERAL,
            type=click.IntRange(1),
            default=1,
            metavar="N",
            help="train so often, with the seeds seed, seed + 1, ...  [default: 1]",
        ),
        Flag(
            ["--at-once"],
            GENERAL,
            type=click.IntRange(1),
            metavar="N",
            help="so many runs side by side; on a CPU nets on features become one stacked net  "
            "[default: as many as pay on a CPU, 1 on CUDA]",
        ),
        Flag(
            ["--log"],
            GENERAL,
            type=OneOf("log", ("tensorboard",)),
            metavar="[tensorboard]",
            help="the curves of every run as event files too, in its folder  [default: none]",
        ),
        *[flag_of(one, GENERAL) for one in Plan.options() if one.name == "seed"],
    ],
    works=True,
    nets=True,
    callback=run,
    help="Train nets on what a crowd says, and measure them: plurivox train INPUT --net NET --target TARGET -o RUN.",
)
