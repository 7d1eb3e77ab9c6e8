"""Steps on uneven ground: analytic slopes, maps, places, friction, gradients, refusals."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from array_kinds import LIBRARIES, host, make_array, usable
from documented_numbers import check_numbers

import warpdyn as wd
from warpdyn.functions.simulation import terrain as terrain_module
from warpdyn.functions.simulation.terrain import terrain_arrays

G, DT, RADIUS = 9.81, 0.005, 0.1

BODY = """<robot name="{0}"><link name="b"><inertial><mass value="1"/><inertia ixx="{1}" ixy="0"
ixz="0" iyy="{1}" iyz="0" izz="{1}"/></inertial></link></robot>"""

BOX = wd.load_urdf(BODY.format("box", 0.01 / 6), floating_base=True)

BALL = wd.load_urdf(BODY.format("ball", 0.4 * RADIUS**2), floating_base=True)

CORNERS = tuple(
    wd.ContactPoint("b", (x, y, -0.05), 0.0) for x in (-0.05, 0.05) for y in (-0.05, 0.05)
)

CENTRE = (wd.ContactPoint("b", (0.0, 0.0, 0.0), RADIUS),)

BOX_OPTIONS: dict[str, Any] = {
    **{"dt": DT, "points": CORNERS, "sweeps": 8},
    "ground": wd.Ground(0.5, 5e4, 0.01),
}

ALONG = np.arange(-6.0, 6.1, 0.25)

RNG = np.random.default_rng(0)

ROUGH = RNG.normal(scale=0.05, size=(7, 6))


def roll_out(
    model: wd.Model, q: np.ndarray, v: np.ndarray, steps: int, **options: Any
) -> list[np.ndarray]:
    """q, v, and forces of each step, beginning without impulses."""
    q, v = q.copy(), v.copy()
    count = len(options["points"])
    more = [np.zeros((len(q), count, 3), q.dtype) for _ in range(2)]
    out = (q, v, *more, np.zeros((len(q), model.nv - 6), q.dtype))
    run = wd.bind(wd.step, model, q, v, 0 * v, impulses=more[0], out=out, **options)
    seen = [[x.copy() for x in (q, v, more[1])]]
    for _ in range(steps - 1):
        run()
        seen.append([x.copy() for x in (q, v, more[1])])
    return [np.array(x) for x in zip(*seen, strict=True)]


def on_slopes(angles: np.ndarray) -> np.ndarray:
    """Boxes at rest on slopes that rise along x."""
    q = np.tile(BOX.neutral, (len(angles), 1))
    sink = G / 4 / 5e4 * np.cos(angles)
    q[:, 0], q[:, 2] = -(0.05 - sink) * np.sin(angles), (0.05 - sink) * np.cos(angles)
    q[:, 4], q[:, 6] = -np.sin(angles / 2), np.cos(angles / 2)
    return q


@pytest.fixture(scope="module")
def boxes() -> dict[str, list[np.ndarray]]:
    """Boxes on planes of 20 and 30 degrees and on a height map of 30 degrees, for one second."""
    angles = np.radians([20.0, 30.0])
    slope = np.stack([np.tan(angles), 0 * angles], 1)
    q = on_slopes(angles)
    inclined = np.repeat((ALONG * slope[1, 0])[:, None], len(ALONG), 1)
    ground = {"plane": wd.Plane(slope), "map": wd.HeightMap(inclined, 0.25)}
    return {
        what: roll_out(BOX, q if what == "plane" else q[1:], np.zeros((len(q), 6))[: 2 - (what == "map")],
                       round(1 / DT), terrain=terrain, **BOX_OPTIONS)
        for what, terrain in ground.items()
    }  # fmt: skip


def test_a_box_on_a_slope_sticks_or_slides(boxes: dict[str, list[np.ndarray]]) -> None:
    """The box creeps by micrometres at 20 degrees, and the ground carries it.

    At 30 degrees it slides with g (sin - mu cos).
    """
    _, v, forces = boxes["plane"]
    assert np.abs(v[-1, 0]).max() < 1e-5
    assert forces[-1, 0].sum(0) == pytest.approx([0, 0, G], abs=1e-4)  # in the world's axes
    exact = G * (math.sin(math.radians(30)) - 0.5 * math.cos(math.radians(30)))
    assert -v[-1, 1, 0] == pytest.approx(exact, rel=1e-3)
    # The normal force of a sliding box is m g cos, and its friction force mu times that.
    normal = G * math.cos(math.radians(30))
    c, s = math.cos(math.radians(30)), 0.5
    wanted = [-s * normal + 0.5 * normal * c, 0, c * normal + 0.5 * normal * s]
    assert forces[-1, 1].sum(0) == pytest.approx(wanted, abs=1e-2)


def test_a_sloped_height_map_equals_the_plane(boxes: dict[str, list[np.ndarray]]) -> None:
    for flat, mapped in zip(boxes["plane"], boxes["map"], strict=True):
        assert np.abs(flat[:, 1:] - mapped).max() < 1e-7


def test_level_terrains_equal_no_terrain() -> None:
    """A level map and a level plane give the same results to the last digits.

    Without a terrain there is no input for it.
    """
    q = on_slopes(np.zeros(1))
    v = np.array([[1.0, 0.5, 0, 0, 0, 0.3]])
    none = roll_out(BOX, q, v, 100, **BOX_OPTIONS)
    for terrain in (wd.Plane(np.zeros((1, 2))), wd.HeightMap(np.zeros((49, 49)), 0.25)):
        for a, b in zip(
            none, roll_out(BOX, q, v, 100, terrain=terrain, **BOX_OPTIONS), strict=True
        ):
            assert np.abs(a - b).max() < 1e-9
    assert terrain_arrays(BOX, None, CORNERS, q) == {}


def test_a_ball_rolls_through_a_bowl_in_a_quarter_of_its_period() -> None:
    """A sphere that rolls without slipping in a bowl with radius of curvature R is a pendulum of
    length 7 (R - r) / 5.
    """
    R, cell = 2.0, 0.02
    x = np.arange(-50, 51) * cell
    bowl = wd.HeightMap(0.5 / R * (x[:, None] ** 2 + x[None] ** 2), cell)
    begin = 0.2
    q = np.tile(BALL.neutral, (1, 1))
    q[0, 0] = begin * (R - RADIUS) / R
    q[0, 2] = 0.5 / R * begin**2 + RADIUS
    options = {"dt": 0.002, "points": CENTRE, "ground": wd.Ground(1.0, 1e5, 0.01)}
    places, _, _ = roll_out(BALL, q, np.zeros((1, 6)), 600, terrain=bowl, **options)
    crossing = np.argmax(places[:, 0, 0] < 0) * 0.002
    period = 2 * math.pi * math.sqrt(7 * (R - RADIUS) / (5 * G))
    assert crossing == pytest.approx(period / 4, rel=0.03)
    assert np.abs(places[:, 0, 0]).max() < begin and places[-1, 0, 0] < -0.1


def raised_balls(count: int, height: float = 0.2) -> np.ndarray:
    q = np.tile(BALL.neutral, (count, 1))
    q[:, 2] = height
    return q


BALL_OPTIONS: dict[str, Any] = {
    **{"dt": DT, "points": CENTRE, "substeps": 2},
    "ground": wd.Ground(0.5, 5e3, 0.02),
}


def test_an_offset_places_an_environment_on_the_map() -> None:
    """A ball at its origin with an offset moves as a ball at that place of the map.

    An environment has the same bits alone and in a batch.
    """
    places = np.array([[0.3, -0.2, 0.05], [-0.4, 0.1, -0.1], [9.0, 9.0, 0.0]] * 6)
    v = np.tile([0.5, 0.2, 0, 0, 0, 0], (18, 1))
    terrain = wd.HeightMap(ROUGH, 0.25)
    q = raised_balls(18)
    here = roll_out(BALL, q, v, 40, terrain=terrain.with_offset(places), **BALL_OPTIONS)
    q[:, :3] += places
    there = roll_out(BALL, q, v, 40, terrain=terrain.with_offset(0 * places), **BALL_OPTIONS)
    assert np.abs(here[0][..., :3] + places - there[0][..., :3]).max() < 1e-9
    assert np.abs(here[2] - there[2]).max() < 1e-6 and np.abs(here[2]).max() > 1
    for k in (0, 17):
        alone = roll_out(
            *(BALL, raised_balls(1), v[:1], 40),
            terrain=terrain.with_offset(places[k : k + 1]),
            **BALL_OPTIONS,
        )
        assert all(np.array_equal(a[:, 0], b[:, k]) for a, b in zip(alone, here, strict=True))


@pytest.mark.parametrize("library", ["numpy", "torch", "warp"])
def test_offsets_of_plain_numbers_take_the_type_of_the_state(library: str) -> None:
    """As all plain numbers do."""
    usable(library, "cpu")
    places = [[0.25, -0.25, 0.0], [-0.5, 0.25, 0.125]]
    terrain = wd.HeightMap(ROUGH, 0.25)
    pattern = [[0.0, 0.0]]
    q = raised_balls(2)
    wanted = wd.height_scan(BALL, q, pattern, terrain=terrain.with_offset(np.array(places)))
    single = make_array(library, q.astype(np.float32), "cpu")
    found = wd.height_scan(BALL, single, pattern, terrain=terrain.with_offset(places))
    np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-6)


def test_friction_of_a_map_scales_the_grounds_friction() -> None:
    """A box at 1 m/s stops on full friction.

    On zero friction it slides on. Half of the friction decelerates it half as much.
    """
    share = np.repeat(np.linspace(0.0, 1.0, 9)[:, None], 9, 1)[[0, 0, 0, 4, 4, 4, 8, 8, 8]]
    terrain = wd.HeightMap(
        *(np.zeros((9, 9)), 1.0),
        friction=share,
        offset=np.array([[-3.5, 0.0], [-0.5, 0.0], [2.5, 0.0]]),
    )
    v = np.zeros((3, 6))
    v[:, 0] = 1.0
    _, v, _ = roll_out(BOX, on_slopes(np.zeros(3)), v, 60, terrain=terrain, **BOX_OPTIONS)
    assert v[-1, 0, 0] == pytest.approx(1.0, abs=1e-6)
    assert v[19, 1, 0] == pytest.approx(1.0 - 0.25 * G * 0.1, rel=0.01)
    assert abs(v[-1, 2, 0]) < 1e-4


def test_heights_written_in_place_act_from_the_next_launch() -> None:
    heights = np.zeros((3, 3))
    q, v = raised_balls(2), np.zeros((2, 6))
    run = wd.bind(wd.step, BALL, q, v, 0 * v, terrain=wd.HeightMap(heights, 1.0), **BALL_OPTIONS)
    before = run().forces.copy()
    heights += 0.11
    assert not before.any() and run().forces[:, 0, 2].min() > 1


def scene(count: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Balls that touch the map and slide."""
    q = raised_balls(count)
    q[:, :2] = [[-0.1, 0.1], [0.13, -0.22], [0.3, 0.05]][:count]
    scan = wd.height_scan(BALL, q, np.zeros((1, 2)), terrain=wd.HeightMap(ROUGH, 0.25))
    q[:, 2] += RADIUS - 0.004 - scan[:, 0]
    return q, np.tile([1.0, 0.3, 0, 0, 0, 0], (count, 1))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_map_works_with_arrays_of_each_library(library: str) -> None:
    """NumPy's heights are converted once. The library's own are read in place."""
    usable(library)
    q, v = scene()
    wanted = wd.step(BALL, q, v, 0 * v, terrain=wd.HeightMap(ROUGH, 0.25), **BALL_OPTIONS)
    state = [make_array(library, x) for x in (q, v, 0 * v)]
    for heights in (ROUGH, make_array(library, ROUGH)):
        terrain = wd.HeightMap(heights, 0.25)
        for _ in range(2):
            found = wd.step(BALL, *state, terrain=terrain, **BALL_OPTIONS)
            assert type(found.q) is type(state[0])
            assert all(
                np.allclose(host(a), b, atol=1e-12) for a, b in zip(found, wanted, strict=True)
            )


@pytest.fixture(scope="module")
def gradient() -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Cotangents, and the gradient by the heights."""
    q, v = scene()
    terrain = wd.HeightMap(ROUGH, 0.25)
    end = wd.step(BALL, q, v, 0 * v, terrain=terrain, **BALL_OPTIONS)
    cotangents = tuple(RNG.normal(size=x.shape) for x in end)
    by = wd.vjp(
        *(wd.step, BALL, q, v, 0 * v),
        **{"cotangents": cotangents, "wrt": "heights", "terrain": terrain, **BALL_OPTIONS},
    )
    return cotangents, by


def test_derivatives_by_heights_equal_finite_differences(gradient: Any) -> None:
    """Summed over environments, through two substeps, in the oracle too.

    Tangents and cotangents pair.
    """
    cotangents, by = gradient
    q, v = scene()

    def weighted_sum(heights: np.ndarray) -> float:
        terrain = wd.HeightMap(heights, 0.25)
        end = wd.step(BALL, q, v, 0 * v, terrain=terrain, **BALL_OPTIONS)
        return sum(float((w * x).sum()) for w, x in zip(cotangents, end, strict=True))

    e = 1e-6
    for k in np.ndindex(ROUGH.shape):
        moved = np.zeros(ROUGH.shape)
        moved[k] = e
        wanted = (weighted_sum(ROUGH + moved) - weighted_sum(ROUGH - moved)) / (2 * e)
        assert by[k] == pytest.approx(wanted, abs=1e-6 * np.abs(by).max())
    options = {**BALL_OPTIONS, "terrain": wd.HeightMap(ROUGH, 0.25)}
    again = wd.oracle(
        *(wd.vjp, wd.step, BALL, q, v, 0 * v), cotangents=cotangents, wrt="heights", **options
    )
    assert np.allclose(by, again, atol=1e-10)
    u = RNG.normal(size=ROUGH.shape)
    along = wd.jvp(wd.step, BALL, q, v, 0 * v, tangents={"heights": u}, **options)
    paired = sum(float((w * x).sum()) for w, x in zip(cotangents, along, strict=True))
    assert paired == pytest.approx(float((by * u).sum()), rel=1e-10)
    out = np.full(ROUGH.shape, np.nan)
    run = wd.bind(
        *(wd.vjp, wd.step, BALL, q, v, 0 * v),
        **{"cotangents": cotangents, "wrt": "heights", "out": out, **options},
    )
    assert run() is out and np.array_equal(out, by)


def test_torch_and_jax_differentiate_by_heights(gradient: Any) -> None:
    cotangents, by = gradient
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    q, v = scene()
    heights = torch.tensor(ROUGH, requires_grad=True)
    state = [make_array("torch", x) for x in (q, v, 0 * v)]
    end = wd.step(BALL, *state, terrain=wd.HeightMap(heights, 0.25), **BALL_OPTIONS)
    sum((torch.tensor(w) * x).sum() for w, x in zip(cotangents, end, strict=True)).backward()
    assert np.allclose(host(heights.grad), by, atol=1e-9)
    state = [make_array("jax", x) for x in (q, v, 0 * v)]

    def weighted_sum(heights: Any) -> Any:
        end = wd.step(BALL, *state, terrain=wd.HeightMap(heights, 0.25), **BALL_OPTIONS)
        return sum((w * x).sum() for w, x in zip(cotangents, end, strict=True))

    found = jax.jit(jax.grad(weighted_sum))(make_array("jax", ROUGH))
    assert np.allclose(host(found), by, atol=1e-9)


def test_jacobians_by_heights_are_refused() -> None:
    q, v = scene()
    terrain = wd.HeightMap(ROUGH, 0.25)
    with pytest.raises(TypeError, match="by heights, a table"):
        wd.derivatives(wd.step, BALL, q, v, 0 * v, wrt="heights", terrain=terrain, **BALL_OPTIONS)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"heights": [[0, 1], [np.nan, 0]]}, r"heights must be finite.*first at \(1, 0\): nan"),
        ({"heights": np.zeros(4)}, r"heights must be \(rows, columns\)"),
        ({"heights": np.zeros((1, 4))}, "at least two of each"),
        ({"cell": -0.1}, "cell must be a distance above 0"),
        ({"cell": 0.0}, "cell must be a distance above 0"),
        ({"friction": np.ones((3, 3))}, r"friction must be shaped like heights, \(2, 2\)"),
        ({"friction": -np.ones((2, 2))}, "finite numbers of at least 0"),
        ({"origin": (np.inf, 0.0)}, "origin must be"),
        ({"offset": (1.0,)}, "offset must be"),
        ({"offset": np.zeros((3, 4))}, "offset must be"),
        ({"offset": 1.0}, r"offset must be \(2,\).*got 1.0"),
        ({"offset": (1.0, np.nan)}, "offset must be finite"),
        ({"offset": np.full((3, 2), np.nan)}, "offset must be finite"),
        ({"offset": [[1.0, 2.0], [3.0]]}, "offset must be rows of x, y"),
        ({"origin": (1.0, 2.0, 3.0)}, "origin must be 2 finite numbers"),
        ({"origin": 1.0}, "origin must be 2 finite numbers"),
    ],
)
def test_invalid_height_maps_are_refused(arguments: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        wd.HeightMap(**{"heights": np.zeros((2, 2)), "cell": 1.0, **arguments})


def test_invalid_terrains_are_refused() -> None:
    q, v = raised_balls(2), np.zeros((2, 6))
    state = (BALL, q, v, 0 * v)
    with pytest.raises(TypeError, match=r"terrain must be wd.HeightMap.*got ndarray"):
        wd.step(*state, terrain=ROUGH, **BALL_OPTIONS)
    with pytest.raises(ValueError, match="map_offset"):
        wd.step(*state, terrain=wd.HeightMap(ROUGH, 1.0, offset=np.zeros((3, 2))), **BALL_OPTIONS)
    with pytest.raises(ValueError, match="rise of the ground along x and y"):
        wd.step(*state, terrain=wd.Plane((0.1,)), **BALL_OPTIONS)
    with pytest.raises(ValueError, match="level must be a finite height"):
        wd.step(*state, terrain=wd.Plane(level=np.inf), **BALL_OPTIONS)
    with pytest.raises(ValueError, match="slope must be finite"):
        wd.step(*state, terrain=wd.Plane(np.full((2, 2), np.inf)), **BALL_OPTIONS)
    with pytest.raises(ValueError, match="normal must be 3 finite numbers"):
        wd.Plane.with_normal((0.0, 1.0))
    with pytest.raises(TypeError, match="heights must be rows of numbers, got 'hills'"):
        wd.HeightMap("hills", 0.1)  # type: ignore[arg-type]
    for wrong in (-1, 1.5, "a"):
        with pytest.raises(ValueError, match="seed must be a whole number of at least 0"):
            wd.HeightMap.generate("rough", seed=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must point up"):
        wd.Plane.with_normal((1.0, 0.0, 0.0))
    assert wd.Plane.with_normal((-0.5, 0.0, 1.0)).slope == (0.5, 0.0)


def test_the_number_of_nodes_of_a_map_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound holds for either side. The smallest map has two by two nodes."""
    monkeypatch.setattr(terrain_module, "MOST_NODES", 3)
    for shape in ((2, 2), (3, 2), (2, 3)):
        assert wd.HeightMap(np.zeros(shape), 1.0).heights.shape == shape
    for shape in ((4, 2), (2, 4)):
        with pytest.raises(ValueError, match=r"at least two of each, got"):
            wd.HeightMap(np.zeros(shape), 1.0)


def test_a_map_smaller_than_the_robot_gives_one_warning() -> None:
    small = wd.HeightMap(np.zeros((3, 3)), 0.05)
    q, v = raised_balls(1), np.zeros((1, 6))
    with pytest.warns(UserWarning, match="beyond its edge the ground goes on level"):
        wd.step(BALL, q, v, 0 * v, terrain=small, **BALL_OPTIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wd.step(BALL, q, v, 0 * v, terrain=small, **BALL_OPTIONS)


def test_documented_numbers() -> None:
    check_numbers("functions.simulation.terrain", MOST_NODES=2**24)


def test_a_height_map_shows_its_size() -> None:
    assert repr(wd.HeightMap(np.zeros((5, 9)), 0.25)) == "<HeightMap of 1 m by 2 m, 0.25 m a cell>"
