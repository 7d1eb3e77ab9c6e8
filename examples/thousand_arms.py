"""A thousand arms hold different payloads. They sag under the load, and the shoulder's torque measures it."""

import numpy as np

import warpdyn as wd

ENVS, DT, SUBSTEPS = 1000, 0.002, 10

model = wd.load_robot("panda")
ready = np.clip(
    [0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02], model.position_lower, model.position_upper
)
rng = np.random.default_rng(0)
payload = rng.uniform(0.0, 3.0, ENVS).astype(np.float32)  # kg
hand = model.links[model.link_index("panda_hand")].mass
masses = model.params(mass={"panda_hand": hand + payload})

# The gravity torques of the empty arm are compensated. The drives hold the load, and deflect by tau / kp.
kp, kd = 400.0, 40.0
sim = wd.Simulation(
    model,
    ENVS,
    control=wd.PD(kp, kd),
    start=ready,
    params=masses,
    dt=DT,
    substeps=SUBSTEPS,
)
empty = wd.gravity_torques(model, sim.q)
for _ in range(round(2.0 / (DT * SUBSTEPS))):
    sim.step(ready, tau=empty)

# The shoulder's torque, less the gravity torque of the empty arm in this pose, is due to the load.
shoulder = sim.q[:, 1] - ready[1]
beyond = wd.gravity_torques(model, sim.q)[:, 1] - sim.torques[:, 1]
reach = wd.com(model, sim.q, subtree="panda_hand")[:, 0]  # from the shoulder's axis [m]
estimate = beyond / (9.81 * reach)
print(f"{ENVS} Pandas, 2 s: the shoulder sags by {np.degrees(shoulder.max()):.2f} degrees at most")
for low in (0.0, 1.0, 2.0):
    here = (payload >= low) & (payload < low + 1)
    error = np.abs(estimate - payload)[here]
    print(
        f"payloads of {low:.0f} to {low + 1:.0f} kg: {here.sum():3d} arms, sag "
        f"{np.degrees(shoulder[here]).mean():.2f} degrees, estimated to {1000 * error.mean():.0f} g"
    )
