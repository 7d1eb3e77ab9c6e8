"""Time of a policy in the environments' launch, compared with Torch's forward pass.

    python -m benchmarks.rl.launch_policy [--task quadruped_velocity] [--envs 4096] [--rounds 21]

A kernel written by hand computes the policy for sixteen environments at a time, as code inside the
launch would: one environment per vector lane, activations on the stack, sixteen sums in registers.
It runs after the environments' launch and reads the observations from memory. Inside the launch it
would not read them, which is a small part of its time. Its weights are those of a new policy with
the layers of the task's recipe. All forms take turns on one core, and their results are compared.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
import torch
import warp as wp

import warpdyn as wd
from warpdyn import rl
from warpdyn.rl.learners.networks import Network, Normalizer, has_bfloat16_instructions

LANES = 16
"""Environments at a time: float32 numbers of a vector of 512 bits."""

SUMS = 16
"""Outputs that are summed at the same time, each in a register."""

TOLERANCE = {"float32": 1e-5, "bfloat16": 2e-2}
"""Largest difference from Torch's results, relative to the largest one, by precision."""

WARM = 3
"""Rounds before the first that counts. The first one compiles."""

TYPES = """
typedef float lanes __attribute__((ext_vector_type(16)));
typedef unsigned short halves __attribute__((ext_vector_type(32)));
typedef __bf16 pairs __attribute__((vector_size(64)));
typedef float sums __attribute__((vector_size(64)));
"""

PACK = """
for (int i = 0; i < {inputs}; i += 2) {{
    const pairs both = __builtin_ia32_cvtne2ps2bf16_512((sums){source}[i + 1], (sums){source}[i]);
    {target}[i / 2] = (pairs)__builtin_shufflevector((halves)both, (halves)both, {order});
}}
"""
"""Two inputs of sixteen environments as bfloat16, next to each other."""


def layer_code(index: int, inputs: int, outputs: int, bfloat16: bool, last: bool) -> str:
    """C++ of a layer: `x<index>` (inputs) into `x<index + 1>` (outputs, padded)."""
    source, target = f"x{index}", f"x{index + 1}"
    steps, code = inputs, f"lanes {target}[{outputs}];\n"
    if bfloat16:
        order = ", ".join(f"{i}, {i + LANES}" for i in range(LANES))
        steps, code = inputs // 2, code + f"pairs p{index}[{inputs // 2}];\n"
        code += PACK.format(inputs=inputs, source=source, target=f"p{index}", order=order)
        source = f"p{index}"
    code += f"for (int block = 0; block < {outputs // SUMS}; ++block) {{\n"
    code += "".join(f"lanes s{k} = (lanes)weights[{k}];\n" for k in range(SUMS))
    code += f"weights += {SUMS};\nfor (int i = 0; i < {steps}; ++i, weights += {SUMS}) {{\n"
    code += f"const auto x = {source}[i];\n"
    for k in range(SUMS):
        if bfloat16:  # one 32-bit number holds the weights of two inputs
            weight = f"(pairs)(lanes)weights[{k}]"
            code += f"s{k} = (lanes)__builtin_ia32_dpbf16ps_512((sums)s{k}, x, {weight});\n"
        else:
            code += f"s{k} = __builtin_elementwise_fma((lanes)weights[{k}], x, s{k});\n"
    code += "}\n"
    for k in range(SUMS):
        value = f"s{k}" if last else f"__builtin_elementwise_max(s{k}, (lanes)0.0f)"
        code += f"{target}[{SUMS} * block + {k}] = {value};\n"
    return code + "}\n"


def padded_size(size: int) -> int:
    """The next multiple of the outputs that are summed at the same time."""
    return -(-size // SUMS) * SUMS


def even_size(size: int) -> int:
    """The next even number: bfloat16 weights are multiplied in pairs."""
    return size + size % 2


def network_code(sizes: list[int], bfloat16: bool) -> str:
    """C++ of the policy for the sixteen environments of a Warp thread."""
    inputs, actions = sizes[0], sizes[-1]
    code = (
        TYPES
        + f"""
    const float* observations = (const float*)args[0] + {LANES * inputs} * tid;
    const float* weights = (const float*)args[1];
    float* actions = (float*)args[2] + {LANES * actions} * tid;
    lanes x0[{even_size(inputs)}] = {{}};
    for (int i = 0; i < {inputs}; ++i, weights += 2) {{
        for (int lane = 0; lane < {LANES}; ++lane) x0[i][lane] = observations[{inputs} * lane + i];
        x0[i] = (x0[i] - weights[0]) * weights[1];
    }}
    """
    )
    # Outputs that pad a layer are zero, and the next layer's weights for them too.
    outputs = [padded_size(size) for size in sizes[1:]]
    for index, (width, size) in enumerate(
        zip([even_size(inputs), *outputs], outputs, strict=False)
    ):
        last = index == len(outputs) - 1
        code += layer_code(index, width, size, bfloat16 and not last, last)
    code += f"for (int k = 0; k < {actions}; ++k) for (int lane = 0; lane < {LANES}; ++lane)\n"
    return code + f"    actions[{actions} * lane + k] = x{len(outputs)}[k][lane];\n"


def packed_weights(network: Network, bfloat16: bool) -> np.ndarray:
    """The numbers of a network in the order in which its kernel reads them, as float32."""
    normalizer = network.normalizer
    parts = [torch.stack([normalizer.mean, 1.0 / normalizer.scale], 1).flatten()]
    columns = even_size(len(normalizer.mean))
    for layer in network.linear_layers:
        outputs, inputs = layer.weight.shape
        pad = padded_size(outputs) - outputs
        weight = torch.nn.functional.pad(layer.weight.detach(), (0, columns - inputs, 0, pad))
        bias = torch.nn.functional.pad(layer.bias.detach(), (0, pad)).reshape(-1, 1, SUMS)
        if bfloat16 and layer is not network.last:
            weight = weight.bfloat16().contiguous().view(torch.float32)  # two inputs a number
            bias = bias.bfloat16().float()
        blocks = weight.reshape(-1, SUMS, weight.shape[1]).transpose(1, 2)
        parts.append(torch.cat([bias, blocks], 1).flatten())
        columns = padded_size(outputs)
    return torch.cat(parts).contiguous().numpy()


Args = wp.types.vector(length=3, dtype=wp.int64)


def policy_kernel(code: str) -> wp.Kernel:
    """The Warp kernel of the code."""

    @wp.func_native(snippet=code)
    def evaluate(args: Args, tid: int): ...

    @wp.kernel(module="unique", enable_backward=False)
    def policy(args: Args):
        evaluate(args, wp.tid())

    return policy


class KernelPolicy:
    """A policy's mean actions by one kernel, (envs, n) → (envs, actions)."""

    def __init__(self, network: Network, envs: int, bfloat16: bool):
        sizes = [len(network.normalizer.mean), *(x.out_features for x in network.linear_layers)]
        self._weights = packed_weights(network, bfloat16)
        self.actions = torch.zeros(envs, sizes[-1])
        self._kernel, self._envs = policy_kernel(network_code(sizes, bfloat16)), envs

    def __call__(self, observations: torch.Tensor) -> torch.Tensor:
        addresses = observations.data_ptr(), self._weights.ctypes.data, self.actions.data_ptr()
        wp.launch(self._kernel, dim=self._envs // LANES, inputs=[Args(*addresses)], device="cpu")
        return self.actions


class TorchPolicy:
    """A policy's mean actions by Torch, as a training computes them."""

    def __init__(self, network: Network, bfloat16: bool):
        self._outputs = network.with_converted_weights(bfloat16)
        self._normalizer = network.normalizer

    def __call__(self, observations: torch.Tensor) -> torch.Tensor:
        return self._outputs(self._normalizer(observations))


def policy_observations(observations: Any) -> torch.Tensor:
    """The observations of the policy's group (envs, n)."""
    return observations["policy"] if isinstance(observations, dict) else observations


def policy_network(task: rl.Task, observations: torch.Tensor) -> Network:
    """A new policy with the layers of the task's recipe, which normalises these observations."""
    network = Network(Normalizer(observations.shape[1]), task.actions, task.recipe.layers, "relu")
    network.normalizer.mean.copy_(observations.mean(0))
    network.normalizer.variance.copy_(observations.var(0))
    return network


def policy_forms(network: Network, envs: int) -> dict[str, KernelPolicy | TorchPolicy]:
    """The policy in all forms that the processor has instructions for, by name."""
    forms: dict[str, KernelPolicy | TorchPolicy] = {}
    for precision in TOLERANCE:
        bfloat16 = precision == "bfloat16"
        if not bfloat16 or has_bfloat16_instructions():
            forms[f"kernel, {precision}"] = KernelPolicy(network, envs, bfloat16)
            forms[f"Torch, {precision}"] = TorchPolicy(network, bfloat16)
    return forms


def check_actions(actions: dict[str, torch.Tensor]) -> None:
    """Raise if a kernel's actions differ from Torch's in the same precision."""
    for precision, tolerance in TOLERANCE.items():
        if f"kernel, {precision}" in actions:
            kernel, reference = (actions[f"{form}, {precision}"] for form in ("kernel", "Torch"))
            error = float((kernel - reference).abs().max() / reference.abs().max())
            if not error < tolerance:
                raise ArithmeticError(
                    f"the kernel in {precision} differs from Torch by {error:.1e}"
                )


@torch.no_grad()
def measure(task: rl.Task, envs: int, rounds: int) -> dict[str, float]:
    """CPU microseconds per environment and step: medians of the environments' launch alone, and of
    each form of the policy."""
    env = rl.VecEnv(task, envs)
    observations = policy_observations(env.reset()[0])
    forms = policy_forms(policy_network(task, observations), envs)
    times: dict[str, list[int]] = {name: [] for name in ("environments", *forms)}
    for _ in range(rounds + WARM):
        actions = {}
        for name, form in forms.items():
            form(observations)  # brings the weights of this form into the cache
            start = time.process_time_ns()
            actions[name] = form(observations)
            times[name].append(time.process_time_ns() - start)
        check_actions(actions)
        start = time.process_time_ns()
        results = env.step(actions["Torch, float32"])
        times["environments"].append(time.process_time_ns() - start)
        observations = policy_observations(results[0])
    return {name: 1e-3 * statistics.median(x[WARM:]) / envs for name, x in times.items()}


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", default="quadruped_velocity")
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=21)
    arguments = parser.parse_args()
    envs = arguments.envs
    if envs < LANES or envs % LANES:
        parser.error(f"--envs must be a multiple of {LANES}, got {envs}")
    torch.set_num_threads(1)
    wd.runtime.set_num_threads(1)
    torch.manual_seed(0)
    task = rl.make(arguments.task)
    times = measure(task, envs, arguments.rounds)
    step = times.pop("environments")
    print(f"{arguments.task}, {envs} environments, layers {task.recipe.layers}, one core")
    print(f"{'environments alone':24} {step:6.2f} us per environment")
    for name, microseconds in times.items():
        print(f"{name:24} {microseconds:6.2f} us, {microseconds / step:5.2f} of the environments'")


if __name__ == "__main__":
    main()
