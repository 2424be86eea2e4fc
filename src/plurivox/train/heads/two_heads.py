"""A hard head and a soft head on one trunk."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

from torch import Tensor, nn

from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.train import losses
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
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

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        tap = Tap(net, context.n_labels)
        return _Two(tap, tap.make_head(context.n_labels), *self.losses())

    def losses(self) -> tuple[Loss, Loss]:
        """(hard, soft)."""
        return losses.methods.make(self.hard_loss), losses.methods.make(self.soft_loss)


class _Two(HeadModule):
    def __init__(self, tap: "Tap", soft_head: nn.Module, hard_loss: Loss, soft_loss: Loss) -> None:
        super().__init__()
        self.soft_head = soft_head
        self.tap, self.hard_loss, self.soft_loss = tap, hard_loss, soft_loss

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        assert isinstance(batch.drawn, tuple)
        main, crowd = batch.drawn
        return self.hard_loss(logits, main) + self.soft_loss(self.soft_head(self.tap.take().float()), crowd)

    def stack_key(self) -> Hashable:
        return self.hard_loss, self.soft_loss

    def stacked(self, heads: Sequence["_Two"], net: nn.Module) -> HeadModule:
        assert isinstance(net, Stacked)
        every = Linears([one.soft_head for one in heads if isinstance(one.soft_head, nn.Linear)])
        return _Two(Tap.before(net.head), every, self.hard_loss, self.soft_loss)


class Tap:
    """The features that enter the last layer of a net, as of its latest call, and what makes a layer like it.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
    >>> tap, _ = Tap(net, 2), net(torch.ones(4, 3))
    >>> tuple(tap.take().shape), tap.make_head(2)
    ((4, 5), Linear(in_features=5, out_features=2, bias=True))
    """

    _features: Tensor | None = None  # (n, width)

    def __init__(self, net: nn.Module, n_labels: int) -> None:
        last, self.make_head = _last_layer(net, n_labels)
        last.register_forward_pre_hook(self._keep)

    @classmethod
    def before(cls, last: nn.Module) -> Self:
        """A tap on what enters this layer; it makes no other."""
        tap = cls.__new__(cls)
        last.register_forward_pre_hook(tap._keep)
        return tap

    def _keep(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        del module
        self._features = given[0]

    def take(self) -> Tensor:
        """(n, width) the features; they are not kept, so that nothing holds the way back to the weights alive."""
        features, self._features = self._features, None
        assert features is not None, "the net was not called"
        return features


def _last_layer(net: nn.Module, n_labels: int) -> tuple[nn.Module, Callable[[int], nn.Module]]:
    """The layer that gives the logits, and what makes another: as the net says, or its last linear one."""
    head, make_head = getattr(net, "head", None), getattr(net, "make_head", None)
    if isinstance(head, nn.Module) and callable(make_head):
        return head, make_head
    last = [one for one in net.modules() if isinstance(one, nn.Linear) and one.out_features == n_labels]
    if not last:
        raise InputError(f"a second head needs a net that ends in a linear layer of {n_labels} outputs; this has none")
    return last[-1], partial(nn.Linear, last[-1].in_features)
