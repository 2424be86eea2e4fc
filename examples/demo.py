"""The whole pipeline: 1,797 real digit images, a simulated crowd, soft labels, neural networks, evaluation, a study, a report.

Run it with `make demo`. Nothing is downloaded: the images come with scikit-learn.
"""

import shutil
import sys
import time
from pathlib import Path

import plurivox as pv
from examples import studio
from examples.digits_crowd import load_digit_images, simulate_readers, write_images
from examples.soft_answers import make_soft_answers
from examples.training import train_and_measure
from plurivox.workflows.load_training_data import load_training_data, splits_from_file_or_data_else_random
from plurivox.workflows.train_nets import make_train_spec, train_runs

METHODS = ("majority-vote[ties=share]", "vote-shares", "dawid-skene", "ibcc", "mace", "glad", "average")
OUT = Path("demo-output")


def run_aggregation(out: Path) -> list[dict[str, object]]:
    """Simulate a crowd, write, read and describe it, aggregate and evaluate; return one row of measures per method."""
    truth, features = load_digit_images()
    crowd = simulate_readers(truth, features)
    write_images(features, out / "images")
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


def write_report(out: Path) -> pv.Report:
    """Train two nets on the soft labels, write the report of the votes and of the nets, and return it."""
    data = load_training_data(out / "digits")
    plan = pv.train.Plan(epochs=20, lr=0.003, device="cpu")
    spec = make_train_spec("dawid-skene", plan=plan)
    splits = splits_from_file_or_data_else_random(data, None)
    shutil.rmtree(out / "run", ignore_errors=True)
    command = f"plurivox train {out / 'digits'} --target dawid-skene --epochs 20 --lr 0.003 --runs 2 -o {out / 'run'}"
    train_runs(data, splits, spec, runs=2, folder=out / "run", command=command)
    made = pv.report(out / "digits", images=out / "images", runs=out / "run")
    made.write(out / "report.html")
    return made


def main() -> None:
    """Run the pipeline, print its tables, write the report, and print commands to try next."""
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
    print("\nA report on the digits: problems, next steps, workers, hard images, methods, soft labels, nets")
    for question, answer in write_report(out).summary():
        print(f"  {question}\n    {answer}")
    command = "plurivox" if Path(sys.prefix).name != ".venv" else ".venv/bin/plurivox"
    print(f"\nWrote {out.resolve()}: data sets, the study, and one table of soft labels per method.\n\nTry next:")
    print(f"  {command} describe {out}/digits")
    print(f"  {command} compare {out}/digits --methods vote-shares,wawa,dawid-skene,average")
    print(f"  {command} train {out}/digits --target vote-shares --runs 3 -o {out}/runs")
    print(f"  {command} aggregate glad {out}/digits -o {out}/mine.csv --workers-out {out}/workers.csv")
    print(f"  {command} plot hardest {out}/digits --images {out}/images -o {out}/hardest.svg")
    print(f"\nOpen the report in a browser: {(out / 'report.html').resolve()}")


if __name__ == "__main__":
    main()
