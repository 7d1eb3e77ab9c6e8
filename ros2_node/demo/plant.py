"""A simulated robot to test the node: MuJoCo in a separate process that behaves like ros2_control.

It publishes joint_states, applies the torques of ~/commands (remap it to the node's) and of a
hand's ~/push, and keeps the last ones for ever, like an effort controller. It uses none of
warpdyn's dynamics; its own computations use the URDF directly.
"""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from builtin_interfaces.msg import Time as TimeMessage
from lxml import etree
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from .named_robot import urdf_text
from .running import Rounds, run_demo_node

READY = {
    "panda_joint2": -0.785398,
    "panda_joint4": -2.356194,
    "panda_joint6": 1.570796,
    "panda_joint7": 0.785398,
}
"""Franka's "ready" pose [rad]; joints without an entry are at zero."""
DEEP = QoSProfile(depth=10)
LONGEST_WAIT = 1.0
"""Longest wait of a step in lockstep [s]; without a command the last torques remain."""


class Arm:
    """MuJoCo's model of a URDF: no contacts, and in every hinge `damping` [N·m·s/rad] and Coulomb
    `friction` [N·m]."""

    def __init__(
        self,
        urdf: str,
        pose: Mapping[str, float],
        damping: float = 0.5,
        period: float = 0.001,
        payload: tuple[str, float, Sequence[float]] | None = None,
        friction: float = 0.0,
    ) -> None:
        # Shapes do not affect the dynamics, and their files may be in packages that are not
        # installed.
        root = etree.fromstring(urdf.encode())
        etree.strip_elements(root, "visual", "collision", with_tail=False)
        spec = mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode"))
        spec.compiler.fusestatic = False
        spec.option.timestep = period
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        if payload is not None:
            link, mass, com = payload
            tiny = 1e-9
            spec.body(link).add_body(
                name="payload",
                pos=com,
                mass=mass,
                inertia=[tiny] * 3,
                ipos=[0.0, 0.0, 0.0],
                explicitinertial=True,
            )
        self.model = spec.compile()
        hinges = self.model.jnt_type == int(mujoco.mjtJoint.mjJNT_HINGE)
        self.model.dof_frictionloss[:] = np.where(hinges, friction, 0.0)
        # As stiff as the solver allows: with MuJoCo's own numbers a light joint creeps far below
        # the friction.
        self.model.dof_solref[:], self.model.dof_solimp[:, :2] = (2.0 * period, 1.0), 0.999
        self.model.dof_damping[:] = np.where(hinges, damping, self.model.dof_damping)
        self.data, self._still = mujoco.MjData(self.model), mujoco.MjData(self.model)
        self.names = [self.model.joint(i).name for i in range(self.model.njnt)]
        self.hinges = np.flatnonzero(hinges)
        """True for joints whose position is an angle."""
        self.pose = pose
        self.reset()

    def reset(self) -> None:
        mujoco.mj_resetData(self.model, self.data)
        for name, value in self.pose.items():
            if name in self.names:
                self.data.qpos[self.names.index(name)] = value
        mujoco.mj_forward(self.model, self.data)

    def bias_at_rest(self) -> np.ndarray:
        """MuJoCo's own torques against gravity in the present position, by joint."""
        self._still.qpos[:] = self.data.qpos
        mujoco.mj_forward(self.model, self._still)
        return self._still.qfrc_bias

    def step(self, torque: np.ndarray) -> None:
        self.data.qfrc_applied[:] = torque
        mujoco.mj_step(self.model, self.data)


class Plant(Node):
    """The arm in real time. Its brakes are services: ~/brake holds it in place, ~/reset puts it
    back to its pose."""

    def __init__(self, **options: Any) -> None:
        super().__init__("plant", **options)
        declare = self.declare_parameter
        robot = str(declare("robot", "panda").value)
        text = urdf_text(robot)
        names: list[str] = list(declare("pose_joints", list(READY)).value or ())
        values: list[float] = list(declare("pose", list(READY.values())).value or ())
        link, mass = (
            str(declare("payload.link", "").value),
            float(declare("payload.mass", 0.0).value or 0.0),
        )
        com: list[float] = list(declare("payload.com", [0.0, 0.0, 0.0]).value or ())
        rate = float(declare("rate", 1000.0).value or 1000.0)
        damping = float(declare("damping", 0.5).value or 0.0)
        friction = float(declare("friction", 0.0).value or 0.0)
        self.trace_file = str(declare("trace", "").value)
        self.period = 1.0 / rate
        # A payload needs both a link and a mass.
        load = (link, mass, com) if link and mass else None
        pose = dict(zip(names, values, strict=True))
        self.arm = Arm(text, pose, damping, self.period, load, friction)
        self.order: list[str] = list(declare("command_joints", self._independent()).value or ())
        self.columns = [self.arm.names.index(name) for name in self.order]
        self.torque, self.push = np.zeros(self.arm.model.nv), np.zeros(self.arm.model.nv)
        self.braked = bool(declare("braked", False).value)
        self._lockstep = bool(declare("lockstep", False).value)
        """True if a step waits for the command that answers the last state."""
        self._answered, self._said, self._steps = True, 0.0, 0
        self.trace: list[np.ndarray] = []
        self._states = self.create_publisher(JointState, "joint_states", DEEP)
        self._message = JointState(name=self.arm.names)
        self.create_subscription(Float64MultiArray, "~/commands", self._on_commands, DEEP)
        self.create_subscription(Float64MultiArray, "~/push", self._on_push, DEEP)
        self.create_service(SetBool, "~/brake", self._on_brake)
        self.create_service(Trigger, "~/reset", self._on_reset)

    def _independent(self) -> list[str]:
        model = self.arm.model
        joints = [i for i in range(model.neq) if model.eq_type[i] == int(mujoco.mjtEq.mjEQ_JOINT)]
        followers = {int(model.eq_obj1id[i]) for i in joints}
        return [name for i, name in enumerate(self.arm.names) if i not in followers]

    def _on_commands(self, message: Float64MultiArray) -> None:
        command = np.frombuffer(message.data)
        if len(command) != len(self.columns) or not np.isfinite(command).all():
            self.get_logger().error("commands dropped", throttle_duration_sec=1.0)
            return
        self.torque[self.columns] = command
        self._answered = True

    def _on_push(self, message: Float64MultiArray) -> None:
        """Apply a hand's push to the joints, in the order of the commands [N·m]."""
        if len(message.data) == len(self.columns):
            self.push[self.columns] = message.data

    def _on_brake(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.braked = request.data
        self.arm.data.qvel[:] = 0.0
        response.success = True
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.arm.reset()
        response.success = True
        return response

    def step(self) -> None:
        """Run one period: move unless braked, and publish the state."""
        data = self.arm.data
        if not self.braked:
            self.arm.step(self.torque + self.push)
        self._answered, self._said = False, time.monotonic()
        self._steps += 1
        self._message.header.stamp = self._stamp()
        self._message.position = array("d", data.qpos.tobytes())
        self._message.velocity = array("d", data.qvel.tobytes())
        self._states.publish(self._message)
        if self.trace_file:
            bias = self.arm.bias_at_rest()
            self.trace.append(
                np.concatenate([[time.monotonic(), self.braked], data.qpos, self.torque, bias])
            )

    def _stamp(self) -> TimeMessage:
        """The present time; in lockstep, which may be slower, the simulation's time."""
        if not self._lockstep:
            return self.get_clock().now().to_msg()
        whole, part = divmod(self._steps * self.period, 1.0)
        return TimeMessage(sec=int(whole), nanosec=int(1e9 * part))

    @property
    def waiting(self) -> bool:
        """True if the next step must wait, in lockstep, for a command."""
        late = time.monotonic() - self._said > LONGEST_WAIT
        return self._lockstep and not (self.braked or self._answered or late)

    def save(self) -> None:
        if self.trace_file:
            np.savez(
                self.trace_file,
                trace=np.array(self.trace),
                names=self.arm.names,
                hinges=self.arm.hinges,
            )


def play(plant: Plant, rounds: Rounds) -> None:
    """Simulate in real time until the node is to end, then save the trace."""
    plant.get_logger().info(f"simulating {', '.join(plant.arm.names)}")
    due = time.monotonic()
    while not rounds.ended():
        plant.step()
        # A late step is made up for, but not a long pause.
        due = max(due + plant.period, time.monotonic() - 0.05)
        rounds.rest(due, lambda: plant.waiting)
    plant.save()


def main(args: list[str] | None = None) -> int:
    """Simulate in real time until SIGINT or SIGTERM."""
    return run_demo_node(Plant, play, args)


if __name__ == "__main__":
    sys.exit(main())
