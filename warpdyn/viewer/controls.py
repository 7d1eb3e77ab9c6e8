"""Controls of a robot: sliders for its coordinates, switches for overlays, and a handle that it
reaches for."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from viser.transforms import SO3

from ..functions.inverse_kinematics import inverse_kinematics
from ..functions.manifold import difference, integrate
from ..model.description import Joint
from ..model.joints import JointKind
from ..model.scene.free_bodies import free_joints, internal_joints
from .overlays import OVERLAYS, Overlays, model_has
from .robot_view import RobotView
from .shapes import matrix_of
from .stage import Page

TURN = 2 * np.pi
"""Range of a slider in both directions for a joint without limits [rad, m]."""

DIGITS = 6
"""Digits of a slider's number that float32 can represent; further ones would distract."""

LARGE, SMALL = 0.35, 0.12
"""Sizes of the arrows and rings of a base and of another free body, relative to the robot's."""

MANY = 8
"""Number of free bodies above which the folder of their switches is closed at first."""

NO_FRAME = "(none)"


class Controls:
    """Controls with which a user moves one robot."""

    def __init__(self, stage: Page, view: RobotView):
        self.stage, self.view = stage, view
        self.q = view.q[0].astype(float)
        self.overlays = Overlays(stage, view)
        self.sliders: dict[int, Any] = {}
        self.turns: dict[str, list[Any]] = {}
        self._telling = False
        gui = stage.server.gui
        self._folders = [gui.add_folder(name) for name in ("Shown", "Joints")]
        shown, joints = self._folders
        with shown:
            # A switch is listed only if the model has something to show for it.
            for name in OVERLAYS:
                if model_has(view.model, name):
                    self._switch(name)
            if view.model.floating_base:
                self._add_mover(*free_joints(view.model))
        self._add_bodies()
        with joints:
            self._add_sliders()
            gui.add_button("start again").on_click(lambda _: self._start_again())
        self._start = self.q.copy()
        if self.sliders or self.turns:
            self._folders.append(gui.add_folder("Reach"))
            with self._folders[-1]:
                self.frame: Any = gui.add_dropdown("frame", (NO_FRAME, *view.model.link_names[1:]))
                self.reached: Any = gui.add_markdown("")
            self.frame.on_update(lambda _: self._reach_with(str(self.frame.value)))

    def remove(self) -> None:
        """Remove the controls from the page, with their drawings."""
        for name in OVERLAYS:
            self.overlays.switch(name, False)
        moved = (f"/moved/{joint.child}" for joint in free_joints(self.view.model))
        for path in (*moved, "/reach"):
            self.stage.server.scene.remove_by_name(path)
        for folder in self._folders:
            folder.remove()

    def follow(self) -> None:
        """Update sliders and drawings after the program has moved the robot."""
        self.q = self.view.q[0].astype(float)
        self._tell_sliders()
        self.overlays.update()

    def _switch(self, name: str) -> None:
        box = self.stage.server.gui.add_checkbox(name, False)
        box.on_update(lambda _: self.overlays.switch(name, bool(box.value)))

    def _add_sliders(self) -> None:
        """Add a slider for each coordinate that is an independent angle or length."""
        model, gui = self.view.model, self.stage.server.gui
        for joint in internal_joints(model):
            kind: JointKind = joint.kind
            columns = model.coordinates[joint.name].q
            if not all(part.single for part in kind.parts):
                if kind.nv == 3:
                    self._add_turns(joint.name)
                continue
            for k in range(columns.start, columns.stop):
                low, high = float(model.position_lower[k]), float(model.position_upper[k])
                low = low if np.isfinite(low) else -TURN
                high = high if np.isfinite(high) else TURN
                name = joint.name if columns.stop - columns.start == 1 else model.q_names[k]
                start = float(np.clip(round(self.q[k], DIGITS), low, high))
                slider = gui.add_slider(name, low, max(high, low + 1e-6), 1e-3, start)
                self.sliders[k] = slider
                slider.on_update(partial(self._on_slide, k))

    def _add_turns(self, name: str) -> None:
        """Add three sliders for a ball joint: its rotation vector, in the child's axes."""
        gui = self.stage.server.gui
        self.turns[name] = [
            gui.add_slider(f"{name} {axis}", -np.pi, np.pi, 1e-3, start)
            for axis, start in zip("xyz", self._rotation(name), strict=True)
        ]
        for slider in self.turns[name]:
            slider.on_update(partial(self._on_turn, name))

    def _rotation(self, name: str) -> list[float]:
        """The rotation vector (3,) of a joint from its neutral placement [rad]."""
        model = self.view.model
        away = difference(model, np.asarray(model.neutral)[None], self.q[None])[0]
        return np.clip(away[model.coordinates[name].v], -np.pi, np.pi).tolist()

    def _on_turn(self, name: str, event: Any) -> None:
        if event.client is None or self._telling:
            return
        model, way = self.view.model, np.zeros((1, self.view.model.nv))
        at = model.coordinates[name]
        way[0, at.v] = [slider.value for slider in self.turns[name]]
        self.q[at.q] = integrate(model, np.asarray(model.neutral)[None], way)[0, at.q]
        self._update_drawings()

    def _on_slide(self, k: int, event: Any) -> None:
        if event.client is None or self._telling:
            return
        self.q[k] = float(self.sliders[k].value)
        self._update_drawings()

    def _update_drawings(self) -> None:
        self.view.update(self.q)
        self.overlays.update()

    def _start_again(self) -> None:
        self.q = self._start.copy()
        self._tell_sliders()
        self._update_drawings()

    def _tell_sliders(self) -> None:
        self._telling = True
        for k, slider in self.sliders.items():
            slider.value = float(np.clip(round(self.q[k], DIGITS), slider.min, slider.max))
        for name, sliders in self.turns.items():
            for slider, angle in zip(sliders, self._rotation(name), strict=True):
                slider.value = angle
        self._telling = False

    def _add_bodies(self) -> None:
        """Add a switch for each free body that is not the base, in a separate folder."""
        bodies = () if self.view.model.floating_base else free_joints(self.view.model)
        if bodies:
            few = len(bodies) <= MANY
            folder = self.stage.server.gui.add_folder("Bodies", expand_by_default=few)
            self._folders.append(folder)
            with folder:
                for joint in bodies:
                    self._add_mover(joint)

    def _add_mover(self, joint: Joint) -> None:
        """Add a switch for arrows and rings that move a free body."""
        name = "the base" if self.view.model.floating_base else joint.child
        box = self.stage.server.gui.add_checkbox(f"move {name}", False)
        box.on_update(lambda _: self._body_handle(joint, bool(box.value)))

    def _body_handle(self, joint: Joint, on: bool) -> None:
        """Show arrows and rings that move a free body, or remove them."""
        model, path = self.view.model, f"/moved/{joint.child}"
        self.stage.server.scene.remove_by_name(path)
        if not on:
            return
        pose = self.view.first[model.link_index(joint.child)]
        size = self.view.size * (LARGE if model.floating_base else SMALL)
        handle = self.stage.server.scene.add_transform_controls(
            path, scale=size, wxyz=pose[[6, 3, 4, 5]], position=pose[:3]
        )
        columns = model.coordinates[joint.name].q
        turned, origin = self._place_of(joint)

        def on_move(_: Any) -> None:
            w, x, y, z = (turned.inverse() @ SO3(np.asarray(handle.wxyz))).wxyz
            at = turned.inverse() @ (np.asarray(handle.position) - origin)
            self.q[columns] = joint.kind.reorder((*at, x, y, z, w), model.quaternion)
            self._update_drawings()

        handle.on_update(on_move)

    def _place_of(self, joint: Joint) -> tuple[SO3, np.ndarray]:
        """Rotation and position on the page of the frame in which a free body's coordinates are."""
        if self.view.model.floating_base:
            return SO3.identity(), self.view.places[0]
        above = self.view.first[self.view.model.link_index(joint.parent)]
        carrier, fixed = SO3(above[[6, 3, 4, 5]]), matrix_of(joint.pose)
        return carrier @ SO3.from_matrix(fixed[:3, :3]), above[:3] + carrier @ fixed[:3, 3]

    def _reach_with(self, frame: str) -> None:
        """Show arrows and rings at a frame, which the robot follows."""
        self.stage.server.scene.remove_by_name("/reach")
        self.reached.content = ""
        if frame == NO_FRAME:
            return
        model = self.view.model
        pose = self.view.first[model.link_index(frame)]
        handle = self.stage.server.scene.add_transform_controls(
            "/reach", scale=0.25 * self.view.size, wxyz=pose[[6, 3, 4, 5]], position=pose[:3]
        )

        def on_move(_: Any) -> None:
            w, x, y, z = handle.wxyz
            target = np.array([[*handle.position, x, y, z, w]])
            found = inverse_kinematics(model, target, frame=frame, q0=self.q[None], restarts=2)
            self.q = np.array(found.q[0], dtype=float)
            self.reached.content = "reached" if bool(found.success[0]) else "out of reach"
            self._tell_sliders()
            self._update_drawings()

        handle.on_update(on_move)
