"""Head `two-heads`: a second output layer for the soft labels beside the net's own for the main label."""

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
from plurivox.train.parallel.stacked_net import StackedLinear, StackedNet
from plurivox.train.targets._contract import TargetKind


@dataclass(frozen=True)
class TwoHeads(Head):
    """A hard head and a soft head on one trunk: the label is the main task, the crowd's distribution the auxiliary one.

    loss = cross-entropy(hard head, main label) + soft loss(soft head, crowd's distribution), a plain sum without weights:
    the base of the soft loss's logarithm sets its weight. The main label may be gold or silver (the majority vote). The soft
    head is a second layer like the net's last one and is not used for prediction.

    Fornaciari et al. (2021), https://doi.org/10.18653/v1/2021.naacl-main.204
    """

    target_kind: ClassVar[TargetKind] = "pair"
    can_stack: ClassVar[bool] = True

    soft_loss: str = option("kl[base=2]", "loss function of the soft head")
    hard_loss: str = option("soft-cross-entropy", "loss function of the hard head")

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        hook = FeatureHook(net, context.n_labels)
        return _TwoHeadsModule(hook, hook.make_head(context.n_labels), *self.make_hard_loss_and_soft_loss())

    def make_hard_loss_and_soft_loss(self) -> tuple[Loss, Loss]:
        """Return the loss function of the hard head and that of the soft head."""
        return losses.methods.make(self.hard_loss), losses.methods.make(self.soft_loss)


class _TwoHeadsModule(HeadModule):
    """Torch module of the head `two-heads`."""

    def __init__(self, hook: "FeatureHook", soft_head: nn.Module, hard_loss: Loss, soft_loss: Loss) -> None:
        super().__init__()
        self.soft_head = soft_head
        self.hook, self.hard_loss, self.soft_loss = hook, hard_loss, soft_loss

    def forward(self, logits: Tensor, labelled_batch: Batch) -> Tensor:
        assert isinstance(labelled_batch.labels, tuple)
        main, crowd = labelled_batch.labels
        return self.hard_loss(logits, main) + self.soft_loss(self.soft_head(self.hook.pop_features().float()), crowd)

    def stacking_compatibility_key(self) -> Hashable:
        return self.hard_loss, self.soft_loss

    def stack_heads(self, heads_of_runs: Sequence["_TwoHeadsModule"], stacked_net: nn.Module) -> HeadModule:
        assert isinstance(stacked_net, StackedNet)
        every = StackedLinear([one.soft_head for one in heads_of_runs if isinstance(one.soft_head, nn.Linear)])
        return _TwoHeadsModule(
            FeatureHook.register_hook_on_layer_input(stacked_net.head), every, self.hard_loss, self.soft_loss
        )


class FeatureHook:
    """A forward hook that stores the input of a net's last layer; `make_head` makes another such layer.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
    >>> hook, _ = FeatureHook(net, 2), net(torch.ones(4, 3))
    >>> tuple(hook.pop_features().shape), hook.make_head(2)
    ((4, 5), Linear(in_features=5, out_features=2, bias=True))
    """

    _features: Tensor | None = None  # (n, width)

    def __init__(self, net: nn.Module, n_labels: int) -> None:
        last, self.make_head = _find_output_layer_and_factory(net, n_labels)
        last.register_forward_pre_hook(self._store_layer_input)

    @classmethod
    def register_hook_on_layer_input(cls, layer: nn.Module) -> Self:
        """Register and return a hook that stores the input of `layer`; it has no `make_head`."""
        hook = cls.__new__(cls)
        layer.register_forward_pre_hook(hook._store_layer_input)
        return hook

    def _store_layer_input(self, module: nn.Module, inputs: tuple[Any, ...]) -> None:
        """Forward pre-hook: store the input of the hooked layer."""
        del module
        self._features = inputs[0]

    def pop_features(self) -> Tensor:
        """(n, width) the stored features of the latest call, which are dropped here to free the autograd graph."""
        features, self._features = self._features, None
        assert features is not None, "the net was not called"
        return features


def _find_output_layer_and_factory(net: nn.Module, n_labels: int) -> tuple[nn.Module, Callable[[int], nn.Module]]:
    """Return the layer of a net that outputs its logits, and a function that makes another such layer for n labels.

    They are the net's `head` and `make_head` if it has them, else its last linear layer with `n_labels` outputs.
    """
    head, make_head = getattr(net, "head", None), getattr(net, "make_head", None)
    if isinstance(head, nn.Module) and callable(make_head):
        return head, make_head
    last = [one for one in net.modules() if isinstance(one, nn.Linear) and one.out_features == n_labels]
    if not last:
        raise InputError(
            f"a second head needs a net that ends in a linear layer of {n_labels} outputs; this net has none"
        )
    return last[-1], partial(nn.Linear, last[-1].in_features)
