"""TrainSpec: names become objects, default targets, targets of the wrong kind, weights by agreement."""

import numpy as np
import pytest

from plurivox.core.errors import InputError, OptionError, PlurivoxWarning, UnknownName
from plurivox.core.name_encoding import as_names
from plurivox.core.votes import Votes
from plurivox.train import Plan, Supervision, fit
from plurivox.train.heads import CrowdLayer, TwoHeads
from plurivox.train.loop.train_spec import AgreementWeighting, TrainSpec, pair_agreement_per_task
from plurivox.train.losses import KL
from plurivox.train.nets import MLP
from plurivox.train.targets import AllVotes, Gold, Pair, Soft
from toy_training import toy_data


def test_names_become_objects() -> None:
    spec = TrainSpec.from_names_or_objects(
        "gold", net="mlp[hidden=8]", loss="kl", augment="crop-flip", record=True, plan=Plan(epochs=3)
    )
    assert spec.target == Gold() and spec.net == MLP(hidden="8") and spec.loss == KL() and spec.head is None
    assert spec.augment is not None and spec.record == "visit" and spec.plan.epochs == 3
    assert (
        TrainSpec.from_names_or_objects(spec.target, net=spec.net, loss=spec.loss).setting_texts_by_name()["net"]
        == "mlp[hidden=8]"
    )
    assert TrainSpec.from_names_or_objects(augment="none", head="").augment is None


@pytest.mark.parametrize(
    ("head", "target", "described"),
    [
        (None, Soft(), "mlp on soft"),
        ("crowd-layer", AllVotes(), "mlp under crowd-layer on all-votes"),
        (CrowdLayer(variant="VW"), AllVotes(), "mlp under crowd-layer[variant=VW] on all-votes"),
        ("two-heads", Pair(), "mlp under two-heads on pair"),
    ],
)
def test_the_default_target_depends_on_the_head(head: object, target: object, described: str) -> None:
    spec = TrainSpec.from_names_or_objects(head=head)  # type: ignore[arg-type]
    assert spec.target == target and spec.net_head_and_target_text == described


@pytest.mark.parametrize(
    ("target", "head", "main", "made"),
    [
        (None, "two-heads", "majority", Pair(main="majority")),
        ("soft", "two-heads", "gold", Pair()),
        ("soft[hard=no]", "two-heads", "majority", Pair(main="majority")),
        ("pair[soft=de-aggregated]", "two-heads", "gold", Pair(soft="de-aggregated")),
        ("pair", "two-heads", "majority", Pair(main="majority")),
        ("pair[soft=de-aggregated]", "two-heads", "majority", Pair(main="majority", soft="de-aggregated")),
        ("pair[main=majority]", "two-heads", "majority", Pair(main="majority")),
        ("pair[main=majority]", "two-heads", "", Pair(main="majority")),
        (Pair(), "two-heads", "majority", Pair(main="majority")),
        ("soft", None, "gold", Soft()),
        (None, "crowd-layer", "gold", AllVotes()),
    ],
)
def test_with_a_main_target_soft_labels_under_two_heads_are_a_pair(
    target: str | Pair | None, head: str | None, main: str, made: object
) -> None:
    assert TrainSpec.from_names_or_objects(target, head=head, main=main).target == made


@pytest.mark.parametrize(
    ("target", "main"), [("pair[main=gold]", "majority"), ("pair[main=majority]", "gold"), (Pair("majority"), "gold")]
)
def test_two_different_main_targets_are_an_error(target: str | Pair, main: str) -> None:
    with pytest.raises(InputError, match=f"two hard targets for two heads: .*, in the target pair.*, and main={main}"):
        TrainSpec.from_names_or_objects(target, head="two-heads", main=main)


def test_smoothed_without_its_target_warns_that_it_is_no_longer_gold() -> None:
    with pytest.warns(PlurivoxWarning, match=r"smooths the majority vote; .* gold labels: write smoothed\[of=gold\]"):
        assert TrainSpec.from_names_or_objects("smoothed[beta=0.1]").target.spec == "smoothed[of=majority,beta=0.1]"


def test_options_of_a_net_can_be_given_separately() -> None:
    assert TrainSpec.from_names_or_objects(net="mlp[hidden=8]", net_options={"dropout": 0.5}).net == MLP(
        hidden="8", dropout=0.5
    )
    with pytest.raises(OptionError, match="is a method object with options"):
        TrainSpec.from_names_or_objects(net=MLP(), net_options={"dropout": 0.5})
    with pytest.raises(UnknownName, match="no option of mlp called 'freeze'"):
        TrainSpec.from_names_or_objects(net_options={"freeze": True})


def test_a_target_of_the_wrong_kind_raises_an_error() -> None:
    with pytest.raises(
        OptionError, match="two-heads needs a target of the kind pair; soft is of the kind distribution"
    ):
        TrainSpec.from_names_or_objects("soft", head="two-heads")
    with pytest.raises(InputError, match="main=majority is the hard target of two heads; add head='two-heads'"):
        TrainSpec.from_names_or_objects(main="majority")
    with pytest.raises(
        OptionError, match="crowd-layer needs a target of the kind votes; soft is of the kind distribution: leave"
    ):
        TrainSpec.from_names_or_objects("soft", head="crowd-layer")
    with pytest.raises(OptionError, match="two-heads needs a target of the kind pair; all-votes is of the kind votes"):
        TrainSpec.from_names_or_objects("all-votes", head=TwoHeads())
    with pytest.raises(OptionError, match=r"training without a head needs .* or use a head such as 'two-heads'"):
        TrainSpec.from_names_or_objects("pair")
    with pytest.raises(UnknownName, match="did you mean 'gold'"):
        TrainSpec.from_names_or_objects("golden")


def test_soft_labels_as_target_of_a_head_on_votes_raise_an_error() -> None:
    x, gold, votes = toy_data(12)
    with pytest.raises(OptionError, match="crowd-layer is trained on votes, not on soft labels; give votes"):
        fit(x, gold, known=Supervision(votes=votes), head="crowd-layer", plan=Plan(epochs=1, device="cpu"))


def test_agreement_of_soft_answers_is_that_of_labels_drawn_from_them() -> None:
    columns = {"weight": [0.7, 0.3, 0.7, 0.3, 1.0], "answer": [0, 0, 1, 1, 2]}
    votes = Votes.of(list("aaaab"), [1, 1, 2, 2, 1], list("xyxyx"), **columns)
    # b has one vote and c none, so no votes disagree
    assert pair_agreement_per_task(votes, as_names(["b", "a", "c"])) == pytest.approx([1, 0.58, 1])


def test_tasks_below_the_least_agreement_are_left_out() -> None:
    votes = Votes.of(list("aaaaabb"), [1, 2, 3, 4, 5, 1, 2], list("vvwxyvw"))
    for weigh, expected in (
        (True, [0.1, 0.0]),
        (False, [1.0, 0.0]),
    ):  # task a: 1 of 10 pairs agrees
        assert AgreementWeighting(weigh, 0.1).task_weights_by_agreement(votes, votes.tasks).tolist() == expected
    assert np.all(AgreementWeighting(weigh=False).task_weights_by_agreement(votes, votes.tasks) == 1)
