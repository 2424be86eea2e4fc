"""Log of a training's history for TensorBoard."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plurivox.core.errors import require_package

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def require_tensorboard() -> None:
    """Raise MissingExtra with the install command if TensorBoard is not installed."""
    require_package("tensorboard", "a log of the kind tensorboard", "pip install 'plurivox[tensorboard]'")


class TensorBoardLog:
    """Writes TensorBoard event files in the folder of a run: a curve per column of its history.

    It is called with the whole history after every epoch and writes the new epochs. A resumed training is written again from
    its first epoch, and TensorBoard ignores the older file.
    """

    def __init__(self, folder: Path) -> None:
        require_tensorboard()
        self.folder, self.written = folder, 0  # epochs
        self.writer: SummaryWriter | None = None  # opened when there is something to write

    def __call__(self, history: Mapping[str, Sequence[float]]) -> None:
        """Write the epochs of the history that were not written before to the TensorBoard event file."""
        from torch.utils.tensorboard import SummaryWriter

        self.writer = self.writer or SummaryWriter(str(self.folder), purge_step=0)
        epochs = history["epoch"]
        for i in range(self.written, len(epochs)):
            for name in history.keys() - {"epoch"}:
                self.writer.add_scalar(name, history[name][i], int(epochs[i]))
        self.written = len(epochs)

    def close(self) -> None:
        """Close the TensorBoard event file, if one was opened."""
        if self.writer is not None:
            self.writer.close()
