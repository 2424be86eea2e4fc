"""`plurivox train INPUT --folds K -o RUN`: train on all folds but one, predict that fold, and show the measures."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurivox.cli._click.output import CommandResult, Screen
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError

if TYPE_CHECKING:
    from plurivox.train.data.training_data import TrainingData
    from plurivox.train.loop.train_spec import TrainSpec
    from plurivox.workflows.out_of_fold_predictions import OutOfFold


def train_folds_and_show_measures(
    screen: Screen,
    training_data: "TrainingData",
    spec: "TrainSpec",
    folds: int,
    split: Path | None,
    out: Path | None,
    settings: dict[str, Any],
) -> CommandResult:
    """Train the networks of all folds, write the predictions to the folder `out`, and show the measures on all folds."""
    from plurivox.workflows.out_of_fold_predictions import out_of_fold_path, train_folds

    if out is None:
        raise InputError("no output folder for the trained networks; give -o RUN")
    with screen.show_progress_bar_while_block_runs("train") as progress:
        found = train_folds(training_data, spec, folds=folds, split_file=split, **settings, progress=progress)
    if len(found.others):
        screen.print_note(
            f"{len(found.others):,} tasks of the splits dev and test are in no fold; their predictions are the mean of the "
            f"networks of the {folds} folds"
        )
    series, file = found.series, out_of_fold_path(out)
    document = {
        "input": settings["source"],
        "command": screen.quoted_command_line,
        "out": out,
        "predictions": file,
        "folds": folds,
        "gold_used": found.trained_counts[0].gold_used,
        "trained": [counts.trained for counts in found.trained_counts],
        "left_out": [counts.left_out for counts in found.trained_counts],
        "tasks": {"held-out": len(found.held_out), "others": len(found.others)},
    }
    n_runs = len(series.seeds)
    runs = f"{n_runs} runs of {folds} folds" if n_runs > 1 else f"{folds} folds"
    return CommandResult(
        {**document, "measures": series.summary_by_measure(), "runs": series.run_seed_and_measure_columns()},
        text=trained_tasks_and_held_out_measures_text(found),
        summary=f"{spec.net_head_and_target_text}: {runs}, {count_text(len(found.prediction), 'task')}; wrote {file}",
    )


def trained_tasks_and_held_out_measures_text(found: "OutOfFold") -> str:
    """Return as text the use of gold labels, the training tasks of each fold, and the measures on the tasks of all folds.

    Measures are mean ± std over runs, with the number of tasks of each; the baseline predicts the most frequent label.
    """
    ((split, counts),) = found.series.split_counts.items()
    rows = found.series.text_rows_of_split(split)
    head = [found.trained_counts[0].labels_text]
    head += [f"fold {i}, train: {one.text}" for i, one in enumerate(found.trained_counts)]
    measures = f"held out: {counts.text}\n" + aligned_table_text(rows, indent="  ")
    return "\n".join(filter(None, head)) + f"\n\n{measures}"
