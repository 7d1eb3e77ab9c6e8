"""Load a robot, compute its dynamics for many states at once, and find joints by name."""

import numpy as np

import warpdyn as wd

model = wd.load_robot("panda")  # or wd.load_urdf("path/to/robot.urdf")
print(model.summary())

# 1,000 states: one row for each robot of the batch.
rng = np.random.default_rng(0)
q = rng.uniform(model.position_lower, model.position_upper, (1000, model.nq))
v = rng.uniform(-1, 1, (1000, model.nv))
a = rng.uniform(-1, 1, (1000, model.nv))

tau = wd.rnea(model, q, v, a)  # joint forces that produce `a`: (1000, nv)
M = wd.crba(model, q)  # inertia matrices: (1000, nv, nv)
poses = wd.fk(model, q, frame="panda_hand_tcp")  # poses in the world: (1000, 4, 4)
J = wd.jacobian(model, q, frame="panda_hand_tcp")  # (1000, 6, nv): linear part, then angular
back = wd.aba(model, q, v, tau)  # accelerations that `tau` produces: `a` again

print(f"\nforward dynamics undoes inverse dynamics to {np.abs(back - a).max():.1e} rad/s²")
print(f"hand of the first robot: {np.round(poses[0, :3, 3], 3)} m")
elbow = model.q_indices(["panda_joint4"])[0]
print(f"torque on panda_joint4: {tau[:, elbow].min():.1f} to {tau[:, elbow].max():.1f} N·m")

# The oracle computes the same on plain numbers, one robot at a time. Kernels are tested against it.
print(
    f"oracle agrees to {np.abs(wd.oracle(wd.rnea, model, q[:5], v[:5], a[:5]) - tau[:5]).max():.1e} N·m"
)
