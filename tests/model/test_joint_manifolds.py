"""Steps, differences and rates of coordinates: they are inverse to each other."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.model.joint_manifolds import LINE
from warpdyn.model.joints import KINDS, JointKind, screw

ROUND_OFF = 1e-14
"""Absolute, for numbers of about one."""


KINDS_OF_ONE_BODY = [kind for kind in KINDS.values() if not kind.series] + [screw(0.3)]


kinds = pytest.mark.parametrize(
    "kind", KINDS_OF_ONE_BODY, ids=lambda kind: f"{kind.name}{kind.pitch or ''}"
)


def configuration(kind: JointKind, seed: int) -> list[float]:
    draw = np.random.default_rng(seed)
    q = draw.uniform(-1.5, 1.5, kind.nq)
    if kind.quaternion is not None:
        q[-4:] /= np.linalg.norm(q[-4:])
    return q.tolist()


@kinds
def test_a_zero_step_changes_nothing(kind: JointKind) -> None:
    """step(q, 0) = q."""
    q = configuration(kind, 3)
    assert kind.manifold.step(q, [0.0] * kind.nv) == pytest.approx(q, abs=ROUND_OFF)


@kinds
def test_a_step_and_its_opposite_cancel(kind: JointKind) -> None:
    """Small steps cancel to second order."""
    q, d = configuration(kind, 4), np.random.default_rng(4).uniform(-1e-6, 1e-6, kind.nv)
    back = kind.manifold.step(kind.manifold.step(q, d.tolist()), (-d).tolist())
    assert back == pytest.approx(q, abs=1e-11)


def test_a_planar_step_follows_the_arc() -> None:
    """Two half steps of a constant twist equal the whole step."""
    kind, q, d = KINDS["planar"], [0.3, -0.2, 0.7], [0.5, 0.4, 1.2]
    half = [x / 2 for x in d]
    assert kind.manifold.step(kind.manifold.step(q, half), half) == pytest.approx(
        kind.manifold.step(q, d), abs=ROUND_OFF
    )


@kinds
def test_difference_inverts_step(kind: JointKind) -> None:
    """difference(q, step(q, d)) = d."""
    q, d = configuration(kind, 5), np.random.default_rng(5).uniform(-1, 1, kind.nv).tolist()
    assert kind.manifold.difference(q, kind.manifold.step(q, d)) == pytest.approx(d, abs=ROUND_OFF)


@kinds
def test_rate_is_the_derivative_of_step(kind: JointKind) -> None:
    """rate(q, v) = d/dt step(q, v t) at t = 0, by central differences."""
    q, v, h = configuration(kind, 6), np.random.default_rng(6).uniform(-1, 1, kind.nv), 1e-6
    ahead, behind = (np.array(kind.manifold.step(q, (s * v).tolist())) for s in (h, -h))
    rate = np.array(kind.manifold.rate(q, v.tolist(), 0.0))
    assert rate == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)


def test_steps_of_a_line_are_sums() -> None:
    """They are equal to the last bit, for any number of coordinates."""
    assert LINE.step([1.0, 2.0], [0.5, -1.0]) == [1.5, 1.0]
    assert LINE.difference([1.0, 2.0], [1.5, 1.0]) == [0.5, -1.0]
    assert LINE.rate([1.0], [3.0], 1.0) == [3.0]


@kinds
def test_the_bracket_is_the_effect_of_the_order_of_two_steps(kind: JointKind) -> None:
    """The bracket [c, d] is difference(step(step(q, d), c), step(step(q, c), d)).

    This holds for small steps. [c, d] = -[d, c] holds, too.
    """
    q, h = configuration(kind, 7), 1e-4
    c, d = np.random.default_rng(7).uniform(-1, 1, (2, kind.nv))
    ends = [
        kind.manifold.step(kind.manifold.step(q, (h * x).tolist()), (h * y).tolist())
        for x, y in ((d, c), (c, d))
    ]
    apart = np.array(kind.manifold.difference(*ends)) / h**2
    assert apart == pytest.approx(kind.manifold.bracket(c.tolist(), d.tolist()), abs=1e-3)
    turned = np.array(kind.manifold.bracket(d.tolist(), c.tolist()))
    assert turned == pytest.approx(-np.array(kind.manifold.bracket(c.tolist(), d.tolist())))
