"""The URDF reader: mass, centre of mass and inertia of links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from urdf_texts import ROUND_OFF, body, inertia, links, load, robot, urdf_rotation

from warpdyn.formats.urdf import load_urdf
from warpdyn.model.names import ModelWarning


def test_link_values_are_read() -> None:
    """Mass, centre of mass and inertia equal those in the file."""
    text = body('<origin xyz="1 2 3"/><mass value="4"/>' + inertia(0.5, 0.6, 0.7, 0.01, 0.02, 0.03))
    link = load(robot(text)).link("a")
    assert (link.mass, link.com) == (4.0, (1.0, 2.0, 3.0))
    assert link.inertia == ((0.5, 0.01, 0.02), (0.01, 0.6, 0.03), (0.02, 0.03, 0.7))


def test_a_link_without_inertial_has_no_mass() -> None:
    """Its mass and inertia are zero, without a remark."""
    link = load(robot(links("world"))).link("world")
    assert link.mass == 0 and not np.any(link.inertia)


def test_an_inertial_without_origin_is_at_the_link_frame() -> None:
    """A missing <origin> is the zero pose."""
    assert load(robot(body('<mass value="1"/>' + inertia(1, 1, 1)))).link("a").com == (0, 0, 0)


@given(st.tuples(*[st.floats(-7, 7)] * 3))
def test_inertial_rpy_rotates_the_inertia(rpy: tuple[float, float, float]) -> None:
    """The stored inertia is R I R^T with R = Rz(yaw) Ry(pitch) Rx(roll): link axes, symmetric to the last bit."""
    written = np.array([[2.0, 0.1, 0.2], [0.1, 1.5, 0.3], [0.2, 0.3, 1.8]])
    origin = f'<origin rpy="{rpy[0]!r} {rpy[1]!r} {rpy[2]!r}"/>'
    model = load(robot(body(origin + '<mass value="1"/>' + inertia(2.0, 1.5, 1.8, 0.1, 0.2, 0.3))))
    found = np.array(model.link("a").inertia)
    turned = urdf_rotation(*rpy)
    assert np.array_equal(found, found.T)
    assert np.abs(found - turned @ written @ turned.T).max() <= 20 * ROUND_OFF


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ('<mass value="0"/>' + inertia(1, 1, 1), "rotational inertia but no mass"),
        ('<mass value="1"/>' + inertia(1, 1, 2.1), "break the triangle inequality"),
        (
            '<mass value="1"/>' + inertia(1, 1, 1, ixy=1.5),
            "principal moment of its inertia is negative",
        ),
        ('<mass value="1"/>' + inertia(-1, -1, -1), "principal moment of its inertia is negative"),
        ('<mass value="1"/>', "has no <inertia>; taken as a point mass"),
        (inertia(1, 1, 1), "has no <mass>; taken as 0 kg"),
    ],
)
def test_impossible_inertia_is_remarked_and_used_as_written(inside: str, said: str) -> None:
    """A warning names the body. The reader does not change the user's numbers."""
    with pytest.warns(ModelWarning, match='link "a"'):
        model = load_urdf(robot(body(inside)))
    assert any(said in line and 'link "a"' in line for line in model.warnings)
    if "inertia" in inside:
        assert np.any(model.link("a").inertia)


@pytest.mark.parametrize(
    "inside",
    [
        '<mass value="0"/>' + inertia(0, 0, 0),
        '<mass value="1"/>' + inertia(0, 0, 0),
        '<mass value="1"/>' + inertia(0.0123, 0.0456, 0.0579),
        '<mass value="1"/>' + inertia(1e-20, 1e-20, 9e-20),
    ],
)
def test_massless_point_and_rounded_bodies_are_not_remarked(inside: str) -> None:
    """No mass, a point mass, a flat plate rounded to three digits and the tiny inertia of a dummy
    link are not mistakes."""
    load(robot(body(inside)))


def test_missing_products_of_inertia_are_zero() -> None:
    """ixy, ixz and iyz may be left out."""
    assert load(robot(body('<mass value="1"/><inertia ixx="1" iyy="2" izz="3"/>'))).link(
        "a"
    ).inertia == (
        (1, 0, 0),
        (0, 2, 0),
        (0, 0, 3),
    )
