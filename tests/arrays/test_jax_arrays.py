"""JAX arrays: read in place, never written, and traced through operations."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from robots import by_name

import warpdyn as wd

jax = pytest.importorskip("jax")

from warpdyn.arrays.jax_arrays import LIBRARY, is_elsewhere  # noqa: E402
from warpdyn.arrays.libraries import library_of  # noqa: E402
from warpdyn.arrays.protocol import Part  # noqa: E402

MODEL = by_name("cartpole").model


def test_an_array_is_read_in_place() -> None:
    """The view has the address of JAX' buffer, not of a copy."""
    x = jax.numpy.arange(6.0).reshape(2, 3)
    v = LIBRARY.view("x", x)
    assert v.library is LIBRARY and v.address == x.unsafe_buffer_pointer() and v.shape == (2, 3)


def test_the_error_for_a_wrong_dtype_names_the_jax_conversion() -> None:
    for kind in (jax.numpy.float16, jax.numpy.bfloat16, jax.numpy.int32):
        with pytest.raises(TypeError, match=r"convert it \(q\.astype\(jnp\.float32\)\)"):
            LIBRARY.view("q", jax.numpy.ones(3, kind))


def test_out_is_refused() -> None:
    """JAX arrays cannot be written in place."""
    q = jax.numpy.zeros((2, MODEL.nq))
    with pytest.raises(TypeError, match="JAX arrays cannot be written in place; leave out out="):
        wd.crba(MODEL, q, out=jax.numpy.zeros((2, MODEL.nv, MODEL.nv)))


def test_traced_arrays_have_no_memory() -> None:
    """They are recognised as JAX arrays. The error for a view says what to do."""
    assert not is_elsewhere(jax.numpy.ones(3)) and not is_elsewhere(np.ones(3))

    def check_view(x):
        assert not is_elsewhere(x)
        assert library_of(x) is LIBRARY
        with pytest.raises(TypeError, match="q is traced by JAX"):
            LIBRARY.view("q", x)
        return x

    jax.jit(check_view)(jax.numpy.zeros(2))


def test_operations_are_traced() -> None:
    """Columns are joined, stacked, widened and picked inside jit as outside."""

    def all_of_them(x):
        joined = LIBRARY.join_columns([Part(x, 2, False), Part(1.0, 1, True)], x)
        stacked = LIBRARY.stack_values([x, np.ones(2)], (2,), 3, x.dtype)
        wide = LIBRARY.end_to_end([x, joined], (3,))
        return (
            joined,
            stacked,
            wide,
            LIBRARY.pick_columns(x, [1, 0]),
            LIBRARY.as_column(np.array(2.0), x, (3,)),
        )

    x = jax.numpy.arange(6.0).reshape(3, 2)
    for inside, outside in zip(jax.jit(all_of_them)(x), all_of_them(x), strict=True):
        assert inside.shape == outside.shape and np.array_equal(inside, outside)
    assert all_of_them(x)[1].shape == (3, 2, 2)


def test_bound_results_are_new_arrays() -> None:
    """A bound call computes in its own memory and returns a new array each time, which does not
    change later."""
    q = jax.numpy.asarray(np.full((2, MODEL.nq), 0.5))
    run = wd.bind(wd.crba, MODEL, q)
    first, second = run(), run()
    assert first is not second and isinstance(first, jax.Array)
    assert np.array_equal(first, second) and np.array_equal(first, wd.crba(MODEL, q))


def test_an_array_on_another_device_is_refused() -> None:
    """The message names the device before the memory is read. An array on several devices is
    refused, too."""

    class Array:
        """An array with the attributes that the check reads, and without memory."""

        dtype = np.dtype("float32")

        def __init__(self, *platforms: str) -> None:
            self.platforms = platforms

        def devices(self) -> list[SimpleNamespace]:
            return [SimpleNamespace(platform=x) for x in self.platforms]

    for platforms in (("cuda",), ("cpu", "cuda")):
        with pytest.raises(ValueError, match=r"q is a JAX array on .*cuda.*; warpdyn accepts JAX"):
            LIBRARY.view("q", Array(*platforms))


@pytest.mark.parametrize("device", [None, "cpu", "cpu:0"])
def test_a_device_has_a_platform_and_a_number(device: str | None) -> None:
    moved = LIBRARY.move_to(jax.numpy.ones(3), "float32", device)
    platform = jax.default_backend() if device is None else "cpu"  # JAX may have a GPU
    assert moved.dtype == np.float32 and {d.platform for d in moved.devices()} == {platform}
    assert {d.id for d in moved.devices()} == {0}


def test_a_deleted_array_is_refused() -> None:
    """JAX deletes donated arrays. Its question for the platform of one ends the process."""
    q = jax.numpy.zeros((2, MODEL.nq))
    wd.crba(MODEL, q)
    q.delete()
    assert LIBRARY.sort(q) == ()
    for use in (wd.crba, lambda model, x: wd.bind(wd.crba, model, x)):
        with pytest.raises(RuntimeError, match="deleted"):
            use(MODEL, q)
