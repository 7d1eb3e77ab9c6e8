"""The arrays between the robots' inputs and their torques: one owner, and a view for each robot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpdyn.model import Model


@dataclass(frozen=True, eq=False)
class State:
    """The arrays that one launch reads and writes: those of all robots, or the rows of one robot.

    A row is shared memory: the next `FleetDynamics.compute` reads the values of its writer, without
    a copy. Only these may write, all of them in the node's one thread:

    | row | written by | when |
    |---|---|---|
    | q | `JointStates.take` | a joint_states message arrives |
    | v | `JointStates.take`; `JointStates.change` | likewise; set to zero for a mode without velocities |
    | a | `Robot.prepare` | before a launch, from the setpoint and the gains; zero in mode gravity |
    | wrench | `ExternalWrench` | a wrench arrives; set to zero when it is no longer fresh |
    | q_desired, v_desired, a_desired | `Robot.prepare` | before a launch of a law, from the setpoint |
    | pose_desired | `PoseReference` | a pose arrives; before a launch while disabled, the present pose |
    | pose_compliant, twist_compliant, acceleration_compliant | `VirtualBody` | before a launch of the law admittance |
    | contact_wrench | `VirtualBody` | likewise |
    | torque | `FleetDynamics.compute` | the launch; `Robot.command` reads it |
    """

    q: np.ndarray
    """(nq,), positions [m, rad]"""
    v: np.ndarray
    """(nv,), velocities"""
    a: np.ndarray
    """(nv,), accelerations to produce"""
    wrench: np.ndarray
    """(nlinks, 6), force and torque that act on each link, about its origin and in its axes [N,
    N·m]"""
    torque: np.ndarray
    """(nv,), joint torques; not a number until the first launch"""
    q_desired: np.ndarray
    """(nq,), wanted positions, for a law; likewise v_desired and a_desired (nv,)"""
    v_desired: np.ndarray
    a_desired: np.ndarray
    pose_desired: np.ndarray
    """(7,), wanted pose of a law's frame in the root link: position [m] and quaternion xyzw"""
    pose_compliant: np.ndarray
    """(7,), pose of the virtual body that a law's frame follows"""
    twist_compliant: np.ndarray
    """(6,), its velocity in the root link's axes; likewise acceleration_compliant"""
    acceleration_compliant: np.ndarray
    contact_wrench: np.ndarray
    """(6,), what the environment exerts on the frame, about its origin, in the root link's axes"""

    @classmethod
    def of_robots(cls, model: Model, robots: int) -> State:
        """Arrays (robots, ...) at rest in the neutral position."""
        return cls(
            q=np.tile(model.neutral, (robots, 1)),
            v=np.zeros((robots, model.nv)),
            a=np.zeros((robots, model.nv)),
            wrench=np.zeros((robots, model.nlinks, 6)),
            torque=np.full((robots, model.nv), np.nan),
            q_desired=np.tile(model.neutral, (robots, 1)),
            v_desired=np.zeros((robots, model.nv)),
            a_desired=np.zeros((robots, model.nv)),
            pose_desired=np.tile([0.0] * 6 + [1.0], (robots, 1)),
            pose_compliant=np.tile([0.0] * 6 + [1.0], (robots, 1)),
            twist_compliant=np.zeros((robots, 6)),
            acceleration_compliant=np.zeros((robots, 6)),
            contact_wrench=np.zeros((robots, 6)),
        )

    def row(self, robot: int) -> State:
        """Views of one robot's rows."""
        return State(
            q=self.q[robot],
            v=self.v[robot],
            a=self.a[robot],
            wrench=self.wrench[robot],
            torque=self.torque[robot],
            q_desired=self.q_desired[robot],
            v_desired=self.v_desired[robot],
            a_desired=self.a_desired[robot],
            pose_desired=self.pose_desired[robot],
            pose_compliant=self.pose_compliant[robot],
            twist_compliant=self.twist_compliant[robot],
            acceleration_compliant=self.acceleration_compliant[robot],
            contact_wrench=self.contact_wrench[robot],
        )
