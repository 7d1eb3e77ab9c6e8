"""A quadruped with a free base: its coordinates, momentum in free fall, and the forces that hold it up."""

import numpy as np

import warpdyn as wd

# Its base is free. load_urdf(..., floating_base=True) frees the base of any robot.
model = wd.load_robot("quadruped")
print("q:", ", ".join(model.q_names[:7]), "...")
print("v:", ", ".join(model.v_names[:6]), "...")

# Free fall: without torques or contacts every robot falls with g in any pose.
count = 64
rng = np.random.default_rng(0)
q = np.tile(model.neutral, (count, 1))
q[:, 7:] = rng.uniform(-0.5, 0.5, (count, model.nq - 7))
zero = np.zeros((count, model.nv))
a = wd.aba(model, q, zero, zero)
print(f"\nfree fall: the base accelerates by {a[:, 2].mean():.3f} m/s² ± {np.ptp(a[:, 2]):.1e}")

# Standing: the force that would hold the base up is the robot's weight.
need = wd.rnea(model, q, zero, zero)
print(f"vertical force on the base: {need[0, 2]:.2f} N; weight {9.81 * model.total_mass:.2f} N")

# The same weight carried by four feet: forces on links, in the link's own axes.
feet = [name for name in model.link_names if name.endswith("foot")]
poses = wd.fk(model, q, frames=feet)
up = np.array([0.0, 0.0, 9.81 * model.total_mass / len(feet)])
pushes = {foot: np.zeros((count, 6)) for foot in feet}
for k, foot in enumerate(feet):
    pushes[foot][:, :3] = np.einsum("eji,j->ei", poses[:, k, :3, :3], up)  # world to link
rest = wd.rnea(model, q, zero, zero, f_ext=pushes)
print(
    f"with a quarter of the weight at {', '.join(feet)}: {abs(rest[0, 2]):.1e} N are left for the base"
)
