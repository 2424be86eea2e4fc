"""The whole walk, as far as it is built: 1,797 real digit images, a simulated crowd, soft labels, nets, honest measures.

Run it with `make demo`. Nothing is downloaded: the images come with scikit-learn.
"""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import plurivox as pv
from examples import studio
from examples.soft_answers import asked
from examples.training import taught
from plurivox.io.features import Features

METHODS = ("majority-vote[ties=share]", "vote-shares", "dawid-skene", "ibcc", "mace", "glad", "average")
OUT = Path("demo-output")


def digits() -> tuple[pv.SoftLabels, Features]:
    """The true label of every image, and its 8 x 8 grey values."""
    images = load_digits()
    tasks = [f"digit-{i:04d}" for i in range(len(images.target))]
    truth = pv.SoftLabels.gold(tasks, [str(label) for label in images.target])
    return truth, Features(truth.tasks, images.data.astype(np.float32))


def walk(out: Path) -> list[dict[str, object]]:
    """Simulate, write, read back, describe, aggregate, evaluate; one row of measures a method."""
    truth, features = digits()
    crowd = pv.simulate_crowd("independent-confusion", truth, n_workers=60, feedback=5, concentration=0.15, seed=1)
    made = pv.Dataset("digits", votes=crowd.votes, gold=truth, features=features, about={"command": "make demo"})
    pv.write(made, out / "digits", replace=True)

    data = pv.read(out / "digits")
    votes, gold = data.crowd(), data.gold
    assert gold is not None
    print("The crowd\n" + "\n".join(f"  {name:32} {value}" for name, value in pv.describe(votes, gold).rows()) + "\n")
    rows = []
    for word in METHODS:
        began = time.perf_counter()
        fit = pv.fit(votes, word)
        took = time.perf_counter() - began
        pv.write_soft(fit.soft, out / f"{word.partition('[')[0]}.csv")
        rows.append(measured(word, fit.soft, gold) | {"seconds": took})
    began = time.perf_counter()
    elicited = pv.elicit_votes(asked(crowd), "top-two")  # the same people, asked for percents
    fit = pv.fit(elicited.votes, "vote-shares")
    rows.append(measured("vote-shares of soft answers", fit.soft, gold) | {"seconds": time.perf_counter() - began})
    return rows


def measured(word: str, prediction: pv.SoftLabels, gold: pv.SoftLabels) -> dict[str, object]:
    """How right, and how honest about it."""
    return {
        "method": word,
        "accuracy": pv.evaluate.accuracy(prediction, gold, ties="share"),
        "NLL": pv.evaluate.nll(prediction, gold),
        "Brier": pv.evaluate.brier(prediction, gold),
        "ECE": pv.evaluate.ece(prediction, gold, ties="share"),
    }


def show(rows: list[dict[str, object]]) -> None:
    """A short table."""
    first, *heads = rows[0]
    print(f"{first:28}" + "".join(f"{head:>11}" for head in heads))
    for row in rows:
        print(f"{row[first]:28}" + "".join(f"{row[head]:11.3f}" for head in heads))


def main() -> None:
    """Walk, show, and say what to try next."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    out.mkdir(parents=True, exist_ok=True)
    show(walk(out))
    print(
        "\nNets taught by the crowd, on 540 images that none of them has seen: against the truth, and against the crowd"
    )
    show(taught(pv.read(out / "digits")))
    print("\nThe studio")
    studio.walk(out)
    command = "plurivox" if Path(sys.prefix).name != ".venv" else ".venv/bin/plurivox"
    print(f"\nWrote {out.resolve()}: the data set and one table of soft labels a method.\n\nTry next:")
    print(f"  {command} describe {out}/digits")
    print(f"  {command} compare {out}/digits --methods vote-shares,wawa,dawid-skene,average")
    print(f"  {command} train {out}/digits --target vote-shares --runs 3 -o {out}/runs")
    print(f"  {command} aggregate glad {out}/digits -o {out}/mine.csv --workers-out {out}/workers.csv")


if __name__ == "__main__":
    main()
