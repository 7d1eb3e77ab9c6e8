"""Long programs in several translation units: how parts are divided among them, and that results do
not change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fresh_caches import environment_with_header, run

import warpdyn as wd
from warpdyn.codegen import translation_units as chosen
from warpdyn.codegen.translation_units import SIZE, divide_parts
from warpdyn.execution.launch.launch import kernel_source


@pytest.mark.parametrize("lengths", [[SIZE // 7] * 40, [SIZE // 9, SIZE // 2, 30] * 20])
def test_parts_are_divided_evenly_and_in_order(lengths: list[int]) -> None:
    """Each part is in one unit, and no unit has less than half of another."""
    found = divide_parts(["x" * n for n in lengths])
    assert [k for part in found for k in part] == [*range(len(lengths))]
    sizes = [sum(lengths[k] for k in part) for part in found]
    assert len(sizes) == round(sum(lengths) / SIZE)
    assert min(sizes) > max(sizes) / 2 and max(sizes) < 2 * SIZE


def test_short_programs_have_one_translation_unit() -> None:
    """A shorter unit would cost more than it saves."""
    assert divide_parts(["x" * (SIZE // 2)] * 2) == divide_parts([]) == divide_parts(["x"]) == []
    rnea = wd.rnea.describe(wd.load_robot("cartpole"), *np.zeros((3, 1, 2)))
    assert kernel_source(rnea).translation_units == ()


def test_one_part_may_be_longer_than_a_unit() -> None:
    """It then has its own unit, and no unit is empty."""
    found = divide_parts(["x" * n for n in (10, 4 * SIZE, 10)])
    assert all(found) and [k for part in found for k in part] == [0, 1, 2]


COMPARED = """
import hashlib, sys
import numpy as np, warpdyn as wd
from warpdyn.codegen import translation_units
from warpdyn.execution.launch.launch import kernel_source
rng, said = np.random.default_rng(3), []
for robot, size in (("ur5e", 20_000), ("cartpole", 3_000)):
    translation_units.SIZE = size if sys.argv[1] == "shared" else 10**9
    model = wd.load_robot(robot)
    q, v, tau, power = rng.normal(size=(4, 37, model.nv)).astype(np.float32)
    if robot == "ur5e":
        call, results = wd.rnea_derivatives.describe, wd.rnea_derivatives
        given, options = (model, q, v, tau), {}
    else:
        call, results = wd.vjp.describe, wd.vjp
        nothing = np.zeros((37, 0, 3), np.float32)
        cotangents = (power, q, nothing, nothing, v)
        given = (wd.step, model, q, v, tau)
        options = {"dt": 0.01, "substeps": 2, "sweeps": 2, "cotangents": cotangents}
    source = kernel_source(call(*given, **options))
    numbers = b"".join(x.tobytes() for x in results(*given, **options))
    routines = any("routine0" in x for x in source.translation_units)
    said += [hashlib.sha256(numbers).hexdigest(), len(source.translation_units), routines]
print(*said)
"""
"""Derivatives in several units, and a loop with its reverse in one: prints bits, the number of units,
and whether a unit has routines."""


def test_results_do_not_depend_on_the_units(tmp_path: Path) -> None:
    """They are equal bit by bit, in complete and incomplete blocks, with routines among the
    parts."""
    alone, shared = (python(COMPARED, tmp_path / x, x).split() for x in ("alone", "shared"))
    assert alone[::3] == shared[::3]
    assert alone[1::3] == ["0", "0"] and int(shared[1]) > 3 and int(shared[4]) > 0
    assert shared[2::3] == ["False", "True"]


WATCHED = """
import threading
import numpy as np, warpdyn as wd
from warpdyn.codegen import translation_units
from warpdyn.execution.compile import compiling
from warpdyn.execution.launch.launch import kernel_source
translation_units.SIZE = 20_000
threads, compile_one = [], compiling._compile
def watched(module):
    threads.append(threading.get_ident())
    return compile_one(module)
compiling._compile = watched
wd.runtime.set_num_threads(3)
model, zeros = wd.load_robot("ur5e"), np.zeros((3, 1, 6))
wd.rnea_derivatives(model, *zeros)
number = len(kernel_source(wd.rnea_derivatives.describe(model, *zeros)).translation_units)
print(len(set(threads)), len(threads) - number)
"""


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Caches with the kernel of these programs, and the output of the program that compiled it."""
    folder = tmp_path_factory.mktemp("companions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPDYN_COMPILE", "wait")
        return folder, python(WATCHED, folder)


def test_one_function_is_compiled_on_all_cores(caches: tuple[Path, str]) -> None:
    """Each unit is an object of its own in Warp's cache. It is compiled once and found there
    again."""
    folder, said = caches
    assert said == "3 1\n"
    (kept,) = (folder / "kernels").iterdir()
    objects = {path.parent.name: path for path in kept.rglob("*.o")}
    assert len(objects) > 4
    # One that is lost is compiled again, alone.
    next(iter(objects.values())).unlink()
    again = python(WATCHED, folder).split()
    assert int(again[0]) == 1 and int(again[1]) < 0


BOUND = """
import gc
import numpy as np, warpdyn as wd
from warpdyn.codegen import translation_units
translation_units.SIZE = 20_000
model = wd.load_robot("ur5e")
q, v, tau = np.random.default_rng(0).normal(size=(3, 5, 6))
expected = [x.copy() for x in wd.rnea_derivatives(model, q, v, tau)]
run = wd.bind(wd.rnea_derivatives, model, q, v, tau)
del model
for _ in range(3):
    gc.collect()
for x, y in zip(run(), expected):
    np.testing.assert_array_equal(x, y)
print("same")
"""


def test_a_launch_keeps_its_units_alive(caches: tuple[Path, str]) -> None:
    """A bound call outlives its model and everything else that was compiled for it."""
    assert python(BOUND, caches[0]) == "same\n"


RECORDED = """
import numpy as np, warp as wp, warpdyn as wd
from warpdyn.codegen import translation_units
translation_units.SIZE = 20_000
model = wd.load_robot("ur5e")
arrays = [wp.array(x) for x in np.random.default_rng(0).normal(size=(3, 9, 6))]
wp.init()
with wp.ScopedCapture(device="cpu") as capture:
    results = wd.rnea_derivatives(model, *arrays)
expected = [x.numpy() for x in wd.rnea_derivatives(model, *arrays)]
wp.capture_launch(capture.graph)
for x, y in zip(results, expected):
    np.testing.assert_array_equal(x.numpy(), y)
print("same")
"""


def test_a_first_call_may_be_recorded_by_warp(caches: tuple[Path, str]) -> None:
    """While Warp records launches, the kernel still gets the addresses of its units, once."""
    assert python(RECORDED, caches[0]) == "same\n"


def python(program: str, folder: Path, *arguments: str) -> str:
    """The output of a program with caches of its own."""
    return run(program, environment_with_header(folder), *arguments)[0]


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.SIZE == 300_000
