"""Contract tests that every net in the registry must pass, including any added later."""

import copy
import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from plurivox.train import nets

pytestmark = pytest.mark.training
every = pytest.mark.parametrize("name", nets.methods)
N_LABELS = 3


def net(name: str, seed: int = 0) -> nn.Module:
    """Return a small net of that name."""
    method = nets.methods[name]
    torch.manual_seed(seed)
    return method(**method.small).build(method.example, N_LABELS)


def inputs(name: str, n: int = 5) -> Tensor:
    """Return random inputs: codes for nets on text, else numbers from 0 to 1."""
    method = nets.methods[name]
    rng = torch.Generator("cpu").manual_seed(3)
    if "chars" in method.small:
        return torch.randint(0, 7, (n, *method.example), generator=rng, device="cpu")
    return torch.rand((n, *method.example), generator=rng, device="cpu")


@every
def test_name_summary_and_spec(name: str) -> None:
    method = nets.methods[name]
    assert method.name() == name and method.summary() == nets.methods.summary(name) != ""
    assert all(one.help for one in method.options())
    small = method(**method.small)
    assert nets.methods.make(small.spec) == small


@every
def test_outputs_are_logits_and_not_probabilities(name: str) -> None:
    logits = net(name)(inputs(name))
    assert logits.shape == (5, N_LABELS) and logits.dtype == torch.float32
    assert not torch.allclose(logits.sum(1), torch.ones(5)) or (logits < 0).any()


@every
def test_every_parameter_gets_a_gradient(name: str) -> None:
    made = net(name)
    made(inputs(name)).square().sum().backward()
    missing = [key for key, one in made.named_parameters() if one.grad is None or not one.grad.isfinite().all()]
    assert not missing
    assert sum(float(one.grad.abs().sum()) for one in made.parameters() if one.grad is not None) > 0


@every
def test_the_same_seed_gives_the_same_weights(name: str) -> None:
    one, same, other = (nn.utils.parameters_to_vector(net(name, seed).parameters()) for seed in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)


@every
def test_a_prediction_does_not_depend_on_its_batch(name: str) -> None:
    made, x = net(name).eval(), inputs(name)
    with torch.no_grad():
        torch.testing.assert_close(made(x), torch.cat([made(x[:2]), made(x[2:3]), made(x[3:])]), atol=1e-5, rtol=1e-4)


@every
def test_weights_are_the_same_after_a_file_and_a_copy(name: str, tmp_path: Path) -> None:
    made, other, x = net(name, 1), net(name, 2), inputs(name)
    made(x)  # in training mode this changes the running means
    save_file(made.state_dict(), tmp_path / "weights.safetensors")
    other.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    with torch.no_grad():
        expected = made.eval()(x)
        assert torch.equal(other.eval()(x), expected)
        assert torch.equal(copy.deepcopy(made)(x), expected)
        assert torch.equal(pickle.loads(pickle.dumps(made))(x), expected)


@every
def test_a_second_head_can_use_the_same_features(name: str) -> None:
    made, x = net(name).eval(), inputs(name)
    features, head = made.features(x), made.make_head(4).eval()
    assert features.ndim == 2 and head(features).shape == (5, 4)
    torch.testing.assert_close(made.head(features), made(x))
    shared = {one.data_ptr() for one in made.parameters()} & {one.data_ptr() for one in head.parameters()}
    assert not shared  # the second head has its own weights


@every
def test_a_net_is_rebuilt_without_its_weight_file(name: str) -> None:
    method = nets.methods[name]
    files = [one.name for one in method.options() if "file" in one.help]
    made = method(**{**method.small, **dict.fromkeys(files, "no/such/file")})
    made.build(method.example, N_LABELS)


@every
def test_sizes_are_taken_from_the_inputs(name: str) -> None:
    method = nets.methods[name]
    bare = method(**{key: value for key, value in method.small.items() if key not in ("words", "chars")})
    sized = bare.with_input_sizes(inputs(name))
    sized.build(method.example, N_LABELS)(inputs(name))
    assert sized.with_input_sizes(inputs(name)) == sized


@every
def test_no_data_are_copied_off_the_device(name: str) -> None:
    with torch.device("meta"):  # tensors on this device have no data to copy
        made, x = net(name), inputs(name).to("meta")
    assert made(x).shape == (5, N_LABELS)
