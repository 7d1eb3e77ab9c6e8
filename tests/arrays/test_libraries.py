"""The registry: an array's library is found by its type, and a new library is one file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import warp as wp
from array_kinds import LIBRARIES, make_array, usable
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.arrays import View, libraries
from warpdyn.arrays.libraries import (
    NUMPY,
    WARP,
    find_library,
    library_for,
    library_of,
    library_of_all,
    register,
)
from warpdyn.arrays.numpy_arrays import LikeNumpy

# A complete new library: a class of arrays by somebody else, and what warpdyn must know about it.


class Tray:
    """Numbers in NumPy memory that NumPy does not see: no arithmetic, no conversion, indices
    only."""

    def __init__(self, memory: np.ndarray):
        self.memory = memory
        self.shape, self.ndim, self.dtype = memory.shape, memory.ndim, memory.dtype

    def __getitem__(self, key: Any) -> Tray:
        return Tray(self.memory[key])


class Trays(LikeNumpy):
    name, array_type = "trays", Tray

    def view(self, name: str, array: Tray) -> View:
        return NUMPY.view(name, array.memory)._replace(library=self)

    def allocate(self, device: str, single: bool, shape: tuple[int, ...]) -> Tray:
        return Tray(np.full(shape, np.nan, np.float32 if single else np.float64))

    def environment_first(self, memory: Tray, count: int) -> Tray:
        return Tray(NUMPY.environment_first(memory.memory, count))

    def from_host(self, host: np.ndarray, device: str) -> Tray:
        return Tray(host)

    def to_host(self, array: Tray) -> np.ndarray:
        return array.memory

    def write(self, array: Tray, values: Any) -> None:
        array.memory[...] = values

    def as_column(self, value: Any, like: Tray, rows: tuple[int, ...]) -> Tray:
        return Tray(NUMPY.as_column(getattr(value, "memory", value), like.memory, rows))

    def stack_values(self, values: Any, shape: Any, count: int | None, dtype: Any) -> Tray:
        numbers = [getattr(x, "memory", x) for x in values]
        return Tray(NUMPY.stack_values(numbers, shape, count, dtype))


@pytest.fixture
def trays(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trays]:
    monkeypatch.setattr(libraries, "titles", dict(libraries.titles))
    library = Trays()
    register(library, "Tray")
    yield library
    del libraries.known[Tray]


MODEL = by_name("panda").model
STATES = states(MODEL, 7)


def on_trays(*arrays: np.ndarray) -> list[Tray]:
    return [Tray(x.copy()) for x in arrays]


@pytest.mark.parametrize("side_by_side", [False, True])
def test_a_new_library_is_one_file(trays: Trays, side_by_side: bool, dtype: np.dtype) -> None:
    """Results are arrays of the same library, with NumPy's numbers, in the same memory order."""
    given = [x.astype(dtype) for x in (STATES.q, STATES.v, STATES.a)]
    given = [np.asfortranarray(x) if side_by_side else x for x in given]
    tau = wd.rnea(MODEL, *(Tray(x) for x in given), gravity=[0.0, 0.0, -5.0])
    wanted = wd.rnea(MODEL, *given, gravity=[0.0, 0.0, -5.0])
    assert type(tau) is Tray and tau.dtype == dtype and np.array_equal(tau.memory, wanted)
    assert tau.memory.strides == wanted.strides
    one = wd.rnea(MODEL, *on_trays(*(x[0] for x in given)))
    assert type(one) is Tray and one.shape == (MODEL.nv,)


def test_a_new_library_supports_bind_and_out(trays: Trays) -> None:
    """bind launches on its memory repeatedly. The result of out= is the array itself."""
    q, v, a = on_trays(STATES.q, STATES.v, STATES.a)
    out = Tray(np.full(STATES.v.shape, np.nan))
    run = wd.bind(wd.rnea, MODEL, q, v, a, out=out)
    q.memory += 0.3
    assert run() is out
    assert np.array_equal(out.memory, wd.rnea(MODEL, q.memory, v.memory, a.memory))
    assert type(wd.bind(wd.rnea, MODEL, q, v, a)()) is Tray


def test_a_new_library_supports_all_other_functions(trays: Trays) -> None:
    """The oracle, varying parameters, draws, groups, and a number for each row."""
    q, v, a = on_trays(STATES.q, STATES.v, STATES.a)
    wanted = wd.rnea(MODEL, q.memory, v.memory, a.memory)
    assert np.allclose(wd.oracle(wd.rnea, MODEL, q, v, a), wanted, rtol=1e-9)
    middle = wd.interpolate(MODEL, q, on_trays(STATES.q)[0], 0.5)
    assert np.allclose(middle.memory, q.memory)
    assert type(wd.random_configuration(MODEL, 3, like=q)) is Tray
    mass = wd.randomise(MODEL, 7, mass=wd.random.scale(0.5, 2.0), like=q)
    assert type(mass["mass"]) is Tray and type(wd.crba(MODEL, q, params=mass)) is Tray
    link = MODEL.link_names[3]
    mass = MODEL.params(mass={link: Tray(np.linspace(1, 2, 7))})
    assert np.array_equal(mass["mass"].memory[:, 0], np.linspace(1, 2, 7))
    assert type(wd.crba(MODEL, q, params=mass)) is Tray
    both = wd.Group([MODEL, MODEL], [3, 4])(wd.rnea, q, v, a)
    assert type(both) is Tray and np.array_equal(both.memory, wanted)


def test_a_new_library_is_named_in_errors(trays: Trays) -> None:
    """Errors about mixed libraries name it, and errors about other objects list it."""
    q, v, a = on_trays(STATES.q, STATES.v, STATES.a)
    with pytest.raises(TypeError, match="q is trays, v is numpy; convert v to trays"):
        wd.rnea(MODEL, q, v.memory, a)
    with pytest.raises(TypeError, match="must be a NumPy, Torch, Warp, JAX or Tray array"):
        wd.rnea(MODEL, q, "v", a)


def test_an_unknown_library_is_refused() -> None:
    """This is the case until it is registered."""
    with pytest.raises(TypeError, match=r"NumPy, Torch, Warp or JAX array .* got Tray"):
        wd.crba(MODEL, *on_trays(STATES.q))


# Recognition.


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_library_of_the_registry_has_its_file(name: str) -> None:
    """The file is <name>_arrays.py. Its LIBRARY has this name and is that of its arrays."""
    usable(name)
    library = import_module(f"warpdyn.arrays.{name}_arrays").LIBRARY
    assert library.name == name and set(libraries.REGISTRY) == set(LIBRARIES)
    assert library_of(make_array(name, np.zeros(2))) is library


def test_arrays_of_derived_types_are_recognised() -> None:
    """A memory map is a NumPy array, a network parameter a Torch tensor."""

    class DerivedArray(np.ndarray):
        pass

    assert find_library(np.zeros(2).view(DerivedArray)) is NUMPY
    torch = pytest.importorskip("torch")
    assert library_of(torch.nn.Parameter(torch.zeros(2))).name == "torch"


@pytest.mark.parametrize("thing", [1.0, [1.0], (1, 2), None, "q", np.float64(1.0), wp.vec3()])
def test_plain_numbers_belong_to_numpy(thing: object) -> None:
    """NumPy converts or refuses everything that is not an array. A view takes only arrays."""
    assert find_library(thing) is None and library_of(thing) is NUMPY


def test_numpys_numbers_may_be_mixed_with_any_library() -> None:
    """The first of several values that is not NumPy's decides the library."""
    assert library_of_all([1.0, np.zeros(2), [2.0]]) is NUMPY
    assert library_of_all([np.zeros(2), wp.zeros(2), 1.0]) is WARP
    assert library_of_all([]) is NUMPY


def test_a_device_has_a_library(device: str) -> None:
    """The CPU has NumPy, a GPU has Warp."""
    assert library_for(device) is (NUMPY if device == "cpu" else WARP)


def test_optional_libraries_are_imported_only_by_the_caller() -> None:
    """The process of a NumPy user never loads Torch or JAX."""
    code = (
        "import sys, numpy as np, warpdyn as wd\n"
        "m = wd.load_robot('cartpole'); wd.rnea(m, *np.zeros((3, 2)))\n"
        "optional = ('torch', 'jax', 'pinocchio', 'mujoco', 'rclpy', 'matplotlib')\n"
        "print([k for k in optional if k in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]"), done.stdout
