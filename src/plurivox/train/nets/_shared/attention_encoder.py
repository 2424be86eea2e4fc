"""The transformer encoder on a sequence of one position, which is what Fornaciari et al. use."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class Encoder(nn.Module):
    """Encoder layers on one vector, which stands for a sequence of length one.

    The attention of a single position to itself is 1, so that queries and keys change nothing: what remains of
    attention is a linear map of the values, and it is all that is computed here. The result is that of the usual encoder
    (normalisation first) on a sequence of one.

    Vaswani et al. (2017), https://arxiv.org/abs/1706.03762
    """

    place: Tensor

    def __init__(self, width: int, layers: int, heads: int, inner: int, dropout: float):
        super().__init__()
        self.scale = math.sqrt(width)
        # the code of position 0: sin 0 and cos 0 in turn
        self.register_buffer("place", (torch.arange(width) % 2).float(), persistent=False)
        self.layers = nn.Sequential(*(EncoderLayer(width, heads, inner, dropout) for _ in range(layers)))
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        """(n, width) -> (n, width)."""
        found: Tensor = self.norm(self.layers(x * self.scale + self.place))
        return found


class EncoderLayer(nn.Module):
    """The values of one position, and a dense part, each added to what it reads."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float):
        super().__init__()
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)
        self.heads, self.dropout = heads, nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        value = self.value(self.norm1(x)).unflatten(1, (self.heads, -1))
        # the weight that a head gives to the one position is dropped in training as any other would be
        kept = self.dropout(value.new_ones(value.shape[:2])).unsqueeze(2)
        x = x + self.dropout(self.out((value * kept).flatten(1)))
        dense = self.narrow(self.dropout(functional.relu(self.widen(self.norm2(x)))))
        return x + self.dropout(dense)
