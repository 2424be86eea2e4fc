"""Out-of-fold predictions: the tasks are divided into folds, and each is predicted by nets trained on the other folds."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from plurivox.core.array_types import Names
from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import as_names, as_text, positions, sorted_names
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_transforms import mean_of_soft_labels
from plurivox.train.data import splits
from plurivox.train.data.input_tensors import check_inputs_finite
from plurivox.train.data.training_data import TrainingData
from plurivox.train.loop.train_spec import TrainSpec
from plurivox.train.trained_net import Trained
from plurivox.workflows.load_training_data import SETTINGS, RunFolder, splits_from_file_or_data_else_random
from plurivox.workflows.net_evaluation import (
    Series,
    TrainedCounts,
    count_tasks_of_each_split,
    gold_and_vote_shares,
    measures_of_prediction,
)
from plurivox.workflows.train_nets import RESULTS, Note, train_runs

OUT_OF_FOLD = "out_of_fold"  # the name of the file of predictions, without its extension
DEV_SHARE = 0.1  # of the training tasks of a fold, if an epoch is chosen and the data have no dev split
HELD_OUT = "held-out"  # the name of the tasks of all folds in the measures


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Predictions of tasks by nets that were not trained on them, and the measures of each run on the tasks of all folds."""

    prediction: SoftLabels  # mean over runs
    held_out: Names  # the tasks of all folds, each predicted by the net of its fold
    others: Names  # tasks in no fold (dev and test splits of the data), predicted by the mean of the nets of all folds
    series: Series
    trained_counts: tuple[TrainedCounts, ...]  # of each fold: tasks trained on and left out, use of gold labels


def train_folds(
    training_data: TrainingData,
    spec: TrainSpec,
    *,
    folds: int = 5,
    split_file: str | Path | None = None,
    runs: int = 1,
    folder: str | Path | RunFolder | None = None,
    command: str = "",
    source: str = "",
    progress: Progress = no_progress,
    note: Note | None = None,
    **train_options: Any,
) -> OutOfFold:
    """Train nets on all folds of the tasks but one, predict the tasks of that fold, and return the predictions of all folds.

    The tasks are those of the split train of `split_file` or of the data, or all tasks if there are no splits. They are divided
    at random, by the seed of the plan, into `folds` folds, stratified by gold label, or else by the label with most votes. Dev
    and test tasks of the data are in no fold and never trained on: they get the mean prediction of the nets of all folds. If
    the plan chooses the best epoch, it is chosen on the dev tasks, or else on a tenth of the training tasks of each fold,
    never on the fold that is predicted. With several `runs` (seed, seed + 1, ...) the folds are the same and the predictions
    are averaged.

    In `folder` the nets of fold i are in fold-i, as `train_runs` writes them; finished ones are not trained again. The
    predictions are written to out_of_fold.csv (out_of_fold.npz if polars is not installed), the measures of each run to
    results.csv. `train_options` are further arguments of `train_runs`, such as `at_once`. CROWDLAB needs such predictions:
    `pv.score(data, "crowdlab", prediction=...)`.
    """
    check_inputs_finite(training_data.x, training_data.tasks)
    parts = _splits_of_each_fold(training_data, spec, folds, split_file)
    home = None if folder is None else _create_or_check_folder_of_folds(folder, folds, command, source)
    with TemporaryDirectory() as temporary:
        path = Path(temporary) if home is None else home.path
        of_folds = []
        for i, split in enumerate(parts):
            made = train_runs(
                training_data,
                split,
                spec,
                runs=runs,
                folder=path / f"fold-{i}",
                command=command,
                source=source,
                progress=_progress_of_fold(progress, i, folds),
                note=note if i == 0 else None,
                **train_options,
            )
            of_folds.append(made.trained_counts)
        held_out = np.concatenate([split["test"] for split in parts])
        others = training_data.tasks[positions(held_out, training_data.tasks) < 0]
        predictions = [_prediction_of_run(training_data, parts, others, path, run, spec) for run in range(runs)]
    measures = [measures_of_prediction(one.on(held_out), training_data, HELD_OUT) for one in predictions]
    series = replace(
        Series.from_measures_of_runs(measures, spec.plan.seed),
        split_counts=count_tasks_of_each_split(training_data, {HELD_OUT: held_out}),
    )
    mean = mean_of_soft_labels(predictions) if runs > 1 else predictions[0]
    found = OutOfFold(mean, held_out, others, series, tuple(one for one in of_folds if one is not None))
    if home is not None:
        home.add_to_settings(gold_used=found.trained_counts[0].gold_used)
        found.series.write_measures_of_runs(home.path / RESULTS)
        write_out_of_fold_predictions(found.prediction, home.path)
    return found


def write_out_of_fold_predictions(prediction: SoftLabels, folder: Path) -> Path:
    """Write predictions to out_of_fold.csv in a folder, or to out_of_fold.npz if polars is not installed; return the path."""
    path = out_of_fold_path(folder)
    if path.suffix == ".npz":
        prediction.save(path)
        return path
    from plurivox.io.soft_label_files import write_soft

    write_soft(prediction, path)
    return path


def out_of_fold_path(folder: Path) -> Path:
    """Return the path of the predictions in a folder of folds: a CSV file, or an .npz file if polars is not installed."""
    return folder / f"{OUT_OF_FOLD}{'.csv' if find_spec('polars') else '.npz'}"


def _splits_of_each_fold(
    training_data: TrainingData, spec: TrainSpec, n_folds: int, split_file: str | Path | None
) -> list[dict[str, Names]]:
    """Return {"train", "dev" (if an epoch is chosen), "test": tasks} of each fold; "test" are the tasks to predict."""
    has_splits = split_file is not None or bool(training_data.tasks_by_standard_split())
    given = splits_from_file_or_data_else_random(training_data, split_file) if has_splits else {}
    tasks, seed = sorted_names(given.get("train", training_data.tasks)), spec.plan.seed
    labels = _gold_or_majority_label_texts(training_data, tasks)
    found: list[dict[str, Names]] = []
    for fold in splits.folds(tasks, n_folds, labels=labels, seed=seed):
        train, held_out = fold["train"], fold["test"]
        if spec.plan.best == "last":
            found.append({"train": train, "test": held_out})
        elif "dev" in given:
            found.append({"train": train, "dev": given["dev"], "test": held_out})
        else:
            shares = {"train": 1 - DEV_SHARE, "dev": DEV_SHARE}
            inner = splits.stratified(train, labels[positions(tasks, train)], shares, seed)
            found.append({**inner, "test": held_out})
    return found


def _gold_or_majority_label_texts(training_data: TrainingData, tasks: Names) -> Names:
    """(n_tasks,) the gold label of each task as text, else the label with most votes, else an empty text."""
    texts = np.full(len(tasks), "", object)
    gold, shares = gold_and_vote_shares(training_data, tasks)
    for known in (shares, gold):  # gold labels last: they replace those of the votes
        if known is not None:
            texts[positions(tasks, known.tasks)] = as_text(known.hard()).tolist()
    return as_names(texts.tolist(), "labels")


def _create_or_check_folder_of_folds(
    folder: str | Path | RunFolder, n_folds: int, command: str, source: str
) -> RunFolder:
    """Create the folder of the nets of all folds and write its settings; InputError if it has runs that are not of folds."""
    home = RunFolder.from_empty_or_run_folder(folder)
    if any(home.path.glob("run-*")):
        raise InputError(f"{home.path} contains runs that are not of folds; choose another folder")
    if (home.path / f"fold-{n_folds}").exists():
        raise InputError(f"{home.path} contains more than {n_folds} folds; choose another folder, or as many folds")
    home.path.mkdir(exist_ok=True)
    with atomic_file(home.path / SETTINGS) as temporary:
        settings = {"command": command, "input": source, "folds": n_folds, "parts": {}}
        temporary.write_text(json.dumps(settings), encoding="utf-8")
    return home


def _prediction_of_run(
    training_data: TrainingData, parts: list[dict[str, Names]], others: Names, folder: Path, run: int, spec: TrainSpec
) -> SoftLabels:
    """Return the predictions of all tasks by the nets of one run: of each fold by its net, of other tasks by their mean."""
    nets = [
        Trained.load(folder / f"fold-{i}" / f"run-{run:03d}", device=spec.plan.device, trust=True)
        for i in range(len(parts))
    ]
    encoded, labels = [training_data.with_inputs_encoded(split["train"]) for split in parts], nets[0].labels
    found = [
        net.predict(of_fold.inputs_of(split["test"]), split["test"]).on_labels(labels)
        for net, split, of_fold in zip(nets, parts, encoded, strict=True)
    ]
    if len(others):
        predictions = [net.predict(one.inputs_of(others), others) for net, one in zip(nets, encoded, strict=True)]
        found.append(mean_of_soft_labels([one.on_labels(labels) for one in predictions]))
    tasks = np.concatenate([one.tasks for one in found])
    whole = SoftLabels.of(np.concatenate([one.prob for one in found]), tasks, labels, estimates=found[0].estimates)
    return whole.on(training_data.tasks)


def _progress_of_fold(progress: Progress, fold: int, n_folds: int) -> Callable[..., None]:
    """Return a progress callback for the training of one fold, which reports the steps of all folds."""

    def report(step: int, total: int, value: float | None = None) -> None:
        progress(fold * total + step, n_folds * total, value)

    return report
