"""Evaluate the trained nets of a run folder on its test tasks: as they are, and with images changed by adversarial attacks."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurivox import evaluate
from plurivox.core.array_types import Names
from plurivox.core.errors import InputError
from plurivox.core.recipe_tables import Table
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.data.training_data import TrainingData
from plurivox.workflows.load_training_data import (
    inputs_of_trained_net,
    load_training_data,
    read_setting_of_run_folder,
    read_splits_of_run_folder,
)
from plurivox.workflows.net_evaluation import gold_and_vote_shares, mean_and_std_table
from plurivox.workflows.training_inputs import Pictures

if TYPE_CHECKING:
    from plurivox.train.attacks import Attack
    from plurivox.train.trained_net import Trained

Note = Callable[[str], None]  # called with a message for the user
READING = "reading"  # the setting of a run folder that says how its data were read
GOLD_MEASURES = ("accuracy", "nll", "brier", "ece")
VOTE_MEASURES = ("cross-entropy", "total-variation")
STANDARD_INPUT = "standard input"  # recorded by plurivox train - as its input
UNCHANGED = "unchanged"  # the name of inputs without an attack


def load_data_of_run_folder(run_folder: Path, shape: tuple[int, ...], source: str | None, note: Note) -> TrainingData:
    """Return the data that the nets of a run folder were trained on, read in the same way, or else those at `source`.

    `shape` is that of an input of the nets. InputError if the folder does not say what it was trained on.
    """
    recorded = read_setting_of_run_folder(run_folder, "input")
    if source is None and not recorded:
        raise InputError(
            f"{run_folder} does not say which data its nets were trained on; give INPUT: evaluate RUN INPUT"
        )
    if source is None and recorded == STANDARD_INPUT:
        raise InputError(f"{run_folder} was trained on {STANDARD_INPUT}; give the data as a file: evaluate RUN INPUT")
    how: dict[str, Any] = read_setting_of_run_folder(run_folder, READING) or {}
    table = how.get("images")
    given = Pictures(
        None if table is None else Path(table),
        how.get("image_size"),
        how.get("skip_damaged", False),
        bool(how.get("of_input")),
    )
    pictures, choice = inputs_of_trained_net(run_folder, shape, given, how.get("features", ""))
    gold = how.get("gold") if source is None else None
    try:
        return load_training_data(
            source or recorded, pictures, how.get("part"), note, choice, gold=gold, **how.get("read_options", {})
        )
    except InputError as cause:
        if source is not None:
            raise
        raise InputError(
            f"{run_folder} was trained on {recorded}: {cause}; give its path: evaluate RUN INPUT"
        ) from None


def tasks_to_evaluate_on(run_folder: Path, training_data: TrainingData) -> tuple[str, Names]:
    """Return (split, its tasks): the split test of the training, else dev, else all tasks."""
    splits = read_splits_of_run_folder(run_folder)
    for split in ("test", "dev"):
        if split in splits:
            return split, splits[split]
    return "all", training_data.tasks


def evaluate_nets_under_attack(
    trained_nets: "Sequence[Trained]",
    training_data: TrainingData,
    split: str,
    tasks: Names,
    attacks: "Sequence[Attack]" = (),
    seed: int = 0,
) -> Table:
    """Return a table with the measures of the nets, mean ± std over nets: on the inputs as they are, and under each attack.

    An attack increases the loss against the gold labels of the tasks, or their vote shares if there are none. Accuracy, NLL,
    Brier score and ECE are against gold labels, "votes" measures against vote shares.
    """
    gold, shares = gold_and_vote_shares(training_data, tasks)
    truth = shares if gold is None else gold
    if truth is None:
        raise InputError(
            f"no task of {training_data.name} in the split {split} has a gold label or votes to evaluate on"
        )
    x = training_data.inputs_of(truth.tasks)
    if attacks and (len(trained_nets[0].shape) != 3 or x.dtype.kind == "i"):
        raise InputError(
            "attacks change the pixels of images; the nets of this run were trained on other inputs: leave out --attack"
        )
    found = {UNCHANGED: [_measures(net.predict(x, truth.tasks), gold, shares) for net in trained_nets]}
    for attack in attacks:
        found[_spec_with_epsilon(attack)] = [
            _measures(_predict_attacked(net, x, truth, attack, seed), gold, shares) for net in trained_nets
        ]
    kind = "vote shares" if gold is None else "gold labels"
    notes = [f"{len(truth):,} tasks of the split {split}; attacks increase the loss against {kind}"] if attacks else []
    return mean_and_std_table(f"Nets of {training_data.name}", found, notes, first_column_name="inputs")


def _spec_with_epsilon(attack: "Attack") -> str:
    """Return the spec of an attack, with its epsilon also if that is the default.

    >>> from plurivox.train.attacks import FGSM
    >>> _spec_with_epsilon(FGSM())
    'fgsm[epsilon=4]'
    """
    given = [part for part in attack.spec.partition("[")[2].rstrip("]").split(",") if part and "epsilon=" not in part]
    epsilon = getattr(attack, "epsilon", None)
    parts = [*([] if epsilon is None else [f"epsilon={epsilon:g}"]), *given]
    return f"{attack.name()}[{','.join(parts)}]" if parts else attack.name()


def _predict_attacked(net: "Trained", x: Any, truth: SoftLabels, attack: "Attack", seed: int) -> SoftLabels:
    """Return the predictions of a net for images that the attack has changed."""
    from plurivox.train.attacks import attack as run_attack

    return run_attack(net, x, truth, attack, tasks=truth.tasks, seed=seed).soft


def _measures(prediction: SoftLabels, gold: SoftLabels | None, shares: SoftLabels | None) -> dict[str, float]:
    """Return {measure: value} of a prediction, against gold labels and against vote shares of the tasks that have them."""
    found: dict[str, float] = {}
    for truth, names, kind in ((gold, GOLD_MEASURES, ""), (shares, VOTE_MEASURES, "votes ")):
        if truth is not None and len(there := truth.shared(prediction.tasks)):
            found |= {f"{kind}{name}": evaluate.MEASURES[name](prediction.on(there.tasks), there) for name in names}
    return found
