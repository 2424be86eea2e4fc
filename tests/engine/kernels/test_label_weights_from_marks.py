"""Compiled kernels of answer weights give the results of their Python functions."""

import numpy as np

from plurivox.core.answers import Answers
from plurivox.elicit import TopTwo
from plurivox.engine.kernels import label_weights_from_marks as kernels

LABELS = [f"l{k}" for k in range(7)]


def random_answers(n: int = 60) -> Answers:
    rng = np.random.default_rng(0)
    kinds, texts = ["named", "never", "possible"], ["", "70", "20", "100"]
    pick = lambda words: str(rng.choice(words))  # noqa: E731
    marks = [[(pick(kinds), pick(LABELS), pick(texts)) for _ in range(rng.integers(0, 9))] for _ in range(n)]
    return Answers.of(task=rng.integers(0, 9, n), worker=rng.integers(0, 4, n), marks=marks, labels=LABELS)


def test_compiled_kernels_match_python(monkeypatch) -> None:
    for form in (TopTwo(), TopTwo(spread="uniform"), TopTwo(spread="none")):
        compiled = form.read(random_answers())
        with monkeypatch.context() as slow:
            for name in (
                "find_first_two_named_labels",
                "count_open_labels",
                "fill_label_weight_rows",
                "fill_counting_sort_order",
            ):
                slow.setattr(kernels, name, getattr(kernels, name).py_func)
            plain = form.read(random_answers())
        for column in ("task", "worker", "label", "weight", "answer"):
            np.testing.assert_array_equal(getattr(compiled.votes, column), getattr(plain.votes, column))
        np.testing.assert_array_equal(compiled.flags, plain.flags)
