"""The kernels of one model over the arrays of several robots, and over flat batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn import Model, ModelError

from .joint_states import POSITION_BOUND
from .settings import Settings


def load_model(settings: Settings, text: str = "") -> Model:
    """The model that the parameters, or else the topic's `text`, describe, its payload included.

    Raises ValueError (ModelError for a bad description) or OSError with a text for the user.
    """
    if settings.robot_description:
        model = wd.load_urdf(settings.robot_description)
    elif settings.robot_description_file:
        file = settings.robot_description_file
        model = (
            wd.load_robot(file, floating_base=False)
            if file in wd.robot_names()
            else wd.load_urdf(file)
        )
    elif not text.lstrip().startswith("<"):
        found = f"begins with {text.strip()[:40]!r}" if text.strip() else "is empty"
        raise ModelError(f"robot_description {found}: send the text of a URDF file")
    else:
        model = wd.load_urdf(text)
    if not model.joint_names:
        raise ModelError(f"{model.name} has no moving joint: there is no torque to compute")
    if settings.payload_link:
        if settings.payload_link not in model.link_names:
            raise ValueError(
                f"payload.link {settings.payload_link!r} is not a link of {model.name}"
            )
        x, y, z = settings.payload_com
        model = model.with_payload(settings.payload_link, settings.payload_mass, (x, y, z))
    return model


class Dynamics:
    """Inverse dynamics of `robots` robots of one model: fill rows of q, v, a, wrenches, call `compute`, read torque.

    q: (R, nq).  v, a, torque: (R, nv).  wrenches: (R, nlinks, 6), acting on the links.  All float64 on the host; with a
    CUDA device they are copied there and back in every call.
    """

    def __init__(self, model: Model, settings: Settings, robots: int) -> None:
        self.model = model
        self.device = settings.device
        self.q = np.tile(model.neutral, (robots, 1))
        self.v = np.zeros((robots, model.nv))
        self.a = np.zeros((robots, model.nv))
        self.wrenches = np.zeros((robots, model.nlinks, 6))
        self.torque = np.full((robots, model.nv), np.nan)
        self.gravity = np.tile(
            np.array(settings.gravity), (robots, 1)
        )  # by robot: read anew at every launch
        self.compute = self._bound_rnea()
        self._warm(settings)

    def change_gravity(self, gravity: tuple[float, ...]) -> None:
        self.gravity[:] = gravity

    def take(self, model: Model) -> None:
        """Go on with another model of the same shape, such as one with another payload, whose kernels are warm."""
        if (model.nq, model.nv, model.link_names) != (
            self.model.nq,
            self.model.nv,
            self.model.link_names,
        ):
            raise ValueError("the models differ in more than their inertias")
        self.model = model
        self.compute = self._bound_rnea()

    def poses(self) -> np.ndarray:
        """(R, nlinks, 4, 4) pose of every link in the root link."""
        return np.asarray(wd.fk(self.model, self.q))

    def mass_matrix(self) -> np.ndarray:
        """(R, nv, nv) joint-space inertia."""
        return np.asarray(wd.crba(self.model, self.q))

    def jacobian(self, link: str) -> np.ndarray:
        """(R, 6, nv) linear then angular velocity of the link, in the root link's axes, per joint velocity."""
        J = wd.jacobian(self.model, self.q, frame=link, reference="local_world_aligned")
        return np.asarray(J)

    def _bound_rnea(self) -> Callable[[], object]:
        if self.device == "cpu":
            return wd.bind(
                wd.rnea,
                self.model,
                self.q,
                self.v,
                self.a,
                f_ext=self.wrenches,
                gravity=self.gravity,
                out=self.torque,
            )
        return _device_rnea(self)

    def _warm(self, settings: Settings) -> None:
        """Run once all that will run, so that no kernel is compiled in a callback."""
        self.compute()
        if settings.publish_link_poses or settings.tip_links or settings.publish_tf:
            self.poses()
        if settings.publish_mass_matrix:
            self.mass_matrix()
        for link in settings.jacobian_links:
            self.jacobian(link)


def _device_rnea(dynamics: Dynamics) -> Callable[[], None]:
    import warp as wp

    hosts = [dynamics.q, dynamics.v, dynamics.a, dynamics.wrenches, dynamics.gravity]
    there: list[Any] = [wp.array(x, dtype=wp.float64, device=dynamics.device) for x in hosts]
    q, v, a, wrenches, gravity = there
    torque = wp.zeros(dynamics.torque.shape, dtype=wp.float64, device=dynamics.device)
    launch = wd.bind(wd.rnea, dynamics.model, q, v, a, f_ext=wrenches, gravity=gravity, out=torque)

    def run() -> None:
        for copy, host in zip(there, hosts, strict=True):
            copy.assign(host)
        launch()
        dynamics.torque[:] = torque.numpy()

    return run


class Batch:
    """Robots that travel as one flat array: (B, 2, dof) positions and velocities in, (B, dof) torques out.

    dof counts the joints of `model.joint_names`. A robot whose numbers are not usable gets zero torque and is counted;
    the others are not touched by it.
    """

    def __init__(self, dynamics: Dynamics, settings: Settings) -> None:
        self._dynamics = dynamics
        self._settings = settings
        self.bad_robots = 0
        self._size = -1

    def change(self, settings: Settings) -> None:
        self._settings = settings
        self._size = -1

    def robots_in(self, length: int, sizes: Sequence[int]) -> int:
        """How many robots a message of `length` numbers holds; ValueError when its dimensions say otherwise."""
        nv = self._dynamics.model.nv
        if self._dynamics.model.nq != nv:
            raise ValueError("batches need joints of one coordinate each")
        if length == 0 or length % (2 * nv):
            raise ValueError(f"the data must be robots x 2 x {nv} numbers, got {length}")
        if sizes and list(sizes) != [length // (2 * nv), 2, nv]:
            raise ValueError(
                f"the dimensions must be [{length // (2 * nv)}, 2, {nv}], got {list(sizes)}"
            )
        return length // (2 * nv)

    def compute(self, state: np.ndarray) -> np.ndarray:
        """(B, nv) torques for (B, 2, nv) states; the array is used again by the next call."""
        if len(state) != self._size:
            self._allocate(len(state))
        good = self._load(state)
        self._run()
        if not good.all():
            self.torque[~good] = 0.0
            self.bad_robots += int((~good).sum())
        return self.torque

    def poses(self) -> np.ndarray:
        """(B, nlinks, 7) position and quaternion xyzw of each link, of the last states."""
        T = wd.fk(self._dynamics.model, self.q)
        return np.concatenate([T[..., :3, 3], quaternions(T[..., :3, :3])], axis=-1)

    def _load(self, state: np.ndarray) -> np.ndarray:
        good = (np.abs(state) <= POSITION_BOUND).all(axis=(1, 2))
        self.q[:] = state[:, 0]
        if self._settings.needs_velocity:
            self._v[:] = state[:, 1]
        if not good.all():
            self.q[~good], self._v[~good] = 0.0, 0.0
        return good

    def _allocate(self, size: int) -> None:
        model, nv = self._dynamics.model, self._dynamics.model.nv
        self._size = size
        self.q, self._v, a, self.torque = (np.zeros((size, nv)) for _ in range(4))
        wrenches = np.zeros((size, model.nlinks, 6))
        gravity = np.tile(self._dynamics.gravity[0], (size, 1))
        self._run = wd.bind(
            wd.rnea, model, self.q, self._v, a, f_ext=wrenches, gravity=gravity, out=self.torque
        )


def quaternions(R: np.ndarray) -> np.ndarray:
    """(..., 4) unit quaternions xyzw of rotation matrices (..., 3, 3).

    The largest of the four components is found from the diagonal and the others from it (Shepperd 1978), so that
    nothing small is divided by.
    """
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    squares = np.stack(
        [1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz], axis=-1
    )
    xy, xz, yz = (
        R[..., 0, 1] + R[..., 1, 0],
        R[..., 0, 2] + R[..., 2, 0],
        R[..., 1, 2] + R[..., 2, 1],
    )
    xw, yw, zw = (
        R[..., 2, 1] - R[..., 1, 2],
        R[..., 0, 2] - R[..., 2, 0],
        R[..., 1, 0] - R[..., 0, 1],
    )
    rows = np.stack(
        [
            np.stack([squares[..., 0], xy, xz, xw], axis=-1),
            np.stack([xy, squares[..., 1], yz, yw], axis=-1),
            np.stack([xz, yz, squares[..., 2], zw], axis=-1),
            np.stack([xw, yw, zw, squares[..., 3]], axis=-1),
        ],
        axis=-2,
    )
    largest = np.argmax(squares, axis=-1)[..., None, None]
    quaternion = np.take_along_axis(
        rows, np.broadcast_to(largest, (*largest.shape[:-1], 4)), axis=-2
    )[..., 0, :]
    return quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
