"""Train a net, record its logits in each epoch, and score the training tasks by these dynamics (AUM, WAUM)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plurivox import identify
from plurivox.core.array_types import Floats, Names
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Table
from plurivox.core.results import Dynamics, Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Evidence, Identifier
from plurivox.io import Dataset
from plurivox.train import nets
from plurivox.train.data.training_data import TrainingData
from plurivox.train.training_hyperparameters import Plan
from plurivox.workflows.load_training_data import load_training_data, splits_from_file_or_data_else_random
from plurivox.workflows.net_evaluation import every_run_table, gold_use_note, mean_and_std_table
from plurivox.workflows.score_tasks_workers import EvidenceCache
from plurivox.workflows.train_nets import make_train_spec, train_once
from plurivox.workflows.training_inputs import InputChoice, Pictures
from plurivox.workflows.wrong_vote_detection import NOTES, WrongVoteDetection, detection_interval_table

DETECTION_RESAMPLES = 1000  # bootstrap resamples of the intervals of how well a score finds wrong votes
# the label that AUM assigns to a task -> the training target
TARGET_OF_LABEL = {
    "gold": "gold",
    "majority": "majority[ties=first]",
    "fit": "gold",
}


@dataclass(frozen=True, eq=False)
class DynamicsSetup:
    """Data and settings for scores by training dynamics: inputs, splits, votes on the training tasks, net and training plan."""

    training_data: TrainingData
    parts: Mapping[str, Names]
    votes: Votes  # on the training tasks
    net: str
    plan: Plan
    votes_are_gold: bool = False  # the data have no votes: the label of each task, such as its folder, is its only vote

    @classmethod
    def from_dataset(
        cls,
        data: Dataset,
        net: str,
        plan: Plan,
        *,
        image_size: int | None = None,
        score_all_without_splits: bool = False,
    ) -> "DynamicsSetup":
        """Return the setup to record training dynamics on a data set; training tasks without votes are left out.

        Inputs are features, else images, scaled to `image_size`, else texts. In a data set without votes the gold label of a
        task is its vote, so that wrong labels of an image folder can be found. If it has no splits, they are random, or with
        `score_all_without_splits` all tasks are training tasks.
        """
        reads = nets.methods.make(net).reads
        training_data = load_training_data(
            data, Pictures(size=image_size, can_be_given=False), choice=InputChoice(reads=reads)
        )
        votes, gold = training_data.votes, training_data.gold
        if votes is None and gold is None:
            raise InputError(f"{data.name} has no votes; scores by training dynamics need votes on the training tasks")
        if score_all_without_splits and not training_data.tasks_by_standard_split():
            parts = {"train": training_data.tasks}
        else:
            parts = splits_from_file_or_data_else_random(training_data, seed=plan.seed)
        if votes is None:
            assert gold is not None
            votes = Votes.of(gold.tasks, None, gold.hard(), labels=gold.labels)
        voted = votes.tasks_with_votes
        train = parts["train"][positions(voted, parts["train"]) >= 0]
        if not len(train):
            raise InputError(f"no training task of {data.name} has votes")
        encoded = training_data.with_inputs_encoded(train)
        return cls(encoded, {**parts, "train": train}, votes.on(train), net, plan, training_data.votes is None)

    def with_plan_seed_replaced(self, seed: int) -> "DynamicsSetup":
        """Return a copy of the setup whose training plan has another seed."""
        return replace(self, plan=replace(self.plan, seed=seed))


def train_nets_and_score_tasks(setup: DynamicsSetup, method: Identifier, progress: Progress = no_progress) -> Scores:
    """Train the nets and fit the aggregators that a score by training dynamics needs; return its scores of training tasks."""
    if method.of != "task":
        raise InputError(f"{method.name()} is a score of {method.of}s; use a score of tasks")
    gold, needs, votes = setup.training_data.gold, method.required_evidence(), setup.votes
    if setup.votes_are_gold and {"fit", "worker_dynamics"} & set(needs):
        raise InputError(
            f"{setup.training_data.name} has one label per task and no votes; {method.spec} needs votes of named workers: use "
            "aum"
        )
    given = None if gold is None else gold.shared(setup.parts["train"])
    evidence = EvidenceCache(votes, Evidence(votes=votes, gold=given)).collect_evidence_for_method(method)
    if "dynamics" in needs:
        evidence = replace(
            evidence, dynamics=train_and_record_one_net(setup, getattr(method, "assigned", ""), evidence.fit, progress)
        )
    if "worker_dynamics" in needs:
        evidence = replace(evidence, worker_dynamics=train_and_record_net_per_worker(setup, progress))
    return method.score(evidence)


def gold_use_of_score(method: Identifier) -> list[str]:
    """Return ["as training labels ..."] if a score by training dynamics trains its nets on gold labels; else []."""
    uses_gold = "gold" in method.required_evidence()
    return [f"as training labels of the nets that score tasks ({method.name()}[assigned=gold])"] if uses_gold else []


def train_and_record_one_net(
    setup: DynamicsSetup, label_source: str, fit: Fit | None = None, progress: Progress = no_progress
) -> Dynamics:
    """Train one net on one label per task (AUM) or on all votes (WAUM), and return its recorded logits (Dynamics)."""
    taught = replace(setup.training_data, votes=setup.votes)
    if fit is not None and label_source == "fit":
        taught = replace(taught, gold=SoftLabels.gold(fit.soft.tasks, fit.soft.hard(), fit.soft.labels))
    return _train_and_record_net(
        setup, taught, setup.parts["train"], TARGET_OF_LABEL.get(label_source, "repeated-labelling"), progress
    )


def _train_and_record_net(
    setup: DynamicsSetup, training_data: TrainingData, tasks: Names, target: str, progress: Progress = no_progress
) -> Dynamics:
    """Train a net on these tasks and return its recorded logits in each epoch (Dynamics)."""
    spec = make_train_spec(target, net=setup.net, plan=setup.plan, record="visit")
    found = train_once(training_data, {"train": tasks}, spec, progress).dynamics
    assert found is not None
    return found


def train_and_record_net_per_worker(setup: DynamicsSetup, progress: Progress = no_progress) -> dict[str, Dynamics]:
    """Train one net per worker on only that worker's votes; return {worker: recorded logits (Dynamics)}."""
    votes, out = setup.votes, {}
    order, start = votes.row_order_and_offsets_by_worker
    for worker, name in enumerate(votes.workers.tolist()):
        rows = order[start[worker] : start[worker + 1]]
        progress(worker, votes.n_workers)
        if len(rows):
            mine = votes.where(np.isin(np.arange(len(votes)), rows))
            taught = replace(setup.training_data, votes=mine, gold=None, soft=None)
            out[str(name)] = _train_and_record_net(setup, taught, mine.tasks_with_votes, "repeated-labelling")
    return out


def task_scores_of_each_training_run(
    setup: DynamicsSetup, method: Identifier, n_runs: int, progress: Progress = no_progress
) -> list[Scores]:
    """Return the scores of the training tasks of several training runs, with the seeds seed, seed + 1, ..."""
    found = []
    for run in range(n_runs):
        found.append(train_nets_and_score_tasks(setup.with_plan_seed_replaced(setup.plan.seed + run), method))
        progress(run, n_runs)
    return found


def worst_tasks_and_wrong_vote_detection_tables(
    setup: DynamicsSetup, scores_of_each_run: Sequence[Scores], n_worst: int
) -> tuple[Table, ...]:
    """Return tables of the worst tasks by mean score over runs and, with gold, of how well the score detects wrong votes."""
    mean = replace(
        scores_of_each_run[0],
        raw=_mean_score_over_runs_ignoring_nan([one.raw for one in scores_of_each_run]),
        badness=_mean_score_over_runs_ignoring_nan([one.badness for one in scores_of_each_run]),
        low=None,
        high=None,
    )
    gold, votes = None if setup.votes_are_gold else setup.training_data.gold, setup.votes
    worst = mean.worst(n_worst)
    counts = votes.on(worst).counts()
    cells: dict[str, object] = {"task": worst, mean.made_by: mean.raw[positions(mean.names, worst)]}
    cells["votes"] = [_vote_counts_text(row, votes.labels) for row in counts]
    if gold is not None:
        known = gold.shared(worst)
        true = dict(zip(known.tasks.tolist(), known.hard().tolist(), strict=True))
        cells["gold"] = [str(true.get(one, "")) for one in worst.tolist()]
    note = f"{mean.made_by} as its paper defines it, mean over {count_text(len(scores_of_each_run), 'run')}; the worst first"
    if setup.votes_are_gold:
        note += "; the data have no votes: the label of each task is its vote"
    notes = (note,) if gold is None else (note, gold_use_note(gold_use_of_score(identify.methods.make(mean.made_by))))
    title = f"The {_number_of_worst_text(len(worst))} of {count_text(len(mean.names), 'task')} by {mean.made_by}"
    tables = [Table(title, cells, notes)]
    if gold is not None:
        entropy = identify.methods.make("entropy").score(Evidence(votes=votes))
        detections = {
            mean.made_by: WrongVoteDetection.of_scores(scores_of_each_run, votes, gold),
            "entropy": WrongVoteDetection.of_scores([entropy], votes, gold),
        }
        found = {
            name: [one.measures_of_run(run) for run in range(len(one.badness))] for name, one in detections.items()
        }
        (name, detection), (baseline_name, baseline) = detections.items()
        tables.append(mean_and_std_table("How well it finds wrong votes", found, NOTES, first_column_name="score"))
        tables.append(
            detection_interval_table(
                detection, name, baseline, baseline_name, repeats=DETECTION_RESAMPLES, seed=setup.plan.seed
            )
        )
        tables.append(every_run_table("Every run", found, setup.plan.seed, first_column_name="score"))
    return tuple(tables)


def _number_of_worst_text(n: int) -> str:
    """Return "5 worst", or "worst" for one."""
    return "worst" if n == 1 else f"{n:,} worst"


def _mean_score_over_runs_ignoring_nan(task_scores_of_each_run: Sequence[Floats]) -> Floats:
    """Return (n,) the mean score of each task over training runs, ignoring NaN; NaN if all runs are NaN."""
    table = np.array(task_scores_of_each_run)
    finite = np.isfinite(table)
    return np.where(finite.any(0), np.where(finite, table, 0).sum(0) / np.maximum(finite.sum(0), 1), np.nan)


def _vote_counts_text(vote_counts_of_task: Floats, labels: Names) -> str:
    """Return the vote counts of a task as text, most frequent label first: "cat 3, dog 1"."""
    order = np.argsort(-vote_counts_of_task, kind="stable")
    return ", ".join(f"{labels[k]} {vote_counts_of_task[k]:g}" for k in order if vote_counts_of_task[k] > 0)
