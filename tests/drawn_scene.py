"""Every call that the viewer makes on the page's scene and controls, for some robots, as plain
numbers. `python tests/drawn_scene.py` writes them to tests/viewer/drawn_scene.json after an
intended change of the picture."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import viser
from one_number import number_of

import warpdyn as wd
from warpdyn import viewer
from warpdyn.model.scene.free_bodies import free_joints
from warpdyn.viewer.controls import Controls
from warpdyn.viewer.overlays import OVERLAYS, ContactForces

FILE = Path(__file__).parent / "viewer" / "drawn_scene.json"

Call = list[Any]
"""The name of a method, and its arguments by name."""


def panda() -> viewer.Viewer:
    """An arm with its sliders, a ghost, and all overlays one after the other."""
    model = wd.load_robot("panda")
    page = viewer.show(model, model.configurations["home"])
    page.ghost(model, model.neutral)
    for name in OVERLAYS:
        page.over(name)
        page.over(name, on=False)
    return page


def quadrupeds() -> viewer.Viewer:
    """Three robots side by side, one of another height, on a ground of another size."""
    model = wd.load_robot("quadruped", floating_base=True)
    q = np.array(wd.random_configuration(model, 3, seed=1))
    q[:, :3] = [[0.0, 0.1, 0.4], [0.0, 0.0, 0.5], [0.2, 0.0, 1.1]]
    page = viewer.show(model, q, which="collision", spacing=1.5)
    page.stage.ground(-0.2, 3.0)
    for name in OVERLAYS:
        page.over(name)
        page.over(name, on=False)
    return page


def forces() -> viewer.Viewer:
    """Arrows, contacts and curves next to a small robot."""
    model = wd.load_robot("double_pendulum")
    page = viewer.show(model, [[0.3, -0.5], [0.1, 0.2]], controls=False)
    page.arrows(
        [[0, 0, 1], [0, 1, 0], [1, 0, 0]], [[1, 0, 0], [np.nan, 0, 0], [0, 0, 2]], scale=0.5
    )
    here = np.array([[0.1, 0.0, 0.0], [0.0, 0.2, 0.1]])
    two, ground = np.array([0, 1]), np.array([True, False])
    page.contacts(ContactForces(here, two, here, 3.0 * here[::-1] + 1.0, ground, two))
    page.plot("energy", [0.0, 1.0], {"kinetic": [1.0, 2.0], "potential": [3.0, 4.0]})
    return page


def movers() -> viewer.Viewer:
    """A free base with its arrows and rings, a box in front of an arm with a ball joint, and a reach."""
    model = wd.load_robot("quadruped", floating_base=True)
    page = viewer.show(model, model.configurations["home"], which="collision")
    page.controls._body_handle(free_joints(model)[0], True)
    page.add(model, model.neutral, "other", at=(1.0, 2.0, 0.5), opacity=0.5)
    builder = wd.ModelBuilder("swing").add_link("base")
    ball = wd.description.Geometry("sphere", (0.03,))
    builder.add_link("rod", mass=1.0, inertia=np.diag([1e-3] * 3), collisions=[ball])
    builder.add_joint("ball", "ball", "base", "rod", pose=(0, 0, 0.4))
    swing = builder.build().with_object("box", wd.description.Box(0.1, 0.2, 0.3), mass=1.0)
    page.add(swing, swing.neutral, "swing", which="collision")
    controls = Controls(page.stage, page.robots["swing"])
    controls._body_handle(free_joints(swing)[0], True)
    arm = wd.load_robot("double_pendulum")
    controls = Controls(page.stage, page.add(arm, [0.3, 0.2], "arm"))
    controls._reach_with(arm.link_names[-1])
    return page


PAGES = {each.__name__: each for each in (panda, quadrupeds, forces, movers)}


def calls_of(name: str) -> list[Call]:
    """The calls of a page's scene and controls, and its camera at the end."""
    with _record_calls() as calls:
        page = PAGES[name]()
    try:
        camera = page.stage.server.initial_camera
        view = {n: _plain(getattr(camera, n)) for n in ("position", "look_at", "fov")}
        ends = {n: [_plain(x.places), _plain(x.poses), x.size] for n, x in page.robots.items()}
    finally:
        page.stop()
    return [*calls, ["camera", view], ["places, poses and sizes", ends]]


@contextmanager
def _record_calls() -> Iterator[list[Call]]:
    """The calls made within the block."""
    calls: list[Call] = []
    with ExitStack() as stack:
        for kind in (viser.SceneApi, viser.GuiApi):
            for name in (n for n in dir(kind) if n.startswith("add_")):
                stack.enter_context(patch.object(kind, name, _noting(getattr(kind, name), calls)))
        yield calls


def _noting(method: Any, calls: list[Call]) -> Any:
    signature = inspect.signature(method)

    @wraps(method)
    def record_call(*arguments: Any, **named: Any) -> Any:
        _, *given = signature.bind(*arguments, **named).arguments.items()
        shown = {n: _extent(x) if n == "vertices" else _plain(x) for n, x in given if n != "faces"}
        calls.append([method.__name__, shown])
        return method(*arguments, **named)

    return record_call


def _extent(vertices: Any) -> list[float]:
    """The lowest and the highest corner of a mesh, which do not depend on its triangles [m]."""
    ends = np.concatenate([np.min(vertices, axis=0), np.max(vertices, axis=0)])
    return [round(float(x), 4) for x in ends]


def _plain(x: Any) -> Any:
    """Numbers and words as they are, an array as its shape and one number, else the type's name."""
    if isinstance(x, np.ndarray | np.generic):
        return [*map(str, x.shape), float(f"{number_of(x):.6g}")]
    if isinstance(x, list | tuple):
        return [_plain(each) for each in x]
    if isinstance(x, float):
        return float(f"{x:.6g}")
    return x if x is None or isinstance(x, bool | int | str) else type(x).__name__


if __name__ == "__main__":
    pages = {
        name: "[\n  " + ",\n  ".join(map(json.dumps, calls_of(name))) + "\n ]" for name in PAGES
    }
    lines = [f" {json.dumps(name)}: {text}" for name, text in pages.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
