"""Quadruped environments of other libraries: gymnasium with MuJoCo, MuJoCo's rollout, MuJoCo Playground.

Each function returns a call that steps all environments with random actions, the number of
environments, and a description. Libraries are imported in the functions that need them.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from ..simulation_scenes import QUADRUPED_HEIGHT, QUADRUPED_STANCE, standing
from ..simulators import in_mujoco

DT, SUBSTEPS = 0.005, 4
GAINS = (25.0, 0.5)
DRAWS = 16
"""Different random actions, which come round."""


class Contender(NamedTuple):
    """Environments with a step function."""

    advance: Callable[[], Any]
    envs: int
    about: str
    close: Callable[[], Any] = lambda: None
    """Ends processes that it has started."""


class MujocoQuadruped(gymnasium.Env[Any, Any]):
    """One quadruped on a plane in MuJoCo C: warpdyn's scene and drives, 4 steps of 5 ms per action.

    Observations and ends are those of `QuadrupedVelocity`. It only has the two rewards for following the
    command, so that NumPy's share of the time stays small.
    """

    def __init__(self) -> None:
        import mujoco

        scene = standing("quadruped", QUADRUPED_HEIGHT, QUADRUPED_STANCE, GAINS, "*_foot")
        self._mujoco = mujoco
        self.robot, self.data = in_mujoco.build(scene, DT)
        self.first = self.data.qpos.copy()
        self.stance = np.array(QUADRUPED_STANCE)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (12,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (48,), np.float32)
        self.last, self.command, self.age = np.zeros(12), np.zeros(3), 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._mujoco.mj_resetData(self.robot, self.data)
        self.data.qpos[:] = self.first
        self.data.qpos[7:] *= self.np_random.uniform(0.8, 1.2, 12)
        self.data.qvel[:6] = self.np_random.uniform(-0.3, 0.3, 6)
        self.command, self.age = self.np_random.uniform(-1.0, 1.0, 3), 0
        self.last = np.zeros(12)
        return self._observe(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.data.ctrl[:] = self.stance + 0.25 * action
        self._mujoco.mj_step(self.robot, self.data, nstep=SUBSTEPS)
        self.age += 1
        self.last = action
        seen = self._observe()
        off = self.command - seen[[0, 1, 5]]
        reward = 1.5 * np.exp(-4.0 * (off[:2] @ off[:2])) + 0.75 * np.exp(-4.0 * off[2] ** 2)
        fell = bool(seen[8] > -0.5 or self.data.qpos[2] < 0.1)
        return seen, 0.02 * float(reward), fell, self.age >= 1000, {}

    def _observe(self) -> np.ndarray:
        q, v = self.data.qpos, self.data.qvel
        turn = np.empty(9)
        self._mujoco.mju_quat2Mat(turn, q[3:7])
        turn = turn.reshape(3, 3)
        parts = (v[:3] @ turn, v[3:6], -turn[2], self.command, q[7:] - self.stance)
        return np.concatenate([*parts, 0.05 * v[6:], self.last]).astype(np.float32)


def ours(envs: int, cores: int) -> Contender:
    """warpdyn's environments in one launch per step."""
    import torch

    from warpdyn import rl

    env = rl.VecEnv(rl.QuadrupedVelocity(), envs)
    env.reset()
    advance = _around(env.step, _torch(torch, envs))
    threads = _threads_that_suit(torch, advance, cores)
    return Contender(advance, envs, f"float32, one launch a step; Torch's threads: {threads}")


def in_torch(envs: int, cores: int) -> Contender:
    """The same task in Torch around warpdyn's simulation."""
    import torch

    from warpdyn import rl

    from .torch_quadruped import TorchQuadruped

    env = TorchQuadruped(rl.QuadrupedVelocity(), envs)
    env.reset()
    advance = _around(env.step, _torch(torch, envs))
    threads = _threads_that_suit(torch, advance, cores)
    return Contender(advance, envs, f"float32, task in Torch; its threads: {threads}")


def physics(envs: int, cores: int) -> Contender:
    """warpdyn's simulation without a task, 4 steps per launch."""
    import torch

    from warpdyn import rl

    from .torch_quadruped import TorchQuadruped

    torch.set_num_threads(1)
    env = TorchQuadruped(rl.QuadrupedVelocity(), envs)
    env.reset()
    targets = [env.stance + 0.25 * x for x in _torch(torch, envs)]
    return Contender(_around(env.sim.step, targets), envs, "float32, no task")


def gymnasium_quadruped(envs: int, cores: int) -> Contender:
    """The same quadruped in MuJoCo C, a process for each environment."""
    return _vector(gymnasium.vector.AsyncVectorEnv([MujocoQuadruped] * envs))


def gymnasium_ant(envs: int, cores: int) -> Contender:
    """gymnasium's own quadruped, 5 steps of 10 ms per action, a process for each environment."""
    return _vector(gymnasium.make_vec("Ant-v5", num_envs=envs, vectorization_mode="async"))


def mujoco_rollout(envs: int, cores: int) -> Contender:
    """MuJoCo C with its own thread pool, without observations, rewards or ends."""
    import mujoco

    from ..simulators import many_in_mujoco
    from ..simulators.running import SettledScene

    scene = standing("quadruped", QUADRUPED_HEIGHT, QUADRUPED_STANCE, GAINS, "*_foot")
    robot, data = in_mujoco.build(scene, DT)
    mujoco.mj_step(robot, data, nstep=400)
    many_in_mujoco.MOST = envs
    (one,) = many_in_mujoco.running(SettledScene(scene, DT, robot, data), envs, cores)
    return Contender(one.advance, one.envs, "float64, its thread pool; no task, constant targets")


def playground(envs: int, cores: int) -> Contender:
    """MuJoCo Playground's Go1 on flat ground in MJX on the CPU, 4 steps of 5 ms per action.

    The meshes are only drawn and never touch, so single tetrahedra replace them. Nothing is downloaded.
    """
    import jax
    import jax.numpy as jnp
    from mujoco_playground import wrapper
    from mujoco_playground._src import mjx_env
    from mujoco_playground._src.locomotion.go1 import base, joystick

    def assets() -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        xmls = base.consts.ROOT_PATH / "xmls"
        mjx_env.update_assets(files, xmls, "*.xml")
        mjx_env.update_assets(files, xmls / "assets")
        names = ("trunk", "hip", "thigh", "thigh_mirror", "calf")
        return files | {f"{name}.stl": _tetrahedron() for name in names}

    base.get_assets, mjx_env.ensure_menagerie_exists = assets, lambda: None
    numbers = joystick.default_config()
    numbers.impl, numbers.sim_dt = "jax", DT
    task = joystick.Joystick("flat_terrain", config=numbers)
    env = wrapper.wrap_for_brax_training(task, episode_length=1000, action_repeat=1)
    step = jax.jit(env.step)
    state = [jax.jit(env.reset)(jax.random.split(jax.random.PRNGKey(0), envs))]
    draws = np.random.default_rng(0).uniform(-1.0, 1.0, (DRAWS, envs, 12))
    actions = [jnp.asarray(x, jnp.float32) for x in draws]

    def advance(action: Any) -> None:
        state[0] = jax.block_until_ready(step(state[0], action))

    solver = task.mj_model.opt
    how = f"float32, Newton, {solver.iterations} iteration of {solver.ls_iterations} searches"
    return Contender(_around(advance, actions), envs, how)


CONTENDERS: dict[str, tuple[str, Callable[[int, int], Contender], tuple[str, ...], int]] = {
    "ours": ("warpdyn.rl.VecEnv, the quadruped", ours, ("torch",), 4096),
    "torch": ("the same task in Torch around wd.Simulation", in_torch, ("torch",), 4096),
    "physics": ("wd.Simulation, physics alone", physics, ("torch",), 4096),
    "rollout": ("MuJoCo C's rollout, physics alone", mujoco_rollout, ("mujoco",), 512),
    "playground": (
        "MuJoCo Playground, Go1JoystickFlatTerrain",
        playground,
        ("playground", "mujoco-mjx", "jax"),
        1024,
    ),
    "quadruped": (
        "gymnasium AsyncVectorEnv, the quadruped in MuJoCo C",
        gymnasium_quadruped,
        ("gymnasium", "mujoco"),
        16,
    ),
    "ant": (
        'gymnasium.make_vec("Ant-v5", vectorization_mode="async")',
        gymnasium_ant,
        ("gymnasium", "mujoco"),
        16,
    ),
}
"""By key: what it is, how it is made, the packages it needs, how many environments suit it."""


def _torch(torch: Any, envs: int) -> list[Any]:
    draw = torch.Generator().manual_seed(0)
    return [2.0 * torch.rand((envs, 12), generator=draw) - 1.0 for _ in range(DRAWS)]


def _threads_that_suit(torch: Any, advance: Callable[[], Any], cores: int) -> int:
    """Set Torch's threads to one or to the number of cores, whichever is faster, and return the number."""
    times = {}
    for threads in (1, cores):
        torch.set_num_threads(threads)
        laps = []
        for _ in range(12):
            start = time.perf_counter()
            advance()
            laps.append(time.perf_counter() - start)
        times[threads] = float(np.median(laps[2:]))
    best = min(times, key=lambda n: times[n])
    torch.set_num_threads(best)
    return best


def _vector(env: Any) -> Contender:
    env.reset(seed=0)
    width = env.single_action_space.shape[0]
    draws = np.random.default_rng(0).uniform(-1.0, 1.0, (DRAWS, env.num_envs, width))
    how = "float64, a process for each environment"
    advance = _around(env.step, list(draws.astype(np.float32)))
    return Contender(advance, env.num_envs, how, env.close)


def _around(step: Callable[[Any], Any], actions: list[Any]) -> Callable[[], Any]:
    """Step with the next actions."""
    turn = [0]

    def advance() -> None:
        turn[0] += 1
        step(actions[turn[0] % len(actions)])

    return advance


def _tetrahedron() -> bytes:
    """STL file of four small triangles."""
    corners = 0.01 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "<f4")
    text = bytes(80) + struct.pack("<I", 4)
    for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)):
        text += np.zeros(3, "<f4").tobytes() + corners[list(face)].tobytes() + bytes(2)
    return text
