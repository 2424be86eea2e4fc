"""The chart posterior: which tasks it shows, the probabilities and their intervals, the entropies, and what they estimate."""

import numpy as np
import pytest
from scipy.stats import beta

import plurivox as pv
from plurivox import aggregate
from plurivox.charts import ChartData
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.share_intervals import intervals_of_probabilities
from plurivox.charts.posterior import Posterior
from plurivox.core.errors import UnknownName
from plurivox.core.votes import Votes

VOTES = Votes.of(
    [t for t, said in {"even": "xy", "sure": "xxxx", "most": "xxxy"}.items() for _ in said],
    [f"w{i}" for said in ("xy", "xxxx", "xxxy") for i in range(len(said))],
    list("xy" + "xxxx" + "xxxy"),
)


def data(*methods: str) -> ChartData:
    fits = {name: aggregate.methods.make(name).fit(VOTES) for name in methods}
    return ChartData(votes=VOTES, fits=fits, soft={name: fit.soft for name, fit in fits.items()})


def tasks_shown(**options: object) -> list[str]:
    figure = draw_figure(Posterior(**options), data("vote-shares"))  # type: ignore[arg-type]
    return [one.get_text() for one in figure.axes[1].get_yticklabels()]


def test_the_most_uncertain_tasks_are_shown_first_or_those_named() -> None:
    assert tasks_shown() == ["even (2 votes)", "most (4 votes)", "sure (4 votes)"]
    assert tasks_shown(which="certain", k=1) == ["sure (4 votes)"]
    assert tasks_shown(tasks="most,even") == ["most (4 votes)", "even (2 votes)"]
    with pytest.raises(UnknownName, match="evn"):
        tasks_shown(tasks="evn")


def test_points_are_the_probabilities_and_the_mean_entropy_is_in_the_caption() -> None:
    figure = draw_figure(Posterior(), data("vote-shares"))
    points = figure.axes[1].collections[-1].get_offsets()
    np.testing.assert_allclose(np.asarray(points)[:, 0], [0.5, 0.25, 0])
    mean = (np.log(2) - 0.25 * np.log(0.25) - 0.75 * np.log(0.75)) / 3
    assert f"the mean entropy is {mean:.2f} nats by vote-shares" in figure.caption
    assert "0.69 the maximum for 2 labels" in figure.caption


def test_intervals_are_those_of_jeffreys_or_of_the_posterior() -> None:
    shares = aggregate.methods.make("vote-shares").fit(VOTES)
    row = list(map(str, shares.soft.tasks)).index("most")
    low, high = intervals_of_probabilities(shares, np.array([0.25]), np.array([row]))
    np.testing.assert_allclose([low[0], high[0]], beta.ppf([0.025, 0.975], 1.5, 3.5))
    posterior = aggregate.methods.make("dirichlet-shares", added=2.0).fit(VOTES)
    low, high = intervals_of_probabilities(posterior, posterior.soft.prob[[row], 1], np.array([row]))
    np.testing.assert_allclose([low[0], high[0]], beta.ppf([0.025, 0.975], 3, 5))
    none = intervals_of_probabilities(
        aggregate.methods.make("majority-vote").fit(VOTES), np.array([0.2]), np.array([0])
    )
    assert np.isnan(none).all()


def test_it_says_what_the_probabilities_are() -> None:
    people, truth = (draw_figure(Posterior(), data(name)) for name in ("vote-shares", "one-coin"))
    assert people.axes[1].get_xlabel() == "share of people who say y"
    assert truth.axes[1].get_xlabel() == "probability that y is right" and "intervals" not in truth.caption
    both = draw_figure(Posterior(), data("vote-shares", "one-coin"))
    assert both.axes[1].get_xlabel() == "probability of y"
    assert "one-coin estimates how probable it is that a label is right" in both.caption


def test_a_fit_is_drawn_without_being_fitted_again() -> None:
    assert "vote-shares" in pv.fit(VOTES, "vote-shares").plot().caption
