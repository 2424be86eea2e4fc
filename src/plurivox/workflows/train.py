"""Train nets on a data set by a specification in strings: once, or several runs."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from plurivox import aggregate, evaluate
from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, unknown
from plurivox.core.method import split_word
from plurivox.core.progress import Watch, quiet
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Names
from plurivox.train import heads, nets, targets
from plurivox.train.data.augment import augmentation
from plurivox.train.data.inputs import as_inputs, device_of
from plurivox.train.data.task_weights import agreement
from plurivox.train.data.training_data import Material
from plurivox.train.fit_net import Record, fitting
from plurivox.train.loop.dev_eval import Measure
from plurivox.train.loop.tensorboard import EventLog, need_tensorboard
from plurivox.train.loop.trainer import Pause
from plurivox.train.parallel.runs import Series, TrainOne, repeat
from plurivox.train.parallel.scheduler import Fitting, finish
from plurivox.train.parallel.stack import runs_at_once
from plurivox.train.plan import Plan
from plurivox.train.result import Trained
from plurivox.train.targets._contract import Known
from plurivox.workflows.net_measures import measure_of, measured, truths


@dataclass(frozen=True)
class Wish:
    """What to train on what; words as on the command line."""

    target: str = "vote-shares"  # a target, or an aggregator whose soft labels are taught
    soft: str = ""  # the aggregator of targets that use soft labels; "": those of the data, else vote-shares
    main: str = "gold"  # the hard target of two heads
    net: str = "mlp"
    loss: str = "soft-cross-entropy"
    head: str = ""
    augment: str = "none"
    augment_once: bool = False
    weigh: bool = False  # by agreement
    least_agreement: float = 0.0
    record: Record = False
    plan: Plan = field(default_factory=Plan)


def trainer(
    material: Material,
    parts: Mapping[str, Names],
    wish: Wish,
    *,
    log: str = "",
    pause: Pause = "epoch",
    save_seconds: float = 1.0,
) -> TrainOne:
    """What trains a net as wished on the split train, and looks at dev, for any seed."""
    known, target = settle(material, parts["train"], wish)
    weight = _weight(material, parts["train"], wish)
    dev = _dev(material, parts, wish.plan.best)
    x = material.on(parts["train"])
    plan, measures = _choosing(wish.plan)

    def train_one(seed: int, home: Path | None, tell: Watch) -> Fitting:
        events = EventLog(home) if log and home is not None else None
        one = fitting(
            x,
            target,
            tasks=parts["train"],
            known=known,
            labels=all_labels(material, known),
            net=wish.net,
            loss=wish.loss,
            head=wish.head or None,
            plan=replace(plan, seed=seed),
            dev=dev,
            measures=measures,
            weight=weight,
            augment=None if wish.augment == "none" else augmentation(wish.augment),
            augment_once=wish.augment_once,
            record=wish.record,
            folder=home,
            save_seconds=save_seconds,
            log=events,
            watch=tell,
            pause=pause,
        )
        return one if events is None else _closing(one, events)

    return train_one


def _closing(one: Fitting, events: EventLog) -> Fitting:
    """The same training; whatever ends it, its log is closed."""
    with closing(events):
        return (yield from one)


def train_once(material: Material, parts: Mapping[str, Names], wish: Wish, watch: Watch = quiet) -> Trained:
    """One net, trained as wished with the seed of the plan."""
    return finish(trainer(material, parts, wish)(wish.plan.seed, None, watch))


def train_runs(
    material: Material,
    parts: Mapping[str, Names],
    wish: Wish,
    *,
    runs: int = 1,
    folder: str | Path | None = None,
    at_once: int | None = 1,
    log: str = "",
    watch: Watch = quiet,
) -> Series:
    """Train as wished on the split train, as often as wished, and measure every net on dev and test.

    `at_once` runs are trained side by side; none: as `side_by_side` says. A `log` of the kind "tensorboard" is kept in the
    folder of each run.
    """
    if log:
        need_tensorboard()
    tested = {name: part for name, part in parts.items() if name != "train"}
    for part in tested.values():  # before hours of training, not after
        if material.x.dtype.kind == "f":  # bytes are always numbers
            as_inputs(material.on(part), device_of("cpu"), part)
    n, stacked = side_by_side(material, parts, wish, runs, at_once)
    pause: Pause = "stack" if stacked else "step" if n > 1 else "epoch"
    return repeat(
        trainer(material, parts, wish, log=log, pause=pause, save_seconds=float(n)),
        lambda one: measured(one, material, tested),
        runs=runs,
        seed=wish.plan.seed,
        folder=folder,
        at_once=n,
        stacked=stacked,
        device=device_of(wish.plan.device),
        watch=watch,
    )


def side_by_side(
    material: Material, parts: Mapping[str, Names], wish: Wish, runs: int, at_once: int | None
) -> tuple[int, bool]:
    """How many runs are trained at a time, and whether as one stacked net; `at_once`: as asked, none: as it pays."""
    shape = len(parts["train"]), *material.x.shape[1:]
    known = Known(material.votes, material.gold, material.soft)
    best = 1
    if runs > 1 and at_once != 1 and wish.augment == "none" and device_of(wish.plan.device).type == "cpu":
        head = heads.methods.make(wish.head) if wish.head else None
        best = runs_at_once(nets.methods.make(wish.net), head, wish.plan, shape, len(all_labels(material, known)))
    if at_once is None:
        return min(runs, best), best > 1
    return min(runs, at_once), best > 1 and at_once > 1


def settle(material: Material, tasks: Names, wish: Wish) -> tuple[Known, str]:
    """What is known of the training tasks, and the target's word: an aggregator's name becomes its soft labels."""
    name = split_word(wish.target)[0]
    soft_word, target = wish.soft, wish.target
    if name not in targets.methods:
        if name not in aggregate.methods:
            raise unknown("target or aggregator", name, [*targets.methods, *aggregate.methods])
        if wish.soft and wish.soft != wish.target:
            raise InputError(
                f"the soft labels are those of {wish.target}, the target, and those of {wish.soft}: give the one you mean as "
                "target"
            )
        soft_word, target = wish.target, "soft"
    wants = heads.methods.make(wish.head).wants if wish.head else "distribution"
    if wants != "pair" and wish.main != Wish.main:
        raise InputError(f"main={wish.main} is the hard target of two heads; add --head two-heads, or leave it out")
    if wants == "votes" and target == "soft":
        target = "all-votes"
    if wants == "pair" and target == "soft":
        target = f"pair[main={wish.main}]"
    return Known(material.votes, material.gold, _soft(material, tasks, soft_word)), target


def unseen_labels(material: Material, parts: Mapping[str, Names]) -> Names:
    """The labels that dev or test tasks have, and no training task by gold or by any vote: no net can learn them."""
    gold, shares = truths(material, parts["train"])
    tested = np.concatenate([tasks for name, tasks in parts.items() if name != "train"] or [material.tasks[:0]])
    wanted = truths(material, tested)[0]
    if wanted is None:
        return material.tasks[:0]
    taught = [one.labels[(one.prob > 0).any(0)] for one in (gold, shares) if one is not None]
    there = wanted.labels[(wanted.prob > 0).any(0)]
    seen = np.any([positions(one, there) >= 0 for one in taught], axis=0) if taught else np.ones(len(there), bool)
    return there[~seen]


def lesson_word(wish: Wish) -> str:
    """What is taught in the end, for people: a head on votes learns from votes, two heads from two targets."""
    wants = heads.methods.make(wish.head).wants if wish.head else "distribution"
    if wants == "distribution" or split_word(wish.target)[0] in ("all-votes", "pair"):
        return wish.target
    return "all-votes" if wants == "votes" else f"{wish.main} and {wish.target}"


def _soft(material: Material, tasks: Names, word: str) -> SoftLabels | None:
    """Soft labels of the training tasks: those of an aggregator on their votes alone, or those of the data."""
    votes = material.votes
    if not word and material.soft is not None:
        return material.soft
    if votes is None:
        if word:
            others = [name for name, one in (("gold", material.gold), ("soft", material.soft)) if one is not None]
            instead = f"take the target {' or '.join(others)}, or " if others else ""
            raise InputError(f"{material.name} has no votes for {word}; {instead}give votes")
        return None
    voted = votes.on(tasks[positions(votes.tasks, tasks) >= 0])
    kept = voted.on(voted.tasks[voted.support > 0])
    return aggregate.methods.make(word or "vote-shares").fit(kept).soft if kept.n_tasks else None


def all_labels(material: Material, known: Known) -> Names:
    """Every label that training, dev or test tasks may have."""
    return replace(known, gold=material.gold, votes=material.votes).labels()


def _weight(material: Material, tasks: Names, wish: Wish) -> Floats | None:
    if not wish.weigh and wish.least_agreement <= 0:
        return None
    if material.votes is None:
        raise InputError(f"{material.name} has no votes whose agreement could weigh tasks")
    share = agreement(material.votes, tasks)
    kept = (share >= wish.least_agreement).astype(np.float64)
    return kept * share if wish.weigh else kept


def _dev(material: Material, parts: Mapping[str, Names], best: str) -> tuple[Floats, SoftLabels] | None:
    """Inputs and truth of the dev tasks: gold, or else the shares of their votes.

    Measures of entropy say nothing against gold, which has none: for them the shares come first.
    """
    truth = None
    if "dev" in parts:
        hard, soft = truths(material, parts["dev"])
        first, second = (soft, hard) if best.startswith("entropy-") else (hard, soft)
        truth = first if first is not None else second
    return None if truth is None else (material.on(truth.tasks), truth)


def _choosing(plan: Plan) -> tuple[Plan, dict[str, Measure]]:
    """The plan, told which values of its measure are best, and that measure, where training has none of that name."""
    if plan.best in ("last", "loss", "accuracy"):
        return plan, {}
    found = {plan.best: measure_of(plan.best)}
    highest = evaluate.MEASURES[plan.best].better == "higher"
    return (replace(plan, goal="highest" if highest else "lowest") if plan.goal == "auto" else plan), found
