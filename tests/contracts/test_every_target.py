"""Contract tests that every target in the registry must pass, including any added later."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from crowds import crowd
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import Supervision, targets
from plurivox.train.targets._contract import PaddedVotes

pytestmark = pytest.mark.training
every = pytest.mark.parametrize("name", targets.methods)
VOTES = Votes.of(**crowd())
SHARES = SoftLabels.shares(VOTES.counts(), VOTES.tasks, VOTES.labels)
KNOWN = Supervision(votes=VOTES, gold=SHARES, soft=SHARES, chosen=VOTES.tasks[::2])  # chosen: for the target mixed


def votes_of_row(padded: PaddedVotes, row: int) -> list[tuple[int, int, float]]:
    """Return (worker, label, weight) of the votes of one example, sorted, without the padding."""
    columns = (getattr(padded, name)[row].tolist() for name in ("worker", "label", "weight"))
    return sorted(vote for vote in zip(*columns, strict=True) if vote[2] > 0)


def votes_of_task(task: int) -> list[tuple[int, int, float]]:
    """Return (worker, label, weight) of the votes on one task, sorted."""
    mine = VOTES.task == task
    columns = VOTES.worker[mine].tolist(), VOTES.label[mine].tolist(), VOTES.weights[mine].tolist()
    return sorted(zip(*columns, strict=True))


@every
def test_name_summary_and_spec(name: str) -> None:
    made = targets.methods.make(name)
    assert made.name() == name and made.summary() == targets.methods.summary(name) != ""
    assert targets.methods.make(made.spec) == made and all(one.help for one in made.options())


@every
def test_a_target_declares_what_a_net_trained_on_it_estimates(name: str) -> None:
    kind = targets.methods[name]
    own = [base for base in kind.__mro__ if issubclass(base, targets.Target) and base is not targets.Target]
    assert any({"estimates", "estimated_quantity"} & vars(base).keys() for base in own), (
        f"the target {name} does not declare `estimates`: truth, people, or unknown for a control"
    )
    made = targets.methods.make(name)
    assert {made.estimated_quantity(soft) for soft in ("truth", "people")} <= {"truth", "people", "unknown"}


def test_what_targets_estimate() -> None:
    specs = {
        "truth": ("gold", "majority", "soft[hard=true]", "smoothed", "smoothed[of=gold]", "pair"),
        "people": (
            "soft",
            "de-aggregated",
            "repeated-labelling",
            "all-votes",
            "smoothed[of=soft]",
            "mixed[rest=de-aggregated]",
        ),
        "unknown": ("random", "uniform", "mixed"),  # people for some tasks, gold for the others
    }
    for estimates, each in specs.items():
        for spec in each:
            assert targets.methods.make(spec).estimated_quantity("people") == estimates, spec
    assert targets.methods.make("soft").estimated_quantity("truth") == "truth"
    assert targets.methods.make("soft").estimated_quantity() == "unknown"


@every
def test_drawn_labels_have_the_declared_kind_and_are_reproducible(name: str) -> None:
    made = targets.methods.make(name)
    assert made.mask_of_tasks_with_target(KNOWN, VOTES.tasks).all()
    examples = made.make_examples(KNOWN, VOTES.tasks, VOTES.labels, torch.device("cpu"))
    indices = torch.tensor([3, 0, 3])
    one, two = (examples.get_or_draw_labels(indices, torch.Generator().manual_seed(5)) for _ in range(2))
    assert isinstance(one, PaddedVotes) == (made.kind == "votes")
    if isinstance(one, PaddedVotes):
        assert isinstance(two, PaddedVotes) and one.worker.shape == one.label.shape == one.weight.shape
        for column in ("worker", "label", "weight"):
            assert torch.equal(getattr(one, column), getattr(two, column)), column
        assert [votes_of_row(one, row) for row in range(3)] == [votes_of_task(task) for task in indices.tolist()]
        return
    assert isinstance(one, tuple) == (made.kind == "pair")
    for a, b in zip(one if isinstance(one, tuple) else (one,), two if isinstance(two, tuple) else (two,), strict=True):
        assert torch.equal(a, b) and a.shape == (3, 3) and a.dtype == torch.float32
        np.testing.assert_allclose(a.sum(1), 1, rtol=1e-6)


@every
def test_labels_depend_on_gold_only_if_the_target_says_that_it_trains_on_gold(name: str) -> None:
    made, other_gold = targets.methods.make(name), SoftLabels.gold(VOTES.tasks, np.roll(SHARES.hard(), 1), VOTES.labels)
    drawn = []
    for known in (KNOWN, replace(KNOWN, gold=other_gold)):
        examples = made.make_examples(known, VOTES.tasks, VOTES.labels, torch.device("cpu"))
        labels = examples.get_or_draw_labels(torch.arange(examples.n_examples), torch.Generator().manual_seed(5))
        parts = labels if isinstance(labels, tuple) else (labels,)
        drawn.append(
            [
                one
                for part in parts
                for one in ((part.worker, part.label, part.weight) if isinstance(part, PaddedVotes) else (part,))
            ]
        )
    same = all(torch.equal(a, b) for a, b in zip(*drawn, strict=True))
    assert made.trains_on_gold(KNOWN, VOTES.tasks) == (not same)
