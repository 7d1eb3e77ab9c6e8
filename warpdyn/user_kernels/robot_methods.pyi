"""Methods of the robot in a user's own kernel, for editors and type checkers.

Written by scripts/robot_stub.py from the public functions.
"""


from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .values import Values
from ..functions.simulation.state_derivative import Ground, PD, SoftGround, StateDerivative
from ..functions.simulation.simulation_step import Integrator, Step, Stops
from ..functions.simulation.sensors import ContactPoint
from ..functions.simulation.height_scan import HeightMap, Plane
from ..functions.representations import Reference, Representation, Side
from ..functions.poses import QuaternionOrder
from ..functions.operational_space import Part
from ..functions.kinematics import _fk, _motion
from ..functions.inverse_kinematics import Solution
from ..functions.centroidal import CentroidalReference, MomentumReference

Array = Values | np.ndarray | Sequence[float] | float
Gravity = Array | None
Forces = Mapping[str, Array] | Array | None

class RobotMethods:
    def aba(
        self,
        q: Array,
        v: Array | None,
        tau: Array,
        *,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
        method: Literal['auto', 'aba', 'crba'] = ...,
    ) -> Values:
        """Forward dynamics: accelerations that the joint forces `tau` produce, the inverse of `rnea`.

        q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv) [N, N·m].  Returns a: (B, nv) [m/s², rad/s²];
        `f_ext`, `gravity` and joint effects as in `rnea`.
        method: "aba", the articulated-body algorithm, RBDA table 7.1; "crba", M a = tau - h factorised
        over the tree, RBDA chapter 6; "auto", whichever gives the shorter program for the robot.
        Raises ModelError if a joint moves no inertia, because its acceleration is then not defined.

        >>> model = wd.load_robot("panda")
        >>> q, v, a = (wd.random_configuration(model, 100, seed=k) for k in range(3))
        >>> np.allclose(wd.aba(model, q, v, wd.rnea(model, q, v, a)), a)
        True"""

    def aba_derivatives(
        self,
        q: Array,
        v: Array | None,
        tau: Array,
        *,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
    ) -> tuple[Values, Values, Values, Values]:
        """Forward dynamics and its derivatives by position, velocity and joint force.

        q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv) [N, N·m].  `f_ext`, `gravity` as in `aba`.
        Returns qdd (B, nv), as `aba`, and dqdd_dq, dqdd_dv, dqdd_dtau = M⁻¹: (B, nv, nv) each.
        Derivatives by q are over the tangent space, as in `rnea_derivatives`.
        d qdd = -M⁻¹ d rnea at a = qdd; Carpentier and Mansard, RSS 2018, equation 12."""

    def actuator_torques(
        self,
        q: Array,
        v: Array | None,
        control: Array,
    ) -> Values:
        """Joint forces that the actuators of an MJCF file produce for these controls.

        q: (B, nq) [m, rad].  v: (B, nv).  control: (B, number of `model.actuators`), in their order and
        units: positions of position servos, velocities of velocity servos, forces of motors before
        their gears.  Returns tau: (B, nv) [N, N·m].
        Each actuator's force is gain times control plus bias, along a joint or a fixed tendon; the
        control, the force and the sum of the forces on a joint (`effort_limit`) are clamped to their
        bounds, as in MuJoCo (its documentation, Computation, actuator model)."""

    def average_centroidal_velocity(
        self,
        q: Array,
        v: Array | None,
        *,
        reference: CentroidalReference = ...,
    ) -> Values:
        """The average velocity at the centre of mass: the velocity of the centre of mass, and J⁻¹ times
        the angular momentum.

        q: (B, nq).  v: (B, nv).  Returns (B, 6) [m/s, rad/s]; `reference` as in `centroidal_momentum`.
        Orin, Goswami and Lee (2013)."""

    def average_centroidal_velocity_jacobian(
        self,
        q: Array,
        *,
        reference: CentroidalReference = ...,
    ) -> Values:
        """The matrix J(q) that gives the average velocity at the centre of mass, J v.

        q: (B, nq).  Returns (B, 6, nv); `reference` as in `centroidal_momentum`.
        Orin, Goswami and Lee (2013)."""

    def average_velocity(
        self,
        q: Array,
        v: Array | None,
        *,
        reference: MomentumReference = ...,
    ) -> Values:
        """The velocity at which the robot with locked joints would have the same momentum: locked
        inertia⁻¹ h.

        q: (B, nq).  v: (B, nv).  Returns (B, 6) [m/s, rad/s]; `reference` as in `momentum`. Not defined
        where all mass lies on one line.
        Orin, Goswami and Lee (2013)."""

    def average_velocity_jacobian(
        self,
        q: Array,
        *,
        reference: MomentumReference = ...,
    ) -> Values:
        """The matrix J(q) that gives the average velocity, J v: locked inertia⁻¹ times the momentum's
        Jacobian.

        q: (B, nq).  Returns (B, 6, nv); `reference` as in `momentum`.
        Orin, Goswami and Lee (2013)."""

    def bias_forces(
        self,
        q: Array,
        v: Array | None,
        *,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
    ) -> Values:
        """Joint forces at zero acceleration, h = C(q, v) v + g(q) - Jᵀ f_ext.

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nv) [N, N·m].  `f_ext`, `gravity` as in `rnea`.
        tau = M a + h + `effect_torques`: h does not include friction and limit springs. RBDA 6.2.

        >>> model = wd.load_robot("panda")
        >>> q = wd.random_configuration(model, 100)
        >>> rest = np.zeros((100, model.nv))
        >>> np.allclose(wd.bias_forces(model, q, rest), wd.gravity_torques(model, q))
        True"""

    def centroidal_momentum(
        self,
        q: Array,
        v: Array | None,
        *,
        reference: CentroidalReference = ...,
    ) -> Values:
        """Momentum about the centre of mass, h = A(q) v.

        q: (B, nq).  v: (B, nv).  Returns (B, 6): linear [kg·m/s], then angular momentum [kg·m²/s].
        reference: axes of the world ("local_world_aligned", the default) or of the root link ("local").
        Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot, Autonomous Robots 35 (2013)."""

    def centroidal_momentum_matrix(
        self,
        q: Array,
        *,
        reference: CentroidalReference = ...,
    ) -> Values:
        """The centroidal momentum matrix A(q): momentum about the centre of mass is A v; the velocity
        of the centre of mass is A[:3] v / mass.

        q: (B, nq).  Returns (B, 6, nv); `reference` as in `centroidal_momentum`.
        Orin, Goswami and Lee (2013), computed from composite inertias as in Wensing and Orin, Int. J.
        Humanoid Robotics 13 (2016)."""

    def centroidal_momentum_matrix_derivative(
        self,
        q: Array,
        v: Array,
    ) -> Values:
        """dA/dt, the derivative of the centroidal momentum matrix along the motion v, in the world's
        axes.

        q: (B, nq).  v: (B, nv).  Returns (B, 6, nv).
        Columns X* (I' S + V ×* I S) with I' the rate of composite inertias; Wensing and Orin (2016)."""

    def centroidal_momentum_rate(
        self,
        q: Array,
        v: Array | None,
        a: Array | None,
    ) -> Values:
        """Rate of the centroidal momentum, A a + dA/dt v, in the world's axes.

        q: (B, nq).  v, a: (B, nv).  Returns (B, 6) [N, N·m]: the sum of all forces on the robot, weight
        among them, and of their moments about the centre of mass.
        Orin, Goswami and Lee (2013); by the forward pass of RBDA table 5.1."""

    def chain_product(
        self,
        matrices: Array,
    ) -> Values:
        """The pose at the end of a chain of poses, T_1 T_2 .. T_n.

        matrices: (B, n, 4, 4) homogeneous, each relative to the previous one.  Returns (B, 4, 4).  RBDA
        2.8."""

    def clamp(
        self,
        q: Array,
    ) -> Values:
        """`q` with every coordinate clamped to its position limits; quaternions have no limits.

        q: (B, nq) [m, rad].  Returns (B, nq).  Limits: `model.position_lower`, `model.position_upper`."""

    def com(
        self,
        q: Array,
        *,
        subtree: str | None = ...,
    ) -> Values:
        """Centre of mass in the world, sum of m_i c_i / m.

        q: (B, nq) [m, rad].  Returns (B, 3) [m].
        subtree: a link, to count only that link and its descendants instead of the whole robot.
        Raises ModelError if the counted links have no mass.

        >>> model = wd.load_robot("panda")
        >>> q = wd.random_configuration(model, 100)
        >>> masses = [link.mass for link in model.links]
        >>> np.allclose(wd.com(model, q), np.average(wd.link_coms(model, q), 1, masses))
        True"""

    def com_acceleration(
        self,
        q: Array,
        v: Array | None,
        a: Array | None,
        *,
        subtree: str | None = ...,
    ) -> Values:
        """Acceleration of the centre of mass in the world, without gravity: J a + J' v.

        q: (B, nq).  v, a: (B, nv).  Returns (B, 3) [m/s²]. subtree: as in `com`."""

    def com_bias_acceleration(
        self,
        q: Array,
        v: Array | None,
        *,
        subtree: str | None = ...,
    ) -> Values:
        """J' v, the acceleration of the centre of mass that is due to the velocities alone.

        q: (B, nq).  v: (B, nv).  Returns (B, 3) [m/s²]. subtree: as in `com`."""

    def com_jacobian(
        self,
        q: Array,
        *,
        subtree: str | None = ...,
    ) -> Values:
        """Jacobian of the centre of mass: J v is its velocity in the world.

        q: (B, nq).  Returns (B, 3, nv). subtree: as in `com`.
        The linear rows of the centroidal momentum matrix over m: Orin, Goswami and Lee, Autonomous
        Robots 35, 2013."""

    def com_velocity(
        self,
        q: Array,
        v: Array | None,
        *,
        subtree: str | None = ...,
    ) -> Values:
        """Velocity of the centre of mass in the world: linear momentum / m, J v.

        q: (B, nq).  v: (B, nv).  Returns (B, 3) [m/s]. subtree: as in `com`."""

    def configuration_rate(
        self,
        q: Array,
        v: Array,
        *,
        baumgarte: float = ...,
    ) -> Values:
        """dq/dt at velocity `v`: quaternion rates included, for integrators that treat q as a plain
        vector.

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nq).
        Such integrators let the length of a quaternion Q drift from one. The last entry of dQ/dt = ½ Q
        ⊗ (ω, K |ω| (1 - |Q|)) with K = `baumgarte` pulls it back. This is JaxSim's term; its default K
        is 1, here it is 0.
        Graf, Quaternions and dynamics (2008), equation 20."""

    def contact_flags(
        self,
        forces: Array,
        *,
        points: Sequence[ContactPoint] = ...,
        links: Sequence[str] | None = ...,
        threshold: float = ...,
    ) -> Values:
        """Contact flags: 1 where contacts press, 0 elsewhere.

        forces: (B, points, 3) on the points [N], as `step` returns them.
        Returns (B, points), or (B, len(links)) from the net forces on these links.
        threshold: force above which a contact counts [N]."""

    def contact_power(
        self,
        q: Array,
        v: Array | None,
        a: Array | None,
        tau: Array,
        *,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
    ) -> Values:
        """Power that contacts give the robot, v · (rnea(q, v, a) - tau): the power of all forces on it
        except the joint forces `tau`, gravity, the friction and springs of the model, and `f_ext`.

        q: (B, nq) [m, rad].  v, a, tau: (B, nv).  Returns (B,) [W]; above 0 where contacts drive the
        robot, below 0 where they take energy from it: sliding, a push against the motion. A contact
        that does not move gives none. For a log, the result is only as good as `tau` and the model:
        effects that the model lacks (gear friction, a payload) appear in it.
        This power, tau · v and the power of the model's friction and springs add up to the rate of
        `mechanical_energy`.
        f_ext: known forces, as in `rnea`.  gravity: as in `rnea`.
        Featherstone, Rigid Body Dynamics Algorithms (2008), section 2.4 and equation 3.1."""

    def convert_acceleration(
        self,
        q: Array,
        v: Array | None,
        a: Array | None,
        *,
        source: Representation = ...,
        target: Representation = ...,
        joints: Sequence[str] | None = ...,
        com: Sequence[float] | None = ...,
    ) -> Values:
        """The rate of the target's velocity components, from the source's velocity `v` and its rate
        `a`.

        q: (B, nq), warpdyn's.  v, a: (B, nv) in the source's convention, named as in
        `convert.velocity`.
        Returns (B, nv) [m/s², rad/s²].
        Between "local" and "world", accelerations transform like twists. If the linear part is that of
        a moving point in the world's axes, ω × v of that point is added (RBDA section 2.10; classical
        acceleration, RBDA 2.51)."""

    def convert_configuration(
        self,
        q: Array,
        *,
        source: Side = ...,
        target: Side = ...,
        joints: Sequence[str] | None = ...,
    ) -> Values:
        """The configuration in the coordinates of another library, converted to them or from them.

        source, target: one "warpdyn", the other "mujoco", "newton", "drake" or "pinocchio".
        q: (B, nq) [m, rad] in the source's coordinates.  Returns (B, n) in the target's.
        Free base: MuJoCo [p, wxyz], Newton and Pinocchio [p, xyzw], Drake [wxyz, p]. Pinocchio's
        continuous joints are [cos, sin]; from it the angle is atan2(sin, cos), between -π and π.
        joints: names in the order of the other library's columns. By default every moving joint,
        including mimic joints, in the order of the description (MuJoCo, Newton, Drake), or siblings
        sorted by name (Pinocchio). Mimic joints get multiplier * q + offset, and are left out on the
        way back."""

    def convert_force(
        self,
        q: Array,
        tau: Array,
        *,
        source: Representation = ...,
        target: Representation = ...,
        joints: Sequence[str] | None = ...,
        com: Sequence[float] | None = ...,
    ) -> Values:
        """Generalized forces with the same power, with the free base's wrench in another
        representation.

        q: (B, nq), warpdyn's.  tau: (B, nv) [N, N·m] in the source's convention, named as in
        `convert.velocity`.
        Returns (B, nv): tau' = T⁻ᵀ tau where v' = T v. Forces on another library's mimic joints are
        added to the joint that they follow, times their multiplier. In the other direction they are
        zero.
        RBDA 2.27, 2.29."""

    def convert_quaternion(
        self,
        quaternion: Array,
        *,
        source: QuaternionOrder,
        target: QuaternionOrder,
    ) -> Values:
        """Quaternions (B, 4) from one order to the other: `source` and `target` "xyzw" or "wxyz"."""

    def convert_twist(
        self,
        pose: Array,
        twist: Array,
        *,
        source: Reference,
        target: Reference,
    ) -> Values:
        """A frame's twist from one representation to another, given the frame's pose.

        pose: (B, 7) [x y z qx qy qz qw] of the frame in the world, or in any other frame, which then
        replaces the world.
        twist: (B, 6) [m/s, rad/s], linear then angular.  Returns (B, 6).
        source, target: "local" ("body"), "local_world_aligned" ("mixed") or "world" ("inertial").
        From "local" to "world" this is the general transform of motions: v' = R v + p × R ω, ω' = R ω;
        RBDA 2.24."""

    def convert_velocity(
        self,
        q: Array,
        v: Array | None,
        *,
        source: Representation = ...,
        target: Representation = ...,
        joints: Sequence[str] | None = ...,
        com: Sequence[float] | None = ...,
    ) -> Values:
        """The generalized velocity with the free base's twist in another representation; joint columns
        are unchanged.

        q: (B, nq) [m, rad], always in warpdyn's coordinates.  v: (B, nv) [m/s, rad/s].  Returns (B,
        nv).
        source, target: a representation or a library.
        - "local" ("body"): linear and angular velocity of the root link in its own axes, warpdyn's own;
        - "local_world_aligned" ("mixed"): the same in the world's axes;
        - "world" ("inertial"): velocity of the body's point that is at the world's origin, v + p × ω,
        in the world's axes;
        - "mujoco": linear in the world's axes, angular in the body's;
        - "newton": linear velocity of the root link's centre of mass, and angular, in the world's axes;
        - "drake": angular first, then linear, in the world's axes;
        - "pinocchio": "local".
        If one side is a library, the joint columns follow its order; see `convert.configuration` for
        `joints`.
        com: the point of Newton's linear velocity, in the root link's frame; by default the link's
        centre of mass. If Newton has merged links at fixed joints into the root, give the centre of
        mass of the merged body.
        Featherstone, Rigid Body Dynamics Algorithms (2008), section 2.8."""

    def convert_wrench(
        self,
        pose: Array,
        wrench: Array,
        *,
        source: Reference,
        target: Reference,
    ) -> Values:
        """A wrench on a frame from one representation to another, given the frame's pose; arguments as
        in `convert.twist`.

        wrench: (B, 6) [N, N·m], force then couple about the representation's point.  Returns (B, 6).
        From "local" to "world" this is the general transform of forces: f' = R f, n' = R n + p × R f;
        RBDA 2.25."""

    def coriolis_matrix(
        self,
        q: Array,
        v: Array | None,
    ) -> Values:
        """C(q, v), with C v the velocity-product forces and dM/dt = C + Cᵀ (so that dM/dt - 2 C is
        skew-symmetric).

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nv, nv).
        Several matrices have these two properties. This one is built from the Christoffel symbols, like
        Pinocchio's computeCoriolisMatrix.
        Echeandia and Wensing, Numerical Methods to Compute the Coriolis Matrix and Christoffel Symbols
        for Rigid-Body Systems, ASME J. Computational and Nonlinear Dynamics 16 (2021), algorithm 1."""

    def crba(
        self,
        q: Array,
    ) -> Values:
        """Joint-space inertia matrix M(q), symmetric and positive definite.

        q: (B, nq) [m, rad].  Returns M: (B, nv, nv) [kg, kg·m, kg·m²], both triangles.
        Composite-rigid-body algorithm; RBDA table 6.2.

        >>> model = wd.load_robot("panda")
        >>> M = wd.crba(model, wd.random_configuration(model, 100))
        >>> M.shape, np.allclose(M, M.transpose(0, 2, 1))
        ((100, 8, 8), True)"""

    def difference(
        self,
        q0: Array,
        q1: Array,
    ) -> Values:
        """The constant velocity d that leads from `q0` to `q1` in unit time: integrate(q0, d) = q1.

        q0, q1: (B, nq) [m, rad].  Returns d: (B, nv).  Rotations take the shorter way, at most half a
        turn; quaternions may have either sign. Angles of revolute and continuous joints are subtracted
        as plain numbers, including full turns.
        Solà, Deray, Atchuthan (2018), equation 26; as pinocchio.difference.

        >>> model = wd.load_robot("quadruped")
        >>> q0, q1 = (wd.random_configuration(model, 100, seed=k) for k in range(2))
        >>> q0.shape, wd.difference(model, q0, q1).shape
        ((100, 19), (100, 18))"""

    def dynamically_consistent_inverse(
        self,
        q: Array,
        *,
        frame: str,
        reference: Reference = ...,
        part: Part = ...,
    ) -> Values:
        """Inverse of a frame's Jacobian with least kinetic energy, J̄ = M⁻¹ Jᵀ Λ: J J̄ = 1.

        q: (B, nq) [m, rad].  Returns (B, nv, 6).  Joint forces (1 - Jᵀ J̄ᵀ) tau do not accelerate the
        frame.
        reference, part: as for `jacobian`.  Khatib (1987)."""

    def effect_torques(
        self,
        q: Array,
        v: Array | None,
        *,
        gravity: Gravity = ...,
    ) -> Values:
        """Joint forces needed to overcome friction and springs; zero unless the model has them.

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nv) [N, N·m], positive in the direction of
        motion: tau = M a + h + this.
        For a joint at rate r: viscous * r + coulomb * sign(r), spring * (position - rest), and beyond a
        limit stiffness * (position - limit) + damping * r, minus the weight that gravity compensation
        bears.
        For a ball joint, position - rest is the rotation vector from rest, in the rotated frame.
        See `Model.with_friction`, `with_springs`, `with_limit_springs`, `with_gravity_compensation`."""

    def external_wrench(
        self,
        q: Array,
        external: Array,
        *,
        frame: str,
        reference: Reference = ...,
        damping: float = ...,
    ) -> Values:
        """Wrench on a link that explains external joint forces, if nothing touches the robot elsewhere.

        q: (B, nq).  external: (B, nv) [N, N·m], as from `momentum_observer`.  Returns (B, 6), force
        then moment [N, N·m]; reference: "local", about the link's origin in its axes, as `f_ext` takes
        it; "local_world_aligned", in the world's axes; "world", about the world's origin.
        Least squares of Jᵀ wrench = external, damped: (J Jᵀ + damping² 1) wrench = J external.
        Components that the joints do not feel, as in a singular configuration, are 0. A `damping` [m]
        that is small compared with the arm's length changes the other components little.
        Haddadin, De Luca and Albu-Schäffer, IEEE T-RO 33 (2017), section V."""

    def fk(
        self,
        q: Array,
        *,
        frame: str | None = ...,
        frames: Sequence[str] | None = ...,
        relative_to: str | None = ...,
        form: _fk.Form = ...,
    ) -> Values:
        """Forward kinematics: poses of links in the world, or in the frame `relative_to`.

        q: (B, nq) [m, rad].
        Returns homogeneous matrices, link frame to world: (B, nlinks, 4, 4) in the order of
        `model.link_names`;
        with `frames=[...]` (B, len(frames), 4, 4); with `frame="name"` (B, 4, 4).
        With form="pose", [x y z qx qy qz qw] instead, qw >= 0: (B, nlinks, 7), (B, len(frames), 7), (B,
        7); always xyzw, whatever the model's own quaternion order.
        Craig, Introduction to Robotics, section 3.2; the quaternion by Shepperd, J. Guidance and
        Control 1 (1978).

        >>> model = wd.load_robot("panda")
        >>> q = wd.random_configuration(model, 100)
        >>> wd.fk(model, q, frame="panda_hand").shape, wd.fk(model, q, form="pose").shape
        ((100, 4, 4), (100, 13, 7))"""

    def force_transform(
        self,
        pose: Array,
    ) -> Values:
        """The 6x6 matrix that maps wrenches in a frame to wrenches in the frame in which its pose is
        given.

        pose: (B, 7) [x y z qx qy qz qw].  Returns X* = X⁻ᵀ = [[R, 0], [[p]× R, R]]: (B, 6, 6), force
        rows first.
        RBDA 2.25 and 2.27."""

    def frame_acceleration(
        self,
        q: Array,
        v: Array | None,
        a: Array | None,
        *,
        frame: str | None = ...,
        frames: Sequence[str] | None = ...,
        reference: Reference = ...,
        kind: _motion.AccelerationKind = ...,
    ) -> Values:
        """Acceleration of links, without gravity: linear, then angular [m/s², rad/s²].

        q: (B, nq).  v, a: (B, nv).  Returns shapes as in `frame_velocity`.
        kind: "spatial", the derivative of the spatial velocity as a vector in space; J a + J' v with
        "local" or "world".
        "classical": the acceleration of the point at the reference's origin, linear + ω × v; J a + J' v
        with "local_world_aligned".
        RBDA table 5.1: a_i = a_parent + S_i q''_i + v_i × S_i q'_i; the classical one is equation 2.42."""

    def frame_bias_acceleration(
        self,
        q: Array,
        v: Array | None,
        *,
        frame: str | None = ...,
        frames: Sequence[str] | None = ...,
        reference: Reference = ...,
    ) -> Values:
        """J' v, the acceleration of links that is due to the velocities alone [m/s², rad/s²].

        q: (B, nq).  v: (B, nv).  Returns shapes as in `frame_velocity`.
        `frame_acceleration` at a = 0: spatial with "local" and "world", classical with
        "local_world_aligned".
        RBDA section 3.3, a = J q'' + J' q'."""

    def frame_velocity(
        self,
        q: Array,
        v: Array | None,
        *,
        frame: str | None = ...,
        frames: Sequence[str] | None = ...,
        reference: Reference = ...,
        relative_to: str | None = ...,
    ) -> Values:
        """Spatial velocity of links: linear, then angular [m/s, rad/s].

        q: (B, nq).  v: (B, nv).
        Returns (B, 6) for `frame="name"`, (B, len(frames), 6) for `frames=[...]`, (B, nlinks, 6) for
        neither.
        reference, relative_to: as in `jacobian`.
        RBDA table 5.1: v_i = v_parent + S_i q'_i.

        >>> model = wd.load_robot("panda")
        >>> q, v = wd.random_configuration(model, 100), np.ones((100, model.nv))
        >>> wd.frame_velocity(model, q, v, frames=["panda_link4", "panda_hand"]).shape
        (100, 2, 6)"""

    def gravity_torques(
        self,
        q: Array,
        *,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
    ) -> Values:
        """Joint forces that hold the robot still, g(q) - Jᵀ f_ext.

        q: (B, nq) [m, rad].  Returns (B, nv) [N, N·m].  `f_ext`, `gravity` as in `rnea`.
        rnea at rest without limit springs; RBDA section 5.3 with v and a zero.

        >>> model = wd.load_robot("panda")
        >>> q = wd.random_configuration(model, 100)
        >>> np.allclose(wd.gravity_torques(model, q, gravity=(0, 0, 0)), 0)
        True"""

    def height_scan(
        self,
        q: Array,
        pattern: Any,
        *,
        terrain: HeightMap | Plane | None = ...,
        frame: str | None = ...,
    ) -> Values:
        """Heights of a frame's origin above the ground under the points of a pattern.

        q: (B, nq) [m, rad].  pattern: (n, 2) or (B, n, 2), x and y [m] from the frame's origin, in
        level axes that turn about the vertical with the frame's x axis; lists, or an array of NumPy or
        of q's library.
        frame: a link; None: the root. terrain: as in `step`.
        Returns (B, n) [m], negative where the ground is above the frame.
        Bilinear between the nodes of a height map."""

    def imu(
        self,
        q: Array,
        v: Array | None,
        a: Array | None,
        *,
        frame: str | None = ...,
        frames: Sequence[str] | None = ...,
        gravity: Gravity = ...,
    ) -> Values:
        """Readings of inertial measurement units in links: proper acceleration, then angular velocity.

        q: (B, nq).  v, a: (B, nv); None for zero.
        Returns (B, 6) for `frame="name"`, (B, len(frames), 6) for `frames=[...]`, (B, nlinks, 6) for
        neither [m/s², rad/s], in the axes of the link, at its origin.
        A link at rest reads 9.81 upwards. A link in free fall reads 0. A link that turns at distance r
        from an axis reads r w² towards the axis. The reading is the classical acceleration minus
        gravity: RBDA equation 2.42.

        >>> model = wd.load_robot("panda")
        >>> q = wd.random_configuration(model, 100)
        >>> reading = wd.imu(model, q, None, None, frame="panda_hand")
        >>> np.allclose(np.linalg.norm(reading[:, :3], axis=1), 9.81)
        True"""

    def in_contact(
        self,
        q: Array,
        *,
        points: Sequence[ContactPoint],
        links: Sequence[str] | None = ...,
    ) -> Values:
        """Contact flags of links: 1 if one of a link's points touches the ground, else 0.

        q: (B, nq).  Returns (B, links); without `links=`, all links in the order of `model.link_names`.
        A point touches if its height (`point_heights`) is 0 or less, whatever the force."""

    def integrate(
        self,
        q: Array,
        d: Array,
    ) -> Values:
        """The configuration q ⊕ d reached from `q` by the constant velocity `d` in unit time.

        q: (B, nq) [m, rad].  d: (B, nv), a velocity times a duration.  Returns (B, nq), quaternions at
        unit length; `out` may be `q` itself.
        Floating, ball and planar joints move along exp(d) of SE(3), SO(3), SE(2), because their twists
        are in their own frame. All other joints add d. Solà, Deray, Atchuthan, A micro Lie theory
        (2018), equation 25; as pinocchio.integrate.

        >>> model = wd.load_robot("quadruped")
        >>> q = wd.integrate(model, model.neutral, np.ones(model.nv))
        >>> np.allclose(np.linalg.norm(q[3:7]), 1)  # the base's quaternion
        True"""

    def interpolate(
        self,
        q0: Array,
        q1: Array,
        t: float | Array,
    ) -> Values:
        """The configuration between `q0` (t = 0) and `q1` (t = 1) at constant velocity; t may lie
        outside [0, 1].

        q0, q1: (B, nq) [m, rad].  t: a number, or (B,).  Returns (B, nq).
        integrate(q0, t difference(q0, q1)); spherical linear interpolation (Shoemake, SIGGRAPH 1985)
        for ball joints, screws for floating ones."""

    def inverse_kinematics(
        self,
        targets: Mapping[str, Array] | Array,
        *,
        frame: str | None = ...,
        q0: Array | None = ...,
        position_weight: float | Mapping[str, float] = ...,
        orientation_weight: float | Mapping[str, float] = ...,
        restarts: int = ...,
        iterations: int = ...,
        tolerance: tuple[float, float] = ...,
        seed: int = ...,
    ) -> Solution[Values]:
        """Configurations within the position limits that bring frames to their targets; a `Solution`.

        targets: {frame: (B, 4, 4) or (B, 7) [x y z qx qy qz qw]}, or one array with `frame=`; (B, 3),
        positions, if `orientation_weight` is 0.
        q0: (B, nq) or (nq,), the first start; by default the middle of the limits (without limits, the
        neutral configuration).
        Minimises the sum over frames of position_weight |p|² + orientation_weight (2 sin(θ/2))², p the
        distance [m] and θ the angle [rad] to the target. A weight of 0 leaves that part out. Each
        weight is a number, or a mapping with one number for each frame.
        restarts: number of further starts, spread evenly within the limits, each with up to
        `iterations` steps. Then the search refines the best configuration found so far. The same `seed`
        gives the same starts.
        tolerance: [m], [rad], for success. In float32, errors reach about 1e-6 of the robot's size.
        out: five arrays, all of the dtype of the targets.
        One kernel does the whole search. The result of an environment depends neither on other
        environments nor on its index.
        Damped least squares, damping proportional to the cost: Sugihara, Solvability-unconcerned
        inverse kinematics by the Levenberg-Marquardt method, IEEE T-RO 27 (2011); coordinates at
        limits: Bertsekas, SIAM J. Control 20 (1982).

        >>> model = wd.load_robot("panda")
        >>> T = wd.fk(model, wd.random_configuration(model, 100), frame="panda_hand")
        >>> found = wd.inverse_kinematics(model, T, frame="panda_hand")
        >>> np.allclose(wd.fk(model, found.q, frame="panda_hand"), T, atol=1e-3)
        True"""

    def jacobian(
        self,
        q: Array,
        *,
        frame: str | None = ...,
        frames: Sequence[str] | None = ...,
        reference: Reference = ...,
        relative_to: str | None = ...,
        point: Sequence[float] | Array | None = ...,
        part: Part = ...,
    ) -> Values:
        """Geometric Jacobian: J v is the spatial velocity of a link, linear part first.

        q: (B, nq) [m, rad].
        Returns (B, 6, nv) for `frame="name"`, (B, len(frames), 6, nv) for `frames=[...]`, (B, nlinks,
        6, nv) for neither.
        reference: "local", "world", "local_world_aligned" (see the module docstring).
        relative_to: the velocity is relative to this frame, which then replaces the world in
        `reference`; the rate of `fk(relative_to=...)`.
        point: replaces the origin of `frame`, in the frame's coordinates [m]: three numbers, which
        become part of the program, or an array (B, 3).
        part: "both", or three rows: "linear", "angular".
        RBDA section 3.3 (v = J q'); Lynch and Park, Modern Robotics, section 5.1.

        >>> model = wd.load_robot("panda")
        >>> q, v = model.neutral, np.ones(model.nv)
        >>> J = wd.jacobian(model, q, frame="panda_hand")
        >>> np.allclose(J @ v, wd.frame_velocity(model, q, v, frame="panda_hand"))
        True"""

    def jacobian_derivative(
        self,
        q: Array,
        v: Array | None,
        *,
        frame: str | None = ...,
        frames: Sequence[str] | None = ...,
        reference: Reference = ...,
        point: Sequence[float] | Array | None = ...,
        part: Part = ...,
    ) -> Values:
        """dJ/dt along the motion v, J as in `jacobian` with the same options.

        q: (B, nq).  v: (B, nv).  Returns the shapes of `jacobian`.
        RBDA section 3.3; each column is a vector fixed in a moving body, 2.31."""

    def joint_torque_regressor(
        self,
        q: Array,
        v: Array | None,
        a: Array | None,
        *,
        links: Sequence[str] | None = ...,
        gravity: Gravity = ...,
    ) -> Values:
        """The matrix Y(q, v, a) with `rnea(q, v, a)` = Y pi, except for armature, which is not a
        parameter of a link.

        q: (B, nq) [m, rad].  v, a: (B, nv).  Returns (B, nv, 10 nlinks); with `links=[...]` only the
        columns of these links, in this order.  `gravity` as in `rnea`.
        Atkeson, An and Hollerbach, Int. J. Robotics Research 5 (1986)."""

    def kinematic_hessian(
        self,
        q: Array,
        *,
        frame: str,
        reference: Reference = ...,
        part: Part = ...,
    ) -> Values:
        """Derivative of the Jacobian of a link by the configuration, over the tangent space.

        q: (B, nq).  Returns H: (B, 6, nv, nv), H[..., j, k] = d J[..., j] / d q_k; dJ/dt = sum of
        H[..., k] v_k.
        reference, part: as in `jacobian`. With "local_world_aligned" the linear part is symmetric in j
        and k if every joint has one coordinate: it is then the second derivative of the position.
        Each column is differentiated by RBDA 2.31."""

    def kinetic_energy(
        self,
        q: Array,
        v: Array,
    ) -> Values:
        """Kinetic energy vᵀ M(q) v / 2, including that of the rotors (armature).

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B,) [J]; a scalar for one robot.  RBDA 2.67, summed
        over the bodies."""

    def kinetic_energy_regressor(
        self,
        q: Array,
        v: Array | None,
    ) -> Values:
        """The row K(q, v) with kinetic energy K pi [J], except for that of armatures.

        q: (B, nq).  v: (B, nv).  Returns (B, 10 nlinks): for each link v·v / 2, v × ω, and products of
        ω, with the velocity v of its origin in its own axes.
        Siciliano et al., Robotics: Modelling, Planning and Control (2009), section 7.2.2."""

    def link_coms(
        self,
        q: Array,
    ) -> Values:
        """Centre of mass of each link in the world, as the description places it. Links without mass
        are included.

        q: (B, nq).  Returns (B, nlinks, 3) [m] in the order of `model.link_names`."""

    def link_contact_forces(
        self,
        q: Array,
        forces: Array,
        *,
        points: Sequence[ContactPoint] = ...,
        frame: str | None = ...,
        frames: Sequence[str] | None = ...,
        reference: Reference = ...,
    ) -> Values:
        """Net forces and moments that contacts exert on links [N, N·m].

        q: (B, nq).  forces: (B, points, 3) on the points in the world's axes, as `step` returns them.
        Returns (B, 6) for `frame="name"`, (B, len(frames), 6) for `frames=[...]`, (B, nlinks, 6) for
        neither; force, then moment.
        reference: "local_world_aligned" (about the link's origin, in the world's axes), "local" (in the
        link's axes, as `f_ext` takes them), "world" (about the world's origin).
        Each force acts where the point's sphere is lowest. RBDA section 2.6."""

    def locked_inertia(
        self,
        q: Array,
        *,
        reference: MomentumReference = ...,
    ) -> Values:
        """Inertia of the robot with its joints locked, the sum of X* I X⁻¹ over its links, including
        links fixed to the world.

        q: (B, nq).  Returns (B, 6, 6), symmetric, linear part first [kg, kg·m, kg·m²]; `reference` as
        in `momentum`. With "centroidal" it is [[m 1, 0], [0, J]].
        RBDA 2.66."""

    def manipulability(
        self,
        q: Array,
        *,
        frame: str,
        part: Part = ...,
    ) -> Values:
        """Yoshikawa's measure of how freely a link can move: sqrt(det(J Jᵀ)), J at the link's origin.

        q: (B, nq).  Returns (B,), zero in singular configurations, where the link cannot move in some
        direction.
        part: "both", "linear" or "angular" rows of J. If fewer coordinates move the link than J has
        rows, det(J Jᵀ) is always zero. The function then returns sqrt(det(Jᵀ J)), the measure within
        the link's own freedom.
        Yoshikawa, Int. J. Robotics Research 4(2), 1985."""

    def mass_matrix_inverse(
        self,
        q: Array,
    ) -> Values:
        """M(q)⁻¹, symmetric and positive definite.

        q: (B, nq) [m, rad].  Returns (B, nv, nv), both triangles.
        M = Lᵀ D L without fill-in beyond the tree's branches, RBDA table 6.3, and L⁻¹ D⁻¹ L⁻ᵀ.
        Raises ModelError if a joint moves no inertia."""

    def matrix_to_pose(
        self,
        matrix: Array,
        *,
        order: QuaternionOrder = ...,
    ) -> Values:
        """Homogeneous 4x4 matrices as [x y z qx qy qz qw].

        matrix: (B, 4, 4), its upper left a rotation.  Returns (B, 7); `order="wxyz"` puts qw first; qw
        >= 0.
        Shepperd, J. Guidance and Control 1 (1978); Bar-Itzhack (2000)."""

    def matrix_to_quaternion(
        self,
        matrix: Array,
        *,
        order: QuaternionOrder = ...,
    ) -> Values:
        """Rotation matrices (B, 3, 3) as unit quaternions (B, 4), `order` "xyzw" or "wxyz"; qw >= 0."""

    def mechanical_energy(
        self,
        q: Array,
        v: Array | None,
        *,
        gravity: Gravity = ...,
    ) -> Values:
        """Sum of kinetic and potential energy, constant if no force but gravity acts.

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B,) [J].  gravity: as in `rnea`."""

    def momentum(
        self,
        q: Array,
        v: Array | None,
        *,
        reference: MomentumReference = ...,
    ) -> Values:
        """Total momentum of the robot, h = sum of X* I v over its links.

        q: (B, nq).  v: (B, nv).  Returns (B, 6): linear [kg·m/s], then angular momentum [kg·m²/s].
        reference: "local" (about the root link's origin, in its axes), "world" (about the world's
        origin), the default "local_world_aligned" (about the root link's origin, in the world's axes),
        aliases "body", "inertial", "mixed"; or about the centre of mass, "centroidal" in the world's
        axes, "centroidal_local" in the root link's.  On a fixed base the first three are the same.
        Featherstone, Rigid Body Dynamics Algorithms (2008), section 2.13."""

    def momentum_jacobian(
        self,
        q: Array,
        *,
        reference: MomentumReference = ...,
    ) -> Values:
        """The matrix that gives the total momentum, h = J(q) v.

        q: (B, nq).  Returns (B, 6, nv); `reference` as in `momentum`.  On a floating base, "local" is
        the first six rows of the mass matrix (`crba`).
        Composite inertias times motion subspaces, RBDA table 6.2."""

    def momentum_observer(
        self,
        q: Array,
        v: Array,
        tau: Array,
        momentum: Array,
        rate: Array,
        external: Array,
        *,
        dt: float | Array = ...,
        gain: float | Array = ...,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
    ) -> tuple[Values, Values, Values]:
        """External joint forces by the generalised momentum observer: its state after a time `dt`.

        q: (B, nq).  v: (B, nv).  tau: (B, nv), motor torques [N, N·m], measured or commanded.
        momentum, rate, external: (B, nv), the results of the previous call; `out=` may be the same
        arrays. dt: the time since then [s], a number or (B,). Where it is 0 the observer starts at this
        state with `external` 0 and does not read the other two. gain: [1/s], a number or (B,).
        Returns momentum M v, rate tau + Cᵀ v - g + Jᵀ f_ext - `effect_torques`, and external (B, nv).
        `external` follows the external forces, except the known `f_ext`, like a first-order filter with
        time constant 1 / gain. For constant forces and a linearly changing rate this is exact for any
        dt. Nothing is differentiated and no mass matrix is inverted.
        De Luca and Mattone, Sensorless robot collision detection and hybrid force/motion control, ICRA
        2005; Haddadin, De Luca and Albu-Schäffer, Robot collisions: a survey, IEEE T-RO 33 (2017).

        >>> model = wd.load_robot("panda")
        >>> q, rest, tau = model.neutral, np.zeros(8), wd.gravity_torques(model, model.neutral) - 3.0
        >>> state = wd.momentum_observer(model, q, rest, tau, rest, rest, rest, dt=0.0)
        >>> for _ in range(100):
        ...     state = wd.momentum_observer(model, q, rest, tau, *state, dt=1e-3)
        >>> np.allclose(state[2], 3.0 * (1.0 - np.exp(-50.0 * 0.1)))
        True"""

    def motion_transform(
        self,
        pose: Array,
    ) -> Values:
        """The 6x6 matrix that maps twists in a frame to twists in the frame in which its pose is given.

        pose: (B, 7) [x y z qx qy qz qw].  Returns X = [[R, [p]× R], [0, R]]: (B, 6, 6), linear rows
        first.
        RBDA 2.24 and 2.26; the adjoint of Lynch and Park, Modern Robotics, 3.20 (there angular first)."""

    def normalize(
        self,
        q: Array,
    ) -> Values:
        """`q` with its quaternions scaled to unit length; other coordinates are unchanged.

        q: (B, nq) [m, rad].  Returns (B, nq); NaN where a quaternion is zero."""

    def operational_space(
        self,
        q: Array,
        v: Array | None,
        *,
        frame: str,
        reference: Reference = ...,
        part: Part = ...,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
    ) -> tuple[Values, Values, Values]:
        """Inertia, bias force and dynamically consistent inverse of a frame: Λ A + bias = force on the
        frame.

        q: (B, nq) [m, rad].  v: (B, nv).  Returns Λ: (B, 6, 6), bias: (B, 6) and J̄: (B, nv, 6), in the
        order linear, then angular; reference, part: as for `jacobian`; a part has three directions
        instead of six.
        A is the rate of the frame's velocity J v: its spatial acceleration, in "local_world_aligned"
        the acceleration of its origin.
        Λ = (J M⁻¹ Jᵀ)⁻¹.  J̄ = M⁻¹ Jᵀ Λ.  bias = J̄ᵀ h - Λ J̇ v, with h all joint forces at zero
        acceleration: centrifugal and Coriolis forces (Khatib's mu), gravity (his p), f_ext and joint
        effects. With `gravity=(0, 0, 0)` only mu remains of the first two. With tau = Jᵀ force, `aba`
        gives the frame the acceleration A.
        Khatib, A Unified Approach for Motion and Force Control of Robot Manipulators, IEEE J. Robotics
        and Automation RA-3 (1987), on redundant manipulators.
        Raises ModelError if the frame cannot move in all these directions. At singular configurations Λ
        is infinite."""

    def operational_space_inertia(
        self,
        q: Array,
        *,
        frame: str,
        reference: Reference = ...,
        part: Part = ...,
    ) -> Values:
        """Apparent inertia of a frame against forces on it, Λ = (J M⁻¹ Jᵀ)⁻¹.

        q: (B, nq) [m, rad].  Returns (B, 6, 6), symmetric; linear, then angular; reference, part: as
        for `jacobian`.
        Khatib (1987).  Raises ModelError if the frame cannot move in all these directions."""

    def point_heights(
        self,
        q: Array,
        *,
        points: Sequence[ContactPoint],
    ) -> Values:
        """Heights of contact points' spheres above the ground, negative inside it [m].

        q: (B, nq).  Returns (B, points)."""

    def point_jacobian_derivatives(
        self,
        q: Array,
        v: Array,
        *,
        points: Sequence[ContactPoint],
        reference: Reference = ...,
        part: Part = ...,
    ) -> Values:
        """dJ/dt along the motion v, J the `point_jacobians` with the same options.

        q: (B, nq).  v: (B, nv).  Returns the shape of `point_jacobians`."""

    def point_jacobians(
        self,
        q: Array,
        *,
        points: Sequence[ContactPoint],
        reference: Reference = ...,
        part: Part = ...,
    ) -> Values:
        """Jacobians of contact points, like `jacobian` of links: J v is the point's velocity.

        q: (B, nq).  Returns (B, points, 6, nv), or three rows with `part`. A force f on the points acts
        as Jᵀ f on the joints.
        reference: "local" (origin and axes of `point_transforms`), "world" or "local_world_aligned"."""

    def point_positions(
        self,
        q: Array,
        *,
        points: Sequence[ContactPoint],
    ) -> Values:
        """Positions of contact points' centres in the world [m].

        q: (B, nq).  Returns (B, points, 3)."""

    def point_transforms(
        self,
        q: Array,
        *,
        points: Sequence[ContactPoint],
    ) -> Values:
        """Poses of contact points: the origin at the centre, the axes of the link.

        q: (B, nq).  Returns homogeneous matrices, point to world, (B, points, 4, 4)."""

    def point_velocities(
        self,
        q: Array,
        v: Array,
        *,
        points: Sequence[ContactPoint],
    ) -> Values:
        """Velocities of contact points' centres, in the world's axes [m/s]: rate of `point_positions`.

        q: (B, nq).  v: (B, nv).  Returns (B, points, 3)."""

    def pose_and_jacobian(
        self,
        q: Array,
        *,
        frame: str,
        reference: Reference = ...,
    ) -> tuple[Values, Values]:
        """Pose and Jacobian of a link in one pass: `fk(frame=...)` and `jacobian(frame=...)`.

        q: (B, nq) [m, rad].  Returns T: (B, 4, 4) and J: (B, 6, nv)."""

    def pose_to_matrix(
        self,
        pose: Array,
        *,
        order: QuaternionOrder = ...,
    ) -> Values:
        """Poses [x y z qx qy qz qw] as homogeneous 4x4 matrices.

        pose: (B, 7), unit quaternions; `order="wxyz"` has qw first.  Returns (B, 4, 4).  RBDA 4.12."""

    def potential_energy(
        self,
        q: Array,
        *,
        gravity: Gravity = ...,
    ) -> Values:
        """Potential energy of gravity, -sum of m g · c over all links, including links fixed to the
        world.

        q: (B, nq) [m, rad].  Returns (B,) [J]; zero for mass at the world's origin. Its gradient is
        `gravity_torques`.
        gravity: as in `rnea`.  Limit springs (`Model.with_limit_springs`) are not included."""

    def potential_energy_regressor(
        self,
        q: Array,
        *,
        gravity: Gravity = ...,
    ) -> Values:
        """The row U(q) with potential energy U pi [J], zero at the world's origin; links fixed to the
        world are included.

        q: (B, nq).  Returns (B, 10 nlinks): for each link -g·p, -Rᵀ g, and six zeros.  `gravity` as in
        `rnea`.
        Siciliano et al. (2009), section 7.2.2."""

    def quaternion_to_matrix(
        self,
        quaternion: Array,
        *,
        order: QuaternionOrder = ...,
    ) -> Values:
        """Unit quaternions (B, 4), `order` "xyzw" or "wxyz", as rotation matrices (B, 3, 3).  RBDA
        4.12."""

    def rnea(
        self,
        q: Array,
        v: Array | None,
        a: Array | None,
        *,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
    ) -> Values:
        """Inverse dynamics: joint forces that produce the acceleration `a`, tau = M(q) a + C(q, v) v +
        g(q) - Jᵀ f_ext, plus the torques of friction and limit springs if the model has them
        (`Model.with_friction`, `with_limit_springs`).

        q: (B, nq) [m, rad].  v, a: (B, nv) [m/s, rad/s; m/s², rad/s²].  Returns tau: (B, nv) [N, N·m].
        A floating base comes first: its twist, acceleration (derivative of that twist) and wrench in
        its own frame.
        f_ext: {link: (B, 6)} or (B, nlinks, 6), forces on links: force then torque about the link
        origin, in the link frame.
        gravity: (3,) or (B, 3) acceleration of free fall in the world [m/s²]; default (0, 0, -9.81).
        With `v` and `a` zero the result compensates gravity. None stands for zero, here and in every
        function with a `v` or an `a`. It is a constant, which shortens the program.
        Recursive Newton-Euler; Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1.

        >>> model = wd.load_robot("panda")
        >>> q = wd.random_configuration(model, 100)
        >>> rest = np.zeros((100, model.nv))
        >>> np.allclose(wd.rnea(model, q, rest, rest), wd.gravity_torques(model, q))
        True"""

    def rnea_derivatives(
        self,
        q: Array,
        v: Array | None,
        a: Array | None,
        *,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
    ) -> tuple[Values, Values, Values]:
        """Derivatives of inverse dynamics by position, velocity and acceleration.

        q: (B, nq) [m, rad].  v, a: (B, nv).  `f_ext`, `gravity` as in `rnea`; forces on links move with
        their links.
        Returns dtau_dq, dtau_dv, dtau_da = M: (B, nv, nv) each; row i for tau[i], column k for
        coordinate k.
        Derivatives by q are over the tangent space: column k is the change per step along v's
        coordinate k. For a base the step is in its own frame.
        Singh, Russell and Wensing, IEEE RA-L 7 (2022); Carpentier and Mansard, RSS 2018."""

    def solve(
        self,
        q: Array,
        b: Array,
    ) -> Values:
        """x with M(q) x = b, without forming M⁻¹.

        q: (B, nq) [m, rad].  b: (B, nv) [N, N·m].  Returns x: (B, nv) [m/s², rad/s²], the acceleration
        that b alone produces. `out` may be `b` itself.
        M = Lᵀ D L factorised over the tree, RBDA tables 6.3 and 6.4, or articulated bodies at rest in
        free fall, RBDA table 7.1, whichever gives the shorter program. Raises ModelError if a joint
        moves no inertia."""

    def state_derivative(
        self,
        q: Array,
        v: Array,
        tau: Array,
        *,
        targets: Array | None = ...,
        control: PD | None = ...,
        points: Sequence[ContactPoint] = ...,
        deformation: Array | None = ...,
        ground: Ground | SoftGround = ...,
        baumgarte: float = ...,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
    ) -> StateDerivative:
        """Rates of a robot's state under drives, joint effects and soft contacts, all explicit forces.

        q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv).  Returns a `StateDerivative`: q, v,
        deformation, forces.
        `step` with integrator="rk4" integrates these rates, and its arguments are the same.
        deformation: (B, points, 3) of the ground at the points [m]; None: zero. ground: a `SoftGround`
        if there are points. baumgarte: as in `configuration_rate`.
        RBDA section 7.3 for the acceleration (`aba`); Hunt-Crossley contacts."""

    def step(
        self,
        q: Array,
        v: Array,
        tau: Array,
        *,
        dt: float = ...,
        substeps: int = ...,
        integrator: Integrator = ...,
        targets: Array | None = ...,
        control: PD | None = ...,
        latency: Array | None = ...,
        earlier_targets: Array | None = ...,
        points: Sequence[ContactPoint] = ...,
        impulses: Array | None = ...,
        deformation: Array | None = ...,
        ground: Ground | SoftGround = ...,
        terrain: HeightMap | Plane | None = ...,
        sweeps: int = ...,
        speed_guard: bool | None = ...,
        joint_impulses: Array | None = ...,
        stops: Stops | None = ...,
        f_ext: Forces = ...,
        gravity: Gravity = ...,
    ) -> Step:
        """The state after `substeps` steps of `dt` seconds, on the ground z = 0 or a `terrain`.

        q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv), as `aba` takes it; constant over the substeps.
        Returns a `Step`: q, v, impulses, forces, torques, and joint_impulses if joints have rows.
        control, targets: drives towards (B, joints) [rad, m], in addition to tau.
        latency: (B, 1) steps of dt after which targets reach the drives. earlier_targets: (B, n,
        joints) of the earlier calls, the latest first, as far back as a latency may reach.
        points: spheres that touch the ground (`ContactPoints`). impulses: (B, points, 3) of the
        previous step, from which the sweeps start; None: zero. deformation: the same for a `SoftGround`
        [m].
        ground: contact properties: `Ground`, compliant and implicit, or `SoftGround`, explicit.
        terrain: the shape of the ground.
        integrator: "semi_implicit" Euler; "heun", "rk4": explicit, of second and fourth order for
        smooth forces, for robots in the air and on soft ground.
        speed_guard: above its velocity limit a joint is damped, and products of velocities use the
        limit. For a free base's spin the limit is a quarter radian per step.
        stops: how joints stop at the limits of the description if the model has no limit springs.
        "springs": implicit springs that the joint's effort presses in by 0.01 rad or m; from beyond
        0.04 they push the joint back at 0.04 / dt; a joint without an effort has none. "rows":
        one-sided constraints of the sweeps, exactly at the limit; from beyond it a joint returns at 1
        rad/s or m/s. "none": no stops. Explicit integrators have neither guard nor stops. With
        "semi_implicit", None means that the guard is on and stops are "springs".
        joint_impulses: (B, joints) impulses of the rows in the previous step, for stops and for Coulomb
        friction from the description (`Model.with_friction`) or `params`; None: the sweeps start at
        zero. In explicit steps Coulomb friction is as in `aba`.
        `out` may be (q, v, impulses, forces, torques), the state's arrays themselves, and
        joint_impulses if joints have rows.
        Semi-implicit Euler with implicit viscous friction, limit springs, drives and contacts. `sweeps`
        of block Gauss-Seidel solve Coulomb's cone and dry joint friction: Castro, Permenter and Han,
        IEEE T-RO 39 (2023). The explicit integrators are Runge-Kutta-Munthe-Kaas methods."""
