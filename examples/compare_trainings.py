"""Compare trainings on different labels: `python -m examples.compare_trainings DATA.npz REFERENCE_RUN RUN...`.

Each RUN is a folder of `plurivox train` with as many runs as REFERENCE_RUN, on the same splits. The networks predict the test
tasks; the differences have intervals for other tasks and other runs, and p-values adjusted by Holm's method.
"""

import sys
from pathlib import Path

from plurivox.core.recipe_tables import Table
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import compare_runs, holm
from plurivox.train.trained_net import Trained
from plurivox.workflows.load_training_data import load_training_data, read_splits_of_run_folder

HARD, SOFT = ["accuracy", "nll"], ["total-variation", "cross-entropy"]


def test_predictions(data_path: str, run_folder: Path) -> list[SoftLabels]:
    """Return the predictions of the test tasks by each network in a run folder, in the order of the runs."""
    data, tasks = load_training_data(data_path), read_splits_of_run_folder(run_folder)["test"]
    return [
        Trained.load(home).predict(data.inputs_of(tasks), tasks)
        for home in sorted(run_folder.glob("run-[0-9][0-9][0-9]"))
    ]


def difference_table(data_path: str, reference: Path, others: list[Path]) -> Table:
    """Return a table with one row per training and measure: how much better it is than the reference."""
    data = load_training_data(data_path)
    assert data.gold is not None and data.votes is not None
    base, rows = test_predictions(data_path, reference), []
    tasks = base[0].tasks
    gold, shares = data.gold.on(tasks), SoftLabels.from_vote_shares(data.votes.on(tasks))
    for folder in others:
        runs = test_predictions(data_path, folder)
        for truth, measures in ((gold, HARD), (shares, SOFT)):
            found = compare_runs(runs, base, truth, measures=measures)
            for name, better, p in zip(found.measure.tolist(), found.intervals(), found.p_value, strict=True):
                rows.append({"training": folder.name, "measure": name, "better by": str(better), "p": p})
    for name in (*HARD, *SOFT):
        same = [row for row in rows if row["measure"] == name]
        for row, p in zip(same, holm([row["p"] for row in same]), strict=True):
            row["p, Holm"] = p
    return Table.of_rows(f"Better than {reference.name}, {len(base)} runs, {len(tasks):,} test tasks", rows)


if __name__ == "__main__":
    print(difference_table(sys.argv[1], Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]]).text())
