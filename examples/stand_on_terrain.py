"""A thousand quadrupeds are dropped on bumps, slopes, stairs, blocks and ditches of increasing
difficulty. A robot stands if its trunk is upright and clear of the ground. --plot file.png draws them."""

import argparse

import numpy as np

import warpdyn as wd

ENVS, LEVELS = 1000, 5
STANCE = [0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5]  # rad
KINDS = ("rough", "slope", "stairs", "steps", "gaps")
AROUND = np.float32([[x, y] for x in (-0.2, 0.0, 0.2) for y in (-0.1, 0.0, 0.1)])  # m, on the trunk

model = wd.load_robot("quadruped")
terrain = wd.HeightMap.tiles(KINDS, LEVELS, seed=0)
rng = np.random.default_rng(0)

# Each robot has a place on the map, outside the level middle of its tile. Its q starts near zero.
level, kind = np.arange(ENVS) % LEVELS, np.arange(ENVS) // LEVELS % len(KINDS)
angle, distance = rng.uniform(0, 2 * np.pi, ENVS), rng.uniform(1.5, 3.0, ENVS)
place = terrain.origins[level, kind].astype(np.float32)
place[:, :2] += (distance * [np.cos(angle), np.sin(angle)]).T
ground = terrain.with_offset(place)

sim = wd.Simulation(
    model,
    ENVS,
    points=wd.ContactPoints(model).only("*_foot"),
    control=wd.PD(60.0, 1.5),
    start=[0, 0, 0.0, 0, 0, 0, 1, *STANCE],
    terrain=ground,
)
below = -wd.height_scan(model, sim.q, AROUND, terrain=ground).min(axis=1)  # the highest point
q = sim.q.copy()
q[:, 2] = below + 0.4
sim.reset(q=q)

for _ in range(150):  # 3 s
    sim.step(STANCE)

clearance = wd.height_scan(model, sim.q, AROUND, terrain=ground).min(axis=1)
x, y = sim.q[:, 3], sim.q[:, 4]
stands = (1 - 2 * (x**2 + y**2) > 0.7) & (clearance > 0.1)  # leans by less than 45 degrees
print(f"{stands.sum()} of {ENVS} stand; a state was not finite {int(sim.failures.sum())} times")
for k, name in enumerate(KINDS):
    shares = [stands[(kind == k) & (level == n)].mean() for n in range(LEVELS)]
    print(f"{name:7s}", " ".join(f"{share:4.0%}" for share in shares))


def draw(file: str) -> None:
    """The map from above, with the final places of the robots that stand and of those that fell."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x, y = (sim.q[:, :2] + place[:, :2]).T
    half = 0.5 * np.array(terrain.extent)
    figure, axes = plt.subplots(figsize=(7, 6), layout="constrained")
    shown = axes.imshow(
        terrain.heights,
        origin="lower",
        extent=(-half[1], half[1], -half[0], half[0]),
        vmin=-0.5,
        vmax=1.0,
        cmap="gray",
    )
    axes.plot(y[stands], x[stands], ".", color="tab:cyan", markersize=3, label="stands")
    axes.plot(y[~stands], x[~stands], ".", color="tab:red", markersize=3, label="fell")
    axes.set_yticks(terrain.origins[:, 0, 0], [f"level {n}" for n in range(LEVELS)])
    axes.set_xticks(terrain.origins[0, :, 1], KINDS)
    axes.set(xlim=(-half[1], half[1]), ylim=(-half[0], half[0]))
    figure.legend(loc="outside upper center", ncols=2)
    figure.colorbar(shown, label="height [m]")
    figure.savefig(file, dpi=66, bbox_inches="tight")


parser = argparse.ArgumentParser()
parser.add_argument("--plot", metavar="FILE", help="file to draw the robots to (needs matplotlib)")
file = parser.parse_args().plot
if file:
    draw(file)
