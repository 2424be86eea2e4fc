"""Time to convert one million top-two answers into `Votes`, relative to numpy normalising a (1,000,000 x 10) array."""

import time
from collections.abc import Callable

import numpy as np
from numpy.dtypes import StringDType

from plurivox.core.answers import NAMED, NEVER, Answers
from plurivox.elicit import TopTwo

N_ANSWERS, N_LABELS, FEEDBACK, REPEATS = 1_000_000, 10, 5, 7


def make_answers(n: int = N_ANSWERS, seed: int = 0) -> Answers:
    """Simulate answers like those of CIFAR-10S: half name a second label, seven of ten labels are ruled out."""
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.random((n, N_LABELS)), 1)
    second = rng.random(n) < 0.54
    n_never = rng.binomial(N_LABELS - 2, 0.9, n)
    place = np.arange(N_LABELS)
    kept = np.ones((n, N_LABELS), bool)
    kept[:, 1] = second
    kept &= place < 2 + n_never[:, None]
    typed = np.zeros((n, N_LABELS), StringDType())
    texts = np.array([*map(str, range(0, 101, 5)), "8p", "", "33"], StringDType())
    typed[:, 0], typed[:, 1] = texts[rng.integers(10, len(texts), n)], texts[rng.integers(0, 11, n)]
    return Answers(
        task=rng.permutation(np.repeat(np.arange(n // FEEDBACK), FEEDBACK)),
        worker=rng.integers(0, n // 27, n),
        tasks=np.arange(n // FEEDBACK),
        workers=np.arange(n // 27),
        labels=np.array([f"label-{k}" for k in place], StringDType()),
        mark_start=np.concatenate([[0], np.cumsum(kept.sum(1))]),
        mark_kind=np.broadcast_to(np.where(place < 2, NAMED, NEVER), kept.shape)[kept],
        mark_label=order[kept],
        mark_typed=typed[kept],
    )


def time_once(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def run() -> list[tuple[str, str, str]]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    table = np.random.default_rng(0).random((N_ANSWERS, N_LABELS))
    answers = make_answers()
    ours, numpys = [], []
    for _ in range(REPEATS):  # alternate, so that other load affects both
        vars(answers).pop("answer_of_mark", None)  # a cached property: our time includes computing it
        numpys.append(time_once(lambda: table / table.sum(1, keepdims=True)))
        ours.append(time_once(lambda: TopTwo().read(answers)))
    ratio = min(ours) / min(numpys)
    measured = f"{ratio:.1f}x numpy ({min(ours):.2f} s / {min(numpys):.3f} s)"
    return [("1M top-two answers to votes, time (best of 7)", measured, "20x")]
