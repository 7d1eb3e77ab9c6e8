"""Each row of "Status and limitations" is true: a test fails when warpdyn can do more than the row says."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/limitations.md"
ON_A_GPU = re.compile(
    r'"device": "(?!cpu")|\bcuda:\d|"hardware": "[^"]*(?:NVIDIA|GeForce|RTX|Radeon|Instinct)'
)
"""A measurement on another device than the CPU, as lines of results record it."""

TESTS: dict[str, str] = {}
"""The test of each row, by the row's first cell."""


def backs(row: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Mark the test of a row of the page."""

    def mark(test: Callable[..., None]) -> Callable[..., None]:
        assert row not in TESTS
        TESTS[row] = test.__name__
        return test

    return mark


def rows(page: Path) -> list[str]:
    """First cells of the table below a page's heading "Status and limitations"."""
    below = page.read_text().partition("# Status and limitations\n")[2].partition("\n#")[0]
    return re.findall(r"^\| ([^|]+) \|", below, re.MULTILINE)


def test_every_row_has_a_test() -> None:
    """Each row of the page has a test. The README's short form only has rows of the page."""
    assert rows(PAGE) == list(TESTS)
    short = rows(ROOT / "README.md")
    assert short and set(short) <= set(TESTS)


def stored_gpus() -> set[str]:
    """The hardware of all stored measurements on another device than the CPU."""
    files = [p for p in (ROOT / "benchmarks/results").rglob("*") if p.suffix in (".json", ".jsonl")]
    assert len(files) > 20
    texts = [text for path in files if ON_A_GPU.search(text := path.read_text())]
    return {name for text in texts for name in re.findall(r'"hardware": "([^"]*)"', text)}


@backs("GPU")
def test_all_stored_gpu_results_were_measured_on_an_h100() -> None:
    """The pages say "an H100 only" as long as no result records another device."""
    assert stored_gpus() == {"NVIDIA H100 80GB HBM3"}
    for record in ('{"device": "cuda:0"}', '"device": "gpu"', '"hardware": "NVIDIA H100"'):
        assert ON_A_GPU.search(record), "such a record would be found"
    assert "measured on one H100" in (ROOT / "README.md").read_text()


@backs("JAX")
def test_jax_arrays_on_a_gpu_are_refused() -> None:
    """`wd.bind` reads each array by the `view` of its library. JAX's accepts arrays on the CPU
    only."""
    pytest.importorskip("jax")
    from warpdyn.arrays.jax_arrays import LIBRARY

    class Device:
        platform = "gpu"

    class OnGpu:
        dtype = np.dtype("float32")

        def devices(self) -> set[Device]:
            return {Device()}

    with pytest.raises(ValueError, match="JAX arrays on the CPU only"):
        LIBRARY.view("q", OnGpu())


BALLS = """
<mujoco model="balls">{before}<worldbody>
  <body name="a" pos="0 0 3"><freejoint/><geom size=".1"/>{inside}</body>
  <body name="b" pos=".05 0 3"><freejoint/><geom size=".1"/></body>
</worldbody>{after}</mujoco>
"""
"""Two balls in the air, one half inside the other."""


def balls(before: str = "", inside: str = "", after: str = "") -> str:
    """The MJCF of the balls, with more elements in it."""
    return BALLS.format(before=before, inside=inside, after=after)


@backs("Contacts")
def test_bodies_touch_each_other_only_in_pairs() -> None:
    """Overlapping balls without pairs fall as each would alone. The model warns of it."""
    with pytest.warns(wd.ModelWarning, match="contacts between bodies without pairs="):
        model = wd.load_mjcf(balls())
    alone = wd.Simulation(model, 1)
    touching = wd.Simulation(model, 1, pairs=wd.ContactPairs(model))
    for sim in (alone, touching):
        for _ in range(5):
            sim.step()
    falling = np.zeros(12)
    falling[[2, 8]] = -9.81 * alone.time[0]
    np.testing.assert_allclose(alone.v[0], falling, atol=1e-5)
    assert touching.v[0, 6] - touching.v[0, 0] > 0.5
    # Three cubes in one place are three near pairs, of which one has a slot.
    cubes = wd.ModelBuilder("world").add_link("world").build()
    for name in "abc":
        cubes = cubes.with_object(name, wd.description.Box(0.1, 0.1, 0.1), mass=1.0)
    few = wd.Simulation(cubes, 1, points=[], substeps=1, pairs=wd.ContactPairs(cubes, slots=1))
    few.step()
    assert few.pairs_left_out[0] == 2.0 and not few.pair_forces[0, 1:].any()


@backs("Height fields")
def test_height_fields_are_not_part_of_a_model() -> None:
    """Those of MJCF and SDF are ignored with a warning. Those of MJCF are read as a terrain."""
    field = '<asset><hfield name="h" nrow="3" ncol="3" size="1 1 .1 .1"/></asset>'
    hills = field + '<worldbody><geom type="hfield" hfield="h"/></worldbody>'
    with pytest.warns(wd.ModelWarning, match="without contacts: 1 hfield"):
        wd.load_mjcf(balls(before=hills))
    assert wd.HeightMap.from_mjcf(balls(before=hills)).extent == (2.0, 2.0)
    shape = "<collision name='c'><geometry><heightmap/></geometry></collision>"
    sdf = f"<sdf version='1.9'><model name='m'><link name='a'>{shape}</link></model></sdf>"
    with pytest.warns(wd.ModelWarning, match="ignored shape <heightmap>"):
        wd.load_sdf(sdf)


@backs("Closed loops")
def test_only_simulation_steps_close_loops() -> None:
    """`aba` computes the open tree, and loading warns of it. A hinge of SDF that closes a loop is
    refused by name. `loops="cut"` leaves loops open and warns."""
    hinge = (
        "<joint type='revolute' name='{0}{1}'><parent>{0}</parent><child>{1}</child><axis/></joint>"
    )
    links = "".join(f"<link name='{name}'/>" for name in "abc")
    joints = "".join(hinge.format(*pair) for pair in ("ab", "bc", "ac"))
    sdf = f"<sdf version='1.9'><model name='m'>{links}{joints}</model></sdf>"
    shut = '<equality><connect name="shut" body1="a" body2="b" anchor="0 0 0"/></equality>'
    for load, text, name in (
        (wd.load_mjcf, balls(after=shut), "shut"),
        (wd.load_sdf, sdf, "ac"),
    ):
        with pytest.raises(wd.ModelError, match=f'{name}".*closes a loop'):
            load(text, loops="refuse")
        with pytest.warns(wd.ModelWarning, match="closes a loop"):
            cut = load(text, loops="cut")
        if load is wd.load_mjcf:
            with pytest.warns(wd.ModelWarning, match="other functions are those of the tree"):
                kept = load(text)
            q, v, tau = kept.neutral[None], np.zeros((1, kept.nv)), np.ones((1, kept.nv))
            assert (wd.aba(kept, q, v, tau) == wd.aba(cut, q, v, tau)).all() and kept.loops


@backs("Deformable bodies")
def test_deformable_bodies_are_left_out() -> None:
    """A flexcomp grid of MJCF adds no coordinate, and loading warns."""
    grid = '<flexcomp name="c" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01"/>'
    with pytest.warns(wd.ModelWarning, match="ignored <flexcomp>: a deformable body"):
        assert wd.load_mjcf(balls(inside=grid)).nv == 12


@backs("Fluids")
def test_fluids_are_left_out() -> None:
    """MJCF's density and viscosity are read but have no effect, and the model warns."""
    medium = '<option density="1000" viscosity="1"/>'
    with pytest.warns(wd.ModelWarning, match="leaves out.*fluid forces"):
        wd.load_mjcf(balls(before=medium))


@backs("Inverse kinematics")
def test_inverse_kinematics_has_no_gradient() -> None:
    """Torch's `backward` is refused."""
    torch = pytest.importorskip("torch")
    model = wd.load_robot("double_pendulum")
    q = torch.full((1, 2), 0.3, requires_grad=True)
    found = wd.inverse_kinematics(model, wd.fk(model, q, frame="tip"), frame="tip")
    with pytest.raises(TypeError, match="inverse_kinematics has no derivatives"):
        found.q.sum().backward()


@backs("Tapes")
def test_tapes_do_not_nest() -> None:
    """Warp refuses a tape inside a tape. `wd.vjp` on one gives second order, which float64 differences confirm."""
    import warp as wp

    model, one = wd.load_robot("double_pendulum"), np.ones((1, 2))
    with wp.Tape(), pytest.raises(RuntimeError, match="tape"), wp.Tape():
        pass  # Warp refuses before this line

    def gradient(q):
        zero = q * 0.0 if isinstance(q, np.ndarray) else wp.zeros_like(q, requires_grad=False)
        weights = one if isinstance(q, np.ndarray) else wp.array(one, dtype=wp.float64)
        return wd.vjp(wd.rnea, model, q, zero, zero, cotangents=weights, wrt=("q",))

    at, step = np.array([[0.3, 0.2]]), 1e-6
    q = wp.array(at, dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        result = gradient(q)
    tape.backward(grads={result: wp.array(one, dtype=wp.float64)})
    slopes = [
        (gradient(at + d) - gradient(at - d)).sum() / (2 * step) for d in step * np.eye(2)[:, None]
    ]
    np.testing.assert_allclose(q.grad.numpy()[0], slopes, rtol=1e-6)


@backs("Includes")
def test_includes_of_another_folder_are_refused(tmp_path: Path) -> None:
    """A file outside the folder needs `includes=`."""
    (tmp_path / "robot").mkdir()
    (tmp_path / "ball.xml").write_text("<mujoco><worldbody><body name='c'/></worldbody></mujoco>")
    path = tmp_path / "robot/robot.xml"
    path.write_text('<mujoco model="m"><include file="../ball.xml"/></mujoco>')
    with pytest.raises(wd.ModelError, match="include"):
        wd.load(path)
    assert "c" in wd.load(path, includes=tmp_path).link_names


@backs("Parameters")
def test_joint_limits_and_kinds_cannot_vary() -> None:
    """`Model.params` takes these quantities and no others. A new one must be added to the row of
    the page, or to this list."""
    numbers = {"mass", "com", "inertia", "placement", "axis", "armature", "viscous", "coulomb"}
    numbers |= {"stiffness", "damping", "spring", "rest", "gravity"}
    about = {"self", "envs", "like", "dtype"}
    assert set(inspect.signature(wd.Model.params).parameters) == numbers | about
    varied = wd.load_robot("panda").params(axis={"panda_joint1": (0, 0.1, 1)}, envs=2)
    assert varied["axis"].shape == (2, 1, 3), "axes of joints may vary"


@backs("Different robots")
def test_a_group_launches_once_for_each_model() -> None:
    """The cost of a group lists one program for each of its models."""
    models = [wd.load_robot(name) for name in ("double_pendulum", "cartpole")]
    costs = wd.Group(models, [2, 3]).cost(wd.rnea)
    assert [(cost.model, cost.envs) for cost in costs] == [("double_pendulum", 2), ("cartpole", 3)]
    assert costs[0].operations != costs[1].operations


@backs("Systems")
def test_the_package_is_for_linux() -> None:
    """The classifiers of setup.py name no other system."""
    setup = ast.parse((ROOT / "setup.py").read_text())
    words = [node.value for node in ast.walk(setup) if isinstance(node, ast.Constant)]
    systems = [w for w in words if isinstance(w, str) and w.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]


@backs("aarch64")
def test_the_stored_check_of_aarch64_ran_under_qemu() -> None:
    record = json.loads((ROOT / "benchmarks/results/aarch64.json").read_text())
    assert "qemu" in record["how"]
    assert any("qemu" in tool for tool in record["versions"]["tools"])
