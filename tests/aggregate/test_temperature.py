"""temperature: temperature scaling of another method."""

import numpy as np
import pytest

from crowds import crowd
from plurivox import aggregate
from plurivox.aggregate import Temperature, Wawa
from plurivox.core.errors import InputError, UnknownName
from plurivox.core.votes import Votes


def test_probabilities_are_a_power_of_the_other_method() -> None:
    votes = Votes.of(**crowd())
    plain, fit = Wawa().fit(votes), Temperature(method="wawa", power=3).fit(votes)
    cubes = plain.soft.prob**3
    np.testing.assert_allclose(fit.soft.prob, cubes / cubes.sum(1, keepdims=True))
    np.testing.assert_array_equal(fit.ability, plain.ability)


def test_specs_can_be_nested() -> None:
    word = "temperature[method=average[parts=[wawa,iwmv[weights=li-yu,max-iter=3]]],power=0.5]"
    method = aggregate.methods.make(word)
    assert method.spec == word and aggregate.methods.make(method.spec) == method
    assert method.fit(Votes.of(**crowd())).made_by == word


def test_it_takes_the_inputs_of_the_other_method() -> None:
    counts = Votes.from_counts(np.array([[3, 1]]), ["a"], ["x", "y"])
    np.testing.assert_allclose(Temperature(method="vote-shares", power=1).fit(counts).soft.prob, [[0.75, 0.25]])
    with pytest.raises(InputError, match="temperature needs worker names"):
        Temperature(method="wawa").fit(counts)
    with pytest.raises(UnknownName, match="did you mean 'wawa'"):
        Temperature(method="wava").fit(counts)
