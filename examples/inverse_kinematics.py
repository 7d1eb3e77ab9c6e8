"""Inverse kinematics for a pick: which of 4,096 grasps an arm can reach, and a straight motion down to one of them."""

import time

import numpy as np

import warpdyn as wd

HAND = "panda_hand"
COUNT = 4096

model = wd.load_robot("panda")
rng = np.random.default_rng(0)

# Grasps from above on a table of 1.6 m by 1.6 m around the arm, turned about the vertical by random angles.
angle = rng.uniform(-np.pi, np.pi, COUNT)
grasps = np.zeros((COUNT, 4, 4), np.float32)
grasps[:, 0, 0], grasps[:, 0, 1] = np.cos(angle), np.sin(angle)
grasps[:, 1, 0], grasps[:, 1, 1] = np.sin(angle), -np.cos(angle)
grasps[:, 2, 2], grasps[:, 3, 3] = -1, 1
grasps[:, :2, 3] = rng.uniform(-0.8, 0.8, (COUNT, 2))
grasps[:, 2, 3] = 0.12

with wd.kernels.compiling():  # otherwise the first calls are interpreted
    wd.inverse_kinematics(model, {HAND: grasps})
begin = time.perf_counter()
found = wd.inverse_kinematics(model, {HAND: grasps})
spent = time.perf_counter() - begin
print(
    f"{found.success.sum()} of {COUNT} grasps are within reach; {1e6 * spent / COUNT:.2g} us each"
)
distance = np.linalg.norm(grasps[:, :2, 3], axis=1)[found.success]
steps = found.iterations[found.success]
print(
    f"they lie {distance.min():.2f} m to {distance.max():.2f} m from the base, and took {steps.mean():.0f} steps each"
)

# Follow a straight line down to the grasp that took the fewest steps. Each search starts at the last solution.
best = np.flatnonzero(found.success)[found.iterations[found.success].argmin()]
q = found.q[best]
for height in np.linspace(0.30, 0.12, 10, dtype=np.float32):
    pose = grasps[best].copy()
    pose[2, 3] = height
    step = wd.inverse_kinematics(model, {HAND: pose}, q0=q, restarts=0 if height < 0.3 else 32)
    print(
        f"{height:.2f} m: moved {np.abs(step.q - q).max():.2f} rad, {int(step.iterations)} steps, {bool(step.success)}"
    )
    q = step.q
