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
        over the tree, RBDA chapter 6; "auto", whichever is the shorter program for the robot.
        Raises ModelError where a joint moves no inertia: its acceleration is not defined.

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
        Returns qdd (B, nv), as `aba`, and dqdd_dq, dqdd_dv, dqdd_dtau = M⁻¹: (B, nv, nv) each; by q
        over the tangent space, as in `rnea_derivatives`.
        d qdd = -M⁻¹ d rnea at a = qdd; Carpentier and Mansard, RSS 2018, equation 12."""

    def actuator_torques(
        self,
        q: Array,
        v: Array | None,
        control: Array,
    ) -> Values:
        """Joint forces that the actuators of a MJCF file give at these controls.

        q: (B, nq) [m, rad].  v: (B, nv).  control: (B, number of `model.actuators`), in their order and
        units: positions of position servos, velocities of velocity servos, forces of motors before
        their gears.  Returns tau: (B, nv) [N, N·m].
        Each actuator's force is gain times control plus bias, along a joint or a fixed tendon; control,
        force and the sum of all on a joint (`effort_limit`) are held within their bounds, as MuJoCo
        does (its documentation, Computation, actuator model)."""

    def average_centroidal_velocity(
        self,
        q: Array,
        v: Array | None,
        *,
        reference: CentroidalReference = ...,
    ) -> Values:
        """The average velocity at the centre of mass: that of the centre of mass, and J⁻¹ times the
        angular momentum.

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
        """The velocity with which the robot, its joints locked, would have the momentum that it has:
        locked inertia⁻¹ h.

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
        """What the motion takes without acceleration, h = C(q, v) v + g(q) - Jᵀ f_ext.

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nv) [N, N·m].  `f_ext`, `gravity` as in `rnea`.
        tau = M a + h + `effect_torques`: friction and limit springs are not in it. RBDA 6.2.

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
        Orin, Goswami and Lee (2013); by composite inertias as in Wensing and Orin, Int. J. Humanoid
        Robotics 13 (2016)."""

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

        matrices: (B, n, 4, 4) homogeneous, each in the one before it.  Returns (B, 4, 4).  RBDA 2.8."""

    def clamp(
        self,
        q: Array,
    ) -> Values:
        """`q` with every coordinate that is beyond a position limit at that limit; quaternions have
        none.

        q: (B, nq) [m, rad].  Returns (B, nq).  Limits: `model.position_lower`, `model.position_upper`."""

    def com(
        self,
        q: Array,
        *,
        subtree: str | None = ...,
    ) -> Values:
        """Centre of mass in the world, sum of m_i c_i / m.

        q: (B, nq) [m, rad].  Returns (B, 3) [m].
        subtree: the link with all that hang on it, instead of the whole robot.
        Raises ModelError where the links that count have no mass.

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
        """J' v, the acceleration of the centre of mass that velocities alone give.

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
        """dq/dt at velocity `v`: quaternion rates included, for integrators that take q for a plain
        vector.

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nq).
        A quaternion Q of length other than one, as such integrators leave it, is drawn back by the last
        entry of dQ/dt = ½ Q ⊗ (ω, K |ω| (1 - |Q|)) with K = `baumgarte`; JaxSim's term (its default K
        is 1, zero here).
        Graf, Quaternions and dynamics (2008), equation 20."""

    def contact_flags(
        self,
        forces: Array,
        *,
        points: Sequence[ContactPoint] = ...,
        links: Sequence[str] | None = ...,
        threshold: float = ...,
    ) -> Values:
        """1 where contacts press, 0 where they do not.

        forces: (B, points, 3) on the points [N], as `step` gives them.
        Returns (B, points), or (B, len(links)) of the net forces on these.
        threshold: force beyond which it counts [N]."""

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
        """Power that contacts give the robot, v · (rnea(q, v, a) - tau): of all forces on it but the joint
        forces `tau`, gravity, what the model has of friction and springs, and `f_ext`.

        q: (B, nq) [m, rad].  v, a, tau: (B, nv).  Returns (B,) [W]; above 0 where contacts drive the robot,
        below 0 where they take energy from it: sliding, a push against the motion. A contact that holds
        still gives none. Of a log it is as good as `tau` and the model are: what the model lacks (friction
        of gears, a payload) is in it.
        With tau · v and the power of what the model has it is the rate of `mechanical_energy`.
        f_ext: forces that are known, as in `rnea`.  gravity: as in `rnea`.
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
        `convert_velocity`.
        Returns (B, nv) [m/s², rad/s²].
        Between "local" and "world" accelerations move as twists do; where the linear part is of a
        moving point in the world's axes, ω × v of that point is added (RBDA section 2.10; classical
        acceleration, RBDA 2.51)."""

    def convert_configuration(
        self,
        q: Array,
        *,
        source: Side = ...,
        target: Side = ...,
        joints: Sequence[str] | None = ...,
    ) -> Values:
        """The configuration that another library writes otherwise, to it or from it.

        source, target: one "warpdyn", the other "mujoco", "newton", "drake" or "pinocchio".
        q: (B, nq) [m, rad] in the source's coordinates.  Returns (B, n) in the target's.
        Free base: MuJoCo [p, wxyz], Newton and Pinocchio [p, xyzw], Drake [wxyz, p]. Pinocchio's
        continuous joints are [cos, sin]; from it the angle is atan2(sin, cos), between -π and π.
        joints: names in the order of the other library's columns. By default every moving joint, those
        that mimic others too, in the order of the description (MuJoCo, Newton, Drake), or siblings
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
        """Generalized forces of the same power, the free base's wrench in another representation.

        q: (B, nq), warpdyn's.  tau: (B, nv) [N, N·m] in the source's convention, named as in
        `convert_velocity`.
        Returns (B, nv): tau' = T⁻ᵀ tau where v' = T v. Forces on another library's mimic joints are
        added to the joint that they follow, times their multiplier; towards it they are zero.
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

        pose: (B, 7) [x y z qx qy qz qw] of the frame in the world (or in any other frame, which is then
        meant by "world").
        twist: (B, 6) [m/s, rad/s], linear then angular.  Returns (B, 6).
        source, target: "local" ("body"), "local_world_aligned" ("mixed") or "world" ("inertial").
        From "local" to "world" it is the general transform of motions: v' = R v + p × R ω, ω' = R ω;
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
        """The generalized velocity with the free base's twist in another representation; joints pass
        through.

        q: (B, nq) [m, rad], warpdyn's whatever the source.  v: (B, nv) [m/s, rad/s].  Returns (B, nv).
        source, target: a representation or a library.
        - "local" ("body"): linear and angular velocity of the root link in its own axes, warpdyn's own;
        - "local_world_aligned" ("mixed"): the same in the world's axes;
        - "world" ("inertial"): of the point of the body that is at the world's origin, v + p × ω, in
        the world's axes;
        - "mujoco": linear in the world's axes, angular in the body's;
        - "newton": linear velocity of the root link's centre of mass, and angular, in the world's axes;
        - "drake": angular first, then linear, in the world's axes;
        - "pinocchio": "local".
        With a library on one side the joints' columns are its own, see `convert_configuration` for
        `joints`.
        com: the point that Newton's linear velocity is of, in the root link's frame; by default the
        link's centre of mass (give that of the lumped body for a root whose fixed joints Newton has
        collapsed).
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
        in `convert_twist`.

        wrench: (B, 6) [N, N·m], force then couple about the representation's point.  Returns (B, 6).
        From "local" to "world" it is the general transform of forces: f' = R f, n' = R n + p × R f;
        RBDA 2.25."""

    def coriolis_matrix(
        self,
        q: Array,
        v: Array | None,
    ) -> Values:
        """C(q, v), with C v the velocity-product forces and dM/dt = C + Cᵀ (so that dM/dt - 2 C is
        skew-symmetric).

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nv, nv).
        Of all matrices with these two properties that of the Christoffel symbols; as Pinocchio's
        computeCoriolisMatrix.
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

        q0, q1: (B, nq) [m, rad].  Returns d: (B, nv).  Rotations go the shorter way, at most half a
        turn, quaternions of either sign; the angle of a revolute or continuous joint is a number like
        any other, whole turns counted.
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
        """Inverse of a frame's Jacobian of least kinetic energy, J̄ = M⁻¹ Jᵀ Λ: J J̄ = 1.

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
        """Joint forces that friction and springs take; zero unless the model has them.

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nv) [N, N·m], of the sign of the motion: tau = M
        a + h + this.
        For a joint at rate r: viscous * r + coulomb * sign(r), spring * (position - rest), and beyond a
        limit stiffness * (position - limit) + damping * r; less the weight that something else bears.
        Of a ball joint position - rest is the rotation vector from rest, in the turned frame.
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
        """Wrench on a link that external joint forces come of, if nothing else is touched.

        q: (B, nq).  external: (B, nv) [N, N·m], as of `momentum_observer`.  Returns (B, 6), force then
        moment [N, N·m]; reference: "local", about the link's origin in its axes, as `f_ext` takes it;
        "local_world_aligned", in the world's axes; "world", about the world's origin.
        Least squares of Jᵀ wrench = external, damped: (J Jᵀ + damping² 1) wrench = J external. What the
        joints do not feel, as in a singular configuration, is 0; with `damping` [m] small against the
        arm's length the rest is little changed.
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
        7); xyzw whichever order the model's own quaternions have.
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
        """The 6x6 matrix that takes wrenches in a frame to wrenches in the frame that its pose is given
        in.

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
        "classical": of the point at the reference's origin, linear + ω × v; J a + J' v with
        "local_world_aligned".
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
        """J' v, the acceleration of links that velocities alone give [m/s², rad/s²].

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

        q: (B, nq) [m, rad].  pattern: (n, 2) or (B, n, 2), x and y [m] from the frame's origin, in level
        axes that turn about the vertical as the frame's x axis does; lists, or an array of NumPy's or
        of q's library.
        frame: a link; None: the root. terrain: as of `step`.
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
        """What inertial measurement units in links read: proper acceleration, then angular velocity.

        q: (B, nq).  v, a: (B, nv); None for zero.
        Returns (B, 6) for `frame="name"`, (B, len(frames), 6) for `frames=[...]`, (B, nlinks, 6) for
        neither [m/s², rad/s], in the axes of the link, at its origin.
        A link at rest reads 9.81 upwards; one that falls freely 0; one that turns at r from the axis
        r w² towards it. The classical acceleration less gravity: RBDA equation 2.42.

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
        """Whether links touch the ground with one of the points: 1 or 0.

        q: (B, nq).  Returns (B, links), all links in the order of `model.link_names` without `links=`.
        By heights alone, whatever the force: `point_heights` of 0 and less."""

    def integrate(
        self,
        q: Array,
        d: Array,
    ) -> Values:
        """The configuration q ⊕ d reached from `q` by the constant velocity `d` in unit time.

        q: (B, nq) [m, rad].  d: (B, nv), a velocity times a duration.  Returns (B, nq), quaternions at
        unit length; `out` may be `q` itself.
        Floating, ball and planar joints move along exp(d) of SE(3), SO(3), SE(2), as their twists are
        their own; all others add. Solà, Deray, Atchuthan, A micro Lie theory (2018), equation 25; as
        pinocchio.integrate.

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
        """The configuration on the way from `q0` (t = 0) to `q1` (t = 1) at constant velocity; beyond
        them as well.

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

        targets: {frame: (B, 4, 4) or (B, 7) [x y z qx qy qz qw]}, or one array with `frame=`; (B, 3), positions, where
        `orientation_weight` is 0.
        q0: (B, nq) or (nq,), where to start; else the middle of the limits (without limits, the neutral configuration).
        Minimises the sum over frames of position_weight |p|² + orientation_weight (2 sin(θ/2))², p the distance [m] and θ
        the angle [rad] to the target; a weight of 0 leaves that part out. Numbers, or one for each frame by name.
        restarts: further starts, spread evenly within the limits, each of up to `iterations` steps; after them the best
        configuration found so far is refined. The same `seed` gives the same starts.
        tolerance: [m], [rad], for success; float32 reaches about 1e-6 of the robot's size.
        out: five arrays, all of the dtype of the targets.
        One kernel does the whole search. An environment's result depends on neither the others nor its place.
        Damped least squares, damping proportional to the cost: Sugihara, Solvability-unconcerned inverse kinematics by the
        Levenberg-Marquardt method, IEEE T-RO 27 (2011); coordinates at limits: Bertsekas, SIAM J. Control 20 (1982).

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
        reference: "local", "world", "local_world_aligned" (see the module).
        relative_to: the velocity relative to another frame, which then is what "world" means above;
        rate of `fk(relative_to=...)`.
        point: takes the place of the origin of `frame`, in its coordinates [m]: three numbers, which
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
        """The matrix Y(q, v, a) with `rnea(q, v, a)` = Y pi, but for armature, which is no parameter of
        a link.

        q: (B, nq) [m, rad].  v, a: (B, nv).  Returns (B, nv, 10 nlinks); with `links=[...]` the columns
        of these alone, in this order.  `gravity` as in `rnea`.
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
        and k where joints
        have one coordinate each: the second derivative of the position.
        Columns by columns: RBDA 2.31."""

    def kinetic_energy(
        self,
        q: Array,
        v: Array,
    ) -> Values:
        """Kinetic energy vᵀ M(q) v / 2, that of the rotors (armature) included.

        q: (B, nq) [m, rad].  v: (B, nv).  Returns (B,) [J]; a scalar for one robot.  RBDA 2.67, summed
        over the bodies."""

    def kinetic_energy_regressor(
        self,
        q: Array,
        v: Array | None,
    ) -> Values:
        """The row K(q, v) with kinetic energy K pi [J], but for that of armatures.

        q: (B, nq).  v: (B, nv).  Returns (B, 10 nlinks): for each link v·v / 2, v × ω, and products of
        ω, with the velocity of its origin in its axes.
        Siciliano et al., Robotics: Modelling, Planning and Control (2009), section 7.2.2."""

    def link_coms(
        self,
        q: Array,
    ) -> Values:
        """Centre of mass of each link in the world, where the description puts it; of a link without
        mass too.

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

        q: (B, nq).  forces: (B, points, 3) on the points in the world's axes, as `step` gives them.
        Returns (B, 6) for `frame="name"`, (B, len(frames), 6) for `frames=[...]`, (B, nlinks, 6) for
        neither; force, then moment.
        reference: "local_world_aligned" (about the link's origin, in the world's axes), "local" (in the
        link's, as `f_ext` takes them), "world" (about the world's origin).
        Each force acts where the point's sphere is lowest. RBDA section 2.6."""

    def locked_inertia(
        self,
        q: Array,
        *,
        reference: MomentumReference = ...,
    ) -> Values:
        """Inertia of the robot with its joints locked, the sum of X* I X⁻¹ over its links, root-fixed
        ones included.

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

        q: (B, nq).  Returns (B,), zero where a direction is lost.
        part: "both", "linear" or "angular" rows of J. Where fewer coordinates move the link than J has
        rows, det(J Jᵀ) is always zero, and sqrt(det(Jᵀ J)) is given: what is left of its own freedom.
        Yoshikawa, Int. J. Robotics Research 4(2), 1985."""

    def mass_matrix_inverse(
        self,
        q: Array,
    ) -> Values:
        """M(q)⁻¹, symmetric and positive definite.

        q: (B, nq) [m, rad].  Returns (B, nv, nv), both triangles.
        M = Lᵀ D L without fill-in beyond the tree's branches, RBDA table 6.3, and L⁻¹ D⁻¹ L⁻ᵀ.
        Raises ModelError where a joint moves no inertia."""

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
        """Kinetic and potential energy together, constant where no force but gravity acts.

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
        axes, "centroidal_local" in the root link's.  On a fixed base the first three are one.
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
        """External joint forces by the generalised momentum observer: its state, a time `dt` later.

        q: (B, nq).  v: (B, nv).  tau: (B, nv), of the motors [N, N·m], measured or commanded.
        momentum, rate, external: (B, nv), the results of the call before; `out=` may be the same
        arrays. dt: since then [s], a number or (B,); where it is 0 the observer begins at this state,
        with `external` 0, and the other two are not read. gain: [1/s], a number or (B,).
        Returns momentum M v, rate tau + Cᵀ v - g + Jᵀ f_ext - `effect_torques`, and external (B, nv).
        `external` goes to the forces from outside, but for `f_ext`, which are known, as a filter of
        first order with time constant 1 / gain: exactly so where they are constant and the rate
        changes linearly, for any dt; nothing is differentiated and no mass matrix inverted.
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
        """The 6x6 matrix that takes twists in a frame to twists in the frame that its pose is given in.

        pose: (B, 7) [x y z qx qy qz qw].  Returns X = [[R, [p]× R], [0, R]]: (B, 6, 6), linear rows
        first.
        RBDA 2.24 and 2.26; the adjoint of Lynch and Park, Modern Robotics, 3.20 (there angular first)."""

    def normalize(
        self,
        q: Array,
    ) -> Values:
        """`q` with its quaternions at unit length; all else as it is.

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
        order linear, then angular; reference, part: as for `jacobian`, a part having three directions
        in place of six.
        A is the rate of the frame's velocity J v: its spatial acceleration, in "local_world_aligned"
        the acceleration of its origin.
        Λ = (J M⁻¹ Jᵀ)⁻¹.  J̄ = M⁻¹ Jᵀ Λ.  bias = J̄ᵀ h - Λ J̇ v, with h all that zero acceleration
        takes: centrifugal and Coriolis forces (Khatib's mu), gravity (his p), f_ext and joint effects;
        `gravity=(0, 0, 0)` leaves mu. With tau = Jᵀ force, `aba` gives the frame the acceleration A.
        Khatib, A Unified Approach for Motion and Force Control of Robot Manipulators, IEEE J. Robotics
        and Automation RA-3 (1987), on redundant manipulators.
        Raises ModelError where the frame cannot move in all these directions. At singular
        configurations Λ is infinite."""

    def operational_space_inertia(
        self,
        q: Array,
        *,
        frame: str,
        reference: Reference = ...,
        part: Part = ...,
    ) -> Values:
        """Inertia that a frame opposes to forces on it, Λ = (J M⁻¹ Jᵀ)⁻¹.

        q: (B, nq) [m, rad].  Returns (B, 6, 6), symmetric; linear, then angular; reference, part: as
        for `jacobian`.
        Khatib (1987).  Raises ModelError where the frame cannot move in all these directions."""

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
        """Jacobians of contact points, as `jacobian` has them of links: J v is the point's velocity.

        q: (B, nq).  Returns (B, points, 6, nv), or three rows of a part; a force f on the points does
        Jᵀ f on the joints.
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
        """Potential energy of gravity, -sum of m g · c over all links, root-fixed ones included.

        q: (B, nq) [m, rad].  Returns (B,) [J]; zero for mass at the world's origin. Its gradient is
        `gravity_torques`.
        gravity: as in `rnea`.  Springs at the limits (`Model.with_limit_springs`) are not in it."""

    def potential_energy_regressor(
        self,
        q: Array,
        *,
        gravity: Gravity = ...,
    ) -> Values:
        """The row U(q) with potential energy U pi [J], zero at the world's origin; links fixed to the
        world count.

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
        g(q) - Jᵀ f_ext, and what friction and limit springs take where the model has them
        (`Model.with_friction`, `with_limit_springs`).

        q: (B, nq) [m, rad].  v, a: (B, nv) [m/s, rad/s; m/s², rad/s²].  Returns tau: (B, nv) [N, N·m].
        A floating base comes first: its twist, acceleration (derivative of that twist) and wrench in
        its own frame.
        f_ext: {link: (B, 6)} or (B, nlinks, 6), forces on links: force then torque about the link
        origin, in the link frame.
        gravity: (3,) or (B, 3) acceleration of free fall in the world [m/s²]; default (0, 0, -9.81).
        With `v` and `a` zero it is what compensates gravity; None stands for zero, here and in every
        function with a `v` or an `a`: a constant, folded into a shorter program.
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
        Returns dtau_dq, dtau_dv, dtau_da = M: (B, nv, nv) each; row i for tau[i], column k for the
        coordinate.
        By q over the tangent space: column k is the change per step along v's coordinate k, a base's in
        its own frame.
        Singh, Russell and Wensing, IEEE RA-L 7 (2022); Carpentier and Mansard, RSS 2018."""

    def solve(
        self,
        q: Array,
        b: Array,
    ) -> Values:
        """x with M(q) x = b, without forming M⁻¹.

        q: (B, nq) [m, rad].  b: (B, nv) [N, N·m].  Returns x: (B, nv) [m/s², rad/s²], the acceleration
        that b alone gives; `out` may be `b` itself.
        M = Lᵀ D L factorised over the tree, RBDA tables 6.3 and 6.4, or articulated bodies at rest in
        free fall, RBDA table 7.1, whichever is the shorter program. Raises ModelError where a joint
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

        q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv).  Returns a `StateDerivative`: q, v, deformation,
        forces.
        What `step` with integrator="rk4" integrates; arguments as there. deformation: (B, points, 3) of
        the ground at the points [m]; None: zero. ground: with points a `SoftGround`. baumgarte: as of `configuration_rate`.
        RBDA section 7.3 for the acceleration (`aba`); the contacts are of Hunt and Crossley."""

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
        Returns a `Step`: q, v, impulses, forces, torques; where joints have rows, joint_impulses too.
        control, targets: drives to (B, joints) [rad, m], beside tau.
        latency: (B, 1) steps of dt after which targets reach the drives. earlier_targets: (B, n, joints)
        of the calls before, the last one first, as far back as a latency may reach.
        points: spheres that touch the ground (`ContactPoints`). impulses: (B, points, 3) of the step
        before, where the sweeps begin; None: at zero. deformation: likewise, of a `SoftGround` [m].
        ground: what contacts are made of: `Ground`, compliant and implicit, or `SoftGround`, explicit.
        terrain: where the ground is.
        integrator: "semi_implicit" Euler; "heun", "rk4": explicit, of second and fourth order where
        forces are smooth, for robots in the air and on soft ground.
        speed_guard: beyond its velocity limit a joint is damped, and products of velocities are those at
        the limit; for a free base's spin that is a quarter radian a step.
        stops: what holds joints at the limits of the description, where the model has no limit springs.
        "springs": implicit ones that the joint's effort presses in by 0.01 rad or m; from beyond 0.04 they
        bring it back at 0.04 / dt; none without an effort. "rows": exactly there, one-sided constraints
        of the sweeps; from beyond at 1 rad/s or m/s. "none". Explicit integrators have neither guard nor
        stops; None: on, and "springs", with "semi_implicit".
        joint_impulses: (B, joints) of the step before, of rows: of stops and of Coulomb friction, which
        the description (`Model.with_friction`) or `params` say; None: the sweeps begin at zero. In
        explicit steps Coulomb friction is as of `aba`.
        `out` may be (q, v, impulses, forces, torques), the state's arrays themselves; joint_impulses
        too, where joints have rows.
        Semi-implicit Euler; viscous friction, limit springs, drives and contacts implicit; Coulomb's
        cone and dry friction of joints by `sweeps` of block Gauss-Seidel: Castro, Permenter and Han,
        IEEE T-RO 39 (2023). Explicit ones: Runge-Kutta of Munthe-Kaas."""
