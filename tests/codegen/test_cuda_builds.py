"""The CUDA source compiles without a GPU: NVRTC compiles the five kernels of an arm and of a
quadruped to PTX for sm_90."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import warp as wp
from robots import by_name

import warpdyn as wd
from warpdyn.algebra.scalar import repeat, sin
from warpdyn.codegen.targets import write
from warpdyn.execution.compile.kernel import compile_kernel
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording import recorder
from warpdyn.recording.differentiation import pullback
from warpdyn.recording.program import record

ARCHITECTURE = 90


def call_of(algorithm: str, model: wd.Model):
    """The algorithm's call, and the trailing shapes of its inputs."""
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    wide = {"q": (model.nq,), "v": (model.nv,)}
    if algorithm == "rnea":
        return wd.rnea.describe(model, q, v, v), {**wide, "a": (model.nv,)}
    if algorithm == "aba":
        return wd.aba.describe(model, q, v, v), {**wide, "tau": (model.nv,)}
    if algorithm == "jacobian":
        return wd.jacobian.describe(model, q, frame=model.link_names[-1]), {"q": (model.nq,)}
    return getattr(wd, algorithm).describe(model, q), {"q": (model.nq,)}


@pytest.mark.parametrize("algorithm", ["fk", "jacobian", "rnea", "crba", "aba"])
@pytest.mark.parametrize("name", ["panda", "quadruped_floating"])
def test_kernels_compile_to_ptx(name: str, algorithm: str, tmp_path: Path) -> None:
    """The PTX is for sm_90, contains the kernel, and computes only in float32."""
    call, inputs = call_of(algorithm, by_name(name).model)
    text = write(record_call(call, inputs, True), f"{algorithm}_{name}", True, "cuda")
    kernel = compile_kernel(text)
    wp.compile_aot_module(kernel.module, arch=ARCHITECTURE, module_dir=tmp_path, use_ptx=True)
    (ptx,) = tmp_path.glob("*.ptx")
    code = ptx.read_text()
    assert f".target sm_{ARCHITECTURE}" in code and f"warpdyn_{algorithm}_{name}" in code
    assert (
        "fma.rn.f32" in code
        and "fma.rn.f64" not in code.split("trig_reduction_slowpath")[0].split(".entry", 1)[-1]
    ) or algorithm != "crba"


def test_a_double_kernel_compiles_to_ptx(tmp_path: Path) -> None:
    """It has float64, and forces by link name and the gravity of each environment among its
    inputs."""
    model = by_name("cartpole").model
    q = np.zeros(2)
    call = wd.rnea.describe(
        model, q, q, q, gravity=np.zeros((1, 3)), f_ext={model.link_names[-1]: np.zeros(6)}
    )
    inputs = {
        "q": (2,),
        "v": (2,),
        "a": (2,),
        "gravity": (3,),
        f"f_ext:{model.link_names[-1]}": (6,),
    }
    kernel = compile_kernel(write(record_call(call, inputs, False), "rnea_cartpole", False, "cuda"))
    wp.compile_aot_module(kernel.module, arch=ARCHITECTURE, module_dir=tmp_path, use_ptx=True)
    (ptx,) = tmp_path.glob("*.ptx")
    assert "fma.rn.f64" in ptx.read_text()


def test_pairs_in_slots_compile_to_ptx(tmp_path: Path) -> None:
    """They have loops on arrays of a thread, some without state, and loops that end early."""
    model = wd.ModelBuilder("floor").add_link("floor").build()
    for name in "ab":
        model = model.with_object(name, wd.description.Sphere(0.1), mass=1.0)
    q, v = np.zeros((1, 14)), np.zeros((1, 12))
    pairs = wd.ContactPairs(model).with_ground("a", "b")
    call = wd.step.describe(model, q, v, v, pairs=pairs, substeps=2)  # type: ignore[attr-defined]
    text = write(record_call(call, input_shapes(call), True), "step_of_pairs", True, "cuda")
    kernel = compile_kernel(text)
    wp.compile_aot_module(kernel.module, arch=ARCHITECTURE, module_dir=tmp_path, use_ptx=True)
    (ptx,) = tmp_path.glob("*.ptx")
    assert "warpdyn_step_of_pairs" in ptx.read_text()


def test_derivatives_compile_to_ptx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have several results, an adjoint, parameters of each environment, and a routine with
    arrays of a thread."""
    model = by_name("panda").model
    q, v = np.zeros((1, model.nq)), np.zeros((1, model.nv))
    monkeypatch.setattr(recorder, "ROLL_FROM", -1)
    params = model.params(mass={model.link_names[-1]: np.ones(1)})
    for k, call in enumerate((
        wd.aba_derivatives.describe(model, q, v, v),
        wd.vjp.describe(wd.rnea, model, q, v, v, cotangents=v, params=params),
        wd.integrate.describe(by_name("quadruped_floating").model, np.zeros((1, 19)), np.zeros((1, 18))),
    )):  # fmt: skip
        inputs = input_shapes(call)
        kernel = compile_kernel(
            write(record_call(call, inputs, True), f"derivative_{k}", True, "cuda")
        )
        wp.compile_aot_module(
            kernel.module, arch=ARCHITECTURE, module_dir=tmp_path / str(k), use_ptx=True
        )
        (ptx,) = (tmp_path / str(k)).glob("*.ptx")
        assert f"derivative_{k}" in ptx.read_text()


def test_loops_compile_to_ptx(tmp_path: Path) -> None:
    """A loop in a loop and its adjoint with stored states compile, and results may overwrite
    inputs."""

    def loop_in_loop(x: list) -> list:
        def outer(state: list) -> list:
            (y,) = repeat(lambda s: [s[0] * x[0] + sin(state[1])], [state[0]], 3)
            return [y, state[1] * 0.5]

        return repeat(outer, [x[0], x[1]], 20)

    forward = record(loop_in_loop, {"x": (2,)})
    # Twenty steps to be differentiated: a loop of loops.
    backward = record(
        lambda x, w: pullback(x, loop_in_loop(x), w), {"x": (2,), "w": (2,)}, rolls=False
    )
    in_place = replace(record(loop_in_loop, {"x": (2,)}, ("x",)), over={"x": "x"})
    for k, program in enumerate((forward, backward, in_place)):
        kernel = compile_kernel(write(program, f"loops{k}", True, "cuda"))
        folder = tmp_path / str(k)
        folder.mkdir()
        wp.compile_aot_module(kernel.module, arch=ARCHITECTURE, module_dir=folder, use_ptx=True)
        (ptx,) = folder.glob("*.ptx")
        assert f"warpdyn_loops{k}" in ptx.read_text()


@pytest.mark.parametrize("single", [True, False])
def test_a_step_on_a_height_map_compiles_to_ptx(single: bool, tmp_path: Path) -> None:
    """A table is read inside a loop, with friction and an offset of each environment. The
    derivative by the table compiles, too."""
    model = by_name("cartpole").model
    state = np.zeros((1, model.nq))
    terrain = wd.HeightMap(np.zeros((4, 5)), 1.0, friction=np.ones((4, 5)), offset=np.zeros((1, 3)))
    options = {
        "points": (wd.ContactPoint(model.link_names[-1], (0.0, 0.0, 0.5), 0.1),),
        "terrain": terrain,
        "substeps": 2,
        "sweeps": 1,
    }
    call = wd.step.describe(model, state, state, state, **options)
    seeds = tuple(
        np.zeros((1, *shape))
        for shape in record_call(call, input_shapes(call), single).results.values()
    )
    back = wd.vjp.describe(
        *(wd.step, model, state, state, state), cotangents=seeds, wrt="heights", **options
    )
    for name, each in (("step", call), ("back", back)):
        kernel = compile_kernel(
            write(record_call(each, input_shapes(each), single), name, single, "cuda")
        )
        wp.compile_aot_module(
            kernel.module, arch=ARCHITECTURE, module_dir=tmp_path / name, use_ptx=True
        )
        (ptx,) = (tmp_path / name).glob("*.ptx")
        assert f"warpdyn_{name}" in ptx.read_text()
