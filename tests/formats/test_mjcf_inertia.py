"""MJCF: inertias as written, or those of geoms, which MuJoCo weighs; bounds and totals of <compiler>."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from mjcf_texts import ARM, GRIPPER, INERTIAL, LOOSE, MUJOCO, SPHERICAL, body, free, load

from warpdyn.model.description import ModelError


def test_geoms_are_weighed_only_by_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the text says what to install; files with <inertial> need none."""
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r'body "b" has no <inertial>.* pip install mujoco'):
        load(body('<geom size="0.1"/><joint/>'))
    assert load(ARM).nv == 6 and load(body('<geom size="0.1" mass="0"/>')).total_mass == 0


@pytest.mark.parametrize(
    "text", [ARM, LOOSE, SPHERICAL, GRIPPER], ids=["arm", "loose", "sphere", "grip"]
)
def test_masses_are_mujocos(text: str) -> None:
    """Body by body, with their bounds and total, whichever way they are written."""
    mujoco = pytest.importorskip("mujoco")
    theirs, model = mujoco.MjModel.from_xml_string(free(text)), load(free(text))
    for i in range(1, theirs.nbody):
        assert model.link(theirs.body(i).name).mass == pytest.approx(
            theirs.body_mass[i], rel=MUJOCO
        )


def principal(text: str) -> np.ndarray:
    return np.linalg.eigvalsh(np.array(load(text).link("b").inertia))


def compiled(settings: str, text: str) -> str:
    return text.replace("<worldbody>", f"<compiler {settings}/><worldbody>")


def test_written_inertias_are_turned_into_the_body() -> None:
    """diaginertia in the axes of <inertial>; fullinertia as it stands; the moments stay."""
    turned = body('<inertial pos="0 0 0" mass="1" diaginertia="1 2 2.5" euler="10 20 30"/>')
    assert principal(turned) == pytest.approx([1, 2, 2.5])
    full = body('<inertial pos="0 0 0" mass="1" fullinertia="1 2 2.5 0.1 0.2 0.3"/>')
    assert load(full).link("b").inertia == ((1, 0.1, 0.2), (0.1, 2, 0.3), (0.2, 0.3, 2.5))


def test_bounds_and_balance_lift_what_is_too_small() -> None:
    """boundmass and boundinertia from below; balanceinertia makes equal what breaks the triangle."""
    light = body('<inertial pos="0 0 0" mass="0.1" diaginertia="0.01 0.01 0.01"/>')
    lifted = load(compiled('boundmass="0.5" boundinertia="0.03"', light)).link("b")
    assert lifted.mass == 0.5 and np.diag(lifted.inertia) == pytest.approx([0.03] * 3)
    odd = body('<inertial pos="0 0 0" mass="1" diaginertia="1 1 4"/>')
    assert principal(compiled('balanceinertia="true"', odd)) == pytest.approx([2, 2, 2])


def test_the_total_mass_scales_everything() -> None:
    """Masses and inertias alike."""
    scaled = load(compiled('settotalmass="3"', body(INERTIAL))).link("b")
    assert scaled.mass == pytest.approx(3) and np.diag(scaled.inertia) == pytest.approx([3] * 3)


def test_many_bodies_are_weighed_in_parts() -> None:
    """Each as alone."""
    bodies = "".join(f'<body><joint/><geom size="{0.1 + 1e-4 * k}"/></body>' for k in range(310))
    model = load(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    radius = 0.1 + 1e-4 * np.arange(310)
    masses = [link.mass for link in model.links if link.mass]
    assert np.allclose(masses, 4000 / 3 * np.pi * radius**3, rtol=1e-12)
