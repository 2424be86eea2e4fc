"""Transformer encoder on sequences of length one, as used by Fornaciari et al."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class Encoder(nn.Module):
    """Transformer encoder on one vector, a sequence of length one.

    The attention of a single position to itself is 1, so that queries and keys have no effect: attention is a linear map of
    the values, and only that is computed here. The result is that of the usual encoder (normalisation first) on a sequence of
    length one.

    Vaswani et al. (2017), https://arxiv.org/abs/1706.03762
    """

    position: Tensor  # (width,) positional encoding of position 0

    def __init__(self, width: int, layers: int, heads: int, inner: int, dropout: float):
        super().__init__()
        self.scale = math.sqrt(width)
        # sin 0 and cos 0 alternate
        self.register_buffer("position", (torch.arange(width) % 2).float(), persistent=False)
        self.layers = nn.Sequential(*(EncoderLayer(width, heads, inner, dropout) for _ in range(layers)))
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def forward(self, vectors_to_encode: Tensor) -> Tensor:
        """Encode vectors (n, width) as vectors (n, width)."""
        found: Tensor = self.norm(self.layers(vectors_to_encode * self.scale + self.position))
        return found


class EncoderLayer(nn.Module):
    """Encoder layer for sequences of length one: attention values and a feed-forward part, both with residuals."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float):
        super().__init__()
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)
        self.heads, self.dropout = heads, nn.Dropout(dropout)

    def forward(self, vectors: Tensor) -> Tensor:
        value = self.value(self.norm1(vectors)).unflatten(1, (self.heads, -1))
        # dropout of the attention weights, which are all 1
        kept = self.dropout(value.new_ones(value.shape[:2])).unsqueeze(2)
        vectors = vectors + self.dropout(self.out((value * kept).flatten(1)))
        dense = self.narrow(self.dropout(functional.relu(self.widen(self.norm2(vectors)))))
        return vectors + self.dropout(dense)
