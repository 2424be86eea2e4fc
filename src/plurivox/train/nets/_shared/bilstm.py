"""A recurrent net that reads from both ends and does not see the padding."""

import torch
from torch import Tensor, nn


class BothWays(nn.Module):
    """Two LSTMs, one from the first element on and one from the last element back.

    Padding stands at the end. The second LSTM reads the sequence turned round within its length, so that no state depends
    on how much padding there is, and no length has to leave the device.
    """

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.forth = nn.LSTM(width, hidden, batch_first=True)
        self.back = nn.LSTM(width, hidden, batch_first=True)

    def forward(self, x: Tensor, length: Tensor, read_forth: Tensor, read_back: Tensor) -> Tensor:
        """(n, 2 * hidden) the first LSTM's state at place `read_forth` and the second's at `read_back`, each (n,).

        `x` is (n, longest, width), `length` (n,) at least 1; places are counted from where the LSTM begins.
        """
        longest = x.shape[1]
        # places below the length are turned round, those of the padding stay behind them
        turned = (length[:, None] - 1 - torch.arange(longest, device=x.device)) % longest
        forth, _ = self.forth(x)
        back, _ = self.back(x.gather(1, turned[:, :, None].expand_as(x)))
        return torch.cat([_at(forth, read_forth), _at(back, read_back)], 1)


def _at(states: Tensor, place: Tensor) -> Tensor:
    """(n, hidden) one state of each sequence."""
    return states.gather(1, place[:, None, None].expand(-1, 1, states.shape[2])).squeeze(1)
