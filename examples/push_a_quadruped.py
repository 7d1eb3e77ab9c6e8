"""1,024 quadrupeds stand on floors of different friction. Each is pushed sideways, and some slide."""

import numpy as np

import warpdyn as wd

ENVS, DT, SUBSTEPS = 1024, 0.005, 4
STANCE = [0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5]  # rad
START = [0, 0, 0.33, 0, 0, 0, 1, *STANCE]

model = wd.load_robot("quadruped")
feet = wd.ContactPoints(model).only("*_foot")
rng = np.random.default_rng(0)
friction = rng.uniform(0.1, 1.0, ENVS).astype(np.float32)
push = np.zeros((ENVS, 6), np.float32)  # on the trunk, in its axes: force [N], moment [N·m]

# Friction and pushes are arrays that each launch reads, so a change acts from the next step on.
sim = wd.Simulation(
    model,
    ENVS,
    points=feet,
    control=wd.PD(60.0, 1.5),
    ground=wd.Ground(friction=np.repeat(friction[:, None], len(feet), axis=1)),
    f_ext={"base": push},
    start=START,
    dt=DT,
    substeps=SUBSTEPS,
)


def simulate(duration: float) -> None:
    for _ in range(round(duration / (DT * SUBSTEPS))):
        sim.step(STANCE)


simulate(2.0)
stood = sim.q.copy()
push[:, 1] = 60.0
simulate(0.5)
push[:] = 0.0
simulate(2.0)

moved = np.abs(sim.q[:, 1] - stood[:, 1])
x, y = sim.q[:, 3], sim.q[:, 4]
fallen = 1 - 2 * (x**2 + y**2) < 0.5  # the trunk's z axis leans by more than 60 degrees
for low, high in ((0.1, 0.3), (0.3, 0.5), (0.5, 1.0)):
    here = (friction >= low) & (friction < high)
    print(
        f"friction {low} to {high}: {here.sum():4d} robots, moved by {moved[here].mean():.2f} m on average, "
        f"{fallen[here].sum()} fell"
    )
print(f"a state was not finite {int(sim.failures.sum())} times")
