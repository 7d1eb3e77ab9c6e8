"""A four-bar linkage with a motor at its crank: its loop is closed, held still and simulated."""

import numpy as np

import warpdyn as wd

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.45, 0.35, 0.5  # m
DT, SUBSTEPS = 0.002, 5


def rod(length, axis):
    """Mass, centre and inertia of a rod of 1 kg along an axis of its link."""
    moments = np.full(3, length**2 / 12)
    moments["xyz".index(axis)] = 1e-4
    com = {"x": (length / 2, 0, 0), "z": (0, 0, -length / 2)}[axis]
    return {"mass": 1.0, "com": com, "inertia": np.diag(moments)}


builder = wd.ModelBuilder("four_bar").add_link("ground")
builder.add_link("crank", **rod(CRANK, "z"))
builder.add_link("coupler", **rod(COUPLER, "x"))
builder.add_link("rocker", **rod(ROCKER, "z"))
builder.add_joint("motor", "continuous", "ground", "crank", axis=(0, 1, 0))
builder.add_joint("elbow", "continuous", "crank", "coupler", (0, 0, -CRANK), axis=(0, 1, 0))
builder.add_joint("pivot", "continuous", "ground", "rocker", (GROUND, 0, 0), axis=(0, 1, 0))
builder.connect("coupler", (COUPLER, 0, 0), "rocker", (0, 0, -ROCKER))
model = builder.build()

# These angles do not close the loop. `close` finds angles near them that do, and keeps the crank's.
angles = np.linspace(0, 2 * np.pi, 9)[:-1]
near = np.stack([angles, -angles - 0.5, np.ones(8)], axis=1)
q = wd.loops.close(model, near, fixed=["motor"], most_steps=50)
print("crank, rocker [deg]:", *(f"{a:.0f} {b:.1f}," for a, _, b in np.degrees(q)))

# The motor's torque that holds the linkage still, and the force in the joint that closes the loop.
rest = np.zeros_like(q)
torque = wd.loops.inverse_dynamics(model, q, rest, rest, actuated=["motor"])
forces = wd.loops.dynamics(model, q, rest, torque).loop_forces
print(
    f"holding torque {np.abs(torque[:, 0]).max():.2f} N·m, joint force "
    f"{np.linalg.norm(forces[:, 0, :3], axis=1).max():.1f} N at most"
)

sim = wd.Simulation(model, 8, points=(), dt=DT, substeps=SUBSTEPS, start=q, dtype="float64")
worst = 0.0
for _ in range(500):
    sim.tau[:, 0] = 4.0 - 0.5 * sim.v[:, 0]  # a motor whose torque falls with its speed
    sim.step()
    worst = max(worst, np.abs(wd.loops.errors(model, sim.q)).max())
print(
    f"after {sim.time[0]:.0f} s the cranks turn at {sim.v[:, 0].mean():.1f} rad/s, "
    f"the gap was {worst * 1e6:.0f} µm at most"
)
