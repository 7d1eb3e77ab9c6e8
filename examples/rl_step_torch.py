"""The physics of reinforcement learning on Torch tensors: 4,096 arms, on a GPU if there is one."""

import time

import warpdyn as wd

try:
    import torch
except ImportError:
    raise SystemExit("this example needs PyTorch: pip install torch") from None

ROBOTS, STEPS, STEP = 4096, 200, 2e-3  # s

device = "cuda" if torch.cuda.is_available() else "cpu"
model = wd.load_robot("ur5e")
torch.manual_seed(0)


def columns(width: int) -> torch.Tensor:
    """Zeros (ROBOTS, width) in the fastest layout: one coordinate of all robots is contiguous in memory."""
    return torch.zeros(width, ROBOTS, device=device).T


q, v, tau, a = (columns(model.nv) for _ in range(4))
target = torch.rand(ROBOTS, model.nv, device=device) - 0.5

begin = time.perf_counter()
for step in range(STEPS):
    # Computed torque; in training, the policy's action.
    wd.rnea(model, q, v, 200 * (target - q) - 28 * v, out=tau)
    wd.aba(model, q, v, tau, out=a)
    v += STEP * a
    q += STEP * v
    if step % 50 == 0:
        print(
            f"{step * STEP:.2f} s: mean distance to target {(target - q).abs().mean().item():.4f} rad"
        )
seconds = time.perf_counter() - begin
print(
    f"{ROBOTS * STEPS / seconds:,.0f} robot steps per second on {device}, Torch's own arithmetic included"
)
