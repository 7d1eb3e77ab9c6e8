"""Overlays of a robot, and their removal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
from warpdyn.viewer.overlays import (
    NUMBER,
    OVERLAYS,
    PLACES,
    WIDER,
    Overlays,
    _coordinates,
    _girth,
    _perpendiculars,
    across_view,
    model_has,
)
from warpdyn.viewer.robot_view import RobotView, rotate_vectors
from warpdyn.viewer.stage import Page


@pytest.fixture(scope="module")
def stage() -> Iterator[Any]:
    made = Page(port=0)
    yield made
    made.stop()


@pytest.mark.parametrize("robot", ["panda", "quadruped"])
def test_each_overlay_is_drawn_follows_the_robot_and_is_removed(stage: Any, robot: str) -> None:
    model = wd.load_robot(robot, floating_base=robot == "quadruped")
    view = RobotView(stage, model, robot)
    view.update(model.neutral)
    over = Overlays(stage, view)
    for name in OVERLAYS:
        assert model_has(model, name)
        over.switch(name, True)
        before = over._handles[name]
        assert before, name
        over.update()
        assert len(over._handles[name]) == len(before)
        over.switch(name, False)
        assert name not in over._handles
    view.remove()


def test_the_drawn_centre_of_mass_agrees_with_com(stage: Any) -> None:
    model = wd.load_robot("panda")
    view = RobotView(stage, model, "centre")
    view.update(model.neutral)
    over = Overlays(stage, view)
    over.switch("centres of mass", True)
    for q in np.asarray(wd.random_configuration(model, 2, seed=4)):
        view.update(q)
        over.update()
        links, whole = over._handles["centres of mass"]
        assert np.allclose(whole.batched_positions, wd.com(model, q[None]), atol=1e-5)
        assert len(links.batched_positions) == sum(x.mass > 0 for x in model.links)
    view.remove()


def test_ellipsoids_of_inertia_face_outwards() -> None:
    """The volume between the faces is positive and close to that of the ellipsoid, for each order of the axes."""
    drawn: list[tuple[np.ndarray, np.ndarray]] = []
    scene = SimpleNamespace(add_mesh_simple=lambda name, v, f, **rest: drawn.append((v, f)))
    page = SimpleNamespace(server=SimpleNamespace(scene=scene))
    moments = list(permutations((0.2, 0.3, 0.4)))
    for each in moments:
        model = wd.ModelBuilder("body").add_link("base", mass=5.0, inertia=np.diag(each)).build()
        view = SimpleNamespace(model=model, first=np.array([[0, 0, 0, 0, 0, 0, 1.0]]))
        OVERLAYS["inertias"](page, view, "/over")  # type: ignore[arg-type]
    # A solid ellipsoid of mass m has the moment m/5 (b² + c²) about its first axis.
    volume = 4 / 3 * np.pi * np.sqrt(0.25 * 0.15 * 0.05)
    for vertices, faces in drawn:
        a, b, c = np.moveaxis(vertices[faces], 1, 0)
        assert (a * np.cross(b, c)).sum() / 6 == pytest.approx(volume, rel=0.05)
    assert len(drawn) == len(moments)


def test_a_joint_with_several_coordinates_has_the_axes_of_its_child() -> None:
    """A ball joint three of them, a floating joint on a moving link six."""
    builder = wd.ModelBuilder("swing").add_link("base")
    for link in ("rod", "hand", "tip"):
        builder.add_link(link, mass=1.0)
    builder.add_joint("ball", "ball", "base", "rod")
    builder.add_joint("float", "floating", "rod", "hand")
    model = builder.add_joint("hinge", "revolute", "hand", "tip", axis=(0, 1, 0)).build()
    turn = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]  # 90° about z
    first = np.array([[0.0, 0, 0, 0, 0, 0, 1], *([k, 0, 0, *turn] for k in (1, 2, 3))])
    view = SimpleNamespace(model=model, first=first)
    at, axes, links = _coordinates(view)  # type: ignore[arg-type]
    assert links == [1] * 3 + [2] * 6 + [3]
    np.testing.assert_array_equal(at, first[links, :3])
    own = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    np.testing.assert_allclose(axes, [*own, *own, *own, [-1, 0, 0]], atol=1e-12)


def test_gravity_torques_are_shown_only_for_joints(stage: Any) -> None:
    """Each joint has a ring and a number. Objects have none, also in a scene of objects only."""
    model = wd.load_robot("panda").with_object("ball", wd.description.Sphere(0.1), mass=1.0)
    view = RobotView(stage, model, "scene")
    view.update(model.configurations["home"])
    over = Overlays(stage, view)
    over.switch("gravity torques", True)
    _, *labels = over._handles["gravity torques"]
    assert len(labels) == wd.load_robot("panda").nv
    floor = wd.ModelBuilder("floor").add_link("floor").build()
    assert not model_has(
        floor.with_object("ball", wd.description.Sphere(0.1), mass=1.0), "gravity torques"
    )
    over.switch("gravity torques", False)
    view.remove()


def test_gravity_torques_are_shown_by_rings_and_numbers(stage: Any) -> None:
    """The rings are about the joints' axes."""
    model = wd.load_robot("panda")
    view = RobotView(stage, model, "torques")
    view.update(model.configurations["home"])
    over = Overlays(stage, view)
    over.switch("gravity torques", True)
    rings, *labels = over._handles["gravity torques"]
    for q in (model.configurations["home"], model.neutral):
        view.update(q)
        over.update()
        wanted = wd.gravity_torques(model, view.q.astype(float))[0]
        assert np.allclose([float(x.text) for x in labels], wanted, rtol=5e-3, atol=5e-3)
        joints = [view.first[model.link_index(x.child)] for x in model.moving_joints]
        axes = [
            rotate_vectors(x[3:], np.array(joint.axis))
            for x, joint in zip(joints, model.moving_joints, strict=True)
        ]
        w, *xyz = rings.batched_wxyzs.T
        ahead = rotate_vectors(np.stack([*xyz, w], axis=1), np.array([[0.0, 0.0, 1.0]]))
        assert np.allclose(rings.batched_positions, [x[:3] for x in joints], atol=1e-5)
        assert np.allclose(np.abs((ahead * axes).sum(1)), 1.0, atol=1e-5), "about the axes"
        beside = [label.position - x[:3] for label, x in zip(labels, joints, strict=True)]
        wider = np.linalg.norm(beside, axis=1) / rings.batched_scales
        assert np.allclose(np.abs(wider[:, None] - WIDER).min(1), 0.0, atol=1e-4)
        assert np.allclose((np.array(beside) * axes).sum(1), 0.0, atol=1e-5)
        up = _perpendiculars(np.array(axes))
        left = np.cross(axes, up)
        steps = np.arctan2((beside * left).sum(1), (beside * up).sum(1)) * PLACES / (2 * np.pi)
        assert np.allclose(steps, np.round(steps), atol=1e-4), "a twelfth of a turn apart"
        share = np.abs(wanted) / model.effort_limit
        red, green, _ = rings.batched_colors.astype(int).T
        order = np.argsort(red - green, kind="stable")
        assert (np.diff(share[order]) > -0.01).all(), "the redder, the more of its limit"
    assert over._handles["gravity torques"][0] is rings, "it is moved, not drawn anew"
    view.remove()


@pytest.mark.parametrize("robot", ["panda", "ur5e", "quadruped"])
def test_numbers_do_not_cover_each_other(robot: str) -> None:
    """Seen from the page's first camera, the numbers of joints at the same place are next to or
    above each other."""
    model = wd.load_robot(robot)
    page = viewer.show(model, controls=False)
    try:
        view = page.robots["robot"]
        home, drawn = view.q[0].astype(float), Overlays(page.stage, view)
        drawn.switch("gravity torques", True)
        camera = page.stage.server.initial_camera
        base = 7 * model.floating_base
        for bent in (0.0, 0.3):
            page.update(np.concatenate([home[:base], home[base:] + bent]))
            drawn.update()
            _, *labels = drawn._handles["gravity torques"]
            places = np.array([label.position for label in labels])
            seen = across_view(places, camera.look_at - camera.position) / (NUMBER * view.size)
            away = np.abs(seen[:, None] - seen[None]).max(-1) + 9 * np.eye(len(seen))
            assert len(labels) == model.nv - 6 * model.floating_base and away.min() > 0.99
    finally:
        page.stop()


def test_an_overlay_may_be_switched_while_the_robot_moves(stage: Any) -> None:
    """A person switches it while a motion plays. Neither is disturbed, and the overlay is off at
    the end."""
    model = wd.load_robot("double_pendulum")
    view = RobotView(stage, model, "moving")
    view.update(model.neutral)
    over, wrong = Overlays(stage, view), []
    end = threading.Event()

    def play() -> None:
        try:
            while not end.is_set():
                over.update()
        except Exception as error:
            wrong.append(error)

    mover = threading.Thread(target=play)
    mover.start()
    for k in range(60):
        over.switch("gravity torques", k % 2 == 0)
        over.switch("frames", k % 3 == 0)
    end.set()
    mover.join()
    assert not wrong and not over._handles.get("gravity torques")
    view.remove()


def test_the_radius_of_a_ring_follows_its_link() -> None:
    """It is a fifth wider than the link about the joint's axis, within 3 to 10 % of the robot's
    size."""
    turn = np.linspace(0.0, 2 * np.pi, 240, endpoint=False)
    circle = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    solids = [SimpleNamespace(link=k, vertices=r * circle) for k, r in enumerate((0.5, 0.7, 9.0))]
    view = SimpleNamespace(size=10.0, drawn=SimpleNamespace(solids=solids))
    z = np.array([0.0, 0.0, 1.0])
    found = [_girth(view, link, z) for link in range(4)]  # type: ignore[arg-type]
    np.testing.assert_allclose(found, [0.6, 0.84, 1.0, 0.3], rtol=1e-6)


def test_the_radius_of_a_ring_is_the_link_in_eight_tenths_of_twelve_directions() -> None:
    """Each sector of 30° counts with its farthest point. A link is longest where it continues."""
    reaches = 0.1 * np.array([5.0, 1, 9, 3, 12, 2, 8, 4, 11, 6, 10, 7])
    sector, k = np.divmod(np.arange(12 * 59), 59)
    turn = np.radians(30.0 * sector + 0.5 * (k + 1))
    length = reaches[sector] * np.where(k % 2, 0.9, 1.0)
    z, across = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    points = length[:, None] * (
        np.cos(turn)[:, None] * across + np.sin(turn)[:, None] * np.cross(z, across)
    )
    view = SimpleNamespace(
        size=20.0, drawn=SimpleNamespace(solids=[SimpleNamespace(link=0, vertices=points)])
    )
    # 80 % of the eleven steps from the shortest to the longest is 0.8 of the step after the ninth.
    found = _girth(view, 0, z)  # type: ignore[arg-type]
    assert found == pytest.approx(1.2 * (0.9 + 0.8 * 0.1), rel=1e-12)


@pytest.mark.parametrize(
    "name", ["joint axes", "centres of mass", "contact points", "gravity torques"]
)
def test_a_robot_without_any_shows_nothing(name: str) -> None:
    """One link without mass, shapes and joints."""
    model = wd.ModelBuilder("bare").add_link("base").build()
    view = SimpleNamespace(model=model, first=np.array([[0, 0, 0, 0, 0, 0, 1.0]]))
    assert OVERLAYS[name](None, view, "/over") == []  # type: ignore[arg-type]
