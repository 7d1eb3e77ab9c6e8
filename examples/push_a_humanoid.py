"""Push 256 standing humanoids, each with a different force, and count those that fall."""

import numpy as np

import warpdyn as wd

ENVS, DT, SUBSTEPS = 256, 0.005, 4
HARDEST = 120.0  # N

model = wd.load_robot("humanoid")
soles = wd.ContactPoints(model).only("*_ankle_roll_link")

# Stiffness from each motor's effort limit, which it reaches at an error of 0.1 rad.
effort = model.effort_limit[6:]
control = wd.PD(kp=effort / 0.1, kd=effort / 2.5)

# The ankles have to balance the whole body. Bent knees lower its centre of mass.
start = model.neutral.copy()
for side in ("left", "right"):
    for joint, angle in (("hip_pitch", -0.3), ("knee", 0.6), ("ankle_pitch", -0.3)):
        start[model.q_names.index(f"{side}_{joint}_joint")] = angle
start[2] = 0.755

push = np.zeros((ENVS, 6), np.float32)  # on the pelvis, in its axes: force [N], moment [N·m]
sim = wd.Simulation(
    model,
    ENVS,
    points=soles,
    control=control,
    start=start,
    f_ext={model.root: push},
    dt=DT,
    substeps=SUBSTEPS,
)
held = start[7:]


def simulate(duration: float) -> None:
    for _ in range(round(duration / (DT * SUBSTEPS))):
        sim.step(held)


simulate(1.0)
stood = sim.q[:, 2].copy()
angle = np.tile(np.linspace(0, 2 * np.pi, 8, endpoint=False), ENVS // 8)
force = np.linspace(0.0, HARDEST, ENVS)
push[:, 0], push[:, 1] = force * np.cos(angle), force * np.sin(angle)
simulate(0.2)
push[:] = 0.0
simulate(2.0)

fell = sim.q[:, 2] < 0.6 * stood
print(f"standing at {stood.mean():.2f} m; pushed for 0.2 s, one of eight directions each")
for low in range(0, int(HARDEST), 20):
    here = (force >= low) & (force <= low + 20)
    print(f"{low:3d} to {low + 20:3d} N: {here.sum():3d} humanoids, {fell[here].mean():4.0%} fell")
