"""Inputs of charts: `chart_input` makes a ChartData with every field, of any size and with any names."""

import io
from collections.abc import Sequence
from functools import cache

import numpy as np
from PIL import Image

from plurivox import aggregate, identify
from plurivox.charts import ChartData, MeasureCurve, MethodMeasures
from plurivox.core.answers import Answers
from plurivox.core.results import Confusion, Dynamics, Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.task_contents import TaskContents
from plurivox.core.votes import Votes
from plurivox.identify import Evidence

ODD_NAMES = (
    "猫",
    "كلب",
    "हाथी",
    "🐦 bird",
    "$x^2$ costs $5",
    "_hidden",
    "<script>alert('&')</script>",
    "two\nlines",
    "nul\x00 and \x1b bell\x07",
    "",
    "a very long name " * 20,
    "100% {braces} \\alpha %s",
)
RECORDED_TASKS = 40  # tasks of the training dynamics


@cache
def chart_input(
    n_tasks: int = 30,
    n_workers: int = 8,
    n_labels: int = 3,
    votes_per_task: int = 4,
    names: Sequence[str] = (),
    seed: int = 0,
) -> ChartData:
    """Return a ChartData with every field, from simulated votes; `names` replace the first names of tasks, workers, labels."""
    rng = np.random.default_rng(seed)
    tasks, workers, labels = (
        renamed(kind, n, names) for kind, n in (("t", n_tasks), ("w", n_workers), ("l", n_labels))
    )
    per_task = min(votes_per_task, n_workers)
    task = np.repeat(np.arange(n_tasks), per_task)
    worker = (task * per_task + np.tile(np.arange(per_task), n_tasks)) % n_workers
    truth = np.arange(n_tasks) % n_labels
    right = rng.random(len(task)) < 0.7
    label = np.where(right, truth[task], rng.integers(n_labels, size=len(task)))
    when = 1.7e9 + 60.0 * np.arange(len(task))
    votes = Votes.of(
        [tasks[i] for i in task],
        [workers[i] for i in worker],
        [labels[i] for i in label],
        tasks=tasks,
        workers=workers,
        labels=labels,
        when=when,
        seconds=rng.gamma(2, 3, len(task)),
    )
    gold = SoftLabels.gold(tasks, [labels[k] for k in truth], labels)
    small = n_labels > 1 and n_workers * n_labels**2 < 10**6
    fits = {name: fitted(name, votes) for name in (("vote-shares", "dawid-skene") if small else ("vote-shares",))}
    soft = {name: fit.soft for name, fit in fits.items()}
    confusions = {name: fit.confusion for name, fit in fits.items() if fit.confusion is not None}
    if not small:
        which = np.zeros(n_workers, np.int64)
        confusions["pooled"] = Confusion(np.eye(n_labels)[None], votes.workers, votes.labels, which=which)
    scores = tuple(
        identify.methods.make(name).score(Evidence(votes=votes, fit=fits.get("dawid-skene")))
        for name in ("agreement-with-rest", "entropy", *(("trace", "spam-score") if small else ()))
    )
    shown = min(n_tasks, RECORDED_TASKS)
    dynamics = Dynamics(rng.normal(size=(6, shown, n_labels)), votes.tasks[:shown], votes.labels)
    run = {
        "epoch": tuple(range(6)),
        "loss": (1.0, 0.8, 0.7, 0.6, 0.55, 0.5),
        "dev_accuracy": (0.4, 0.5, 0.6, 0.6, 0.7, 0.7),
    }
    other = {name: tuple(value * 1.1 if name != "epoch" else value for value in column) for name, column in run.items()}
    methods = ("vote-shares", "dawid-skene", "glad")
    values = {"accuracy": rng.random((4, 3)), "NLL": rng.random((4, 3))}
    half = {name: np.full(3, 0.1) for name in values}
    steps = np.arange(1.0, 4.0)
    return ChartData(
        name="simulated",
        votes=votes,
        answers=answers_of(votes),
        gold=gold,
        soft=soft,
        fits=fits,
        confusions=confusions,
        scores=scores,
        dynamics=dynamics,
        histories={"net": (run, other), names[0] if names else "other": (run,)},
        curves=tuple(MeasureCurve(one, steps, steps / 5, steps / 5 - 0.05, steps / 5 + 0.05) for one in methods[:2]),
        measures=MethodMeasures(
            ("a", "b", "c", names[0] if names else "d"),
            methods,
            values,
            {name: column.mean(0) - half[name] for name, column in values.items()},
            {name: column.mean(0) + half[name] for name, column in values.items()},
        ),
        contents=TaskContents(
            texts={str(task): f"the text of {task}" for task in tasks[::2]},
            images={str(task): small_image(i) for i, task in enumerate(tasks[1:20:2])},
        ),
    )


@cache
def empty_chart_input() -> ChartData:
    """Return a ChartData with every field that is not empty, but without a vote, a task with a label or an epoch."""
    votes = Votes.of([], [], [], tasks=["t0"], workers=["w0"], labels=["l0", "l1"])
    fit = fitted("vote-shares", votes)
    unknown = np.array([np.nan])
    scores = (
        Scores("worker", votes.workers, unknown, unknown, "agreement-with-rest"),
        Scores("task", votes.tasks, unknown, unknown, "entropy"),
    )
    none = np.full((1, 2), np.nan)
    ds = fitted("dawid-skene", votes)
    assert ds.confusion is not None
    return ChartData(
        votes=votes,
        answers=answers_of(votes),
        gold=SoftLabels.gold([], [], ["l0", "l1"]),
        soft={"vote-shares": fit.soft},
        fits={"vote-shares": fit},
        confusions={"dawid-skene": ds.confusion},
        scores=scores,
        dynamics=Dynamics(np.zeros((0, 1, 2)), votes.tasks, votes.labels),
        histories={"net": ({"epoch": (), "loss": ()},)},
        curves=(MeasureCurve("vote-shares", np.zeros(0), np.zeros(0)),),
        measures=MethodMeasures(("a",), ("vote-shares", "glad"), {"accuracy": none}),
        contents=TaskContents(),
    )


def fitted(name: str, votes: Votes) -> Fit:
    return aggregate.methods.make(name).fit(votes)


def renamed(kind: str, n: int, names: Sequence[str]) -> list[str]:
    """Return n different names, the first of which are the given ones."""
    return [*names[:n], *(f"{kind}{i}" for i in range(n - len(names[:n])))]


def answers_of(votes: Votes) -> Answers:
    """Return every vote as an answer with a percent of its top label, and every second one with a label ruled out."""
    other = (votes.label.astype(int) + 1) % votes.n_labels
    percents = (50, 60, 70, 80, 90)
    marks = [
        [
            ("named", votes.labels[label], str(percents[i % len(percents)])),
            *([("never", votes.labels[other[i]], "")] if i % 2 and other[i] != label else []),
        ]
        for i, label in enumerate(votes.label.tolist())
    ]
    return Answers.of(
        votes.tasks[votes.task],
        votes.workers[votes.worker],
        marks,
        labels=votes.labels,
        when=votes.when,
        seconds=votes.seconds,
    )


def small_image(shade: int) -> bytes:
    """Return a PNG file of 8 x 8 pixels."""
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), (shade * 10 % 255, 80, 160)).save(buffer, "PNG")
    return buffer.getvalue()
