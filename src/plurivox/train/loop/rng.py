"""All randomness of a training, apart from the caller's."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


class TrainRng:
    """A generator for orders and draws, and a state for torch's own generators (which dropout uses).

    Both are seeded once and can be saved, so that a resumed training draws the same numbers.
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        self.device = device
        self.draws = torch.Generator(device).manual_seed(seed)
        with _kept(device):
            torch.manual_seed(seed)
            self._common = _states(device)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Use our state of torch's own generators inside the block; the caller's state is restored after it."""
        with _kept(self.device), _repeatable():
            _set(self._common, self.device)
            try:
                yield
            finally:
                self._common = _states(self.device)

    @contextmanager
    def as_generator(self) -> Iterator[torch.Generator]:
        """Our state of torch's own generator as a generator of its own, whose state is taken over at the end; on a CPU."""
        generator = torch.Generator()
        generator.set_state(self._common[0])
        try:
            yield generator
        finally:
            self._common[0] = generator.get_state()

    def state(self) -> dict[str, Tensor]:
        """The states of all generators as tensors of bytes."""
        return {"draws": self.draws.get_state(), **{f"common{i}": one for i, one in enumerate(self._common)}}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from such states."""
        self.draws.set_state(state["draws"].cpu())
        self._common = [state[f"common{i}"].cpu() for i in range(len(self._common))]


@contextmanager
def _repeatable() -> Iterator[None]:
    """Let cuDNN take algorithms that give the same bits again."""
    cudnn = torch.backends.cudnn
    before = cudnn.deterministic, cudnn.benchmark
    cudnn.deterministic, cudnn.benchmark = True, False
    try:
        yield
    finally:
        cudnn.deterministic, cudnn.benchmark = before


@contextmanager
def _kept(device: torch.device) -> Iterator[None]:
    before = _states(device)
    try:
        yield
    finally:
        _set(before, device)


def _states(device: torch.device) -> list[Tensor]:
    cpu = [torch.get_rng_state()]
    return [*cpu, torch.cuda.get_rng_state(device)] if device.type == "cuda" else cpu


def _set(states: list[Tensor], device: torch.device) -> None:
    torch.set_rng_state(states[0])
    if device.type == "cuda":
        torch.cuda.set_rng_state(states[1], device)
