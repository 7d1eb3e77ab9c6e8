"""Loops with arrays in a thread's memory. The PTX gives the results of the CPU."""

from __future__ import annotations

from cuda_device.emulated_processes import last_json, run_emulated

CALLS = """
import json
import numpy as np, warp as wp, warpdyn as wd
model = wd.load_robot("cartpole")

@wd.kernel
def swept(robot, q, x: (4,), z: (2,)):
    def sweep(n, s, arrays):
        def slot(k, s, arrays):
            a, b = arrays
            row = a[k] + 0.1 * a[z[0] + k]
            b[z[1]] = 0.5 * b[z[1]] + np.sin(row[0])
            a[k - 1] = row * x[0]
            return s + row[1] * b[k]
        return wd.kernels.loop(4, slot, s, arrays)[0]
    a = np.stack([x, x[::-1]], axis=1)
    s, (a, b) = wd.kernels.loop(3, sweep, q[0], (a, np.zeros(3)))
    return np.concatenate([np.stack([s]), a[:].reshape(-1), b[:]])

draw = np.random.default_rng(0)
given = [draw.uniform(-1, 1, (40, 2)), draw.uniform(-1, 1, (40, 4))]
given.append(draw.integers(-1, 5, (40, 2)).astype(float))
w = draw.uniform(-1, 1, (40, 12))
far = {}
for dtype in (np.float32, np.float64):
    here = [np.asarray(x, dtype) for x in given]
    there = [wp.array(x, device="cuda:0") for x in here]
    seeds = np.asarray(w, dtype)
    pairs = [(swept(model, *here), swept(model, *there))]
    on_cpu = wd.vjp(swept, model, *here, cotangents=seeds, wrt=("q", "x"))
    on_gpu = wd.vjp(swept, model, *there, cotangents=wp.array(seeds, device="cuda:0"), wrt=("q", "x"))
    pairs += zip(on_cpu, on_gpu)
    far[dtype.__name__] = [float(np.abs(a - b.numpy()).max()) for a, b in pairs]
print(json.dumps(far))
"""

LEFT_OUT = """
import json
import numpy as np, warp as wp, warpdyn as wd
from array_programs import SHAPES, leaves_out
from warpdyn.execution.batched import batched
from warpdyn.execution.request.call import Call
model = wd.load_robot("cartpole")

def called(always):
    def program(tree, x, z):
        return leaves_out(x, z, always=always)

    @batched
    def run(model, x, z, *, out=None):
        name = f"left_out_{always}"
        return Call(name, model, (program,), {"x": x, "z": z}, out=out, shapes=SHAPES)

    return run

draw = np.random.default_rng(0)
given = [draw.uniform(-0.6, 0.6, (70, 4)), draw.integers(-1, 6, (70, 3)).astype(float)]
dx, w = draw.uniform(-1, 1, (70, 4)), draw.uniform(-1, 1, (70, 8))
found = {}
for dtype in (np.float32, np.float64):
    there = [wp.array(x.astype(dtype), device="cuda:0") for x in given]
    tangents, seeds = (wp.array(x.astype(dtype), device="cuda:0") for x in (dx, w))
    forms = []
    for always in (False, True):
        run = called(always)
        forms.append([run(model, *there)])
        forms[-1].append(wd.jvp(run, model, *there, tangents={"x": tangents}))
        forms[-1].append(wd.vjp(run, model, *there, cotangents=seeds, wrt="x"))
    pairs = [(a.numpy(), b.numpy()) for a, b in zip(*forms)]
    assert all(np.isfinite(a).all() and a.any() for a, _ in pairs)
    found[dtype.__name__] = [bool(np.array_equal(a, b)) for a, b in pairs]
print(json.dumps(found))
"""

CLOSE = {"float32": 1e-5, "float64": 1e-13}
"""Largest differences: sines of another library."""


def test_a_call_and_its_gradient_agree_with_the_cpu() -> None:
    """It has nested loops, and rows at counters and at indices of an environment, in both types."""
    for dtype, differences in last_json(run_emulated("-c", CALLS)).items():
        assert max(differences) < CLOSE[dtype], differences


def test_skipped_steps_change_no_bit() -> None:
    """Results, tangents and adjoints are equal for a program that skips steps and one that computes
    all."""
    found = last_json(run_emulated("-c", LEFT_OUT))
    assert found == {"float32": [True] * 3, "float64": [True] * 3}
