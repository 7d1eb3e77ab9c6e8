"""Networks of a policy: linear layers on normalised observations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import nn

from ..several_processes import Processes
from ..task import TaskError

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "elu": nn.ELU,
    "relu": partial(nn.ReLU, inplace=True),
    "silu": nn.SiLU,
    "tanh": nn.Tanh,
}
"""Functions between two layers, by the names that a recipe uses. ReLU writes over its input: its
derivative follows from its result, and an update then needs less memory."""

SMALLEST_DEVIATION = 0.01
"""Added to the standard deviation of each observation before the division."""


class Normalizer(nn.Module):
    """Observations minus their mean, divided by their standard deviation, (B, n) → (B, n).

    Mean and variance are those of all observations that `update` has received.
    """

    mean: torch.Tensor
    variance: torch.Tensor
    count: torch.Tensor

    def __init__(self, width: int):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    @property
    def scale(self) -> torch.Tensor:
        """Divisor of each observation (n,)."""
        return self.variance.sqrt() + SMALLEST_DEVIATION

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Normalised observations."""
        return (observations - self.mean) / self.scale

    @torch.no_grad()
    def update(self, observations: torch.Tensor, processes: Processes) -> None:
        """Add the observations (B, n) of all processes to mean and variance (Chan, Golub, LeVeque
        1979, for two sets of samples)."""
        mean = observations.mean(0)
        # On a CPU torch.var takes ten times as long as these two passes.
        variance = (observations - mean).square().mean(0)
        count = torch.full((), len(observations), dtype=torch.float64, device=mean.device)
        if processes.count > 1:
            own_count, own_mean = count.clone(), mean
            processes.total(count)
            share = (own_count / count).to(mean.dtype)
            mean = processes.total(share * own_mean)
            variance = processes.total(share * (variance + (own_mean - mean).square()))
        self.count += count
        share = (count / self.count).to(mean.dtype)
        change = mean - self.mean
        self.mean += share * change
        self.variance += share * (variance - self.variance + change * (mean - self.mean))


class Network(nn.Module):
    """Normalised observations through hidden layers of the given widths and a linear last layer,
    (B, n) → (B, outputs). Networks with the same observations share their normalizer."""

    def __init__(
        self, normalizer: Normalizer, outputs: int, widths: Sequence[int], activation: str
    ):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise TaskError(
                f"activation must be {', '.join(map(repr, ACTIVATIONS))}, got {activation!r}"
            )
        self.normalizer, inputs = normalizer, len(normalizer.mean)
        self.hidden, self.activation = nn.Sequential(), activation
        for width in widths:
            self.hidden.append(nn.Linear(inputs, width)).append(ACTIVATIONS[activation]())
            inputs = width
        self.last = nn.Linear(inputs, outputs)

    @property
    def linear_layers(self) -> list[nn.Linear]:
        """The linear layers, from the observations to the outputs."""
        return [*(x for x in self.hidden if isinstance(x, nn.Linear)), self.last]

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Outputs for observations that are not normalised."""
        return self.outputs(self.normalizer(observations))

    def outputs(self, normalised: torch.Tensor, bfloat16: bool = False) -> torch.Tensor:
        """Outputs for normalised observations. The hidden layers may compute in bfloat16. The last
        layer is always in float32."""
        return self.with_converted_weights(bfloat16)(normalised)

    def with_converted_weights(self, bfloat16: bool) -> Callable[[torch.Tensor], torch.Tensor]:
        """`outputs` as a function, for many calls with the same weights: they are converted to the
        precision of the hidden layers once. Make a new function when the weights have changed."""
        precision = torch.bfloat16 if bfloat16 else self.last.weight.dtype
        *hidden, last = self.linear_layers
        weights = [(x.weight.to(precision), x.bias.to(precision)) for x in hidden]
        activation = ACTIVATIONS[self.activation]()

        def outputs(normalised: torch.Tensor) -> torch.Tensor:
            x = normalised.to(precision)
            for weight, bias in weights:
                x = activation(nn.functional.linear(x, weight, bias))
            return nn.functional.linear(x.to(last.weight.dtype), last.weight, last.bias)

        return outputs


def flat_gradients(parameters: Sequence[nn.Parameter]) -> torch.Tensor:
    """Give parameters zero gradients that are parts of one vector, and return it: one operation
    clears all of them, or computes their norm."""
    sizes = [x.numel() for x in parameters]
    gradients = torch.zeros(sum(sizes), device=parameters[0].device)
    for x, gradient in zip(parameters, torch.split(gradients, sizes), strict=True):
        x.grad = gradient.view_as(x)
    return gradients


def average_gradients(parameters: Sequence[nn.Parameter], processes: Processes) -> None:
    """Average the gradients of the parameters over all processes."""
    if processes.count == 1:
        return
    gradients = [x.grad for x in parameters if x.grad is not None]
    total = processes.total(torch.cat([x.flatten() for x in gradients]))
    parts = torch.split(total / processes.count, [x.numel() for x in gradients])
    for gradient, part in zip(gradients, parts, strict=True):
        gradient.copy_(part.view_as(gradient))


def computes_in_bfloat16(precision: str, device: torch.device) -> bool:
    """True if hidden layers compute in bfloat16: as asked, or with "auto" on a processor with
    instructions for it. Without them bfloat16 takes nine times as long as float32."""
    if precision == "auto":
        return device.type == "cpu" and has_bfloat16_instructions()
    if precision not in ("float32", "bfloat16"):
        raise TaskError(f'precision must be "float32", "bfloat16" or "auto", got {precision!r}')
    return precision == "bfloat16"


def has_bfloat16_instructions() -> bool:
    """True if Torch reports that the CPU multiplies bfloat16 numbers (AVX-512 BF16 or AMX)."""
    names = "_is_avx512_bf16_supported", "_is_amx_tile_supported"
    return any(getattr(torch.cpu, name, bool)() for name in names)
