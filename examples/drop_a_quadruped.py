"""A quadruped falls from a small height, lands on its feet and stands: ground forces, and readings of its IMU."""

import warpdyn as wd

DT, SUBSTEPS = 0.005, 2
STANCE = [0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5]  # rad

model = wd.load_robot("quadruped")
feet = wd.ContactPoints(model).only("*_foot")
sim = wd.Simulation(
    model,
    1,  # robots; thousands cost little more than one
    points=feet,
    control=wd.PD(kp=60.0, kd=2.0),
    start=[0, 0, 0.42, 0, 0, 0, 1, *STANCE],  # x y z, quaternion x y z w, joints
    sensors=wd.Sensors(imu=["base"], links=["*_foot"]),
    dt=DT,
    substeps=SUBSTEPS,
)
weight = 9.81 * model.total_mass

print("time    height   feet on the ground   ground force   IMU, upwards")
for launch in range(100):
    sim.step(STANCE)
    if launch % 9 == 8:
        touching = int(sim.link_contacts[0].sum())
        force = sim.link_forces[0, :, 2].sum() / weight
        print(
            f"{sim.time[0]:.2f} s  {sim.q[0, 2]:.3f} m  {touching:^19d}  {force:5.2f} weights  "
            f"{sim.imu[0, 0, 2]:7.2f} m/s²"
        )
