"""Refused arguments: the message says what is needed, what arrived, and what to do."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from public_names import public_names
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.execution.launch.batch_shape import check_shape
from warpdyn.execution.request import argument_checks as chosen
from warpdyn.execution.request.call import inputs_of

PANDA = by_name("panda").model
B = 5
S = states(PANDA, B)


def parameters_of(each: object) -> list[inspect.Parameter]:
    """The parameters of a callable; none if it is not callable or has no signature, like a class of
    warnings."""
    try:
        return list(inspect.signature(each).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []


PARAMETERS = {name: parameters_of(each) for name, each in public_names().items()}
OF_A_MODEL = {name: each for name, each in PARAMETERS.items() if each and each[0].name == "model"}
"""Parameters of each public function or class whose first one is a model."""

RECORDS = {"Params", "kernels.Robot"}
"""Classes that only store their arguments."""


@pytest.mark.parametrize("name", sorted(OF_A_MODEL.keys() - RECORDS))
def test_a_name_instead_of_a_model_is_refused(name: str) -> None:
    """The other arguments do not matter: `wd.export("panda", ..)` says what the first one must
    be."""
    required = [x for x in OF_A_MODEL[name] if x.default is x.empty]
    others = [x for x in required[1:] if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    words = {x.name: 1 for x in required if x.kind is x.KEYWORD_ONLY}
    with pytest.raises(TypeError, match=r"first argument must be a Model \(.*\), got str$"):
        public_names()[name]("panda", *[3] * len(others), **words)


def test_the_first_argument_must_be_a_model() -> None:
    """Every function names the type of a path or an array in its place."""
    z = np.zeros(7)
    calls = (
        lambda m: wd.fk(m, z),
        lambda m: wd.jacobian(m, z, frame="x"),
        lambda m: wd.rnea(m, z, z, z),
        lambda m: wd.crba(m, z),
        lambda m: wd.aba(m, z, z, z),
        lambda m: wd.bind(wd.crba, m, z),
        lambda m: wd.oracle(wd.crba, m, z),
        lambda m: wd.crba(model=m, q=z),
    )
    for call in calls:
        for wrong, name in (("panda.urdf", "str"), (z, "ndarray"), (None, "NoneType")):
            with pytest.raises(
                TypeError, match=rf"must be a Model \(from wd.load or wd.load_robot\), got {name}"
            ):
                call(wrong)


def test_inputs_may_have_one_slice_or_a_row_for_each_environment() -> None:
    """Every input may be (B, *shape), plain inputs also *shape, and no other shape."""
    params = PANDA.params(mass={PANDA.link_names[1]: np.ones(B)})
    call = wd.rnea.describe(PANDA, S.q, S.v, S.a, gravity=S.gravity, f_ext=S.forces, params=params)
    for x in inputs_of(call).values():
        assert x.plain == (x.name == "gravity" or x.name.startswith("params:"))
        for lead in ((B,), (3, B), (), (0,)):
            check_shape(call, x, (*lead, *x.shape), lead, "q")
            check_shape(call, x, x.shape, lead, "q")
            for shape in ((B + 1, *x.shape), (*x.shape, B), (B, 1, *x.shape), (*x.shape[:-1], 1)):
                if shape not in ((*lead, *x.shape), x.shape):
                    with pytest.raises(ValueError, match="must be"):
                        check_shape(call, x, shape, lead, "q")


def test_a_wrong_shape_is_refused_with_the_right_one() -> None:
    """The message has the letters of the documentation, the numbers of this model, and their
    explanation."""
    nq, nv = PANDA.nq, PANDA.nv
    cases = (
        (lambda: wd.rnea(PANDA, S.q[:, :-1], S.v, S.a), rf"q must be \(B, nq\) = \(B, {nq}\)"),
        (lambda: wd.rnea(PANDA, S.q, S.v[:2], S.a), rf"v must be \(B, nv\) = \({B}, {nv}\)"),
        (
            lambda: wd.rnea(PANDA, S.q[0], S.v[0, 1:], S.a[0]),
            rf"v must be \(nv,\) = \({nv},\), as q is of one robot, got \({nv - 1},\)",
        ),
        (
            lambda: wd.rnea(PANDA, S.q[0], S.v[0], S.a[0], f_ext={PANDA.root: np.zeros(3)}),
            r"must be \(6,\), as q is of one robot, got \(3,\)",
        ),
        (
            lambda: wd.rnea(PANDA, S.q[0], S.v, S.a[:2]),
            rf"a must be \(B, nv\) = \({B}, {nv}\), got \(2, {nv}\); one array \(nv,\) for all robots is accepted",
        ),
        (
            lambda: wd.rnea(PANDA, S.q[None], S.v[None], S.a),
            rf"a must be \(\.\.\., nv\) = \(1, {B}, {nv}\), got \({B}, {nv}\)",
        ),
        (lambda: wd.crba(PANDA, S.q[None, :, 1:]), rf"q must be \(\.\.\., nq\) = \(\.\.\., {nq}\)"),
        (
            lambda: wd.rnea(PANDA, S.q, S.v, S.a, f_ext=S.forces[:, 1:]),
            rf"f_ext must be \(B, nlinks, 6\) = \({B}, {PANDA.nlinks}, 6\)",
        ),
        (
            lambda: wd.rnea(PANDA, S.q, S.v, S.a, f_ext={PANDA.root: np.ones((B, 5))}),
            rf"f_ext:{PANDA.root} must be \(B, 6\) = \({B}, 6\)",
        ),
        (lambda: wd.difference(PANDA, S.q, S.q[:, 1:]), rf"q1 must be \(B, nq\) = \({B}, {nq}\)"),
        (
            lambda: wd.com(PANDA, S.q, params=PANDA.params(mass={PANDA.root: np.ones(B + 1)})),
            rf"mass \(params\) must be \(B, 1\) = \({B}, 1\)",
        ),
    )
    for call, words in cases:
        with pytest.raises(ValueError, match=words):
            call()


def test_the_message_explains_the_width_of_q() -> None:
    """Mimic joints have no column. A floating base comes first."""
    hand, walker = by_name("mimic_branches").model, by_name("quadruped_floating").model
    with pytest.raises(ValueError, match=r"mimic joint.* not among them \(see model.joint_names\)"):
        wd.crba(hand, np.zeros((1, hand.nq + 1)))
    with pytest.raises(ValueError, match=r"the base's first \(see model.q_names\)"):
        wd.crba(walker, np.zeros((1, walker.nq - 7)))


def test_arrays_of_a_call_must_have_one_dtype_and_library() -> None:
    """The first array decides. The message names the other array as the user knows it."""
    half = S.v.astype(np.float32)
    with pytest.raises(TypeError, match="one dtype: q is float64, v is float32; convert v to"):
        wd.rnea(PANDA, S.q, half, S.a)
    params = PANDA.params(mass={PANDA.root: np.ones(B, np.float32)})
    with pytest.raises(TypeError, match=r"q is float64, mass \(params\) is float32"):
        wd.com(PANDA, S.q, params=params)
    with pytest.raises(TypeError, match='q is float64, the cotangent or tangent of "out" is'):
        wd.vjp(wd.rnea, PANDA, S.q, S.v, S.a, cotangents=half)


def test_out_must_have_the_results_shape_and_separate_memory() -> None:
    """It shares no memory with an input, and there is one for each result."""
    with pytest.raises(ValueError, match=rf"out must be \({B}, {PANDA.nv}\), got"):
        wd.rnea(PANDA, S.q, S.v, S.a, out=np.empty((B, PANDA.nv + 1)))
    v = S.v.copy()
    with pytest.raises(ValueError, match=r"out shares memory with v.*pass another array"):
        wd.rnea(PANDA, S.q, v, S.a, out=v)
    frame = PANDA.link_names[-1]
    pose = np.empty((B, 4, 4))
    for out, got in ((pose, "ndarray"), (pose[:2], "ndarray"), ((pose,), "1 of them")):
        with pytest.raises(
            TypeError, match=f"out must be a tuple of 2 arrays, for pose, jacobian; got {got}"
        ):
            wd.pose_and_jacobian(PANDA, S.q, frame=frame, out=out)
    twice = np.empty((B, 4, 4)), np.empty((B, 6, PANDA.nv - 1))
    with pytest.raises(ValueError, match=r"out\[1\] must be"):
        wd.pose_and_jacobian(PANDA, S.q, frame=frame, out=twice)


def test_gravity_may_be_a_list_of_numbers() -> None:
    """A word in its place is refused by name."""
    listed = wd.rnea(PANDA, S.q, S.v, S.a, gravity=[0, 0, -3.7])
    array = wd.rnea(PANDA, S.q, S.v, S.a, gravity=np.tile([0, 0, -3.7], (B, 1)))
    assert np.array_equal(listed, array)
    with pytest.raises(
        TypeError, match=r"gravity must be numbers \(x, y, z\) or an array, got 'moon'"
    ):
        wd.rnea(PANDA, S.q, S.v, S.a, gravity="moon")


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST_BY_VALUE == 512


def test_lists_with_entries_that_are_no_numbers_are_refused() -> None:
    """NumPy takes None for NaN, so that the poses of such a list were NaN."""
    for q in ([None] * PANDA.nq, [[0.0] * (PANDA.nq - 1) + ["a"]]):
        with pytest.raises(TypeError, match=r"^q must be numbers, got \["):
            wd.fk(PANDA, q)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^gravity must be numbers, got \(0, 0, None\)"):
        wd.gravity_torques(PANDA, S.q, gravity=(0, 0, None))  # type: ignore[arg-type]
