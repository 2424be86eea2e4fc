import numpy as np
import pytest

from plurivox.core.errors import InputError, OptionError
from plurivox.workflows.choose_option_value import choose

TASKS = [f"t{i}" for i in range(20)]


def test_the_best_value_on_held_out_tasks_is_chosen() -> None:
    choice = choose("gamma", [0, 0.1, 0.2], lambda gamma, learn, held: (gamma - 0.1) ** 2, TASKS, folds=4)
    assert choice.chosen == 0.1 and choice.scores.shape == (3, 4)
    table = choice.table()
    assert (
        table.columns()["chosen"].tolist() == [False, True, False] and "20 held-out tasks in 4 folds" in table.notes[0]
    )
    assert choose("k", [1, 2], lambda k, learn, held: k, TASKS, better="higher").chosen == 2
    assert choose("k", [3, 1, 1.0], lambda k, learn, held: 0.0, TASKS).chosen == 3  # the first of equally good values


def test_every_task_is_held_out_once_and_not_trained_on() -> None:
    seen: list[tuple[set[str], set[str]]] = []

    def score(value: float, learn: np.ndarray, held: np.ndarray) -> float:
        seen.append((set(learn.tolist()), set(held.tolist())))
        return value

    choice = choose("beta", [0.1], score, TASKS, folds=3, seed=2)
    assert all(not learn & held and learn | held == set(TASKS) for learn, held in seen)
    assert sorted(task for tasks in choice.held_out for task in tasks.tolist()) == sorted(TASKS)
    again = choose("beta", [0.1], score, TASKS, folds=3, seed=2)
    assert [tasks.tolist() for tasks in again.held_out] == [tasks.tolist() for tasks in choice.held_out]


def test_test_tasks_are_not_used() -> None:
    def score(value: float, learn: np.ndarray, held: np.ndarray) -> float:
        assert not {"t0", "t1"} & {*learn.tolist(), *held.tolist()}
        return value

    choice = choose("beta", [0.1, 0.2], score, TASKS, never=["t0", "t1", "elsewhere"])
    assert choice.excluded == 2 and "2 test tasks were not used" in choice.table().notes[0]
    with pytest.raises(InputError, match="not test tasks; these are not: 't0'"):
        choose("beta", [0.1], score, TASKS, never=["t0"], held_out=["t0", "t5"])


def test_one_held_out_set_may_be_given() -> None:
    choice = choose("rate", [1, 2], lambda rate, learn, held: len(learn) + rate, TASKS, held_out=["t3", "t4"])
    assert choice.scores.tolist() == [[19], [20]] and choice.held_out[0].tolist() == ["t3", "t4"]
    assert np.isnan(choice.table().columns()["sd"]).all()


def test_a_value_without_a_score_is_never_chosen() -> None:
    assert choose("rate", [1, 2], lambda rate, learn, held: np.nan if rate == 1 else 5.0, TASKS).chosen == 2
    with pytest.raises(InputError, match="no rate among 1, 2 has a score"):
        choose("rate", [1, 2], lambda rate, learn, held: np.nan, TASKS)


@pytest.mark.parametrize(("values", "folds"), [([], 2), ([1], 1), ([1], 21)])
def test_invalid_grids_are_errors(values: list[float], folds: int) -> None:
    with pytest.raises(OptionError):
        choose("gamma", values, lambda value, learn, held: value, TASKS, folds=folds)
