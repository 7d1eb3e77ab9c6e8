"""A control loop at 1 kHz that compensates gravity and damps the motion of one arm, with a bound call."""

import time

import numpy as np

import warpdyn as wd

STEP = 1e-3  # s
DAMPING = 3.0  # 1/s

model = wd.load_robot("ur5e")
q = np.array([0.3, -1.2, 1.5, -0.8, 0.4, 0.0])  # rad
v = np.array([0.5, 0.5, -0.5, 0.2, 0.0, 0.0])  # rad/s: the arm is moving when the loop starts
wanted, tau, acceleration = np.zeros((3, model.nv))

# A bound call reads and writes these arrays in place and checks nothing. At rest, with `wanted` zero,
# this one is gravity compensation alone.
control = wd.bind(wd.rnea, model, q, v, wanted, out=tau)
accelerate = wd.bind(wd.aba, model, q, v, tau, out=acceleration)  # in place of a real arm

begin = time.perf_counter()
for step in range(3001):
    wanted[:] = -DAMPING * v
    control()
    accelerate()
    v += STEP * acceleration
    q += STEP * v
    if step % 500 == 0:
        fastest, largest = np.abs(v).max(), np.abs(tau).max()
        print(
            f"{step * STEP:.1f} s: fastest joint {fastest:.4f} rad/s, largest torque {largest:.1f} N·m"
        )
print(
    f"3 s of simulation in {time.perf_counter() - begin:.2f} s; the arm has come to rest at {np.round(q, 2)} rad"
)
