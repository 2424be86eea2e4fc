"""`plurivox train INPUT --net NET --target TARGET -o RUN`: train networks on votes and evaluate them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.image_and_split_flags import (
    make_features_flag,
    make_image_flags,
    make_split_flag,
    make_training_labels_flag,
    replace_image_options_by_pictures,
)
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import (
    GENERAL,
    GOLD,
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Choice,
    Flag,
    OutFile,
    OutFolder,
    Source,
)
from plurivox.cli._method_commands import option_flag
from plurivox.cli._train_folds import train_folds_and_show_measures
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError
from plurivox.train.training_hyperparameters import DEFAULT_LOSS, DEFAULT_NET, Plan

if TYPE_CHECKING:
    from plurivox.train.data.training_data import TrainingData
    from plurivox.workflows.net_evaluation import Series
    from plurivox.workflows.training_inputs import Pictures

MODEL, INPUTS, TRAINING, SPLITS = "Network and training labels", "Features", "Training", "Splits"
SPEC_OPTIONS = (  # options that are arguments of `make_train_spec`
    *("target", "soft", "main", "net", "pretrained", "freeze", "loss", "head"),
    *("augment", "augment_once", "weigh", "least_agreement", "choose", "for_", "answers_per_task"),
)


class Train(Command):
    """The command `train`, which also has all options of `Plan`."""

    def convert_params_to_callback_args_in_place(self, param_values: dict[str, Any]) -> None:
        """Convert {parameter name: value} to arguments of the callback, in place; the image options become `pictures`."""
        plan = Plan(**{option.name: param_values.pop(option.name) for option in Plan.options()})
        is_file = isinstance(param_values["labels"], Path)
        training_labels = param_values["labels"] if is_file else None
        param_values["labels"] = None if is_file else param_values["labels"]
        super().convert_params_to_callback_args_in_place(param_values)
        replace_image_options_by_pictures(param_values)
        record = param_values.pop("record")
        param_values["options"] = {
            **{name: param_values.pop(name) for name in SPEC_OPTIONS},
            "record": record or False,
            "plan": plan,
        }
        param_values["training_labels"] = training_labels
        param_values["options"]["choose"] = param_values["options"]["choose"] or ""
        param_values["options"]["for_"] = param_values["options"]["for_"] or ""


def run_train(
    screen: Screen,
    source: Source,
    options: dict[str, Any],
    out: Path | None,
    runs: int,
    at_once: int | None,
    log: str | None,
    split: Path | None,
    shares: str,
    chosen: str | None,
    folds: int | None,
    part: str | None,
    pictures: "Pictures",
    features: str,
    training_labels: Path | None,
    gold: Path | None,
    pack: Path | None,
) -> CommandResult:
    """Run `plurivox train`: read and split the data, train the networks, evaluate them on every split."""
    from plurivox.workflows.load_training_data import (
        RunFolder,
        chosen_tasks_of_file_or_split,
        load_training_data,
        splits_from_file_or_data_else_random,
    )
    from plurivox.workflows.net_evaluation import references_of_measures_text
    from plurivox.workflows.train_nets import make_train_spec, train_runs
    from plurivox.workflows.training_inputs import InputChoice
    from plurivox.workflows.training_label_file import options_with_target_of_label_file

    if training_labels is not None:
        options = options_with_target_of_label_file(options)
    spec = make_train_spec(**options)
    if out is None and pack is None:
        raise InputError("no output folder for the trained networks; give -o RUN")
    run_folder = None if out is None else RunFolder.from_empty_or_run_folder(out)  # raises before the data are read
    choice = InputChoice(features, spec.net.reads, int(getattr(spec.net, "letters", 15)))
    training_data = load_training_data(
        source.path_or_dataset_to_read,
        pictures,
        part,
        screen.print_note,
        choice,
        training_labels,
        gold,
        **source.read_options,
    )
    if pack is not None:
        if training_data.encoding is not None:
            training_data = encode_and_name_splits(training_data, split, shares, spec.plan.seed)
        return write_inputs_and_labels_npz(training_data, pack)
    settings: dict[str, Any] = {"runs": runs, "folder": run_folder, "at_once": at_once, "log": log or ""}
    settings |= {"command": screen.quoted_command_line, "source": input_name(screen, source), "note": screen.print_note}
    settings["reading"] = {
        "part": part,
        "features": features,
        "images": None if pictures.table is None else str(pictures.table),
        "of_input": pictures.of_input,
        "image_size": pictures.size,
        "skip_damaged": pictures.skip,
        "read_options": dict(source.read_options),
        "gold": None if gold is None else str(gold),
        "training_labels": None if training_labels is None else str(training_labels),
    }
    settings["chosen"] = None if chosen is None else chosen_tasks_of_file_or_split(training_data, chosen)
    if folds is not None:
        return train_folds_and_show_measures(screen, training_data, spec, folds, split, out, settings)
    splits = splits_from_file_or_data_else_random(
        training_data, split, parse_train_dev_test_shares(shares), spec.plan.seed
    )
    sizes = {name: len(tasks) for name, tasks in splits.items()}
    with screen.show_progress_bar_while_block_runs("train") as progress:
        series = train_runs(training_data, splits, spec, **settings, progress=progress)
    counts = series.trained_counts
    assert counts is not None
    document = {
        "input": source.name,
        "command": screen.quoted_command_line,
        "out": out,
        "gold_used": counts.gold_used,
        "tasks": sizes,
        "trained": counts.trained,
        "left_out": counts.left_out,
        "at_once": series.at_once,
    }
    plural = count_text(runs, "run")
    return CommandResult(
        {**document, "measures": series.summary_by_measure(), "runs": series.run_seed_and_measure_columns()},
        text="\n".join(filter(None, [counts.labels_text, f"train: {counts.text}"]))
        + f"\n\n{mean_std_of_measures_per_split_text(series)}\n\n{references_of_measures_text(series.measures)}".rstrip(),
        summary=f"{spec.net_head_and_target_text}: {plural}, {count_text(counts.trained, 'training task')}; wrote {out}",
    )


def input_name(screen: Screen, source: Source) -> str:
    """Return the name of the input for the run folder: "standard input" for the temporary file in its place."""
    return source.name if screen.streams is None else screen.streams.shown_names.get(source.name, source.name)


def encode_and_name_splits(training_data: "TrainingData", split: Path | None, shares: str, seed: int) -> "TrainingData":
    """Return the data with the inputs encoded by the training split, and with the splits that training would have."""
    from dataclasses import replace

    import numpy as np

    from plurivox.core.name_encoding import as_names
    from plurivox.workflows.load_training_data import splits_from_file_or_data_else_random

    splits = splits_from_file_or_data_else_random(training_data, split, parse_train_dev_test_shares(shares), seed)
    tasks = np.concatenate(list(splits.values()))
    names = as_names([name for name, members in splits.items() for _ in range(len(members))])
    encoded = training_data.with_inputs_encoded(splits["train"])
    return replace(encoded, tasks=tasks, x=encoded.inputs_of(tasks), split=names)


def write_inputs_and_labels_npz(training_data: "TrainingData", out: Path) -> CommandResult:
    """Write the inputs and labels of the training data to one .npz file, for training on a machine without polars."""
    from plurivox.train.data.training_data import write_training_data

    if out.suffix != ".npz":
        raise InputError(f"unsupported file type of {out}; packed inputs are written as .npz")
    write_training_data(training_data, out)
    n = len(training_data.tasks)
    return CommandResult({"out": out, "tasks": n}, summary=f"{count_text(n, 'task')}; wrote {out}")


def mean_std_of_measures_per_split_text(series: "Series") -> str:
    """Return the measures of every split as text, mean ± std over runs and number of tasks of each.

    The baseline predicts the most frequent label.
    """
    blocks = []
    for split, counts in series.split_counts.items():
        rows = series.text_rows_of_split(split)
        if rows:
            blocks.append(f"{split}: {counts.text}\n" + aligned_table_text(rows, indent="  "))
    return "\n\n".join(blocks)


def parse_train_dev_test_shares(comma_list: str) -> dict[str, float]:
    """Parse "70,10,20" into {"train": 70, "dev": 10, "test": 20}, sizes of the splits; raise InputError if malformed."""
    try:
        numbers = [float(number) for number in comma_list.split(",")]
    except ValueError:
        raise InputError(
            f"--shares must be numbers separated by commas, such as 70,10,20; got {comma_list!r}"
        ) from None
    if len(numbers) != 3 or min(numbers) < 0 or not numbers[0]:
        raise InputError(
            f"--shares must be three numbers for train, dev and test, such as 70,10,20; got {comma_list!r}"
        )
    return dict(zip(("train", "dev", "test"), numbers, strict=True))


def _model_section_flag_showing_default(name: str, metavar: str, default: str, help: str) -> Flag:
    """Return an option in the model section of the help (net, loss, target, ...); its help text ends with the default."""
    default_text = f"  [default: {default}]" if default else ""
    return Flag([f"--{name}"], MODEL, default=default, metavar=metavar, help=help + default_text)


train = Train(
    "train",
    params=[
        INPUT,
        Flag(
            ["-o", "--out"],
            IN_AND_OUT,
            type=OutFolder(),
            metavar="RUN",
            help="folder for the trained networks; interrupted runs in it are resumed",
        ),
        Flag(
            ["--pack"],
            IN_AND_OUT,
            type=OutFile(stdout_suffix=""),
            metavar="FILE.npz",
            help="do not train; write inputs and labels to one file, for training on a machine without polars",
        ),
        GOLD,
        *[flag for flag in READING_FLAGS if flag.name != "labels"],
        PART,
        make_training_labels_flag(MODEL),
        Flag(
            ["--answers-per-task"],
            MODEL,
            type=click.IntRange(1),
            metavar="M",
            help="train on at most M random answers of each training task, drawn by --seed; dev and test tasks keep all  "
            "[default: all answers]",
        ),
        Flag(
            ["--for", "for_"],
            MODEL,
            type=Choice("estimate", ("truth", "people")),
            help="what the network is to estimate: the probability that a label is right (truth), or that a person gives it "
            "(people); without a target, the target is log-pool without background, or vote-shares  "
            "[default: what the target estimates]",
        ),
        _model_section_flag_showing_default(
            "target",
            "TARGET",
            "",
            "training labels: gold, majority, de-aggregated, ..., or an aggregation method  [default: vote-shares; with "
            "--head: that of the head]",
        ),
        _model_section_flag_showing_default(
            "soft",
            "METHOD",
            "",
            "aggregation method of the soft labels that the target uses  [default: those of INPUT, else vote-shares]",
        ),
        _model_section_flag_showing_default(
            "net",
            "NET",
            DEFAULT_NET,
            "network, options in square brackets: mlp[hidden=64]; or torchvision:NAME, module:function",
        ),
        Flag(
            ["--pretrained"],
            MODEL,
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="initial weights of all layers but the last: .safetensors or .pth",
        ),
        Flag(
            ["--freeze"], MODEL, is_flag=True, help="keep the pretrained weights fixed and train only the layers above"
        ),
        _model_section_flag_showing_default(
            "loss", "LOSS", DEFAULT_LOSS, "loss function, see plurivox methods train.losses"
        ),
        _model_section_flag_showing_default(
            "head", "HEAD", "", "head that learns from the votes of each worker: two-heads, ...  [default: none]"
        ),
        _model_section_flag_showing_default(
            "main", "TARGET", "", "hard target of --head two-heads: gold or majority  [default: gold]"
        ),
        Flag(
            ["--chosen"],
            MODEL,
            metavar="FILE|SPLIT",
            help="tasks that --target mixed[first=...,rest=...] trains on first: a CSV file with the column task, or a split "
            "of INPUT  [default: the tasks that have first, unless all have it]",
        ),
        _model_section_flag_showing_default(
            "augment", "NAME", "none", "augment images in every epoch: crop-flip or shear-flip-resize"
        ),
        Flag(["--augment-once"], MODEL, is_flag=True, help="augment images only once, as in the code of the papers"),
        Flag(["--weigh"], MODEL, is_flag=True, help="weight tasks by the agreement of their workers"),
        Flag(
            ["--least-agreement"],
            MODEL,
            type=click.FloatRange(0, 1),
            default=0.0,
            metavar="X",
            help="do not train on tasks whose workers agree less than X  [0 to 1; default: 0]",
        ),
        Flag(
            ["--record"],
            MODEL,
            type=Choice("recording time", ("visit", "after")),
            metavar="[visit|after]",
            help="record the logits of every epoch: of each batch as it is trained on (visit), or of all tasks after the epoch "
            "(after)  [default: none]",
        ),
        make_features_flag(INPUTS),
        *make_image_flags(),
        make_split_flag(SPLITS),
        Flag(
            ["--shares"],
            SPLITS,
            default="70,10,20",
            metavar="A,B,C",
            help="shares of a stratified random split into train, dev and test, if no split is given  [default: 70,10,20]",
        ),
        Flag(
            ["--folds"],
            SPLITS,
            type=click.IntRange(2),
            metavar="K",
            help="divide the training tasks (without a split: all tasks) into K folds, train on all but one, predict that one, "
            "and write the predictions of all tasks to RUN/out_of_fold.csv, as CROWDLAB needs them  [default: none]",
        ),
        Flag(
            ["--choose"],
            TRAINING,
            type=Choice("labels", ("gold", "votes")),
            metavar="[gold|votes]",
            help="labels of the dev tasks that choose the best epoch, by --best or else by accuracy (gold) or cross-entropy to "
            "vote shares (votes)  [default: gold labels if there are any, with --best only]",
        ),
        *[option_flag(option, TRAINING) for option in Plan.options() if option.name != "seed"],
        Flag(
            ["--runs"],
            GENERAL,
            type=click.IntRange(1),
            default=1,
            metavar="N",
            help="number of runs, with the seeds seed, seed + 1, ...  [default: 1]",
        ),
        Flag(
            ["--at-once"],
            GENERAL,
            type=click.IntRange(1),
            metavar="N",
            help="number of runs trained at the same time; on a CPU, networks on features are stacked into one  "
            "[default: chosen by speed on a CPU, 1 on CUDA]",
        ),
        Flag(
            ["--log"],
            GENERAL,
            type=Choice("log", ("tensorboard",)),
            metavar="[tensorboard]",
            help="also write the training curves of every run as TensorBoard event files  [default: none]",
        ),
        *[option_flag(option, GENERAL) for option in Plan.options() if option.name == "seed"],
    ],
    computes=True,
    nets=True,
    callback=run_train,
    help="Train neural networks on votes and evaluate them: plurivox train INPUT --net NET --target TARGET -o RUN.",
)
