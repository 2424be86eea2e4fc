"""Train nets on a data set: once, or as a series of runs with different seeds."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, Self

from plurivox import aggregate
from plurivox.aggregate import DEFAULT_TRAINING_LABELS, Aggregator
from plurivox.core.array_types import Floats, Names
from plurivox.core.errors import InputError, first_few, unknown_name_error
from plurivox.core.method import parse_spec
from plurivox.core.name_encoding import as_names, duplicates, positions
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.train import targets
from plurivox.train.data.input_tensors import check_inputs_finite
from plurivox.train.data.training_data import TrainingData
from plurivox.train.loop.dev_evaluation_and_history import Measure
from plurivox.train.loop.prepared_data_and_trainer import PreparedData
from plurivox.train.loop.tensorboard_log import TensorBoardLog, require_tensorboard
from plurivox.train.loop.train_spec import AgreementWeighting, Choose, Record, TrainSpec
from plurivox.train.loop.training_run import CHOOSING_EPOCH, TRAINING_LABELS, Log, TrainingRun
from plurivox.train.nets import Net
from plurivox.train.parallel.multi_seed_runs import choose_parallel_runs_and_stacking, run_series
from plurivox.train.targets import Supervision
from plurivox.train.trained_net import Trained
from plurivox.train.training_hyperparameters import DEFAULT_LOSS, DEFAULT_NET, Plan
from plurivox.workflows.load_training_data import ENCODING, RunFolder
from plurivox.workflows.net_evaluation import (
    Series,
    TrainedCounts,
    count_tasks_of_each_split,
    dev_truth_and_its_kind,
    gold_use_note,
    labels_absent_from_training,
    measure_net_on_each_split,
    plan_with_goal_and_dev_measure,
)
from plurivox.workflows.training_task_labels import (
    aggregated_or_stored_soft_labels,
    agreement_task_weights,
    check_some_task_has_labels,
    with_sample_of_answers,
)

Note = Callable[[str], None]  # called with a message for the user
OpenLog = Callable[[Path], Log]  # opens a log in the folder of a run
RESULTS = "results.csv"
MEASURE_OF_CHOICE = {"gold": "accuracy", "votes": "cross-entropy"}  # labels that choose the epoch -> default measure


def make_train_spec(
    target: str = "",
    *,
    soft: str = "",
    main: str = "",
    net: str | Net = DEFAULT_NET,
    pretrained: str | Path | None = None,
    freeze: bool = False,
    loss: str = DEFAULT_LOSS,
    head: str = "",
    augment: str = "none",
    augment_once: bool = False,
    weigh: bool = False,
    least_agreement: float = 0.0,
    record: Record = False,
    choose: Choose = "",
    for_: Estimand | Literal[""] = "",
    answers_per_task: int | None = None,
    plan: Plan | None = None,
) -> TrainSpec:
    """Return the TrainSpec (target, net, loss, head, plan, ...) of a training, from the option names of the command line.

    `target` is a target, or an aggregator whose soft labels are the target; `soft` is the aggregator of a target that uses soft
    labels. Default: vote shares, or the target of the head; `_target_spec_and_soft_label_aggregator` states the whole rule.
    `main` is the hard target of two heads; default: gold. `choose` says whether gold labels or votes on the dev tasks choose
    the best epoch; default: gold labels, else votes. If the plan has no measure for it (`best`), it is accuracy, or the
    cross-entropy to vote shares. `pretrained` weights and whether to `freeze` them are options of the net.

    `for_` says what the net is to estimate, `truth` or `people`: without target and head it selects the default aggregator for
    that (`log-pool` without background, or `vote-shares`), and a target that estimates the other is an InputError.
    `answers_per_task` random answers of each training task are trained on, at most; dev and test tasks keep all.

    >>> heads = "crowd-layer", "two-heads"
    >>> [make_train_spec(head=head).target_text for head in heads], make_train_spec("dawid-skene").target_text
    (['all-votes', 'gold and vote-shares'], 'dawid-skene')
    """
    default = DEFAULT_TRAINING_LABELS["unknown" if head else for_ or "unknown"]
    taught, aggregator = _target_spec_and_soft_label_aggregator(target, soft, default)
    weights = ({} if pretrained is None else {"pretrained": str(pretrained)}) | ({"freeze": True} if freeze else {})
    if choose and (plan or Plan()).best == "last":
        plan = replace(plan or Plan(), best=MEASURE_OF_CHOICE[choose])
    made = TrainSpec.from_names_or_objects(
        taught,
        net=net,
        net_options=weights,
        loss=loss,
        head=head,
        main=main,
        plan=plan,
        augment=augment,
        augment_once=augment_once,
        record=record,
        weighting=AgreementWeighting(weigh, least_agreement) if weigh or least_agreement > 0 else None,
        soft=aggregator,
    )
    made = replace(made, choose=choose, estimates=for_ or "unknown", answers_per_task=answers_per_task)
    made.estimated_quantity("unknown" if aggregator is None else aggregator.estimated_quantity())  # raises InputError
    return made


def _target_spec_and_soft_label_aggregator(
    target: str, soft: str, default_aggregator: str
) -> tuple[str | None, Aggregator | None]:
    """Return (training target, aggregator of the soft labels it uses or None) from the names given, each possibly "".

    The rule, by what `target` names:

    nothing        the default target of the head, here None: see `TrainSpec.from_names_or_objects`. Soft labels are those of
                   the default aggregator (vote shares), also if the data have their own soft labels.
    an aggregator  the target "soft", with the soft labels of that aggregator.
    a target       that target. Soft labels are those of the aggregator `soft`; without one, here None, they are those of the
                   data, else vote shares (`aggregated_or_stored_soft_labels`).
    """
    name = parse_spec(target)[0]
    if name in targets.methods:
        return target, aggregate.methods.make(soft) if soft else None
    if target and name not in aggregate.methods:
        raise unknown_name_error("target or aggregator", name, [*targets.methods, *aggregate.methods])
    aggregator = target or default_aggregator
    if soft and soft != aggregator:
        raise InputError(
            f"two aggregators for the soft labels: {aggregator} (the target) and {soft} (soft); give only one, as the target"
        )
    return "soft" if target else None, aggregate.methods.make(aggregator)


@dataclass(frozen=True, eq=False)
class PreparedTraining:
    """A training spec with its data, ready to start with any seed: labels are aggregated and inputs are checked."""

    spec: TrainSpec
    data: PreparedData
    dev: tuple[Floats, SoftLabels] | None
    measures: Mapping[str, Measure]
    dev_labels: str = ""  # kind of the true labels of dev: gold or votes
    has_gold: bool = False  # whether the data have gold labels

    @classmethod
    def prepare_training(
        cls,
        training_data: TrainingData,
        splits: Mapping[str, Names],
        spec: TrainSpec,
        chosen: Iterable[object] | None = None,
    ) -> Self:
        """Return the training prepared on the tasks of the split train, evaluated on the split dev if there is one.

        The inputs must be encoded (`TrainingData.with_inputs_encoded`). `chosen` are the tasks that the target `mixed`
        trains on its option `first`.
        """
        train, (plan, measures) = as_names(splits["train"], "tasks"), plan_with_goal_and_dev_measure(spec.plan)
        if len(twice := duplicates(train)):
            raise InputError(f"the inputs contain tasks twice: {first_few(twice)}; keep one row per task")
        if chosen is not None and not spec.target.uses_chosen_tasks:
            raise InputError(
                f"tasks are chosen for the target mixed; the target {spec.target_text} does not use them: leave them out"
            )
        check_some_task_has_labels(training_data)
        trained_on = with_sample_of_answers(training_data, train, spec)
        known = Supervision(
            trained_on.votes,
            trained_on.gold,
            aggregated_or_stored_soft_labels(trained_on, train, spec.soft, spec.estimates),
            None if chosen is None else as_names(chosen, "chosen tasks"),
        )
        weight = agreement_task_weights(trained_on, train, spec.weighting)
        data = PreparedData.from_inputs_dropping_unusable_tasks(
            training_data.inputs_of(train),
            spec,
            known,
            tasks=train,
            labels=known.merge_labels_of_votes_gold_and_soft(),
            weight=weight,
            words=None if training_data.encoding is None else training_data.encoding.vocabulary,
        )
        truth, dev_labels = dev_truth_and_its_kind(training_data, splits, plan.best, spec.choose)
        dev = None if truth is None else (training_data.inputs_of(truth.tasks), truth)
        return cls(replace(spec, plan=plan), data, dev, measures, dev_labels, has_gold=training_data.gold is not None)

    @property
    def estimates(self) -> Estimand:
        """What the trained nets estimate: truth, people or unknown."""
        soft = self.data.supervision.soft
        return self.spec.estimated_quantity("unknown" if soft is None else soft.estimates)

    @property
    def gold_used(self) -> tuple[str, ...]:
        """For what gold labels are used: as training labels, for choosing the epoch, both or neither."""
        chooses = self.dev_labels == "gold" and self.spec.plan.best != "last"
        trains = self.spec.target.trains_on_gold(self.data.supervision, self.data.tasks)
        return ((TRAINING_LABELS,) if trains else ()) + ((CHOOSING_EPOCH,) if chooses else ())

    def count_tasks_and_gold_uses(self) -> TrainedCounts:
        """Return how many tasks are trained on and left out, and for what gold labels are used."""
        return TrainedCounts(
            len(self.data.tasks),
            {reason: len(tasks) for reason, tasks in self.data.left_out.items()},
            self.spec.target.n_tasks_by_component(self.data.supervision, self.data.tasks),
            self.gold_used,
            self._use_of_labels_text(),
        )

    def _use_of_labels_text(self) -> str:
        """Return one line on the use of gold labels, and of votes to choose the epoch; "" if there is neither."""
        best, gold_used = self.spec.plan.best, self.gold_used
        n_dev = 0 if self.dev is None else len(self.dev[1])
        uses = [f"as training labels (target {self.spec.target_text})"] if TRAINING_LABELS in gold_used else []
        uses += [f"to choose the epoch ({best} on {n_dev:,} dev tasks)"] if CHOOSING_EPOCH in gold_used else []
        parts = [gold_use_note(uses)] if self.has_gold else []
        if self.dev_labels == "votes" and best != "last":
            parts.append(f"the epoch is chosen by {best} against the vote shares of {n_dev:,} dev tasks")
        return "; ".join(parts)

    def create_or_resume_run(
        self,
        seed: int,
        run_folder: Path | None = None,
        progress: Progress = no_progress,
        *,
        open_log: OpenLog | None = None,
        save_seconds: float = 1.0,
    ) -> TrainingRun:
        """Return a TrainingRun with this seed: before its first epoch, or resumed from the checkpoint in `run_folder`."""
        return TrainingRun(
            replace(self.spec, plan=replace(self.spec.plan, seed=seed)),
            self.data,
            dev=self.dev,
            measures=self.measures,
            folder=run_folder,
            save_seconds=save_seconds,
            log=None if open_log is None or run_folder is None else open_log(run_folder),
            progress=progress,
            gold_used=self.gold_used,
        )


def train_once(
    training_data: TrainingData,
    splits: Mapping[str, Names],
    spec: TrainSpec,
    progress: Progress = no_progress,
    *,
    chosen: Iterable[object] | None = None,
) -> Trained:
    """Train one net on the split train with the seed of the plan, and return the trained net.

    `chosen` are the tasks that the target `mixed` trains on its option `first`.
    """
    encoded = training_data.with_inputs_encoded(splits["train"])
    return (
        PreparedTraining.prepare_training(encoded, splits, spec, chosen)
        .create_or_resume_run(spec.plan.seed, None, progress)
        .train_to_end()
    )


def train_runs(
    training_data: TrainingData,
    splits: Mapping[str, Names],
    spec: TrainSpec,
    *,
    runs: int = 1,
    chosen: Iterable[object] | None = None,
    folder: str | Path | RunFolder | None = None,
    at_once: int | None = 1,
    log: str = "",
    command: str = "",
    source: str = "",
    reading: Mapping[str, object] | None = None,
    progress: Progress = no_progress,
    note: Note | None = None,
) -> Series:
    """Train nets with several seeds on the split train; return the Series of the measures of each on dev and test.

    The series also has the numbers of tasks trained on, left out and measured, and says for what gold labels were used.
    `chosen` are the tasks that the target `mixed` trains on its option `first`.

    `at_once` runs are trained in parallel; None: as many as is efficient. The series records how many, and whether as one
    stacked net. `folder` is created if needed; finished runs in it are not trained again, and an interrupted run is
    resumed. Its settings.json contains the splits, the tasks left out, the use of gold labels, and the `command`, the
    `source` of the data and options of `reading` them, if given. `log="tensorboard"` writes a log to the folder of each run.
    `note` is called with messages for the user before the training begins.
    """
    if log:
        require_tensorboard()
    training_data = training_data.with_inputs_encoded(splits["train"])
    home = None if folder is None else RunFolder.from_empty_or_run_folder(folder)
    tested = {name: tasks for name, tasks in splits.items() if name != "train"}
    for tasks in tested.values():  # before training, which may take hours
        check_inputs_finite(training_data.inputs_of(tasks), tasks)
    ready = PreparedTraining.prepare_training(training_data, splits, spec, chosen)
    counts = ready.count_tasks_and_gold_uses()
    split_counts = count_tasks_of_each_split(training_data, tested)
    if home is not None:  # created only when the training can begin
        home.create_or_check_same_splits(splits, command, source or training_data.name)
        home.add_to_settings(
            gold_used=counts.gold_used,
            reading=dict(reading or {}),
            trained=counts.trained,
            left_out={reason: tasks.tolist() for reason, tasks in ready.data.left_out.items()},
            measured={split: vars(one) for split, one in split_counts.items()},
            **({} if training_data.encoding is None else {ENCODING: training_data.encoding.to_json()}),
        )
    together, stacked = choose_parallel_runs_and_stacking(
        spec, tuple(ready.data.x.shape), len(ready.data.labels), runs, at_once
    )
    for line in _notes_before_training(training_data, splits, spec, together if stacked else 0, ready.estimates):
        if note is not None:
            note(line)
    with ExitStack() as logs:
        open_log = (lambda home: logs.enter_context(closing(TensorBoardLog(home)))) if log else None
        found = run_series(
            partial(ready.create_or_resume_run, open_log=open_log, save_seconds=float(together)),
            lambda one: measure_net_on_each_split(one, training_data, tested),
            runs=runs,
            seed=spec.plan.seed,
            folder=None if home is None else home.path,
            at_once=together,
            stacked=stacked,
            device=ready.data.x.device,
            progress=progress,
        )
    series = replace(
        Series.from_measures_of_runs(found, spec.plan.seed, together, stacked),
        split_counts=split_counts,
        trained_counts=counts,
    )
    if home is not None:
        series.write_measures_of_runs(home.path / RESULTS)
    return series


def _notes_before_training(
    training_data: TrainingData, splits: Mapping[str, Names], spec: TrainSpec, n_stacked: int, estimates: Estimand
) -> list[str]:
    """Return notes for the user before training, such as labels absent from it, or measures that do not fit `estimates`.

    `n_stacked` runs are trained as one net.
    """
    found = []
    if len(unseen := labels_absent_from_training(training_data, splits)):
        found.append(
            f"dev or test tasks have labels that no training task has, so the net cannot learn them: {first_few(unseen)}"
        )
    if spec.head is not None and spec.loss.spec != DEFAULT_LOSS:
        found.append(f"{spec.head.spec} has its own loss; {spec.loss.spec} is only used to evaluate the dev tasks")
    found += _notes_on_measures_that_do_not_fit(training_data, splits, estimates)
    if n_stacked:
        found.append(
            f"{n_stacked} runs at a time are trained as one stacked net; at_once=1 (--at-once 1) trains them one after another"
        )
    return found


def _notes_on_measures_that_do_not_fit(
    training_data: TrainingData, splits: Mapping[str, Names], estimates: Estimand
) -> list[str]:
    """Return a note if measures that are computed of the trained nets do not fit what they estimate, the truth or people."""
    tested = [tasks for name, tasks in splits.items() if name != "train"]
    gold, votes = training_data.gold, training_data.votes
    if estimates == "people" and gold is not None and any((positions(gold.tasks, one) >= 0).any() for one in tested):
        return [
            "the network estimates people (the probability that a person gives a label): nll, brier and ece against gold "
            "labels do not say how good it is; accuracy and measures against votes do"
        ]
    voted = None if votes is None else votes.tasks_with_votes
    if estimates == "truth" and voted is not None and any((positions(voted, one) >= 0).any() for one in tested):
        return [
            "the network estimates truth (the probability that a label is right): soft measures against votes do not say how "
            "good it is; measures against gold labels do"
        ]
    return []
