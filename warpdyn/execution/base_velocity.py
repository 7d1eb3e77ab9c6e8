"""A free base's velocity in the representation that a model was loaded with.

Texts know one: the base's own twist in its own frame. Where a model has another, inputs and results are converted at
the edge of the text, inside the program, so that the choice is folded like any constant. With T the matrix from the
model's twist v to the base's own, v_own = T v: accelerations a_own = T a + T' v, forces tau = Tᵀ tau_own, columns of
Jacobians J = J_own T, and T' = -(W ×) T with W the part of the base's own twist that carries the axes.

Traversaro and Saccon, Multibody dynamics notation (2019), sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..algebra.linear import transposed
from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, Force, Motion, Placement, Vector
from ..model.tree import Tree

Nested = Any
"""A scalar, or nested lists of scalars."""

INPUTS = {
    "v": "velocity",
    "d": "velocity",
    "x": "velocity",
    "a": "acceleration",
    "tau": "force",
    "b": "force",
}
"""What an input array of this name is."""

_COLUMNS = (
    "jacobian",
    "com_jacobian",
    "momentum_jacobian",
    "centroidal_momentum_matrix",
    "average_velocity_jacobian",
    "average_centroidal_velocity_jacobian",
)

RESULTS: dict[str, dict[str, tuple[str | None, ...]]] = {
    **{
        name: {"out": ("force",)}
        for name in ("rnea", "gravity_torques", "effect_torques", "product", *_COLUMNS)
    },
    **{name: {"out": ("acceleration",)} for name in ("aba", "aba_by_aba", "aba_by_crba")},
    **{name: {"out": ("velocity",)} for name in ("solve", "difference")},
    **{name: {"out": ("bias",)} for name in ("frame_bias_acceleration", "com_bias_acceleration")},
    **{
        name: {"out": ("rate",)}
        for name in ("jacobian_derivative", "centroidal_momentum_matrix_derivative")
    },
    "bias_forces": {"out": ("bias force",)},
    "crba": {"out": ("force", "force")},
    "mass_matrix_inverse": {"out": ("velocity", "velocity")},
    "coriolis_matrix": {"out": ("force", "rate")},
    "joint_torque_regressor": {"out": ("force", None)},
    "dynamically_consistent_inverse": {"out": ("velocity", None)},
    "operational_space": {"inverse": ("velocity", None)},
    "pose_and_jacobian": {"jacobian": ("force",)},
}
"""Of results that are by velocity coordinates, what their last dimensions are; of all others nothing changes. Columns
that multiply a velocity change as a "force" does; a "rate" is the derivative of such columns, and a "bias" what is left
without acceleration."""

OWN_ONLY = {
    "rnea_derivatives": "derivatives(wd.rnea, model, q, v, a, wrt=...)",
    "aba_derivatives": "derivatives(wd.aba, model, q, v, tau, wrt=...)",
    "kinematic_hessian": "derivatives(wd.jacobian, model, q, frame=...)",
}
"""Written for the base's own twist alone, with what gives the same in any representation."""


class Converter:
    """Conversions at one configuration."""

    def __init__(self, tree: Tree, q: Sequence[Scalar], representation: str):
        X = tree.bodies[0].placement(q).as_matrix()
        self.at_world = representation == "world"
        self.X = X if self.at_world else Placement(X.R, ZERO)

    def velocity_in(self, v: Sequence[Scalar]) -> list[Scalar]:
        return [*self.X.motion_to_child(_motion(v)), *v[6:]]

    def acceleration_in(self, a: Sequence[Scalar], v_own: Sequence[Scalar]) -> list[Scalar]:
        turned = self.X.motion_to_child(_motion(a))
        return [*(turned - self.carrying(v_own).cross(_motion(v_own))), *a[6:]]

    def force_in(self, tau: Sequence[Scalar]) -> list[Scalar]:
        return [*self.X.force_to_child(_force(tau)), *tau[6:]]

    def velocity(self, v_own: Sequence[Scalar]) -> list[Scalar]:
        return [*self.X.motion_to_parent(_motion(v_own)), *v_own[6:]]

    def acceleration(self, a_own: Sequence[Scalar], v_own: Sequence[Scalar]) -> list[Scalar]:
        moved = _motion(a_own) + self.carrying(v_own).cross(_motion(v_own))
        return [*self.X.motion_to_parent(moved), *a_own[6:]]

    def force(self, tau_own: Sequence[Scalar]) -> list[Scalar]:
        return [*self.X.force_to_parent(_force(tau_own)), *tau_own[6:]]

    def carrying(self, v_own: Sequence[Scalar]) -> Motion:
        """W with T' = -(W ×) T: the twist that carries the axes, and the origin too where that is the world's."""
        own = _motion(v_own)
        return own if self.at_world else Motion(ZERO, own.angular)

    def bias(self, entry: Scalar, row_of: Sequence[Scalar], v_own: Sequence[Scalar]) -> Scalar:
        """Where the model's acceleration is zero the base's own is T' v: an entry and its row of columns."""
        own = -self.carrying(v_own).cross(_motion(v_own))
        return entry + own.dot(_force(row_of))

    def rate(
        self, row: Sequence[Scalar], row_of: Sequence[Scalar], v_own: Sequence[Scalar]
    ) -> list[Scalar]:
        """A row of (B' + B T' T⁻¹) T, from the rows of B' and of B: b (-W ×) m = (W ×* b) m."""
        turned = self.carrying(v_own).cross_force(_force(row_of))
        return self.force([*(_force(row) + turned), *row[6:]])


def _motion(v: Sequence[Scalar]) -> Motion:
    return Motion(Vector(*v[:3]), Vector(*v[3:6]))


def _force(f: Sequence[Scalar]) -> Force:
    return Force(Vector(*f[:3]), Vector(*f[3:6]))


def inputs_in(converter: Converter, given: Mapping[str, Nested]) -> dict[str, Nested]:
    """Inputs of a text from those in the model's representation."""
    own = dict(given)
    if "v" in given:
        own["v"] = converter.velocity_in(given["v"])
    for name, x in given.items():
        kind = INPUTS.get(name)
        if kind == "acceleration":
            own[name] = (
                converter.acceleration_in(x, own["v"]) if "v" in own else converter.velocity_in(x)
            )
        elif kind == "force":
            own[name] = converter.force_in(x)
        elif kind == "velocity" and name != "v":
            own[name] = converter.velocity_in(x)
    return own


def result_out(
    converter: Converter,
    result: Nested,
    kinds: Sequence[str | None],
    own: Mapping[str, Nested],
    rate_of: Nested,
) -> Nested:
    """A text's result in the model's representation; `rate_of`: what a "rate" is the derivative of."""
    v_own: Sequence[Scalar] = own.get("v", ())
    for axis, kind in enumerate(reversed(kinds)):
        if kind in ("bias", "bias force"):
            result = _entries(lambda entry, row: converter.bias(entry, row, v_own), result, rate_of)
            result = converter.force(result) if kind == "bias force" else result
        elif kind == "rate":
            result = _rows(lambda row, of: converter.rate(row, of, v_own), result, rate_of)
        elif kind is not None:
            change = {
                "force": converter.force,
                "velocity": converter.velocity,
                "acceleration": lambda a: converter.acceleration(a, v_own),
            }[kind]
            result = (
                _rows(change, result)
                if axis == 0
                else transposed(_rows(change, transposed(result)))
            )
    return result


def _rows(change: Callable[..., list[Scalar]], *nested: Nested) -> Nested:
    """Applied to the innermost lists."""
    if not isinstance(nested[0][0], (list, tuple)):
        return change(*nested)
    return [_rows(change, *each) for each in zip(*nested, strict=True)]


def _entries(change: Callable[[Scalar, Any], Scalar], result: Nested, rows: Nested) -> Nested:
    """Applied to each entry with its row."""
    if not isinstance(result, (list, tuple)):
        return change(result, rows)
    return [_entries(change, entry, row) for entry, row in zip(result, rows, strict=True)]
