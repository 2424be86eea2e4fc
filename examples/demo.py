"""The whole pipeline: 1,797 real digit images, a simulated crowd, soft labels, neural networks, evaluation, a study.

Run it with `make demo`. Nothing is downloaded: the images come with scikit-learn.
"""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import plurivox as pv
from examples import studio
from examples.soft_answers import make_soft_answers
from examples.training import train_and_measure
from plurivox.io.features import Features

METHODS = ("majority-vote[ties=share]", "vote-shares", "dawid-skene", "ibcc", "mace", "glad", "average")
OUT = Path("demo-output")


def load_digit_images() -> tuple[pv.SoftLabels, Features]:
    """Return the true label of every image, and its 8 x 8 grey values as features."""
    images = load_digits()
    tasks = [f"digit-{i:04d}" for i in range(len(images.target))]
    truth = pv.SoftLabels.gold(tasks, [str(label) for label in images.target])
    return truth, Features(truth.tasks, images.data.astype(np.float32))


def run_aggregation(out: Path) -> list[dict[str, object]]:
    """Simulate a crowd, write, read and describe it, aggregate and evaluate; return one row of measures per method."""
    truth, features = load_digit_images()
    crowd = pv.simulate_crowd("independent-confusion", truth, n_workers=60, feedback=5, concentration=0.15, seed=1)
    made = pv.Dataset("digits", votes=crowd.votes, gold=truth, features=features, about={"command": "make demo"})
    pv.write(made, out / "digits", replace=True)

    data = pv.read(out / "digits")
    votes, gold = data.crowd(), data.gold
    assert gold is not None
    print("Simulated crowd: sizes, agreement and accuracy of the votes")
    for name, value in pv.describe(votes, gold).rows():
        print(f"  {name:32} {value}")
    rows = []
    for method in METHODS:
        start = time.perf_counter()
        fit = pv.fit(votes, method)
        took = time.perf_counter() - start
        pv.write_soft(fit.soft, out / f"{method.partition('[')[0]}.csv")
        rows.append(measure(method, fit.soft, gold) | {"seconds": took})
    start = time.perf_counter()
    elicited = pv.elicit_votes(make_soft_answers(crowd), "top-two")  # answers in percent of the same people
    fit = pv.fit(elicited.votes, "vote-shares")
    rows.append(measure("vote-shares of soft answers", fit.soft, gold) | {"seconds": time.perf_counter() - start})
    return rows


def measure(method: str, prediction: pv.SoftLabels, gold: pv.SoftLabels) -> dict[str, object]:
    """Return accuracy, NLL, Brier score and ECE of soft labels against gold labels."""
    return {
        "method": method,
        "accuracy": pv.evaluate.accuracy(prediction, gold, ties="share"),
        "NLL": pv.evaluate.nll(prediction, gold),
        "Brier": pv.evaluate.brier(prediction, gold),
        "ECE": pv.evaluate.ece(prediction, gold, ties="share"),
    }


def print_table(rows: list[dict[str, object]]) -> None:
    """Print rows as a table with aligned columns."""
    first, *heads = rows[0]
    print(f"{first:28}" + "".join(f"{head:>11}" for head in heads))
    for row in rows:
        print(f"{row[first]:28}" + "".join(f"{row[head]:11.3f}" for head in heads))


def main() -> None:
    """Run the pipeline, print its tables, and print commands to try next."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    out.mkdir(parents=True, exist_ok=True)
    rows = run_aggregation(out)
    print("\nAggregated soft labels, evaluated against the true labels (seconds include compilation at first use)")
    print_table(rows)
    print("\nNeural networks trained on the votes, evaluated on 540 test images:")
    print("accuracy, NLL and ECE against the true labels; CE, JSD and entropy correlation (r) against the vote shares")
    print_table(train_and_measure(pv.read(out / "digits")))
    print("\nA study in the studio, answered by simulated workers")
    studio.run_study(out)
    command = "plurivox" if Path(sys.prefix).name != ".venv" else ".venv/bin/plurivox"
    print(f"\nWrote {out.resolve()}: data sets, the study, and one table of soft labels per method.\n\nTry next:")
    print(f"  {command} describe {out}/digits")
    print(f"  {command} compare {out}/digits --methods vote-shares,wawa,dawid-skene,average")
    print(f"  {command} train {out}/digits --target vote-shares --runs 3 -o {out}/runs")
    print(f"  {command} aggregate glad {out}/digits -o {out}/mine.csv --workers-out {out}/workers.csv")


if __name__ == "__main__":
    main()
