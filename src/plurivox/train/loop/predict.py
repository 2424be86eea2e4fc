"""Logits of a net in evaluation mode, computed in blocks."""

import torch
from torch import Tensor, nn

from plurivox.train.plan import Plan

CELLS = 2**22  # numbers of input taken at a time


def predict_logits(net: nn.Module, x: Tensor, plan: Plan | None = None) -> Tensor:
    """(n, n_labels) logits of the net as it predicts: no dropout, running means; its mode is put back afterwards."""
    size = max(1, min(8192, CELLS // max(x[:1].numel(), 1)))
    mixed = plan is not None and plan.precision == "bfloat16"
    was_training = net.training
    net.eval()
    try:
        with torch.no_grad(), torch.autocast(x.device.type, torch.bfloat16, enabled=mixed):
            parts = [net(part).float() for part in x.split(size)]
        return torch.cat(parts) if len(parts) != 1 else parts[0]
    finally:
        net.train(was_training)
