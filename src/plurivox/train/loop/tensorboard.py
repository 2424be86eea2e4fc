"""The history of a training as event files of TensorBoard."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plurivox.core.errors import require_package

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def need_tensorboard() -> None:
    """Raise an error that says how to install TensorBoard if it is missing."""
    require_package("tensorboard", "a log of the kind tensorboard", "pip install 'plurivox[tensorboard]'")


class EventLog:
    """Event files in the folder of a run: a curve for each column of its history.

    It is called with the whole history after every epoch and writes what is new. A resumed training is written from its first
    epoch again, and TensorBoard drops what an older file holds.
    """

    def __init__(self, folder: Path) -> None:
        need_tensorboard()
        self.folder, self.written = folder, 0  # epochs
        self.writer: SummaryWriter | None = None  # opened when there is something to write

    def __call__(self, history: Mapping[str, Sequence[float]]) -> None:
        """Write the epochs since the last call."""
        from torch.utils.tensorboard import SummaryWriter

        self.writer = self.writer or SummaryWriter(str(self.folder), purge_step=0)
        epochs = history["epoch"]
        for i in range(self.written, len(epochs)):
            for name in history.keys() - {"epoch"}:
                self.writer.add_scalar(name, history[name][i], int(epochs[i]))
        self.written = len(epochs)

    def close(self) -> None:
        """Close the file."""
        if self.writer is not None:
            self.writer.close()
