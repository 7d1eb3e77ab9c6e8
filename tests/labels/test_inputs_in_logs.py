"""Which columns are q, v, a and time, in every form of log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from log_files import ARM, DT, cubic, lerobot, lists, write_bag

import warpdyn as wd
from warpdyn.labels.inputs_in_logs import Inputs
from warpdyn.labels.savitzky_golay import Filter
from warpdyn.logs.open_log import open_log
from warpdyn.logs.records import LogError

SHAPES = {"q": (2,), "v": (2,), "a": (2,)}
T = np.arange(100) * DT
Q, V, A = cubic(T)


def inputs(path: Path, columns: Mapping[str, str] | None = None, shapes: Any = SHAPES) -> Inputs:
    return Inputs.of(open_log(path), ARM, shapes, columns or {}, Filter(), None)


def arrays(found: Inputs, rows: int = 1000) -> dict[str, np.ndarray]:
    parts = [x for _, x in found.parts(rows)]
    return {n: np.concatenate([x[n] for x in parts]) for n in parts[0]}


def table(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_usual_names_are_found(tmp_path: Path) -> None:
    """They are warpdyn's and LeRobot's names of lists, and plain columns by number or by joint."""
    one, two = (f"{n}" for n in ARM.q_names)
    written = {
        "a": {"q": lists(Q), "v": lists(V), "a": lists(A)},
        "b": {
            "observation.state": lists(Q, True),
            "observation.velocity": lists(V),
            "a": lists(A),
        },
        "c": {f"{n}{k}": x[:, k] for n, x in {"q": Q, "v": V, "a": A}.items() for k in range(2)},
        "d": {one: Q[:, 0], two: Q[:, 1], f"v_{one}": V[:, 0], f"v_{two}": V[:, 1], "a": lists(A)},
    }
    for name, columns in written.items():
        found = inputs(table(tmp_path / f"{name}.parquet", **columns))
        read = arrays(found)
        assert all(np.array_equal(read[n], x) for n, x in {"q": Q, "v": V, "a": A}.items()), name
        assert found.apart == (name in "cd") and not found.derived


def test_columns_can_be_chosen(tmp_path: Path) -> None:
    """A choice is another name, some entries of a list, or a prefix."""
    wide = np.concatenate([Q, 7 + 0 * Q], axis=1)
    path = table(tmp_path / "a.parquet", state=lists(wide), w0=V[:, 0], w1=V[:, 1], a=lists(A))
    found = inputs(path, {"q": "state[:2]", "v": "w"})
    described = found.describe_columns()
    assert (described["q"], described["v"], described["a"]) == (
        "state entries 0 1",
        "w0 to w1",
        "a",
    )
    read = arrays(found)
    assert np.array_equal(read["q"], Q) and np.array_equal(read["v"], V)
    assert np.array_equal(arrays(inputs(path, {"q": "state[2:]", "v": "w"}))["q"], 7 + 0 * Q)


def test_ranges_of_numbered_columns(tmp_path: Path) -> None:
    """A range chooses among numbered columns as among the entries of a list. More columns than the
    model has coordinates are refused without one."""
    columns = {f"w{k}": x for k, x in enumerate((*Q.T, *V.T))}
    path = table(tmp_path / "a.parquet", a=lists(A), **columns)
    read = arrays(inputs(path, {"q": "w[:2]", "v": "w[2:4]"}))
    assert np.array_equal(read["q"], Q) and np.array_equal(read["v"], V)
    assert np.array_equal(arrays(inputs(path, {"q": "w[0:2]", "v": "w[2:]"}))["v"], V)
    message = "q of double_pendulum has 2 numbers a row, the log has 4 columns w0 to w3; choose: "
    for wrong in ("w", "w[1:4]"):
        with pytest.raises(LogError, match=re.escape(f"{message}--columns q=w[:2]")):
            inputs(path, {"q": wrong, "v": "w[2:4]"})
    for absent in ("w[3:5]", "a[0:1]"):
        with pytest.raises(LogError):
            inputs(path, {"q": absent, "v": "w[2:4]"})


@pytest.mark.parametrize("rows", [3, 10, 17, 1000])
def test_missing_velocities_and_accelerations_are_derived(tmp_path: Path, rows: int) -> None:
    """They follow from the time stamps, for any size of parts, and not across episodes."""
    lerobot(tmp_path / "a.parquet", (60, 40), np.float64)
    found = inputs(tmp_path / "a.parquet")
    assert (
        found.derived == ("v", "a")
        and found.describe_columns()["v"] == "savgol:15:3 of q by timestamp"
    )
    read = arrays(found, rows)
    t = np.concatenate([T[:60], T[:40]])
    assert np.allclose(read["v"], cubic(t)[1], atol=1e-4)  # float32 stamps
    assert np.allclose(read["a"], cubic(t)[2], atol=1e-3)
    whole = arrays(inputs(tmp_path / "a.parquet"), 1000)
    assert all(np.array_equal(read[n], whole[n]) for n in read)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [7, 1000])
def test_angles_without_limits_may_wrap(tmp_path: Path, rows: int, dtype: str) -> None:
    """The velocity of a wheel that turns twice a second has no spikes where its angle jumps to -pi.
    An angle with limits is used as written."""
    builder = wd.ModelBuilder("cart").add_link("base").add_link("rim", mass=1.0)
    builder.add_link("arm", mass=1.0).add_joint("spin", "continuous", "base", "rim")
    builder.add_joint("bend", "revolute", "base", "arm", lower=-9.0, upper=9.0)
    speed = 4.0 * np.pi
    wrapped = (speed * T + np.pi) % (2.0 * np.pi) - np.pi
    columns = {"time": T, "spin": wrapped.astype(dtype), "bend": wrapped.astype(dtype)}
    path = table(tmp_path / "a.parquet", **columns)
    found = Inputs.of(open_log(path), builder.build(), SHAPES, {}, Filter(), None)
    read = arrays(found, rows)
    assert all(str(x.dtype) == dtype for x in read.values())
    assert np.array_equal(read["q"][:, 0], wrapped.astype(dtype))
    tight = {"float32": 1e-3, "float64": 1e-9}[dtype]
    np.testing.assert_allclose(read["v"][:, 0], speed, atol=tight)
    np.testing.assert_allclose(read["a"][:, 0], 0.0, atol=100.0 * tight)
    assert np.abs(read["v"][:, 1]).max() > 5.0 * speed


def test_angles_beyond_one_turn_are_not_unwrapped(tmp_path: Path) -> None:
    """A wheel that turns by more than half a turn from row to row keeps its angles."""
    builder = wd.ModelBuilder("wheel").add_link("base").add_link("rim", mass=1.0)
    builder.add_joint("spin", "continuous", "base", "rim")
    path = table(tmp_path / "a.parquet", time=T, spin=4.0 * T / DT)
    shapes = dict.fromkeys(SHAPES, (1,))
    read = arrays(Inputs.of(open_log(path), builder.build(), shapes, {}, Filter(), None))
    np.testing.assert_allclose(read["v"], 4.0 / DT, rtol=1e-9)


def test_an_acceleration_is_the_derivative_of_a_measured_velocity(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", q=lists(0 * Q), v=lists(V), t=T)
    found = inputs(path)
    assert found.describe_columns()["a"] == "savgol:15:3 of v by t"
    assert np.allclose(arrays(found)["a"], A, atol=1e-9)
    only_a = inputs(path, shapes={"q": (2,), "a": (2,)})  # v is not requested, only q is in the log
    assert only_a.describe_columns()["a"] == "savgol:15:3 of q by t"


def test_time_units_are_converted(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", q=lists(Q), stamp=np.rint(T * 1e9).astype(np.int64))
    read = arrays(inputs(path, {"time": "stamp:ns"}))
    assert np.allclose(read["v"], V, atol=1e-6)


def test_uneven_stamps_and_short_episodes_are_noted(tmp_path: Path) -> None:
    t = np.sort(T + np.random.default_rng(0).uniform(-0.003, 0.003, 100))
    q, v, _ = cubic(t)
    found = inputs(table(tmp_path / "a.parquet", q=lists(q), t=t))
    assert np.allclose(arrays(found, 7)["v"], v, atol=1e-8)
    assert "of 1 of 1 episodes are uneven" in found.log.notes[0]
    lerobot(tmp_path / "b.parquet", (90, 8, 2))
    found = inputs(tmp_path / "b.parquet")
    arrays(found)
    assert "2 of 3 episodes have fewer than 15 rows" in found.log.notes[0]
    assert "v and a of 1 with fewer than 3 are NaN" in found.log.notes[0]


def test_coordinates_outside_their_limits_are_noted(tmp_path: Path) -> None:
    """Angles in degrees gave torques without a word. A tenth of the range beyond is no remark."""
    panda = wd.load_robot("panda")
    q = np.tile(0.5 * (panda.position_lower + panda.position_upper), (40, 1))
    q[:3, 0] = panda.position_upper[0] + 0.09 * (panda.position_upper - panda.position_lower)[0]
    for values, said in (
        (q, []),
        (
            np.where(np.arange(40)[:, None] < 30, 60.0, q),
            [
                "panda_joint1 is outside its limits, -2.8973 to 2.8973, in 30 of 40 rows, and so are "
                "7 more coordinates: angles must be in radians"
            ],
        ),
    ):
        path = table(tmp_path / "a.parquet", q=lists(values), t=T[:40])
        for shapes in ({"q": (8,)}, {"q": (8,), "v": (8,)}):  # as logged, and differentiated
            found = Inputs.of(open_log(path), panda, shapes, {}, Filter(), None)
            arrays(found, 7)
            assert found.log.notes == said


def test_joints_of_a_bag_are_sorted(tmp_path: Path) -> None:
    """The order is that of the model. A model with joints that the bag lacks is refused."""
    path = write_bag(tmp_path / "a", T, Q)
    assert np.array_equal(arrays(inputs(path, shapes={"q": (2,)}))["q"], Q)
    assert np.allclose(arrays(inputs(path))["v"], V, atol=1e-6)
    panda = wd.load_robot("panda")
    with pytest.raises(LogError, match=r"position has no panda_joint1, .*model\.reduce"):
        Inputs.of(open_log(path), panda, {"q": (8,)}, {}, Filter(), None)


@pytest.mark.parametrize(
    ("columns", "chosen", "error"),
    [
        ({"x": T}, {}, "no column for q, 2 numbers a row; usual names are q, observation.state"),
        ({"q": lists(Q)}, {}, "v and a must be derived, and there is no column of time"),
        ({"q": lists(Q), "t": T}, {"time": "when"}, "no column of time 'when'"),
        ({"q": lists(Q), "t": T}, {"time": "t:min"}, "unit of time must be one of s, ms, us, ns"),
        ({"q": lists(Q), "t": T}, {"episode": "run"}, "there is no column 'run'"),
        (
            {"q": lists(np.hstack([Q, Q])), "t": T},
            {},
            "double_pendulum has 2 numbers a row, q has 4; choose: --columns q=q[:2]",
        ),
        (
            {"q": lists(Q)},
            {"q": "state"},
            "--columns q=state is neither a column of the log nor a prefix of 2 of them",
        ),
    ],
)
def test_missing_columns_are_refused(
    tmp_path: Path, columns: dict[str, Any], chosen: dict[str, str], error: str
) -> None:
    path = table(tmp_path / "a.parquet", **columns)
    with pytest.raises(LogError, match=re.escape(error)):
        inputs(path, chosen)


def test_nan_and_decreasing_time_are_refused(tmp_path: Path) -> None:
    bad = Q.copy()
    bad[40, 1] = np.nan
    with pytest.raises(LogError, match="column q is not finite in 1 rows, first in row 40"):
        arrays(inputs(table(tmp_path / "a.parquet", q=lists(bad), t=T)), 30)
    with pytest.raises(LogError, match="does not increase"):
        arrays(inputs(table(tmp_path / "b.parquet", q=lists(Q), t=T[::-1])))


def test_episodes_without_a_number_are_refused(tmp_path: Path) -> None:
    """Each row would be an episode of its own, and each label NaN."""
    episodes = np.zeros(len(T))
    episodes[30:] = np.nan
    path = table(tmp_path / "a.parquet", q=lists(Q), t=T, episode=episodes)
    with pytest.raises(LogError, match="column episode is not finite in"):
        arrays(inputs(path), 20)


def test_derivatives_of_base_velocities_need_local_axes(tmp_path: Path) -> None:
    """The derivative of a twist in the world's axes is not that of the tangent vector."""
    model = wd.load_robot("quadruped", floating_base=True).with_base_velocity("world")
    path = table(tmp_path / "a.parquet", q=lists(np.tile(model.neutral, (100, 1))), t=T)
    shapes = {"q": (model.nq,), "v": (model.nv,)}
    with pytest.raises(LogError, match='has base_velocity="world"'):
        Inputs.of(open_log(path), model, shapes, {}, Filter(), None)


def test_a_plain_column_is_accepted_for_a_robot_of_one_joint(tmp_path: Path) -> None:
    """A plain column is refused for several joints."""
    path = table(tmp_path / "a.parquet", q=Q[:, 0], v=V[:, 0], a=A[:, 0], time=T)
    one = wd.load_urdf(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    found = Inputs.of(open_log(path), one, dict.fromkeys("qva", (1,)), {}, Filter(), None)
    read = arrays(found)
    assert np.array_equal(read["q"][:, 0], Q[:, 0]) and np.array_equal(read["a"][:, 0], A[:, 0])
    with pytest.raises(LogError, match="there is no column for q, 2 numbers a row"):
        inputs(path)


@pytest.mark.parametrize(
    ("columns", "chosen", "said"),
    [
        ({"q": lists(Q), "time": lists(Q)}, {}, "column time is a list, not a time stamp"),
        ({"time": T}, {}, "there is no column for q, 2 numbers a row"),
        (
            {"q": lists(Q[:, :1]), "time": T},
            {},
            "q of {robot} has 2 numbers a row, q has 1; take a model without the joints that it lacks",
        ),
        (
            {"q": lists(np.tile(Q, 2)), "time": T},
            {},
            "has 2 numbers a row, q has 4; choose: --columns q=q[:2]",
        ),
        ({"q": lists(Q), "time": T}, {"q": "q[1:3]"}, "q has 2; choose: --columns q=q[:2]"),
        ({"q0": Q[:0, 0], "q1": Q[:0, 1], "time": T[:0]}, {}, "it has no rows"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    tmp_path: Path, columns: dict[str, Any], chosen: dict[str, str], said: str
) -> None:
    """The message has the sizes and says what to choose."""
    path = table(tmp_path / "a.parquet", **columns)
    with pytest.raises(LogError, match=re.escape(said.replace("{robot}", ARM.name))):
        arrays(inputs(path, chosen))


def test_velocities_are_derived_from_positions_that_no_quantity_needs(tmp_path: Path) -> None:
    """A quantity of velocities only also reads positions and times."""
    path = table(tmp_path / "a.parquet", q=lists(Q), time=T)
    found = Inputs.of(open_log(path), ARM, {"v": (2,)}, {}, Filter(), None)
    np.testing.assert_allclose(arrays(found)["v"], V, atol=1e-6)
    with pytest.raises(LogError, match="there is no column for q, 2 numbers a row"):
        Inputs.of(
            open_log(table(tmp_path / "b.parquet", time=T)), ARM, {"v": (2,)}, {}, Filter(), None
        )
