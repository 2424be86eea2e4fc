"""The whole pipeline: 1,797 real digit images, a simulated crowd, soft labels, neural networks, evaluation, a study, a report.

Run it with `make demo`. Nothing is downloaded: the images come with scikit-learn. It prints what each step is for.
"""

import shutil
import sys
import textwrap
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
N_STEPS = 5

INTRODUCTION = """\
plurivox turns labels by several people, who disagree and err, into one probability per label (soft
labels), finds unreliable people and hard tasks, and trains and evaluates models on the result.
This demo runs each of these steps once.

Real:       1,797 images of handwritten digits, 8 x 8 pixels, with their true labels, which come
            with scikit-learn.
Simulated:  the people. 60 workers give 5 labels to each image. They confuse digits that look alike,
            and 4 of them answer at random. As it is known who errs and what is true, every step can
            be checked. Your own data need no true labels.
"""
STEP_TEXTS = {  # heading of a step: what it is for
    "Describe the votes": """\
A first look at the data: how many votes there are, how much people agree, how often they are right.""",
    "Aggregate the votes into soft labels": """\
Which digit is on each image? One row per method. Accuracy is the share of images whose most
probable label is right (higher is better). NLL, Brier score and ECE measure the probabilities (lower
is better): ECE is the gap between how sure the labels are and how often they are right. Methods that
learn each worker's typical errors (dawid-skene, ibcc) are right more often than the majority. In the
last row the same people gave percentages instead of one label. A method is compiled at its first use
on a computer: its seconds are less the next time.""",
    "Train neural networks on the votes": """\
Neural networks trained on the votes on 1,257 images, without true labels, and evaluated on 540 other
images. Rows: what they are trained on (the majority's label, the soft labels of dawid-skene, or one
random vote per epoch). Accuracy, NLL and ECE compare with the true labels, the last three columns
with what people said: lower CE and JSD are better, and higher entropy r, which tells whether the
network is unsure where people disagree.""",
    "Collect labels in the studio": """\
Where votes come from: a study is created and served on this computer, 20 simulated workers answer it
over HTTP as people would in a browser, and their answers are exported and aggregated. Its 40 tasks
are placeholders, and the answers random: this shows the way, not a result.""",
    "Write a report": """\
One HTML page on the digits, for whoever decides: what may be wrong, what to do next, whom to trust,
which images are hard, which method to use, what a trained model gains. In short:""",
}


def print_heading(number: int) -> None:
    """Print the number and heading of a step (from 1), and what it is for."""
    heading, text = list(STEP_TEXTS.items())[number - 1]
    title = f"Step {number} of {N_STEPS}: {heading}"
    print(f"\n{title}\n{'-' * len(title)}\n{text}\n", flush=True)


def run_aggregation(out: Path) -> list[dict[str, object]]:
    """Simulate a crowd, write, read and describe it, aggregate and evaluate; return one row of measures per method."""
    print_heading(1)
    truth, features = load_digit_images()
    crowd = simulate_readers(truth, features)
    write_images(features, out / "images")
    made = pv.Dataset("digits", votes=crowd.votes, gold=truth, features=features, about={"command": "make demo"})
    pv.write(made, out / "digits", replace=True)

    data = pv.read(out / "digits")
    votes, gold = data.crowd(), data.gold
    assert gold is not None
    for name, value in pv.describe(votes, gold).rows():
        print(f"  {name:32} {value}")
    print_heading(2)
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
    began = time.perf_counter()
    print(INTRODUCTION)
    print_table(run_aggregation(out))
    print_heading(3)
    print_table(train_and_measure(pv.read(out / "digits")))
    print_heading(4)
    studio.run_study(out)
    print_heading(5)
    for question, answer in write_report(out).summary():
        print(f"  {question}")
        print(textwrap.fill(answer, 100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False))
    command = "plurivox" if Path(sys.prefix).name != ".venv" else ".venv/bin/plurivox"
    print(f"\nWrote {out.resolve()}: data sets, the study, and one table of soft labels per method,")
    print(f"in {time.perf_counter() - began:.0f} seconds.\n\nTry next:")
    print(f"  {command} describe {out}/digits")
    print(f"  {command} compare {out}/digits --methods vote-shares,wawa,dawid-skene,average")
    print(f"  {command} train {out}/digits --target vote-shares --runs 3 -o {out}/runs")
    print(f"  {command} aggregate glad {out}/digits -o {out}/mine.csv --workers-out {out}/workers.csv")
    print(f"  {command} plot hardest {out}/digits --images {out}/images -o {out}/hardest.svg")
    print(f"\nOpen the report in a browser: {(out / 'report.html').resolve()}")


if __name__ == "__main__":
    main()
