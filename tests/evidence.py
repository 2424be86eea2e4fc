"""Every kind of evidence for one small crowd, so that the contract tests can run every score."""

from functools import cache

import numpy as np

from crowds import crowd
from plurivox.core.answers import Answers
from plurivox.core.results import Dynamics
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Evidence, Identifier
from plurivox.workflows.score_tasks_workers import EvidenceCache

N_TASKS, N_WORKERS, N_LABELS = 30, 6, 4
TASKS = np.array([f"t{i:02}" for i in range(N_TASKS)])
WORKERS = np.array([f"w{i}" for i in range(N_WORKERS)])
LABELS = np.array(["ant", "bee", "cow", "dog"])


def columns(n_tasks: int = N_TASKS, seed: int = 0) -> dict[str, np.ndarray]:
    """Return columns of votes of fairly good workers, with times and durations."""
    plain = crowd(n_tasks, N_WORKERS, N_LABELS, seed=seed)
    rng, n = np.random.default_rng(seed + 1), len(plain["task"])
    names = {"task": TASKS[plain["task"]], "worker": WORKERS[plain["worker"]], "label": LABELS[plain["label"]]}
    return {**names, "seconds": rng.gamma(3, 4, n), "when": 1.7e9 + np.sort(rng.integers(0, 10**6, n))}


def votes_of(rows: dict[str, np.ndarray], **more: object) -> Votes:
    """Return columns as votes with ordered labels."""
    return Votes.of(**rows, labels=LABELS, ordered=True, **more)  # type: ignore[arg-type]


def answers_of(rows: dict[str, np.ndarray]) -> Answers:
    """Return votes as answers with percents and a runner-up; the first twelve are repeated at the end."""
    again = np.concatenate([np.arange(len(rows["task"])), np.arange(12)])
    rng = np.random.default_rng(5)
    top = rows["label"][again]
    top[-3:] = "cow"  # some repeats change the label
    second = np.array([LABELS[(np.flatnonzero(one == LABELS)[0] + 1) % N_LABELS] for one in top])
    percent = rng.choice([50, 60, 70, 80, 100], len(again))
    marks = [
        [
            ("named", a, str(p)),
            ("named", b, str(100 - p)),
            ("never", LABELS[0] if LABELS[0] not in (a, b) else LABELS[3], ""),
        ]
        for a, b, p in zip(top, second, percent, strict=True)
    ]
    repeat = np.where(np.arange(len(again)) < len(rows["task"]), -1, again)
    return Answers.of(
        rows["task"][again],
        rows["worker"][again],
        marks,
        labels=LABELS,
        seconds=rows["seconds"][again],
        when=rows["when"][again] + 10.0**6 * (repeat >= 0),
        position=np.arange(len(again)),
        repeat_of=repeat,
    )


def recorded(labels: np.ndarray, epochs: int = 4, seed: int = 2, tasks: np.ndarray = TASKS) -> Dynamics:
    """Return dynamics of a classifier that learns the labels, some tasks faster than others."""
    rng = np.random.default_rng(seed)
    lean = np.linspace(0, 3, epochs)[:, None, None] * np.eye(N_LABELS)[labels] * rng.random((len(labels), 1))
    return Dynamics(lean + rng.normal(0, 0.5, lean.shape), tasks, LABELS)


@cache
def given() -> Evidence:
    """Return the evidence that cannot be computed from votes."""
    true = np.random.default_rng(0).integers(0, N_LABELS, N_TASKS)  # the true labels that crowd() draws with this seed
    prediction = np.random.default_rng(3).dirichlet(np.ones(N_LABELS), N_TASKS) + 2 * np.eye(N_LABELS)[true]
    return Evidence(
        gold=SoftLabels.gold(TASKS, LABELS[true], labels=LABELS),
        prediction=SoftLabels.of(prediction / prediction.sum(1, keepdims=True), TASKS, LABELS),
        dynamics=recorded(true),
        worker_dynamics={str(name): recorded(true, seed=7 + i) for i, name in enumerate(WORKERS)},
        answers=answers_of(columns()),
    )


def evidence_for(method: Identifier, votes: Votes | None = None) -> Evidence:
    """Return the evidence that a score needs, including fits of the aggregators it names."""
    return EvidenceCache(votes_of(columns()) if votes is None else votes, given()).collect_evidence_for_method(method)
