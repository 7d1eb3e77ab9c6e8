"""Networks of policies: normalised observations, layers, precision."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

from warpdyn.rl.learners import networks

ACTIVATION_FUNCTIONS = {
    "elu": torch.nn.functional.elu,
    "relu": torch.relu,
    "silu": torch.nn.functional.silu,
    "tanh": torch.tanh,
}


def test_mean_and_variance_cover_all_batches_of_observations() -> None:
    """The sizes of the batches do not matter."""
    every = 5.0 * torch.randn(1000, 4, generator=torch.Generator().manual_seed(0)) - 2.0
    normalizer = networks.Normalizer(4)
    for part in every.split([7, 500, 1, 492]):
        normalizer.update(part, rl.Processes())
    assert int(normalizer.count) == 1000
    assert torch.allclose(normalizer.mean, every.mean(0), atol=1e-5)
    assert torch.allclose(normalizer.variance, every.var(0, correction=0), rtol=1e-5)
    normalised = normalizer(every)
    assert torch.allclose(normalised.mean(0), torch.zeros(4), atol=1e-5)
    assert torch.allclose(normalised.std(0), torch.ones(4), atol=0.01)


def test_a_constant_observation_is_normalised_to_a_finite_number() -> None:
    normalizer = networks.Normalizer(1)
    normalizer.update(torch.full((10, 1), 3.0), rl.Processes())
    assert float(normalizer(torch.full((1, 1), 3.1))) == pytest.approx(0.1 / 0.01, rel=1e-4)


def test_networks_of_the_same_observations_share_their_normalizer() -> None:
    normalizer = networks.Normalizer(3)
    actor, critic = (networks.Network(normalizer, n, (8,), "relu") for n in (2, 1))
    normalizer.update(torch.randn(20, 3), rl.Processes())
    assert actor.normalizer is critic.normalizer
    seen = torch.randn(5, 3)
    layers = actor.linear_layers
    wanted = layers[1](torch.relu(layers[0](normalizer(seen))))
    assert torch.equal(actor(seen), wanted) and critic(seen).shape == (5, 1)


def test_hidden_layers_compute_in_bfloat16_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    network = networks.Network(networks.Normalizer(3), 2, (64, 64), "elu")
    seen = torch.randn(9, 3)
    high, low = network.outputs(seen), network.outputs(seen, bfloat16=True)
    assert low.dtype == torch.float32 and 0.0 < float((high - low).detach().abs().max()) < 0.05
    cpu = torch.device("cpu")
    for known in (True, False):
        monkeypatch.setattr(networks, "has_bfloat16_instructions", lambda known=known: known)
        assert networks.computes_in_bfloat16("auto", cpu) is known
    assert networks.computes_in_bfloat16("bfloat16", cpu)
    assert not networks.computes_in_bfloat16("float32", cpu)
    assert not networks.computes_in_bfloat16("auto", torch.device("cuda"))


@pytest.mark.parametrize("activation", networks.ACTIVATIONS)
@pytest.mark.parametrize("bfloat16", [False, True])
def test_outputs_and_gradients_are_those_of_autocast(activation: str, bfloat16: bool) -> None:
    """Converted weights give the same bits, with or without gradients, and leave their input."""
    network = networks.Network(networks.Normalizer(3), 2, (64, 32), activation)
    seen = torch.randn(9, 3, generator=torch.Generator().manual_seed(0))
    before, parameters = seen.clone(), list(network.parameters())
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        hidden = seen
        for layer in network.linear_layers[:-1]:
            hidden = ACTIVATION_FUNCTIONS[activation](layer(hidden))
    wanted = network.last(hidden.float())
    outputs = network.outputs(seen, bfloat16)
    assert torch.equal(outputs, wanted) and torch.equal(seen, before)
    gradients = (torch.autograd.grad(x.square().sum(), parameters) for x in (outputs, wanted))
    assert all(torch.equal(x, y) for x, y in zip(*gradients, strict=True))
    with torch.no_grad():
        assert torch.equal(network.with_converted_weights(bfloat16)(seen), wanted)
        network.linear_layers[0].weight.mul_(2.0)
        now = network.with_converted_weights(bfloat16)(seen)
    assert torch.equal(now, network.outputs(seen, bfloat16)) and not torch.equal(now, wanted)


def test_flat_gradients_receive_those_of_a_backward_pass() -> None:
    layer = torch.nn.Linear(3, 2)
    parameters = list(layer.parameters())
    flat = networks.flat_gradients(parameters)
    seen = torch.arange(6.0).view(2, 3)
    for _ in range(2):
        flat.zero_()
        layer(seen).sum().backward()
        assert flat.tolist() == [3.0, 5.0, 7.0, 3.0, 5.0, 7.0, 2.0, 2.0]
        assert all(x.grad is not None for x in parameters)
        assert parameters[0].grad.data_ptr() == flat.data_ptr()


class Half:
    """The second of two processes, whose tensors are equal but for the sums of the other one."""

    count = 2

    def __init__(self, *others: torch.Tensor):
        self.others = list(others)

    def total(self, x: torch.Tensor) -> torch.Tensor:
        """The sum over both; in place, as in a group of processes."""
        return x.add_(self.others.pop(0).to(x.dtype).reshape(x.shape))


def test_mean_and_variance_cover_the_observations_of_two_processes() -> None:
    """Shapes do not change.

    A parameter without gradient is skipped. One process changes nothing.
    """
    every = 5.0 * torch.randn(100, 3, generator=torch.Generator().manual_seed(1)) - 2.0
    mine, other = every[:30], every[30:]
    variance, mean = torch.var_mean(other, dim=0, correction=0)
    off = (mean - every.mean(0)).square()
    normalizer = networks.Normalizer(3)
    normalizer.update(mine, Half(torch.tensor(70.0), 0.7 * mean, 0.7 * (variance + off)))
    assert int(normalizer.count) == 100
    assert torch.allclose(normalizer.mean, every.mean(0), atol=1e-5)
    assert torch.allclose(normalizer.variance, every.var(0, correction=0), rtol=1e-4)


def test_gradients_of_two_processes_are_averaged() -> None:
    """Shapes do not change.

    A parameter without gradient is skipped. One process changes nothing.
    """
    parameters = [torch.nn.Parameter(torch.zeros(shape)) for shape in ((2, 3), (), (4,))]
    for k, x in enumerate(parameters[::2]):
        x.grad = torch.arange(x.numel(), dtype=torch.float32).reshape(x.shape) + k
    before = [x.grad.clone() for x in parameters[::2]]
    networks.average_gradients(parameters, rl.Processes())
    assert all(torch.equal(x.grad, y) for x, y in zip(parameters[::2], before, strict=True))
    networks.average_gradients(parameters, Half(10.0 * torch.arange(10.0)))
    added = (10.0 * torch.arange(6.0).reshape(2, 3), 10.0 * torch.arange(6.0, 10.0))
    for x, y, z in zip(parameters[::2], before, added, strict=True):
        assert torch.equal(x.grad, (y + z) / 2)
    assert parameters[1].grad is None
