"""A hard head and a soft head on one trunk."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from plurivox.core.method import option
from plurivox.train import losses
from plurivox.train.heads._contract import Attached, Batch, Head, Scene
from plurivox.train.heads._shared.feature_hook import Tap
from plurivox.train.losses import Loss
from plurivox.train.parallel.stacked_net import Linears, Stacked
from plurivox.train.targets._contract import Gives


@dataclass(frozen=True)
class TwoHeads(Head):
    """A hard head and a soft head on one trunk: the label is the main task, the crowd's distribution the other.

    loss = cross-entropy(hard head, main label) + soft loss(soft head, crowd's distribution), a plain sum without weights:
    the base of the soft loss's logarithm sets its weight. The main label may be gold or silver (the majority's). The soft
    head is a second layer like the net's last; the net alone predicts.

    Fornaciari et al. (2021), https://doi.org/10.18653/v1/2021.naacl-main.204
    """

    wants: ClassVar[Gives] = "pair"
    stacks: ClassVar[bool] = True

    soft_loss: str = option("kl[base=2]", "loss of the soft head")
    hard_loss: str = option("soft-cross-entropy", "loss of the hard head")

    def build(self, net: nn.Module, scene: Scene) -> Attached:
        tap = Tap(net, scene.n_labels)
        return _Two(tap, tap.make_head(scene.n_labels), *self.losses())

    def losses(self) -> tuple[Loss, Loss]:
        """(hard, soft)."""
        return losses.methods.make(self.hard_loss), losses.methods.make(self.soft_loss)


class _Two(Attached):
    def __init__(self, tap: Tap, soft_head: nn.Module, hard_loss: Loss, soft_loss: Loss) -> None:
        super().__init__()
        self.soft_head = soft_head
        self.tap, self.hard_loss, self.soft_loss = tap, hard_loss, soft_loss

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        assert isinstance(batch.drawn, tuple)
        main, crowd = batch.drawn
        return self.hard_loss(logits, main) + self.soft_loss(self.soft_head(self.tap.take().float()), crowd)

    def stack_key(self) -> Hashable:
        return self.hard_loss, self.soft_loss

    def stacked(self, heads: Sequence["_Two"], net: nn.Module) -> Attached:
        assert isinstance(net, Stacked)
        every = Linears([one.soft_head for one in heads if isinstance(one.soft_head, nn.Linear)])
        return _Two(Tap.before(net.head), every, self.hard_loss, self.soft_loss)
