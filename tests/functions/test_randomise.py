"""Random robots: laws, what the draws depend on, and physical consistency."""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np
import pytest
import warp as wp
from hand_made_urdf import joint, link, urdf
from robots import Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.algebra.quaternions import quaternion_exp, quaternion_product
from warpdyn.functions import inertial
from warpdyn.functions.randomise import _seed, add, randomise, scale

PANDA = by_name("panda").model
UPPER = np.triu_indices(3)
MANY = 20_000

LOOSE = Robot(
    "loose",
    urdf(
        "loose",
        link("base", 2.0, (0.1, 0, 0)),
        link("arm", 1.0, (0.2, 0, 0)),
        link("tool"),
        joint("elbow", "revolute", "base", "arm", axis=(0, 0, 1)),
        joint("flange", "fixed", "arm", "tool", (0, 0, 0.1), (0.1, 0.2, 0.3)),
    ),
).model.with_friction(viscous=0.5)


def own(quantity: str, name: str) -> Any:
    found = getattr(PANDA.link(name), quantity)
    return np.array(found)[UPPER] if quantity == "inertia" else np.array(found)


def values(params: wd.Params, quantity: str, name: str) -> np.ndarray:
    return params[quantity][:, params.names[quantity].index(name)]


# Laws.


def test_uniform_numbers_have_mean_and_variance_of_their_law() -> None:
    """They are between both bounds."""
    mass = values(randomise(PANDA, MANY, mass=scale(0.8, 1.4)), "mass", "panda_link3") / own(
        "mass", "panda_link3"
    )
    assert mass.min() >= 0.8 and mass.max() <= 1.4
    assert abs(mass.mean() - 1.1) < 0.01 and abs(mass.std() - 0.6 / math.sqrt(12)) < 0.005


def test_logarithms_of_log_uniform_numbers_are_uniform() -> None:
    """A number is halved as often as doubled."""
    mass = values(randomise(PANDA, MANY, mass=scale(0.5, 2.0, "log-uniform")), "mass", "panda_hand")
    logs = np.log2(mass / own("mass", "panda_hand"))
    assert logs.min() >= -1 and logs.max() <= 1
    assert abs(logs.mean()) < 0.02 and abs(logs.std() - 2 / math.sqrt(12)) < 0.01


def test_normal_numbers_are_cut_at_three_deviations() -> None:
    """The numbers have mean and deviation of the truncated normal law."""
    com = values(randomise(PANDA, MANY, com=add(0.01, 0.02, "normal")), "com", "panda_link5")
    z = (com - own("com", "panda_link5") - 0.01) / 0.02
    assert np.abs(z).max() <= 3.0 and np.abs(z).max() > 2.9
    assert (
        np.abs(z.mean(axis=0)).max() < 0.03 and np.abs(z.std(axis=0) - 0.9866).max() < 0.02
    )  # of the truncated law
    assert abs(np.mean(np.abs(z) < 1) - 0.6827 / 0.9973) < 0.01
    assert np.abs(np.corrcoef(z.T) - np.eye(3)).max() < 0.03  # components are independent


def test_draws_of_links_and_environments_are_independent() -> None:
    """No correlation between links, environments, or quantities."""
    params = randomise(PANDA, MANY, mass=scale(0.8, 1.2), com=add(-1, 1))
    mass, com = params["mass"], params["com"][..., 0]
    columns = np.hstack([mass[:-1], mass[1:], com[:-1]])
    assert np.abs(np.corrcoef(columns.T) - np.eye(columns.shape[1])).max() < 0.04


# What the numbers depend on.


def test_draws_depend_only_on_seed_environment_and_owner() -> None:
    """Neither on the number of environments, nor on other draws, nor on the precision."""
    wide = {"mass": scale(0.8, 1.2), "com": add(-0.1, 0.1), "inertia": scale(0.9, 1.1)}
    all_links = randomise(PANDA, 50, seed=4, **wide, armature=add(0, 1))
    one = randomise(PANDA, 20, seed=4, **{q: {"panda_link4": draw} for q, draw in wide.items()})
    for quantity in wide:
        assert np.array_equal(values(all_links, quantity, "panda_link4")[:20], one[quantity][:, 0])
    single = randomise(PANDA, 50, seed=4, **wide, dtype="float32")
    assert single["com"].dtype == np.float32 and np.array_equal(
        single["com"], all_links["com"].astype(np.float32)
    )
    other = randomise(PANDA, 50, seed=5, **wide)
    assert not np.any(other["mass"] == all_links["mass"])


def test_seeds_of_two_quantities_differ_in_the_upper_bits() -> None:
    """The lower 32 bits are those of the seed, so that no two small seeds meet."""
    for quantity in ("mass", "com"):
        assert _seed(7, quantity) == 7 + 2**32 * zlib.crc32(quantity.encode())


@pytest.mark.parametrize("library", ["torch", "jax", "warp"])
def test_draws_are_equal_in_each_library(library: str) -> None:
    """The draws are arrays of the requested library, which functions accept."""
    wanted = randomise(PANDA, 9, seed=1, mass=scale(0.8, 1.2), gravity=add(-1, 1), dtype="float32")
    q = np.zeros((9, PANDA.nv), np.float32)
    if library == "warp":
        like: Any = wp.array(q, dtype=wp.float32)
    else:
        like = pytest.importorskip(library)
        like = like.as_tensor(q) if library == "torch" else like.numpy.asarray(q)
    found = randomise(PANDA, 9, seed=1, mass=scale(0.8, 1.2), gravity=add(-1, 1), like=like)
    assert type(found["mass"]) is type(like)
    host = [
        np.asarray(x.numpy() if hasattr(x, "numpy") else x) for x in (found["mass"], found.gravity)
    ]
    assert np.array_equal(host[0], wanted["mass"]) and np.array_equal(host[1], wanted.gravity)
    tau = wd.gravity_torques(PANDA, like, params=found)
    tau = np.asarray(tau.numpy() if hasattr(tau, "numpy") else tau)
    assert error(tau, wd.oracle(wd.gravity_torques, PANDA, q, params=wanted)) <= 1e-5


def test_environments_are_contiguous_in_memory() -> None:
    """Kernels read this layout fastest."""
    params = randomise(PANDA, 64, mass=scale(0.8, 1.2))
    assert params["mass"].strides[0] == params["inertia"].strides[0] == 8


# Every robot could be one.


def test_inertia_scales_with_mass() -> None:
    """The body has the same shape at another density."""
    params = randomise(
        PANDA, 30, mass={"panda_link*": scale(0.2, 3.0), "panda_hand": add(-0.5, 2.0)}
    )
    for name in params.names["mass"]:
        ratio = values(params, "mass", name) / own("mass", name)
        assert (
            error(values(params, "inertia", name), ratio[:, None] * own("inertia", name)) <= 1e-14
        )


def test_a_scaled_inertia_is_that_of_a_stretched_body() -> None:
    """Mass points x of the link move to s x.

    Second moments become Σ' = S Σ S, and J = tr(Σ) 1 - Σ.
    """
    params = randomise(PANDA, 30, inertia={"panda_link2": scale(0.3, 3.0)})
    J = np.array(PANDA.link("panda_link2").inertia)
    density = np.trace(J) / 2 * np.eye(3) - J
    for xx, xy, xz, yy, yz, zz in values(params, "inertia", "panda_link2"):
        found = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        stretched = np.trace(found) / 2 * np.eye(3) - found
        s = np.sqrt(np.diag(stretched) / np.diag(density))
        assert error(stretched, density * np.outer(s, s)) <= 1e-14
        assert np.all((s**2 > 0.3) & (s**2 < 3.0)) and len(set(s.round(9))) == 3


def test_random_bodies_are_physically_consistent() -> None:
    """The law may have any width, if the model's own bodies are consistent."""
    params = randomise(
        PANDA,
        500,
        mass=scale(0.1, 10, "log-uniform"),
        com=add(0, 0.3, "normal"),
        inertia=scale(1.0, 0.3, "normal"),
    )
    checked = 0
    for name in params.names["mass"]:
        xx, xy, xz, yy, yz, zz = values(params, "inertia", name).T
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
        found = inertial.from_body(values(params, "mass", name), values(params, "com", name), J)
        mine = inertial.from_body(
            own("mass", name), own("com", name), np.array(PANDA.link(name).inertia)
        )
        if inertial.physically_consistent(mine):
            assert inertial.physically_consistent(found).all()
            checked += 1
    assert checked >= 8


def test_placements_move_and_tilt_joints() -> None:
    """Positions are in the parent's axes.

    Rotations are about the joint's own, by the exponential of the rotation vector.
    """
    joint = PANDA.joint("panda_joint5")
    moved = randomise(
        PANDA, 40, placement={joint.name: add(-0.02, 0.02)}, tilt={joint.name: add(-0.5, 0.5)}
    )
    place = moved["placement"][:, 0]
    assert np.abs(place[:, :3] - joint.pose.position).max() <= 0.02
    assert error(np.linalg.norm(place[:, 3:], axis=1), np.ones(40)) <= 1e-14
    still = wd.convert.matrix_to_quaternion(np.array(joint.pose.rotation))
    inverse = [-still[0], -still[1], -still[2], still[3]]
    for row in place[:, 3:].tolist():
        x, y, z, w = quaternion_product(inverse, row)
        sign = math.copysign(1.0, w)
        vector = [
            sign * c * 2 * math.acos(min(abs(w), 1)) / math.sqrt(1 - w * w) for c in (x, y, z)
        ]
        assert max(map(abs, vector)) <= 0.5
        assert error(np.array(quaternion_exp(vector)), sign * np.array([x, y, z, w])) <= 1e-9
    only = randomise(PANDA, 40, tilt={joint.name: add(-0.5, 0.5)})["placement"][:, 0]
    assert (
        np.array_equal(only[:, 3:], place[:, 3:])
        and error(only[:, :3], np.tile(joint.pose.position, (40, 1))) == 0
    )
    s = states(PANDA, 5)
    poses = wd.fk(
        PANDA,
        s.q,
        frame="panda_hand",
        params=randomise(PANDA, 5, tilt=add(0, 1e-12), placement=add(0, 1e-12)),
    )
    assert error(poses, wd.fk(PANDA, s.q, frame="panda_hand")) <= 1e-10


def test_gravity_varies_in_strength_or_by_component() -> None:
    """A factor for its strength, or a number for each component."""
    weak = randomise(PANDA, 20, gravity=scale(0.1, 0.2)).gravity
    assert np.array_equal(weak[:, :2], np.zeros((20, 2))) and np.all(
        (weak[:, 2] < -0.98) & (weak[:, 2] > -1.97)
    )
    leaning = randomise(PANDA, 20, gravity=add(-0.1, 0.1)).gravity
    assert np.abs(leaning - (0, 0, -9.81)).max() <= 0.1 and len(np.unique(leaning)) == 60


# Names.


def test_the_last_matching_pattern_applies() -> None:
    """A law without names draws for all links with mass, or all joints that have the quantity."""
    params = randomise(
        PANDA, 3, mass={"*": scale(2, 2), "*finger": scale(3, 3), "panda_link1": scale(1, 1)}
    )
    for name in params.names["mass"]:
        factor = {"panda_leftfinger": 3, "panda_rightfinger": 3, "panda_link1": 1}.get(name, 2)
        assert values(params, "mass", name)[0] == factor * own("mass", name)
    assert params.names["mass"] == tuple(x.name for x in PANDA.links if x.mass)
    assert randomise(LOOSE, 3, viscous=scale(0.5, 2)).names["viscous"] == ("elbow",)
    assert randomise(LOOSE, 3, placement=add(0, 0)).names["placement"] == ("elbow", "flange")
    assert randomise(LOOSE, 3, coulomb=add(0, 1)).names["coulomb"] == ("elbow",)
    # A link's own name also counts if the link has no mass.
    assert randomise(LOOSE, 3, com={"tool": add(0, 1)}).names["com"] == ("tool",)


REFUSED = {
    "no link": (
        lambda: randomise(PANDA, 3, mass={"panda_hnd": scale(1, 2)}),
        KeyError,
        "did you mean 'panda_hand'",
    ),
    "no match": (
        lambda: randomise(PANDA, 3, mass={"*toe*": scale(1, 2)}),
        KeyError,
        r"no link named '\*toe\*'",
    ),
    "no draw": (
        lambda: randomise(PANDA, 3, mass=0.5),
        TypeError,
        r"mass needs wd.random.scale\(..\) or wd.random.add\(..\)",
    ),
    "negative mass": (
        lambda: randomise(PANDA, 3, mass=add(-1, 1)),
        ValueError,
        '"panda_link0", 0.629769, could become',
    ),
    "no mass": (
        lambda: randomise(PANDA, 3, mass=scale(0, 1)),
        ValueError,
        '"panda_link0", 0.629769, could become 0;',
    ),
    "negative factor": (
        lambda: randomise(PANDA, 3, mass=scale(1, 0.4, "normal")),
        ValueError,
        r"a narrower law than scale -0\.2 to 2\.2$",
    ),
    "friction that drives": (
        lambda: randomise(LOOSE, 3, viscous=add(-1, 1)),
        ValueError,
        '"elbow", 0.5, could become',
    ),
    "flat body": (lambda: randomise(PANDA, 3, inertia=scale(0, 1)), ValueError, "inertia of"),
    "added inertia": (
        lambda: randomise(PANDA, 3, inertia=add(0, 1)),
        ValueError,
        "inertia can only be scaled",
    ),
    "scaled tilt": (
        lambda: randomise(PANDA, 3, tilt=scale(0, 1)),
        ValueError,
        "tilt cannot be scaled",
    ),
    "nothing to scale": (
        lambda: randomise(PANDA, 3, coulomb=scale(0, 1)),
        ValueError,
        r"^coulomb: no joint of panda that matches \['\*'\] has any, and scaling zero has no effect; use wd",
    ),
    "no joint": (
        lambda: randomise(PANDA, 3, tilt={}),
        ValueError,
        "^tilt needs the name pattern of at least one joint, got {}$",
    ),
    "no link at all": (
        lambda: randomise(PANDA, 3, mass={}),
        ValueError,
        "^mass needs the name pattern of at least one link, got {}$",
    ),
    "no environments": (
        lambda: randomise(PANDA, 0, mass=scale(1, 2)),
        ValueError,
        "at least 1, got 0",
    ),
    "law": (
        lambda: scale(1, 2, "gauss"),
        ValueError,
        "'uniform', 'log-uniform', 'normal', got 'gauss'",
    ),
    "no end": (
        lambda: add(0, np.inf),
        ValueError,
        "^add with the uniform law needs two finite numbers, low at most high; got 0 and inf$",
    ),
    "a number": (
        lambda: randomise(PANDA, 3, mass={"panda_hand": 2.0}),
        TypeError,
        r"^mass needs wd.random.scale\(..\) or wd.random.add\(..\), or these by .*; got 2.0$",
    ),
    "order": (lambda: scale(2, 1), ValueError, "low at most high; got 2 and 1"),
    "deviation": (
        lambda: add(0, -1, "normal"),
        ValueError,
        "a mean and a standard deviation; got 0 and -1",
    ),
    "logarithm": (
        lambda: scale(0, 1, "log-uniform"),
        ValueError,
        "bounds of the log-uniform law must be above 0",
    ),
}


def test_a_law_can_give_a_constant() -> None:
    """The law has equal bounds, or no deviation."""
    mass = own("mass", "panda_hand")
    for law, wanted in (
        (scale(2, 2), 2.0 * mass),
        (scale(2, 2, "log-uniform"), 2.0 * mass),
        (scale(2, 0, "normal"), 2.0 * mass),
        (add(1, 1), mass + 1.0),
    ):
        found = values(randomise(PANDA, 3, mass=law), "mass", "panda_hand")
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_laws_and_names_are_refused(case: str) -> None:
    """The message says what is needed and what was passed."""
    call, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        call()
