"""Params with invalid values, and params that a call refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from array_kinds import LIBRARIES, make_array, usable
from robots import by_name
from states import states
from varied_rig import MASK, PANDA, RIG, draw_params

import warpdyn as wd

REFUSED = {
    "unknown link": (
        {"mass": {"sliderr": 1.0}},
        KeyError,
        "no link named 'sliderr'; did you mean 'slider'",
    ),
    "unknown joint": (
        {"armature": {"elbo": 1.0}},
        KeyError,
        "no joint named 'elbo'; did you mean 'elbow'",
    ),
    "no name": ({"mass": {}}, ValueError, "mass has no names: give at least one name"),
    "too wide": (
        {"mass": {"arm": np.ones((3, 2))}},
        ValueError,
        r'mass of "arm" must be a number or \(B,\), got \(3, 2\)',
    ),
    "too narrow": (
        {"com": {"arm": 1.0}},
        ValueError,
        r'com of "arm" must be \(3,\) or \(B, 3\), got \(\)',
    ),
    "not six": (
        {"inertia": {"arm": np.eye(3)[:2]}},
        ValueError,
        r"must be \(6,\) or \(B, 6\), got \(2, 3\)",
    ),
    "not all links": (
        {"mass": np.ones((3, 4))},
        ValueError,
        r"an array \(B, 5\), for the 5 links of rig; got \(3, 4\)",
    ),
    "not alike": (
        {"mass": {"arm": np.ones(3), "tool": np.ones(4)}},
        ValueError,
        'mass is for different numbers of environments: "arm": 3, "tool": 4',
    ),
    "not together": (
        {"mass": {"arm": np.ones(3)}, "com": {"arm": np.ones((4, 3))}},
        ValueError,
        "different numbers of environments: mass: 3, com: 4",
    ),
    "not envs": ({"envs": 5, "mass": {"arm": np.ones(3)}}, ValueError, 'envs: 5, "arm": 3'),
    "not gravity": (
        {"mass": {"arm": np.ones(3)}, "gravity": np.ones((2, 3))},
        ValueError,
        "mass: 3, gravity: 2",
    ),
    "fixed": (
        {"armature": {"flange": 1.0}},
        ValueError,
        'joint "flange" of rig is fixed; armature belongs to a moving',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_params_are_refused(case: str) -> None:
    """The error says what is needed, what arrived and what to do."""
    wrong, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        RIG.params(**wrong)


def test_stiffness_needs_position_limits() -> None:
    with pytest.raises(
        ValueError, match='"turn" of single has no position limits for stiffness to act beyond'
    ):
        by_name("single").model.params(stiffness={"turn": 3.0})


def test_calls_refuse_params_that_do_not_fit() -> None:
    """The params are of another model, another number of environments or another dtype, or have
    names that do not vary."""
    s, params = states(RIG, 3), RIG.params(mass={"arm": np.ones(4)})
    with pytest.raises(ValueError, match=r"mass.* must be \(B, 1\) = \(3, 1\), got \(4, 1\)"):
        wd.rnea(RIG, s.q, s.v, s.a, params=params)
    with pytest.raises(TypeError, match=r"q is float32, .*mass.* is float64"):
        wd.com(RIG, s.q.astype(np.float32), params=params)
    with pytest.raises(ValueError, match="these params are of rig, another model of that name"):
        wd.com(RIG.with_frame("tip", "arm", (0, 0, 1)), s.q, params=params)
    with pytest.raises(ValueError, match="these params are of rig, not single"):
        wd.com(by_name("single").model, np.zeros((4, 1)), params=params)
    with pytest.raises(KeyError, match="no varying quantity named 'com'"):
        params["com"]
    with pytest.raises(KeyError, match="no varying quantity named 'com'"):
        params.replace(com=np.ones((4, 1, 3)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_invalid_rows_of_params_are_refused(library: str) -> None:
    """They are masks of a wrong length, entries instead of rows, rows that do not exist, kinds that
    libraries read in different ways, indices of two dimensions, which exchanged dimensions (those
    of gravity without a word), and iteration over params."""
    torch = pytest.importorskip("torch")
    usable(library, "cpu")
    params = draw_params(library)
    for wrong, kind, words in (
        (MASK[:3], ValueError, r"entry for each environment: \(6,\); got \(3,\)"),
        ((0, 1), TypeError, r'p\["mass"\]\[idx, k\]'),
        (None, TypeError, "by a quantity or by rows"),
        (6, IndexError, "there are environments 0 to 5; got 6"),
        ([0, -7], IndexError, "there are environments 0 to 5; got -7"),
        (True, TypeError, "by a quantity or by rows"),
        (1.5, TypeError, "whole numbers, or a mask of truth values; got float64"),
        ([1.0, 2.0], TypeError, "whole numbers, or a mask of truth values; got float64"),
        ({1, 2}, TypeError, "whole numbers, or a mask of truth values; got object"),
        ([[0, 1], [2, 3]], ValueError, r"one dimension of environments; .* shape \(2, 2\)"),
        (torch.tensor([[0, 1]]), ValueError, r"one dimension of environments; .* shape \(1, 2\)"),
        (torch.tensor([1, 0], dtype=torch.uint8), TypeError, "got torch.uint8"),
    ):
        with pytest.raises(kind, match=words):
            params[wrong]
    with pytest.raises(TypeError, match="not iterable"):
        list(params)
    with pytest.raises(KeyError, match="no varying quantity named 'gravity'"):
        PANDA.params(mass={"panda_hand": 1.0})["gravity"]


def test_invalid_resets_are_refused() -> None:
    """They have invalid masks, params that vary in something else, or rows that do not exist."""
    params = draw_params("numpy")
    with pytest.raises(
        TypeError, match=r"mask must be booleans \(B,\), such as done > 0; got int64"
    ):
        params.reset(MASK.astype(int), params)
    with pytest.raises(ValueError, match=r"entry for each environment: \(6,\); got \(2,\)"):
        params.reset([True, False], params)
    with pytest.raises(
        ValueError, match="fresh must have the quantities and names of these params"
    ):
        params.reset(MASK, PANDA.params(6, mass=1.0))
    with pytest.raises(ValueError, match=r"mass of fresh must be \(6, 11\).*got \(2, 11\)"):
        params.reset(MASK, params[MASK])
    mixed = PANDA.params(mass={"panda_hand": np.ones(6)}, armature={"panda_joint1": 0.1})
    mixed = mixed.replace(armature=mixed["armature"])
    with pytest.raises(ValueError, match=r"armature \(1,\) serves all environments"):
        mixed.reset(MASK, mixed)


@pytest.mark.parametrize("library", LIBRARIES)
def test_negative_masses_are_refused(library: str, device: str) -> None:
    """The message names the link and the row. Negative armature and friction, and numbers that are
    not finite, are refused too."""
    usable(library, device=device)
    masses = make_array(library, np.array([1.0, 0.0, -2.0, 3.0]), device=device)
    words = (
        'mass of link "panda_hand" of panda must be finite and not negative, got -2 in row 2 of 4'
    )
    with pytest.raises(ValueError, match=words):
        PANDA.params(mass={"panda_hand": masses})
    with pytest.raises(ValueError, match=r'mass of link "panda_link0" of panda .*, got -1$'):
        PANDA.params(mass=-1.0)
    with pytest.raises(
        ValueError, match=r'armature of joint "panda_joint2" .* got nan in row 0 of 2'
    ):
        PANDA.params(2, armature={"panda_joint2": np.nan})


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        (
            {"com": {"panda_hand": (0, 0, np.nan)}},
            'com of link "panda_hand" of panda must be finite, got 0, 0, nan',
        ),
        ({"inertia": {"panda_hand": (1, 0, 0, 1, 0, np.inf)}}, "inertia of link .* must be finite"),
        ({"inertia": {"panda_hand": (-1, 0, 0, 1, 0, 1)}}, "without negative principal moments"),
        ({"inertia": {"panda_hand": (1, 2, 0, 1, 0, 1)}}, "without negative .*, got 1, 2, 0, 1"),
        (
            {"placement": {"panda_joint1": (0, 0, 0, 0, 0, 0, 2)}},
            "finite, with a quaternion of length one",
        ),
        (
            {"placement": {"panda_joint1": (0, 0, np.nan, 0, 0, 0, 1)}},
            "finite, with a quaternion of length one",
        ),
        ({"gravity": (0, 0, np.nan)}, "gravity must be finite"),
    ],
)
def test_impossible_numbers_are_refused(numbers: dict[str, Any], error: str) -> None:
    """A quaternion of another length would stretch the robot, with finite results."""
    with pytest.raises(ValueError, match=error):
        PANDA.params(**numbers)


@pytest.mark.parametrize("envs", [-1, 2.5, True, "3"])
def test_envs_must_be_a_number_of_environments(envs: Any) -> None:
    """This is checked if nothing varies, so that no array contradicts it."""
    with pytest.raises(ValueError, match=f"envs must be the number of environments.*got {envs!r}"):
        PANDA.params(envs)


def test_moments_of_inertia_are_checked_like_those_of_files() -> None:
    """The eigenvalues decide, in float32 too. Rounding errors, flat bodies and negligible moments are accepted."""
    rng = np.random.default_rng(0)
    A = np.linalg.qr(rng.normal(size=(1000, 3, 3)))[0]
    moments = 10.0 ** rng.uniform(-6, 3, (1000, 1)) * rng.uniform(-0.2, 1.0, (1000, 3))
    matrices = np.einsum("nij,nj,nkj->nik", A, moments, A)
    rows = matrices[:, (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)]
    sound = moments.min(1) > 0.0
    wrong = moments.min(1) < -1e-2 * np.abs(moments).max(1)
    assert min(sound.sum(), wrong.sum()) > 300
    PANDA.params(inertia={"panda_hand": rows[sound].astype(np.float32)})
    for row in rows[wrong]:
        with pytest.raises(ValueError, match="negative principal moments"):
            PANDA.params(inertia={"panda_hand": row})
    for row in ((1, 0, 0, 1, 0, -1e-4), (1, 1, 0, 1, 0, 2), (0,) * 6, (-1e-13, 0, 0, 0, 0, 0)):
        PANDA.params(inertia={"panda_hand": row})


def test_traced_numbers_are_accepted() -> None:
    """Numbers inside JAX and Torch transformations cannot be read."""
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")

    def mass(x: Any) -> Any:
        return PANDA.params(mass={"panda_hand": x})["mass"]

    def gravity(x: Any) -> Any:
        return PANDA.params(gravity=x).gravity

    assert jax.jit(gravity)(make_array("jax", np.ones(3))).shape == (3,)
    assert jax.jit(mass)(make_array("jax", np.ones(3))).shape == (3, 1)
    assert torch.vmap(mass)(torch.ones(2, 3)).shape == (2, 3, 1)
