"""The recipe report-cards: cards of spammers and good workers, and errors."""

import numpy as np
import pytest

import plurivox as pv
from plurivox import recipes, simulate
from plurivox.core.errors import InputError, OptionError, UnknownName
from plurivox.io import Dataset

CROWD = simulate.methods.make("hammer-spammer", n_tasks=100, n_workers=12, feedback=6, ratio=0.4, seed=1).draw()
DATA = Dataset("made", votes=CROWD.votes, gold=CROWD.truth)


def test_a_spammer_has_poor_scores_and_a_hammer_good_ones() -> None:
    good = {str(one): bool(CROWD.confusion.of(one)[0, 0] > 0.5) for one in CROWD.votes.workers.tolist()}
    worst, best = (next(name for name, fine in good.items() if fine is kind) for kind in (False, True))
    made = recipes.ReportCards(data="made", workers=f"{worst},{best}").run(read=lambda name: DATA)
    order = made["made: 12 workers"].cells["worker"].tolist()
    assert [good[str(one)] for one in order] == sorted(good.values())  # spammers are listed first
    poor, fine = (made[f"{name}: scores"].cells for name in (worst, best))
    assert poor["score"].tolist() == [
        "gold-accuracy", "agreement-with-rest", "trace", "trace-pooled", "spam-score", "spam-score-pooled",
    ]  # fmt: skip
    assert poor["worker"][0] < 0.5 < fine["worker"][0] and fine["rank"].tolist()[0].endswith("of 12")
    said = np.stack([made[f"{best}: confusion matrix"].cells[f"votes {label}"] for label in CROWD.votes.labels], 1)
    assert (said.argmax(1) == np.arange(len(said))).all()
    least = made[f"{worst}: most unlikely votes"].cells
    assert (least["probability"] < 0.5).all() and (least["vote"] != least["top label"]).all()


def test_a_card_has_the_numbers_of_identify_with_their_intervals() -> None:
    worker = str(CROWD.votes.workers[0])
    made = recipes.ReportCards(data="made", workers=worker).run(read=lambda name: DATA)
    card = made[f"{worker}: scores"].cells
    for at, name in enumerate(card["score"].tolist()):
        scores = pv.score(DATA, name)
        assert card["worker"][at] == scores.raw[0], name
        low = np.nan if scores.low is None else scores.low[0]
        np.testing.assert_array_equal(card["95% low"][at], low, err_msg=name)
    assert card["95% low"][0] < card["worker"][0] <= card["95% high"][0]  # of gold-accuracy
    assert made.tables[0].notes[:3] == (
        "sorted by the mean rank of gold-accuracy, agreement-with-rest, trace-pooled, spam-score-pooled",
        "trace, spam-score: of a fit by dawid-skene",
        "trace-pooled, spam-score-pooled: of a fit by dawid-skene[pool=4]",
    )


def test_skipped_scores_are_noted_and_unknown_workers_are_errors() -> None:
    made = recipes.ReportCards(data="made", n=1).run(read=lambda name: DATA)
    assert len(made.tables) == 4 and any(
        "without drift: drift needs the order" in note for note in made.tables[0].notes
    )
    with pytest.raises(UnknownName, match="there is no worker 'nobody'"):
        recipes.ReportCards(data="made", workers="nobody").run(read=lambda name: DATA)
    with pytest.raises(InputError, match="estimates no confusion matrices"):
        recipes.ReportCards(data="made", method="vote-shares").run(read=lambda name: DATA)
    with pytest.raises(OptionError, match="scores of workers; 'entropy' is not"):
        recipes.ReportCards(scores="entropy")
