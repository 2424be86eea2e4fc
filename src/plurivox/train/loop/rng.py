"""Random number generators of a training, separate from the caller's global ones."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


class TrainRng:
    """Random state of one training: a generator for orders and draws, and a state of torch's global generators.

    Initial weights and dropout use torch's global generators. All are seeded once and saved in checkpoints, so that a resumed
    training draws the same numbers.
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        self.device = device
        self.generator = torch.Generator(device).manual_seed(seed)
        with _preserve_global_rng_context(device):
            torch.manual_seed(seed)
            self._torch_states = _global_rng_states(device)

    @contextmanager
    def training_rng_as_global_rng_context(self) -> Iterator[None]:
        """Context manager: torch's global generators have this training's state inside the block, then the caller's again."""
        with _preserve_global_rng_context(self.device), _deterministic_cudnn_context():
            _set_global_rng_states(self._torch_states, self.device)
            try:
                yield
            finally:
                self._torch_states = _global_rng_states(self.device)

    @contextmanager
    def new_generator_from_stored_state_context(self) -> Iterator[torch.Generator]:
        """Context manager: yield a generator in this training's state of torch's CPU generator; store its state at the end."""
        generator = torch.Generator()
        generator.set_state(self._torch_states[0])
        try:
            yield generator
        finally:
            self._torch_states[0] = generator.get_state()

    def rng_state_tensors_by_name(self) -> dict[str, Tensor]:
        """Return the states of the random generators of this training as named byte tensors, for a checkpoint."""
        return {"draws": self.generator.get_state(), **{f"common{i}": one for i, one in enumerate(self._torch_states)}}

    def load_rng_state(self, tensors_by_name: dict[str, Tensor]) -> None:
        """Set the states of the random generators of this training from the result of `rng_state_tensors_by_name`."""
        self.generator.set_state(tensors_by_name["draws"].cpu())
        self._torch_states = [tensors_by_name[f"common{i}"].cpu() for i in range(len(self._torch_states))]


@contextmanager
def _deterministic_cudnn_context() -> Iterator[None]:
    """Context manager: make cuDNN use deterministic algorithms inside the block."""
    cudnn = torch.backends.cudnn
    before = cudnn.deterministic, cudnn.benchmark
    cudnn.deterministic, cudnn.benchmark = True, False
    try:
        yield
    finally:
        cudnn.deterministic, cudnn.benchmark = before


@contextmanager
def _preserve_global_rng_context(device: torch.device) -> Iterator[None]:
    """Context manager: restore the states of torch's global random generators after the block."""
    before = _global_rng_states(device)
    try:
        yield
    finally:
        _set_global_rng_states(before, device)


def _global_rng_states(device: torch.device) -> list[Tensor]:
    """Return the states of torch's global random generators: of the CPU and, on CUDA, of the device."""
    cpu = [torch.get_rng_state()]
    return [*cpu, torch.cuda.get_rng_state(device)] if device.type == "cuda" else cpu


def _set_global_rng_states(states: list[Tensor], device: torch.device) -> None:
    """Set the states of torch's global generators from the result of `_global_rng_states`."""
    torch.set_rng_state(states[0])
    if device.type == "cuda":
        torch.cuda.set_rng_state(states[1], device)
