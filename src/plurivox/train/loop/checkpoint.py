"""Checkpoint: the files from which an interrupted training is resumed."""

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from plurivox.core.array_types import Names
from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError
from plurivox.train.loop.dev_evaluation_and_history import TrainingHistory
from plurivox.train.loop.safetensors_files import read_safetensors_and_metadata, write_safetensors
from plurivox.train.loop.trainer import Trainer
from plurivox.train.targets._contract import methods as targets
from plurivox.train.trained_net import ESTIMATES, WEIGHTS, Trained, check_same_labels_in_same_order

CHECKPOINT = "checkpoint.safetensors"
GOLD_USED = "gold_used"  # the setting, since version 0.2, that says for what gold labels were used


class Checkpoint:
    """Files from which an interrupted training is resumed: one of tensors and settings, and one of logits per epoch."""

    def __init__(self, folder: Path, made_by: Mapping[str, Any], labels: Names, seconds: float) -> None:
        self.folder, self.path, self.made_by, self.labels = folder, folder / CHECKPOINT, made_by, labels
        self.seconds, self.last = seconds, time.monotonic()
        self.n_saved = 0  # epochs of logits on disk

    def save_checkpoint_if_due(
        self, trainer: Trainer, history: TrainingHistory, logits_per_epoch: "list[np.ndarray[Any, Any]]", force: bool
    ) -> None:
        """Write the checkpoint files, unless the last save is less than `seconds` ago and `force` is False."""
        if not force and time.monotonic() - self.last < self.seconds:
            return
        for i in range(self.n_saved, len(logits_per_epoch)):
            with atomic_file(self._recorded_logits_path(i)) as part, part.open("wb") as file:
                np.save(file, logits_per_epoch[i])
        self.n_saved = len(logits_per_epoch)
        facts = {"done": trainer.epoch, "keeper": history.history_as_json_dict(), "recorded": len(logits_per_epoch)}
        notes = {"labels": self.labels.tolist(), "made_by": dict(self.made_by), "facts": facts}
        kept = {f"kept/{name}": value for name, value in history.best_weights.items()}
        write_safetensors(
            self.path,
            trainer.training_state_tensors_by_name() | kept,
            {name: json.dumps(one) for name, one in notes.items()},
        )
        self.last = time.monotonic()

    def load_net_if_finished_delete_checkpoint(self, device: torch.device) -> Trained | None:
        """Load the trained net from the folder and delete the checkpoint files; return None if the training has not ended.

        Raises InputError if the folder does not exist or contains another training.
        """
        if not self.folder.is_dir():
            raise InputError(f"the folder {self.folder} for the training does not exist; create it first")
        if not (self.folder / WEIGHTS).is_file():
            return None
        trained = Trained.load(self.folder, device=device, labels=self.labels, trust=self.made_by["net"])
        check_same_training_settings(trained.made_by, self.made_by, self.folder)
        self.delete_checkpoint_files()
        return trained

    def restore_checkpoint_return_logits(
        self, trainer: Trainer, history: TrainingHistory
    ) -> "list[np.ndarray[Any, Any]]":
        """Restore trainer and history from the checkpoint, if there is one; return the logits recorded so far.

        Raises InputError if the checkpoint is of another training.
        """
        if not self.path.is_file():
            return []
        tensors, notes = read_safetensors_and_metadata(self.path)
        check_same_labels_in_same_order(np.asarray(json.loads(notes["labels"])), self.labels, self.path)
        check_same_training_settings(json.loads(notes["made_by"]), self.made_by, self.path)
        facts = json.loads(notes["facts"])
        kept = {name: value for name, value in tensors.items() if name.startswith("kept/")}
        trainer.load_training_state({name: value for name, value in tensors.items() if name not in kept}, facts["done"])
        best = {name.partition("/")[2]: value.to(trainer.x.device) for name, value in kept.items()}
        history.restore_history(facts["keeper"], best)
        self.n_saved = facts["recorded"]
        return [np.load(self._recorded_logits_path(i)) for i in range(self.n_saved)]

    def delete_checkpoint_files(self) -> None:
        """Delete the files of the checkpoint."""
        self.path.unlink(missing_ok=True)
        for file in self.folder.glob("logits-*.npy"):
            file.unlink()

    def _recorded_logits_path(self, epoch: int) -> Path:
        """Return the path of the file with the logits recorded in an epoch."""
        return self.folder / f"logits-{epoch:05d}.npy"


def check_same_training_settings(
    saved_settings: Mapping[str, Any], current_settings: Mapping[str, Any], where: object
) -> None:
    """Raise InputError naming the first setting in which a saved training and the current one differ."""
    saved_settings = {**saved_settings, "target": targets.replace_former_names(saved_settings.get("target", ""))}
    if GOLD_USED not in saved_settings:  # a file of version 0.1
        saved_settings["target"] = _name_smoothed_gold(saved_settings["target"])
        saved_settings[GOLD_USED] = current_settings.get(GOLD_USED)
    saved_settings.setdefault(ESTIMATES, current_settings.get(ESTIMATES))  # absent in files of earlier versions
    for name in current_settings:
        if name != "versions" and saved_settings.get(name) != current_settings[name]:
            raise InputError(
                f"{where} belongs to another training: its {name} is {saved_settings.get(name)!r}, here it is "
                f"{current_settings[name]!r}. Choose another folder, or remove it"
            )


def _name_smoothed_gold(saved_target: str) -> str:
    """Return a saved target spec with `of=gold` in every `smoothed` that does not name its target, as in version 0.1.

    >>> _name_smoothed_gold("mixed[rest=smoothed[beta=0.1]]"), _name_smoothed_gold("smoothed[of=majority]")
    ('mixed[rest=smoothed[of=gold,beta=0.1]]', 'smoothed[of=majority]')
    """
    named = re.sub(r"\bsmoothed\[(?!of=)", "smoothed[of=gold,", saved_target)
    return re.sub(r"\bsmoothed\b(?!\[)", "smoothed[of=gold]", named)
