"""MJCF: inertias of the file, or those that MuJoCo computes from geoms; bounds and totals of
<compiler>."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from mjcf_texts import ARM, GRIPPER, INERTIAL, LOOSE, MUJOCO, SPHERICAL, body, free, load

from warpdyn.algebra.spatial import Symmetric, as_matrix
from warpdyn.formats.mjcf import mjcf_inertia
from warpdyn.formats.mjcf import mjcf_inertia as chosen
from warpdyn.formats.mjcf.mjcf_inertia import _principal_axes
from warpdyn.model.names import ModelError


def test_geoms_without_inertial_need_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install if MuJoCo is missing.

    Files with <inertial> do not need it.
    """
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r'body "b" has no <inertial>.* pip install mujoco'):
        load(body('<geom size="0.1"/><joint/>'))
    assert load(ARM).nv == 6 and load(body('<geom size="0.1" mass="0"/>')).total_mass == 0


@pytest.mark.parametrize(
    "text", [ARM, LOOSE, SPHERICAL, GRIPPER], ids=["arm", "loose", "sphere", "grip"]
)
def test_masses_equal_mujocos(text: str) -> None:
    """Each body is compared, with bounds and totals, in every notation."""
    mujoco = pytest.importorskip("mujoco")
    theirs, model = mujoco.MjModel.from_xml_string(free(text)), load(free(text))
    for i in range(1, theirs.nbody):
        assert model.link(theirs.body(i).name).mass == pytest.approx(
            theirs.body_mass[i], rel=MUJOCO
        )


def principal(text: str) -> np.ndarray:
    return np.linalg.eigvalsh(np.array(load(text).link("b").inertia))


def with_compiler(settings: str, text: str) -> str:
    return text.replace("<worldbody>", f"<compiler {settings}/><worldbody>")


def test_inertias_are_rotated_into_the_body_frame() -> None:
    """diaginertia is about the axes of <inertial>, fullinertia about those of the body. The
    principal moments do not change."""
    turned = body('<inertial pos="0 0 0" mass="1" diaginertia="1 2 2.5" euler="10 20 30"/>')
    assert principal(turned) == pytest.approx([1, 2, 2.5])
    full = body('<inertial pos="0 0 0" mass="1" fullinertia="1 2 2.5 0.1 0.2 0.3"/>')
    assert load(full).link("b").inertia == ((1, 0.1, 0.2), (0.1, 2, 0.3), (0.2, 0.3, 2.5))


def test_compiler_bounds_and_balance_change_small_inertias() -> None:
    """boundmass and boundinertia are lower bounds. balanceinertia equalises moments that break the
    triangle inequality."""
    light = body('<inertial pos="0 0 0" mass="0.1" diaginertia="0.01 0.01 0.01"/>')
    lifted = load(with_compiler('boundmass="0.5" boundinertia="0.03"', light)).link("b")
    assert lifted.mass == 0.5 and np.diag(lifted.inertia) == pytest.approx([0.03] * 3)
    odd = body('<inertial pos="0 0 0" mass="1" diaginertia="1 1 4"/>')
    assert principal(with_compiler('balanceinertia="true"', odd)) == pytest.approx([2, 2, 2])
    flat = odd.replace("1 1 4", "0.5 0.5 1")
    assert principal(with_compiler('balanceinertia="true"', flat)) == pytest.approx([0.5, 0.5, 1])


def test_settotalmass_scales_masses_and_inertias() -> None:
    """Both have the same factor."""
    scaled = load(with_compiler('settotalmass="3"', body(INERTIAL))).link("b")
    assert scaled.mass == pytest.approx(3) and np.diag(scaled.inertia) == pytest.approx([3] * 3)


def test_the_masses_of_many_bodies_are_computed_in_parts() -> None:
    """Each mass equals that of the body on its own."""
    bodies = "".join(f'<body><joint/><geom size="{0.1 + 1e-4 * k}"/></body>' for k in range(310))
    model = load(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    radius = 0.1 + 1e-4 * np.arange(310)
    masses = [link.mass for link in model.links if link.mass]
    assert np.allclose(masses, 4000 / 3 * np.pi * radius**3, rtol=1e-12)


@pytest.mark.parametrize("rule", ["true", "auto", "false"])
@pytest.mark.parametrize("inertial", [True, False])
@pytest.mark.parametrize("geom", ['group="3"', 'group="1"', 'mass="0"', ""])
@pytest.mark.parametrize("bounds", ["", 'boundmass="1" boundinertia="0.5"'])
def test_every_inertia_rule_equals_mujocos(
    rule: str, inertial: bool, geom: str, bounds: str
) -> None:
    """Mass, centre of mass and inertia of a body equal MuJoCo's, with and without an <inertial>,
    under every `inertiafromgeom`, where geoms of the group range have mass and where none has."""
    mujoco = pytest.importorskip("mujoco")
    content = f'<geom size="0.1" pos="1 0 0" {geom}/>' if geom else ""
    if inertial:
        content += '<inertial pos="0.1 0.2 0.3" mass="2.4" diaginertia="1 1.1 1.2"/>'
    text = (
        f'<mujoco><compiler inertiafromgeom="{rule}" inertiagrouprange="0 2" {bounds}/><worldbody>'
        f'<frame pos="1 1 1" euler="0 0 90"><body name="b" pos="5 6 7" euler="10 20 30">{content}<joint/>'
        "</body></frame></worldbody></mujoco>"
    )
    try:
        theirs = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return  # a moving body without mass
    link, data = load(text).link("b"), mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, theirs.body_iquat[1])
    R = R.reshape(3, 3)
    assert link.mass == pytest.approx(theirs.body_mass[1], rel=MUJOCO)
    np.testing.assert_allclose(link.com, theirs.body_ipos[1], atol=MUJOCO)
    np.testing.assert_allclose(link.inertia, R @ np.diag(theirs.body_inertia[1]) @ R.T, atol=MUJOCO)


@pytest.mark.parametrize("shape", ['type="sdf"', 'type="mesh"'])
def test_geoms_that_cannot_be_weighed_are_refused(shape: str) -> None:
    """The message names the type of the geom. The body has no <inertial>."""
    kind = shape.split('"')[1]
    with pytest.raises(ModelError, match=f"a geom of type {kind}.* cannot be weighed"):
        load(body(f'<joint/><geom {shape} size="0.1"/>'))


@pytest.mark.parametrize(
    ("inside", "missing"),
    [
        ('pos="0 0 0" diaginertia="1 1 1"', "mass"),
        ('mass="1" diaginertia="1 1 1"', "pos"),
    ],
)
def test_an_inertial_needs_a_position_and_a_mass(inside: str, missing: str) -> None:
    """The message names the missing attribute, as in MuJoCo."""
    with pytest.raises(ModelError, match=f"<inertial> has no {missing}"):
        load(body(f"<joint/><inertial {inside}/>"))


def test_masses_of_the_last_files_are_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is read again is not compiled by MuJoCo again."""
    mujoco = pytest.importorskip("mujoco")
    compiled_texts: list[str] = []
    compile_text = mujoco.MjModel.from_xml_string

    def record_and_compile(text: str, *files: object) -> object:
        compiled_texts.append(text)
        return compile_text(text, *files)

    monkeypatch.setattr(mujoco.MjModel, "from_xml_string", staticmethod(record_and_compile))
    monkeypatch.setattr(mjcf_inertia, "MOST_KNOWN", 2)
    monkeypatch.setattr(mjcf_inertia, "_known", {})
    texts = [body(f'<geom size="0.{k}"/><joint/>') for k in (1, 2, 3)]
    for text, count in ((0, 1), (1, 2), (0, 2), (1, 2), (2, 3), (2, 3), (0, 4)):
        mass = load(texts[text]).total_mass
        assert mass == pytest.approx(4000 / 3 * np.pi * (0.1 * (text + 1)) ** 3)
        assert len(compiled_texts) == count


def test_an_infinite_inertia_is_refused() -> None:
    """Bounds and balance apply only to finite inertias."""
    endless = '<inertial pos="0 0 0" mass="1" diaginertia="1e300 1e300 1e300"/><joint/>'
    for settings in ('boundinertia="0.1"', 'balanceinertia="true"', ""):
        with pytest.raises(ModelError, match="inertia"):
            load(with_compiler(settings, body(endless)))


def test_a_geom_that_mujoco_cannot_weigh_is_refused() -> None:
    """The message contains MuJoCo's own words, on one line."""
    pytest.importorskip("mujoco")
    with pytest.raises(ModelError) as refused:
        load(body('<geom type="box" size="0.1"/><joint/>'))
    said = str(refused.value)
    assert "MuJoCo cannot weigh the geoms: " in said and said.endswith("; correct them")
    assert "\n" not in said


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.AT_ONCE == 300
    assert chosen.MOST_KNOWN == 64


FITTED = """<mujoco><compiler fitaabb="{}"/><asset><mesh name="m" vertex="0 0 0 0.3 0 0 0 0.2 0 0 0 0.4"/></asset>
<worldbody><body name="b"><joint axis="1 2 3"/><geom type="{}" mesh="m"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("shape", ["box", "cylinder", "capsule", "ellipsoid", "sphere"])
@pytest.mark.parametrize("fit", ["true", "false"])
def test_shapes_fitted_to_a_mesh_have_mujocos_inertia(shape: str, fit: str) -> None:
    """fitaabb fits them to the bounding box of the mesh, not to that of its inertia."""
    mujoco = pytest.importorskip("mujoco")
    text = FITTED.format(fit, shape)
    theirs, link = mujoco.MjModel.from_xml_string(text), load(text).link("b")
    assert link.mass == pytest.approx(theirs.body_mass[1], rel=1e-9)
    assert link.com == pytest.approx(theirs.body_ipos[1], abs=1e-9)
    moments = np.linalg.eigvalsh(np.array(link.inertia))
    np.testing.assert_allclose(moments, np.sort(theirs.body_inertia[1]), rtol=1e-7)


def test_principal_axes_without_mujoco_differ_by_signs_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The largest moment comes first."""
    pytest.importorskip("mujoco")
    draw = np.random.default_rng(0)
    turn = np.linalg.qr(draw.normal(size=(3, 3)))[0]
    J = turn @ np.diag([0.3, 0.1, 0.2]) @ turn.T
    inertia = Symmetric(J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2])
    with_mujoco = np.array([[*row] for row in as_matrix(_principal_axes(inertia)).matrix.rows])
    monkeypatch.setitem(sys.modules, "mujoco", None)
    without = np.array([[*row] for row in _principal_axes(inertia).matrix.rows])
    assert np.linalg.det(without) == pytest.approx(1.0)
    assert np.diagonal(without.T @ J @ without) == pytest.approx([0.3, 0.2, 0.1])
    assert np.abs(without) == pytest.approx(np.abs(with_mujoco), abs=1e-9)
