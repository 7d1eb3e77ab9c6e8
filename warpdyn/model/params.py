"""Parameters that may differ between environments: masses, inertias, placements, friction, gravity.

`Params` holds one array for each quantity that varies; all other numbers stay folded into the
program. The arrays belong to NumPy, Torch, JAX or Warp and are read at every launch, so that they
may be changed in place between launches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Library
from ..arrays.libraries import library_of
from ..arrays.protocol import dtype_name
from ..arrays.stacking import count_of, first_array, of_kind, shape_of, stack_values
from .names import look_up
from .old_members import OldMember
from .quantities import QUANTITIES, SHAPES, check_numbers, check_owner, owners
from .structure import Structure


@dataclass(frozen=True, eq=False)
class Params:
    """Parameters of a model that vary, by quantity; made by `model.params(...)`."""

    model: Structure
    """The model that these parameters belong to."""
    arrays: Mapping[str, Any]
    """Arrays by quantity: (B, k, *shape) for the k links or joints of `names`, or (k, *shape) if
    one set serves all environments."""
    names: Mapping[str, tuple[str, ...]]
    """Links or joints for which each quantity varies."""
    gravity: Any = None
    """(B, 3) or (3,), acceleration of free fall in the world [m/s²]; None for the standard one."""

    def __post_init__(self) -> None:
        """Refuse an argument that is not a model, such as a robot's name. A recorded call keeps
        None and the names."""
        if not (self.model is None or isinstance(self.model, Structure)):
            raise TypeError(
                f"the first argument of Params must be a Model, got {self.model!r}. Params are "
                'made by a model: wd.load_robot("panda").params(mass=...)'
            )

    def __repr__(self) -> str:
        """The varying quantities with their links or joints and shapes."""

        def describe_quantity(quantity: str) -> str:
            names = self.names[quantity]
            whose = names[0] if len(names) == 1 else f"{len(names)} of the model"
            return f"{quantity} {tuple(self.arrays[quantity].shape)} of {whose}"

        varying = [describe_quantity(quantity) for quantity in self.names]
        if self.gravity is not None:
            varying.append(f"gravity {shape_of(self.gravity)}")
        return f"<Params of {self.model.name}: {', '.join(varying) or 'nothing varies'}>"

    @property
    def key(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names of the links and joints that vary, by quantity. Calls with equal keys share a
        program."""
        return tuple(self.names.items())

    def shape(self, quantity: str) -> tuple[int, ...]:
        """Shape of one environment's slice of a quantity's array."""
        return (len(self.names[quantity]), *SHAPES[quantity])

    @property
    def envs(self) -> int | None:
        """Number of environments; None if one set serves all of them."""
        return next((x.shape[0] for q, x in self._all.items() if self._by_environment(q, x)), None)

    def __getitem__(self, which: Any) -> Any:
        """The array of a quantity, `p["mass"]`; or the params of some environments, for
        minibatches: `p[idx]` with a slice, integers or a mask, as for arrays.

        Arrays that serve all environments stay as they are.
        """
        if isinstance(which, str):
            whose = f"the params of {self.model.name}"
            return look_up(self._all, which, "varying quantity", whose)
        envs = self.envs
        index = _row_index(which, envs)
        if getattr(index, "ndim", 0) and dtype_name(index.dtype) == "bool":
            _check_mask(index, envs)
        return self._with(
            {
                quantity: _rows(x, index) if self._by_environment(quantity, x) else x
                for quantity, x in self._all.items()
            }
        )

    __iter__ = None
    """Iteration is disabled, because it could mean the quantities or the environments."""

    def by_name(self, quantity: str) -> dict[str, Any]:
        """{name: values}, as `model.params` takes them, without a copy: the columns of a quantity's
        array by link or joint."""
        array, whole = self[quantity], self.model
        by_row = self._by_environment(quantity, array)
        names = look_up(self.names, quantity, "quantity of links or joints", whole.name)
        return {name: array[:, k] if by_row else array[k] for k, name in enumerate(names)}

    named = OldMember("named", "by_name")

    def reset(self, mask: Any, fresh: Params) -> Params:
        """These params with the rows of `fresh` where `mask` (B,) holds, such as those of a new
        `wd.randomise(..)` for the environments whose episode ended.

        The rows are written in place, so that bound calls read them, and the params are returned.
        JAX arrays cannot be written: there only the returned params have the new rows.
        """
        if fresh.names != self.names or fresh._all.keys() != self._all.keys():
            raise ValueError(
                f"fresh must have the quantities and names of these params: {self!r}; got {fresh!r}"
            )
        mask = mask if hasattr(mask, "dtype") else np.asarray(mask)
        if dtype_name(mask.dtype) != "bool":
            raise TypeError(f"mask must be booleans (B,), such as done > 0; got {mask.dtype}")
        _check_mask(mask, self.envs)
        arrays = {}
        for quantity, x in self._all.items():
            if tuple(fresh[quantity].shape) != tuple(x.shape):
                raise ValueError(
                    f"{quantity} of fresh must be {tuple(x.shape)}, as it is in these params, "
                    f"got {tuple(fresh[quantity].shape)}"
                )
            if not self._by_environment(quantity, x):
                raise ValueError(
                    f"{quantity} {tuple(x.shape)} serves all environments and has no rows to reset; "
                    "make it with envs="
                )
            library = library_of(x)
            rows = of_kind(fresh[quantity], x)
            arrays[quantity] = library.replace_rows(x, _local(mask, library), rows)
        return self._with(arrays)

    def to(self, dtype: Any = None, device: Any = None) -> Params:
        """The same numbers in another dtype ("float32", np.float32, torch.float32 ..) or on another
        device of their library ("cuda:0")."""
        moved = {}
        for quantity, x in self._all.items():
            name = dtype_name(x.dtype if dtype is None else dtype)
            if name not in ("float32", "float64"):
                raise TypeError(f"dtype must be float32 or float64, got {dtype}")
            moved[quantity] = library_of(x).move_to(x, name, device)
        return self._with(moved)

    def replace(self, **arrays: Any) -> Params:
        """The same quantities with other arrays, of any batch shape. Their numbers are not checked, as
        those that are written in place are not: differences of derivatives need them beyond their
        range."""
        for quantity in arrays:
            self[quantity]
        return self._with({**self._all, **arrays})

    replaced = OldMember("replaced", "replace")

    @property
    def _all(self) -> dict[str, Any]:
        """Every array by quantity, gravity included."""
        return {**self.arrays, **({} if self.gravity is None else {"gravity": self.gravity})}

    def _with(self, arrays: Mapping[str, Any]) -> Params:
        others = {quantity: x for quantity, x in arrays.items() if quantity != "gravity"}
        return replace(self, arrays=others, gravity=arrays.get("gravity"))

    def _by_environment(self, quantity: str, array: Any) -> bool:
        """True if an array has a row for each environment."""
        single = 1 if quantity == "gravity" else len(SHAPES[quantity]) + 1
        return len(array.shape) > single


def _row_index(which: Any, envs: int | None) -> Any:
    """An index of rows as a number, a slice or an array. Raises for what libraries read in different
    ways: truth values, fractions, bytes of Torch, and rows beyond the last one."""
    if isinstance(which, (tuple, bool, np.bool_)) or which is None or which is Ellipsis:
        raise TypeError(
            f"params are indexed by a quantity or by rows, p[idx]; got {which!r}. "
            'For single entries take the array: p["mass"][idx, k]'
        )
    if isinstance(which, slice):
        if envs is not None and which.step is not None and which.step < 0:
            return np.arange(envs)[which].copy()
        return which
    if not hasattr(which, "dtype"):
        which = np.asarray(which, dtype=int if isinstance(which, list) and not which else None)
    kind = dtype_name(which.dtype)
    _check_index(which, kind)
    if isinstance(which, np.ndarray):  # Torch takes neither reversed arrays nor unsigned numbers
        which = np.array(which, bool if kind == "bool" else np.int64, order="C")
    if kind == "bool":
        return which
    index = int(which) if which.ndim == 0 else which
    if envs is not None and isinstance(index, (int, np.ndarray)):
        _check_rows(np.atleast_1d(index), envs)
    return index


def _check_index(which: Any, kind: str) -> None:
    if str(which.dtype) == "torch.uint8" or not (kind == "bool" or "int" in kind):
        raise TypeError(
            f"rows of params are whole numbers, or a mask of truth values; got {which.dtype}"
        )
    if which.ndim > 1 and kind != "bool":
        raise ValueError(
            "rows of params are a list of whole numbers, as params have one dimension of "
            f"environments; got an index of shape {tuple(which.shape)}: use idx.reshape(-1) here and "
            "for the other arrays of the call"
        )


def _check_rows(rows: np.ndarray, envs: int) -> None:
    if len(wrong := rows[(rows < -envs) | (rows >= envs)]):
        raise IndexError(f"there are environments 0 to {envs - 1}; got {wrong[0]}")


def _rows(array: Any, index: Any) -> Any:
    library = library_of(array)
    return library.rows(array, _local(index, library) if hasattr(index, "ndim") else index)


def _local(index: Any, library: Library) -> Any:
    """A mask or integers in a library's own array, or in NumPy's."""
    mine = library_of(index)
    return index if mine is library else mine.to_host(index)


def _check_mask(mask: Any, envs: int | None) -> None:
    if mask.ndim != 1 or mask.shape[0] != envs:
        needed = "none, as one set serves all" if envs is None else f"({envs},)"
        raise ValueError(
            f"a mask must have an entry for each environment: {needed}; got {tuple(mask.shape)}"
        )


def params(
    self: Structure,
    envs: int | None = None,
    *,
    mass: Any = None,
    com: Any = None,
    inertia: Any = None,
    placement: Any = None,
    axis: Any = None,
    armature: Any = None,
    viscous: Any = None,
    coulomb: Any = None,
    stiffness: Any = None,
    damping: Any = None,
    spring: Any = None,
    rest: Any = None,
    gravity: Any = None,
    like: Any = None,
    dtype: Any = None,
) -> Params:
    """Parameters that differ from one environment to the next, for the `params=` of every function.

    Each is {name: values}, values (B, ..) or one for all environments; or one array for all links
    (mass (B, nlinks) [kg], com (B, nlinks, 3) [m], inertia (B, nlinks, 6) Ixx Ixy Ixz Iyy Iyz Izz
    [kg·m²]) or joints (placement (B, njoints, 7) x y z qx qy qz qw, axis (B, njoints, 3) of any
    length, armature, viscous, coulomb, stiffness, damping, spring, rest (B, njoints)).
    gravity: (B, 3) [m/s²]. Quantities that are not given stay as they are and cost nothing at run
    time. An array for all links that have mass, as `randomise` draws masses, is accepted too, so
    that `model.params(mass=p["mass"])` takes its arrays back. For arrays of any other names use
    `mass=p.by_name("mass")`.
    envs: number of environments, needed if only single values are given.
    like: an array, such as q, whose library, dtype and device all parameters take. Without
    it arrays keep theirs, and plain numbers take those of the first array among the arguments, or
    NumPy's float64 if there is none. `dtype` converts. Change the arrays in place
    (`params["mass"][:] = ..`) between calls.
    Raises ValueError for a mass, armature, friction or spring that is negative or not finite, an
    inertia with a negative principal moment, or an axis that is zero. The message names the link or
    joint and the row. Arrays that JAX is tracing are not checked.

    >>> model = wd.load_robot("panda")
    >>> params = model.params(mass={"panda_hand": np.linspace(0.5, 1.5, 100)})
    >>> wd.crba(model, wd.random_configuration(model, 100), params=params).shape
    (100, 8, 8)
    """
    quantities = {
        "mass": mass,
        "com": com,
        "inertia": inertia,
        "placement": placement,
        "axis": axis,
        "armature": armature,
        "viscous": viscous,
        "coulomb": coulomb,
        "stiffness": stiffness,
        "damping": damping,
        "spring": spring,
        "rest": rest,
    }
    is_whole = isinstance(envs, (int, np.integer)) and not isinstance(envs, bool)
    if envs is not None and not (is_whole and envs >= 0):
        raise ValueError(
            f"envs must be the number of environments, a whole number of at least 0; got {envs!r}"
        )
    arrays: dict[str, Any] = {}
    names: dict[str, tuple[str, ...]] = {}
    rows = {} if envs is None else {"envs": envs}
    # Plain numbers follow the library of the first array among the arguments, so that one call
    # needs no `like`.
    beside = like
    if like is None:
        beside = first_array([*_each(quantities.values()), gravity])
    for quantity, values in quantities.items():
        if values is None:
            continue
        names[quantity], array = _stack(self, quantity, values, envs, dtype)
        if beside is not None and (like is not None or first_array([*_each([values])]) is None):
            array = of_kind(array, beside, dtype)
        check_numbers(self, quantity, names[quantity], array)
        arrays[quantity] = array
        if len(array.shape) > len(SHAPES[quantity]) + 1:
            rows[quantity] = array.shape[0]
    if gravity is not None:
        follows = like is not None or not hasattr(gravity, "dtype")
        gravity = _gravity(gravity, envs, beside if follows else None, dtype)
        if len(gravity.shape) == 2:
            rows["gravity"] = gravity.shape[0]
    # Arrays with a leading dimension must agree on it; those without serve all environments.
    if len(set(rows.values())) > 1:
        counts = ", ".join(f"{what}: {count}" for what, count in rows.items())
        raise ValueError(
            f"params are for different numbers of environments: {counts}; give all of them the same"
        )
    return Params(self, arrays, names, gravity)


def _each(values: Iterable[Any]) -> Iterator[Any]:
    """Every value of the quantities; a mapping gives its values one by one."""
    for x in values:
        yield from x.values() if isinstance(x, Mapping) else (x,)


def _gravity(gravity: Any, envs: int | None, like: Any, dtype: Any) -> Any:
    """Gravity as an array (B, 3) or (3,). One vector for all is repeated for `envs`."""
    array = gravity if hasattr(gravity, "dtype") else np.asarray(gravity, dtype=dtype or float)
    if like is not None or dtype is not None:
        array = of_kind(array, array if like is None else like, dtype)
    if tuple(array.shape[-1:]) != (3,) or len(array.shape) > 2:
        raise ValueError(f"gravity must be (3,) or (B, 3), got {tuple(array.shape)}")
    library = library_of(array)
    if library.readable(array) and not np.isfinite(library.to_host(array)).all():
        raise ValueError(f"gravity must be finite, got {gravity}")
    if envs is None or len(array.shape) == 2:
        return array
    rows: Any = stack_values([array], (3,), envs, array.dtype)
    return rows[:, 0]


def _stack(
    model: Structure, quantity: str, values: Any, envs: int | None, dtype: Any
) -> tuple[tuple[str, ...], Any]:
    """Names of the links or joints for which a quantity varies, in the model's order, and its
    array."""
    known = tuple(each.name for each in owners(model, quantity))
    shape, owner = SHAPES[quantity], QUANTITIES[quantity].owner
    if not isinstance(values, Mapping):
        bodies = tuple(link.name for link in model.links if link.mass)
        columns = len(shape) + 1
        if owner == "link" and shape_of(values)[-columns:] == (len(bodies), *shape):
            known = bodies  # as `randomise` draws them
        return known, _whole(quantity, values, (len(known), *shape), envs, dtype, model.name)
    for name in values:
        look_up(dict.fromkeys(known), name, owner, model.name)
        check_owner(model, quantity, name)
    if not values:
        raise ValueError(f"{quantity} has no names: give at least one name")
    names = tuple(name for name in known if name in values)
    count = count_of(quantity, values, shape, envs)
    return names, stack_values([values[name] for name in names], shape, count, dtype)


def _whole(
    quantity: str, values: Any, expected: tuple[int, ...], envs: int | None, dtype: Any, model: str
) -> Any:
    """One array for all links or joints, unchanged if its shape is (B, *expected)."""
    if isinstance(values, (int, float, np.number)):
        values = np.full(expected, float(values))
    array = (
        np.asarray(values, dtype=dtype or float) if isinstance(values, (list, tuple)) else values
    )
    shape = shape_of(array)
    if shape not in (expected, (envs or (shape or expected)[0], *expected)):
        what = QUANTITIES[quantity].owner
        raise ValueError(
            f"{quantity} must be {{{what} name: values}} or an array (B, {', '.join(map(str, expected))}), "
            f"for the {expected[0]} {what}s of {model}; got {shape}"
        )
    if shape == expected and envs:
        return stack_values([array[k] for k in range(expected[0])], expected[1:], envs, dtype)
    return array if dtype is None or array.dtype == dtype else array.astype(dtype)
