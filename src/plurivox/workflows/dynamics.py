"""Train, record what the net thought while it learnt, and score the tasks by it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from plurivox import aggregate, identify
from plurivox.core.encoding import positions
from plurivox.core.errors import InputError
from plurivox.core.progress import Progress, no_progress
from plurivox.core.results import Dynamics, Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.tables import Table
from plurivox.core.types import Floats, Names
from plurivox.core.votes import Votes
from plurivox.identify import Evidence, Identifier
from plurivox.io import Dataset
from plurivox.train.data.training_data import TrainingData
from plurivox.train.plan import Plan
from plurivox.workflows.net_measures import all_runs, mean_and_std
from plurivox.workflows.rank_scores import task_errors
from plurivox.workflows.score_crowd import EvidenceCache
from plurivox.workflows.train import train_once, train_spec
from plurivox.workflows.train_inputs import divide, training_data_of

TAUGHT = {"gold": "gold", "majority": "majority[ties=first]", "fit": "gold"}  # the label a task is given -> the target


@dataclass(frozen=True, eq=False)
class Stage:
    """Inputs, the tasks that teach and are scored, and how nets are trained."""

    training_data: TrainingData
    parts: Mapping[str, Names]
    votes: Votes  # on the training tasks
    net: str
    plan: Plan

    @classmethod
    def of(cls, data: Dataset, net: str, plan: Plan) -> "Stage":
        """The training tasks of a data set that have votes; dev and test stay as they are."""
        training_data = training_data_of(data)
        parts = divide(training_data, seed=plan.seed)
        if (votes := training_data.votes) is None:
            raise InputError(f"{data.name} has no votes; margins are those of labels that were voted for")
        voted = votes.voted
        train = parts["train"][positions(voted, parts["train"]) >= 0]
        if not len(train):
            raise InputError(f"no training task of {data.name} has a vote")
        return cls(training_data, {**parts, "train": train}, votes.on(train), net, plan)

    def seeded(self, seed: int) -> "Stage":
        """The same with another seed."""
        return replace(self, plan=replace(self.plan, seed=seed))


def scored(stage: Stage, method: Identifier, progress: Progress = no_progress) -> Scores:
    """The score of the training tasks; what it needs is trained, recorded and fitted."""
    if method.of != "task":
        raise InputError(f"{method.name()} is a score of the {method.of}; take one of tasks")
    gold, needs, votes = stage.training_data.gold, method.required_evidence(), stage.votes
    given = None if gold is None else gold.shared(stage.parts["train"])
    seen = EvidenceCache(votes, Evidence(votes=votes, gold=given)).seen_by(method)
    if "dynamics" in needs:
        seen = replace(seen, dynamics=one_net(stage, getattr(method, "assigned", ""), seen.fit, progress))
    if "worker_dynamics" in needs:
        seen = replace(seen, worker_dynamics=a_net_a_worker(stage, progress))
    return method.score(seen)


def one_net(stage: Stage, assigned: str, fit: Fit | None = None, progress: Progress = no_progress) -> Dynamics:
    """One net on the label each task is given (AUM), or on all pairs of a task and a vote (WAUM)."""
    taught = replace(stage.training_data, votes=stage.votes)
    if fit is not None and assigned == "fit":
        taught = replace(taught, gold=SoftLabels.gold(fit.soft.tasks, fit.soft.hard(), fit.soft.labels))
    return _recorded(stage, taught, stage.parts["train"], TAUGHT.get(assigned, "repeated-labelling"), progress)


def _recorded(
    stage: Stage, training_data: TrainingData, tasks: Names, target: str, progress: Progress = no_progress
) -> Dynamics:
    """The logits of a net while it learnt these tasks."""
    spec = train_spec(target, net=stage.net, plan=stage.plan, record="visit")
    found = train_once(training_data, {"train": tasks}, spec, progress).dynamics
    assert found is not None
    return found


def a_net_a_worker(stage: Stage, progress: Progress = no_progress) -> dict[str, Dynamics]:
    """A net for every worker, on that worker's votes alone; it is asked about no other task."""
    votes, out = stage.votes, {}
    order, start = votes.by_worker
    for worker, name in enumerate(votes.workers.tolist()):
        rows = order[start[worker] : start[worker + 1]]
        progress(worker, votes.n_workers)
        if len(rows):
            mine = votes.where(np.isin(np.arange(len(votes)), rows))
            taught = replace(stage.training_data, votes=mine, gold=None, soft=None)
            out[str(name)] = _recorded(stage, taught, mine.voted, "repeated-labelling")
    return out


def score_runs(stage: Stage, method: Identifier, runs: int, progress: Progress = no_progress) -> list[Scores]:
    """The score with several seeds."""
    found = []
    for run in range(runs):
        found.append(scored(stage.seeded(stage.plan.seed + run), method))
        progress(run, runs)
    return found


def score_tables(stage: Stage, runs: Sequence[Scores], n: int) -> tuple[Table, ...]:
    """The worst tasks by the mean over runs, and how well the score finds tasks whose votes are wrong."""
    mean = replace(runs[0], value=_mean([one.value for one in runs]), raw=None)
    gold, votes = stage.training_data.gold, stage.votes
    worst = mean.worst(n)
    counts = votes.on(worst).counts()
    cells: dict[str, object] = {"task": worst, "score": mean.value[positions(mean.names, worst)]}
    cells["votes"] = [_said(row, votes.labels) for row in counts]
    if gold is not None:
        known = gold.shared(worst)
        true = dict(zip(known.tasks.tolist(), known.hard().tolist(), strict=True))
        cells["gold"] = [str(true.get(one, "")) for one in worst.tolist()]
    note = f"mean over {len(runs)} runs; higher is worse"
    tables = [Table(f"The {len(worst)} worst of {len(mean.names):,} tasks by {mean.made_by}", cells, (note,))]
    if gold is not None:
        found = {mean.made_by: [_finds(one, votes, gold) for one in runs]}
        found["entropy"] = [_finds(identify.methods.make("entropy").score(Evidence(votes=votes)), votes, gold)]
        told = (
            "Spearman's correlation with the share of a task's votes that are wrong, and the chance that a task whose most "
            "voted label is wrong scores higher than one whose is right",
        )
        tables.append(mean_and_std("How well it finds wrong votes", found, told, of="score"))
        tables.append(all_runs("Every run", found, stage.plan.seed, of="score"))
    return tuple(tables)


def _mean(values: Sequence[Floats]) -> Floats:
    """(n,) the mean over runs; nan where no run tells."""
    table = np.array(values)
    told = np.isfinite(table)
    return np.where(told.any(0), np.where(told, table, 0).sum(0) / np.maximum(told.sum(0), 1), np.nan)


def _said(counts: Floats, labels: Names) -> str:
    order = np.argsort(-counts, kind="stable")
    return ", ".join(f"{labels[k]} {counts[k]:g}" for k in order if counts[k] > 0)


def _finds(scores: Scores, votes: Votes, gold: SoftLabels) -> dict[str, float]:
    """How a score goes with wrong votes, and with wrong majorities."""
    wrong = task_errors(votes, gold)
    place = positions(scores.names, wrong.names)
    value = np.where(place >= 0, scores.value[place], np.nan)
    known = np.isfinite(value) & np.isfinite(wrong.value)
    ranks, wrongs = rankdata(value[known]), rankdata(wrong.value[known])
    shares = aggregate.methods.make("vote-shares").fit(votes).soft
    here = gold.shared(votes.tasks[known])
    miss = shares.on(here.tasks).on_labels(gold.labels).codes() != here.codes()
    n_bad, n_good = int(miss.sum()), int((~miss).sum())
    auc = (ranks[miss].sum() - n_bad * (n_bad + 1) / 2) / (n_bad * n_good) if n_bad and n_good else np.nan
    return {"Spearman": float(np.corrcoef(ranks, wrongs)[0, 1]), "AUC, wrong majority": float(auc)}
