"""A launch on plain numbers: consecutive steps, and means over them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from loop_robots import four_bar
from recorded_steps import STEPS

import warpdyn as wd
from warpdyn.algorithms.simulation import substeps as substeps_module
from warpdyn.algorithms.simulation.compliant_contact import BETWEEN_BODIES, Surface
from warpdyn.algorithms.simulation.implicit_forces import Drive
from warpdyn.algorithms.simulation.pair_slots.pair_memory import PairMemory, TouchingBodies
from warpdyn.algorithms.simulation.scene import AppliedForces, Contacts, Scene, StepState
from warpdyn.algorithms.simulation.soft_contact import SoftSurface
from warpdyn.algorithms.simulation.substeps import STEPS as INTEGRATORS
from warpdyn.algorithms.simulation.substeps import (
    Launch,
    LoopState,
    _begin,
    _compliant,
    _pairs,
    _points,
    _results,
    _surfaces_of_pairs,
    launch,
    state_size,
)
from warpdyn.execution.request.evaluate import tree_of

MODEL = wd.load_robot("double_pendulum")


def test_torques_are_averaged_over_the_substeps() -> None:
    """The result is the mean torque of single steps, each from the end of the last one."""
    q, v = np.array([0.3, -0.2]), np.zeros(2)
    drive = {"control": wd.PD(20.0, 1.0), "targets": np.array([1.0, 0.5]), "dt": 0.01}
    tau = np.array([0.1, 0.2])
    together = wd.results.Step(*wd.oracle(wd.step, MODEL, q, v, tau, substeps=3, **drive))
    each = []
    for _ in range(3):
        end = wd.results.Step(*wd.oracle(wd.step, MODEL, q, v, tau, **drive))
        q, v = end.q, end.v
        each.append(end.torques)
    assert together.torques == pytest.approx(np.mean(each, axis=0), rel=1e-12)
    assert together.q == pytest.approx(q, rel=1e-12)


def test_a_step_without_a_guard_does_not_clear_the_memory_of_contacts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only a `Simulation` starts again after a state that is not finite."""
    sizes = list[object]()
    monkeypatch.setattr(PairMemory, "clear_if_infinite", lambda memory, size: sizes.append(size))
    STEPS["pile"]()
    assert not sizes


def scene_of(**values: Any) -> Scene:
    """A scene of three steps of 0.5 s."""
    given = {"arrays": (), "points": (), "guarded": False, "speed_limits": (), "stops": ()}
    return Scene(**{**given, "dt": 0.5, "substeps": 3, "sweeps": 4, **values})


def test_the_state_of_a_loop_is_cut_into_its_parts() -> None:
    sizes = range(len(LoopState._fields))
    state = LoopState(*([float(10 * k + n) for n in range(k % 3)] for k in sizes))
    assert state.of_numbers(state.numbers) == state
    doubled = state.of_numbers([2.0 * x for x in state.numbers])
    assert doubled == LoopState(*([2.0 * x for x in part] for part in state))
    assert state.robot == StepState(*state[: len(StepState._fields)])


def test_the_size_of_a_state_counts_all_numbers() -> None:
    assert state_size([1.0, -2.0], [-3.0, 4.0]) == 10.0
    for broken in ([np.nan, 0.0], [0.0, -np.inf]):
        assert not state_size(broken, [1.0]) < np.inf and not state_size([1.0], broken) < np.inf


FIRST: dict[str, Any] = {"q": [0.1, 0.2], "v": [0.3, 0.4], "driven": [0.0, 0.0]}
EMPTY = LoopState(*([] for _ in LoopState._fields))._replace(**FIRST)
IN_ROWS: list[list[float]] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
IN_A_ROW = [float(x) for x in range(1, 7)]
TWO_POINTS: dict[str, Any] = {"points": ("first", "second")}
WITH_PAIRS: dict[str, Any] = {"pairs": ("pair",)}


@pytest.mark.parametrize(
    ("named", "scene", "wanted"),
    [
        ({}, {}, {}),
        ({"impulses": IN_ROWS}, TWO_POINTS, {"impulses": IN_A_ROW}),
        ({}, TWO_POINTS, {"impulses": [0.0] * 6}),
        ({}, {**TWO_POINTS, "point_moments": (0, 3)}, {"impulses": [0.0] * 12}),
        ({"impulses": IN_ROWS}, {**TWO_POINTS, "points_in_slots": True}, {}),
        (
            {"damping": [1.0], "deformation": IN_ROWS, "impulses": [[9.0] * 3] * 2},
            TWO_POINTS,
            {"impulses": IN_A_ROW, "forces": [0.0] * 6},
        ),
        ({"joint_impulses": [5.0, 6.0]}, {"joint_rows": (1,)}, {"joint_impulses": [6.0]}),
        ({"joint_impulses": [5.0, 6.0]}, {"joint_rows": (0, 1)}, {"joint_impulses": [5.0, 6.0]}),
        ({}, {"joint_rows": (0, 1)}, {"joint_impulses": [0.0, 0.0]}),
        ({"pairs_left_out": [4.0]}, WITH_PAIRS, {"pairs_left_out": [4.0]}),
        ({}, WITH_PAIRS, {"pairs_left_out": [0.0]}),
        ({"pairs_left_out": [4.0]}, {}, {}),
        ({"latency": [0.1]}, {}, {"steps": [0.0]}),
    ],
)
def test_a_launch_begins_with_the_memory_of_the_last_one(
    named: dict[str, Any], scene: dict[str, Any], wanted: dict[str, Any]
) -> None:
    """Deformations on soft ground, impulses on compliant ground, and zeros in the first launch."""
    tree = tree_of(MODEL)
    for keep in (False, True):
        before = {"q_before": FIRST["q"], "v_before": FIRST["v"]} if keep else {}
        found = _begin(tree, FIRST["q"], FIRST["v"], named, scene_of(**scene), keep)
        assert found == EMPTY._replace(**wanted, **before)


def contacts_of(**parts: Any) -> Any:
    return SimpleNamespace(**{"points": None, "soft": None, "pairs": None, **parts})


def test_results_of_a_launch_have_the_means_and_forces_of_its_steps() -> None:
    """Forces are impulses per dt, those of soft ground are counted by the steps. Torques are means."""
    tree, tau = tree_of(MODEL), [1.0, 2.0]
    end = EMPTY._replace(impulses=IN_A_ROW, driven=[3.0, -6.0], forces=[7.0] * 6)
    scene = scene_of(**TWO_POINTS)
    found = _results(tree, tau, end, contacts_of(), scene)
    assert found == {
        "q": FIRST["q"],
        "v": FIRST["v"],
        "impulses": IN_ROWS,
        "forces": [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]],
        "torques": [2.0, 0.0],
    }
    soft = _results(tree, tau, end, contacts_of(soft="soft"), scene)
    assert soft == {**found, "forces": [[7.0] * 3] * 2}
    wide = end._replace(impulses=[*IN_A_ROW, *IN_A_ROW])
    turned = _results(tree, tau, wide, contacts_of(), scene._replace(point_moments=(3, 0)))
    assert turned == {**found, "impulses": [IN_A_ROW] * 2, "forces": [[2.0, 4.0, 6.0]] * 2}
    slots = SimpleNamespace(results=lambda dt: ([(1.0, 1.5, 2.0)] * 2, [], []))
    in_slots = _results(tree, tau, end, contacts_of(points=slots), scene)
    assert in_slots == {**found, "impulses": [[1.0, 1.5, 2.0]] * 2, "forces": [[2.0, 3.0, 4.0]] * 2}
    rows = _results(
        tree,
        tau,
        end._replace(joint_impulses=[9.0]),
        contacts_of(),
        scene._replace(joint_rows=(1,)),
    )
    assert rows == {**found, "joint_impulses": [0.0, 9.0]}


def test_results_of_loops_and_pairs_come_together() -> None:
    """A robot with loops has results of pairs without pairs, and the other way round."""
    scene = scene_of()
    model = four_bar()
    tree = tree_of(model)
    end = EMPTY._replace(loop_impulses=IN_A_ROW, driven=[0.0] * model.nv)
    found = _results(tree, [0.0] * model.nv, end, contacts_of(), scene)
    assert found["loop_forces"] == [[2.0, 4.0, 6.0, 8.0, 10.0, 12.0]]
    none = {"pair_impulses": [], "pair_features": [], "pair_forces": [], "pairs_left_out": [0.0]}
    assert {name: found[name] for name in none} == none
    assert found["joint_impulses"] == [0.0] * model.nv
    pairs = (SimpleNamespace(contacts=2), SimpleNamespace(contacts=1))
    impulses = [[1.0, 2.0, 3.0, 99.0], [10.0, 20.0, 30.0, 99.0], [0.5, 0.0, -0.5, 99.0]]

    def results(dt: float) -> tuple:
        return (
            impulses,
            [1.0, 2.0, 3.0],
            [[11.0 / dt, 22.0 / dt, 33.0 / dt], [0.5 / dt, 0.0, -0.5 / dt]],
        )

    touching: Any = SimpleNamespace(results=results)
    end = EMPTY._replace(pairs_left_out=[6.0])
    named = _results(
        tree_of(MODEL), [0.0] * 2, end, contacts_of(pairs=touching), scene_of(pairs=pairs)
    )
    assert {name: named[name] for name in ("joint_impulses", "loop_forces", *none)} == {
        "joint_impulses": [0.0, 0.0],
        "loop_forces": [],
        "pair_impulses": impulses,
        "pair_features": [1.0, 2.0, 3.0],
        "pair_forces": [[22.0, 44.0, 66.0], [1.0, 0.0, -1.0]],
        "pairs_left_out": [6.0],
    }


def test_surfaces_are_read_from_the_arrays_of_a_program() -> None:
    """Stiffness, dissipation and the push out of the ground are one number, those of pairs are one for
    each but the push out."""
    assert _compliant({"friction": [0.5]}, scene_of()) is None
    ground = {"friction": [0.5, 0.6], "stiffness": [7.0], "dissipation": [8.0], "push_out": [9.0]}
    more = {"restitution": [0.1, 0.2], "torsional_friction": [0.3], "rolling_friction": [0.4]}
    assert _compliant(ground, scene_of()) == Surface([0.5, 0.6], 7.0, 8.0, 9.0)
    wanted = Surface([0.5, 0.6], 7.0, 8.0, 9.0, [0.1, 0.2], torsional=[0.3], rolling=[0.4])
    assert _compliant({**ground, **more}, scene_of()) == wanted
    pairs: Any = (SimpleNamespace(contacts=2), SimpleNamespace(contacts=1))
    arrays = {
        "pair_friction": [0.5, 0.6],
        "pair_stiffness": [1.0, 2.0],
        "pair_dissipation": [3.0, 4.0],
        "pair_push_out": [5.0],
    }
    soft: Any = ("first", "second")
    first, second = _surfaces_of_pairs(arrays, scene_of(pairs=pairs))
    assert first == Surface([0.5, 0.5], 1.0, 3.0, 5.0, least_compliance=BETWEEN_BODIES)
    assert second == Surface([0.6], 2.0, 4.0, 5.0, least_compliance=BETWEEN_BODIES)
    arrays |= {"pair_restitution": [0.1, 0.2], "pair_torsional_friction": [0.3, 0.4]}
    arrays |= {"pair_rolling_friction": [0.7, 0.8]}
    first, second = _surfaces_of_pairs(arrays, scene_of(pairs=pairs, soft_pairs=soft))
    assert (first.restitution, first.torsional, first.rolling) == ([0.1] * 2, [0.3] * 2, [0.7] * 2)
    assert (second.restitution, second.torsional, second.rolling) == ([0.2], [0.4], [0.8])
    assert (first.soft_normal, second.soft_normal) == soft


def test_contacts_in_slots_have_the_impulses_of_the_last_launch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Zeros in the first one. Each point has its own surface."""
    asked: list[Any] = []
    for name in ("of", "of_points"):
        monkeypatch.setattr(TouchingBodies, name, lambda *args: asked.append(args))
    surface = Surface([0.5, 0.6], 7.0, 8.0, 9.0, [0.1, 0.2], rolling=[0.3, 0.4])
    tree: Any = "tree"
    terrain: Any = "terrain"
    scene = scene_of(**TWO_POINTS, point_moments=(1, 0))
    each = [
        Surface([0.5], 7.0, 8.0, 9.0, [0.1], rolling=[0.3]),
        Surface([0.6], 7.0, 8.0, 9.0, [0.2], rolling=[0.4]),
    ]
    for named, impulses in (({}, [[0.0] * 6] * 2), ({"impulses": IN_ROWS}, IN_ROWS)):
        _points(tree, named, scene, surface, terrain)
        assert asked.pop() == (tree, scene.points, each, impulses, terrain, (1, 0))
    pairs: Any = (SimpleNamespace(contacts=2), SimpleNamespace(contacts=1))
    assert _pairs(tree, {}, scene_of(), True) is None
    numbers = {name: [1.0, 2.0] for name in ("friction", "stiffness", "dissipation", "push_out")}
    arrays: dict[str, Any] = {f"pair_{name}": x for name, x in numbers.items()}
    scene = scene_of(pairs=pairs, pair_slots=5, pair_moments=(3, 0))
    of_pairs = _surfaces_of_pairs(arrays, scene)
    for more, impulses, features in (
        ({}, [[0.0] * 6] * 3, [0.0] * 3),
        ({"pair_impulses": IN_ROWS, "pair_features": IN_A_ROW}, IN_ROWS, IN_A_ROW),
    ):
        for located in (False, True):
            _pairs(tree, {**arrays, **more}, scene, located)
            wanted = (tree, pairs, 5, of_pairs, impulses, features, (3, 0), located)
            assert asked.pop() == wanted


SURFACE = {"friction": [0.5, 0.6], "stiffness": [7.0], "dissipation": [8.0], "push_out": [9.0]}


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The forces and contacts of all steps of a stand-in for the integrator, which adds 1 to q, 2 to v,
    and whose drives have the torques 3 and 4."""
    taken: list[Any] = []

    def step(tree: Any, robot: StepState, applied: Any, contacts: Any, scene: Scene) -> tuple:
        taken.append((applied, contacts))
        after = robot._replace(q=[x + 1.0 for x in robot.q], v=[x + 2.0 for x in robot.v])
        return after, [3.0, 4.0], [5.0] * (6 if contacts.soft else 0)

    monkeypatch.setitem(INTEGRATORS, "semi_implicit", step)
    return taken


def small_launch(arrays: dict[str, Any], scene: Scene, **options: bool) -> Launch:
    scene = scene._replace(arrays=tuple(arrays))
    given = (tree_of(MODEL), FIRST["q"], FIRST["v"], [1.0, 2.0], [*arrays.values()])
    return launch(*given, scene, (0.0, 0.0, -9.0), {"rod": [1.0]}, **options)


@pytest.mark.parametrize("substeps", [1, 2, 3])
def test_a_launch_passes_each_state_to_the_next_step(substeps: int, steps: list[Any]) -> None:
    """It keeps the state before the last step only if this is asked for."""
    found = small_launch({}, scene_of(substeps=substeps))
    assert found.results["q"] == pytest.approx([x + substeps for x in FIRST["q"]])
    assert found.results["v"] == pytest.approx([x + 2.0 * substeps for x in FIRST["v"]])
    assert found.results["torques"] == pytest.approx([1.0 + 3.0, 2.0 + 4.0])
    assert (found.q_before, found.v_before, found.positions) == ([], [], [])
    assert found.zero_at_failure == ()
    before = small_launch({}, scene_of(substeps=substeps), keep=True, clear=True)
    assert before.q_before == pytest.approx([x + substeps - 1.0 for x in FIRST["q"]])
    assert before.v_before == pytest.approx([x + 2.0 * (substeps - 1) for x in FIRST["v"]])
    assert before.results == found.results and before.zero_at_failure == ()
    assert len(steps) == 2 * substeps
    for applied, contacts in steps:
        assert applied == AppliedForces([1.0, 2.0], None, (0.0, 0.0, -9.0), {"rod": [1.0]})
        assert contacts == (None,) * 5


def test_a_launch_reads_its_ground_from_its_arrays(
    monkeypatch: pytest.MonkeyPatch, steps: list[Any]
) -> None:
    """Soft ground, compliant ground, and compliant ground whose points are in slots."""
    soft = {"friction": [0.5, 0.6], "stiffness": [7.0], "damping": [8.0]}
    found = small_launch(soft, scene_of(**TWO_POINTS, exponents=(0.3, 0.4)))
    wanted = SoftSurface([0.5, 0.6], 7.0, 8.0, 0.3, 0.4)
    assert [contacts.soft for _, contacts in steps] == [wanted] * 3
    assert found.results["forces"] == [[5.0] * 3] * 2 and steps[0][1].surface is None
    steps.clear()
    small_launch(SURFACE, scene_of(**TWO_POINTS, substeps=1))
    ground = Surface([0.5, 0.6], 7.0, 8.0, 9.0)
    assert steps.pop()[1] == Contacts(ground, None, None)
    slots: Any = SimpleNamespace(memory=[], results=lambda dt: (IN_ROWS, [], []))
    monkeypatch.setattr(TouchingBodies, "of_points", lambda *_: slots)
    found = small_launch(SURFACE, scene_of(**TWO_POINTS, points_in_slots=True, substeps=1))
    assert steps.pop()[1] == Contacts(None, None, None, None, slots)
    assert found.results["impulses"] == IN_ROWS
    small_launch({}, scene_of(**TWO_POINTS, points_in_slots=True, substeps=1))
    assert steps.pop()[1] == Contacts(None, None, None)


def test_positions_and_memories_of_pairs_are_those_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, steps: list[Any]
) -> None:
    """Memories are cleared by the size of the last state, and the names of what they give are said."""
    cleared: list[float] = []
    memory = SimpleNamespace(arrays=[], clear_if_infinite=cleared.append)
    slots: Any = SimpleNamespace(
        memory=[memory], results=lambda dt: ([], [], []), positions=["here"]
    )
    monkeypatch.setattr(substeps_module, "_pairs", lambda *_: slots)
    monkeypatch.setattr(substeps_module, "_points", lambda *_: slots)
    one = scene_of(substeps=1)
    for scene, arrays, names in (
        (one._replace(pairs=()), {}, ("pair_impulses", "pair_features", "pair_forces")),
        (
            one._replace(**TWO_POINTS, points_in_slots=True),
            SURFACE,
            ("pair_impulses", "pair_features", "pair_forces", "impulses", "forces"),
        ),
    ):
        by_default = small_launch(arrays, scene)
        assert not (by_default.positions or by_default.zero_at_failure or cleared)
        for locate, clear in ((False, False), (True, False), (False, True), (True, True)):
            found = small_launch(arrays, scene, locate=locate, clear=clear)
            assert found.positions == (["here"] if locate else [])
            assert found.zero_at_failure == (names if clear else ())
            size = pytest.approx(sum(FIRST["q"]) + sum(FIRST["v"]) + 2.0 + 4.0)
            assert cleared == [size] * (clear * (1 + (len(names) == 5)))
            cleared.clear()


def test_late_targets_reach_the_drives_step_by_step(steps: list[Any]) -> None:
    """One and a half steps late, the first two of three steps have the earlier targets."""
    gains = {"kp": [1.0, 2.0], "kd": [3.0, 4.0], "effort": [5.0, 6.0]}
    late = {"latency": [1.5], "earlier_targets": [[7.0, 8.0]]}
    for arrays, targets in (
        (gains, [[0.5, 0.6]] * 3),
        (gains | late, [[7.0, 8.0], [7.0, 8.0], [0.5, 0.6]]),
    ):
        steps.clear()
        small_launch({"targets": [0.5, 0.6], **arrays}, scene_of())
        assert [applied.drive for applied, _ in steps] == [Drive(x, **gains) for x in targets]
