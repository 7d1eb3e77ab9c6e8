"""Stored values of real robots, where a folder of them lies beside the checkout; collected only there (conftest.py)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from robots import Robot, real
from states import error, reduction, without_mimic

import warpdyn as wd

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "reference"
FILES = sorted(FOLDER.glob("*.npz"))

DIGITS = 1e-12
"""Relative; the reference's own checks agree to 4e-15, file and reader round in another order."""

CONDITIONED = 1e-9
"""Relative, of accelerations: times the condition of M; the reference's own check of these is 7e-11."""

PUMA_DIGITS = 1e-12
"""Relative; the toolbox works in Denavit-Hartenberg frames, the URDF has rounded rotations."""

BY_DEFAULT = (
    "erd_panda__fixed",
    "erd_double_pendulum_continuous__floating",
    "erd_solo12__floating",
)


class Reference:
    """One file: its robot with mimic joints free, and its states in this model's columns (mapped by joint name)."""

    def __init__(self, path: Path):
        name, base = path.stem.removeprefix("erd_").split("__")
        found = real(name, base == "floating")
        if found is None:
            pytest.skip("example-robot-data is not installed")
        self.robot: Robot = found
        self.data = np.load(path)
        self.model = without_mimic(found.model)
        names = self.data["joint_names"].tolist()
        assert sorted(names) == sorted(self.model.joint_names)
        lead = 6 * (base == "floating")
        order = [names.index(joint) for joint in self.model.joint_names]
        self.v_order = [*range(lead), *(lead + k for k in order)]
        self.q_order = [*range(lead + bool(lead)), *(lead + bool(lead) + k for k in order)]
        self.link_order = [
            self.data["link_names"].tolist().index(link) for link in self.model.link_names
        ]

    def v(self, key: str) -> np.ndarray:
        return self.data[key][:, self.v_order]

    def matrix(self, key: str) -> np.ndarray:
        return self.data[key][:, self.v_order][:, :, self.v_order]

    def q(self) -> np.ndarray:
        return self.data["q"][:, self.q_order]

    def forces(self) -> np.ndarray:
        """(S, nlinks, 6); a link named twice bears the sum."""
        forces = np.zeros((len(self.data["q"]), self.model.nlinks, 6))
        place = {link: i for i, link in enumerate(self.link_order)}
        for e, (links, wrenches) in enumerate(
            zip(self.data["fext_link_index"], self.data["fext"], strict=True)
        ):
            for link, wrench in zip(links, wrenches, strict=True):
                forces[e, place[link]] += wrench
        return forces


@pytest.fixture(params=[pytest.param(p, id=p.stem) for p in FILES], scope="module")
def reference(request: pytest.FixtureRequest) -> Reference:
    return Reference(request.param)


@pytest.fixture
def compute(reference: Reference, request: pytest.FixtureRequest, run):
    """The kernel for a few files, for all with --slow; else the oracle, which kernels match elsewhere."""
    name = f"{reference.robot.name.removesuffix('_floating')}__{'floating' if reference.robot.floating else 'fixed'}"
    if name in BY_DEFAULT or request.config.getoption("--slow"):
        return run
    return wd.oracle


def test_rnea(reference: Reference, compute) -> None:
    """tau = M a + h, gravity g(q), bias h(q, v), and with forces on links."""
    q, v, a = reference.q(), reference.v("v"), reference.v("a")
    zero, forces = 0 * v, reference.forces()
    tau = reference.v("rnea")
    assert error(compute(wd.rnea, reference.model, q, v, a), tau) <= DIGITS
    assert (
        error(compute(wd.rnea, reference.model, q, zero, zero), reference.v("gravity"), tau)
        <= DIGITS
    )
    assert error(compute(wd.rnea, reference.model, q, v, zero), reference.v("nle"), tau) <= DIGITS
    assert (
        error(
            compute(wd.rnea, reference.model, q, v, a, f_ext=forces), reference.v("rnea_fext"), tau
        )
        <= DIGITS
    )


def test_crba(reference: Reference, compute) -> None:
    """M(q)."""
    M = reference.matrix("M")
    assert error(compute(wd.crba, reference.model, reference.q()[: len(M)]), M) <= DIGITS


def test_aba(reference: Reference, compute) -> None:
    """Accelerations for `tau`, without and with forces; refused where the file says that M is singular."""
    q, v, tau = reference.q(), reference.v("v"), reference.v("tau")
    if reference.data["singular_M"]:
        with pytest.raises(wd.ModelError, match="moves no inertia"):
            wd.aba(reference.model, q, v, tau)
        return
    assert error(compute(wd.aba, reference.model, q, v, tau), reference.v("aba")) <= CONDITIONED
    found = compute(wd.aba, reference.model, q, v, tau, f_ext=reference.forces())
    assert error(found, reference.v("aba_fext")) <= CONDITIONED


def test_fk(reference: Reference, compute) -> None:
    """Poses of all links."""
    poses = reference.data["pose"][:, reference.link_order]
    assert error(compute(wd.fk, reference.model, reference.q()[: len(poses)]), poses) <= DIGITS


def test_jacobian(reference: Reference) -> None:
    """Jacobians of three links in three references, and the velocities they give (the oracle's)."""
    for key, name in (("local", "local"), ("world", "world"), ("lwa", "local_world_aligned")):
        J = reference.data[f"frame_J_{key}"][..., reference.v_order]
        velocity = reference.data[f"frame_vel_{key}"]
        q, v = reference.q()[: len(J)], reference.v("v")[: len(J)]
        for k, link in enumerate(reference.data["obs_links"].tolist()):
            found = wd.oracle(wd.jacobian, reference.model, q, frame=link, reference=name)
            assert error(found, J[:, k]) <= DIGITS
            assert (
                error(np.einsum("eij,ej->ei", found, v), velocity[: len(J), k], np.abs(found))
                <= DIGITS
            )


def test_mass(reference: Reference) -> None:
    """Total mass counts every link: what moves and what is fixed to the world."""
    wanted = reference.data["total_mass_moving"] + reference.data["root_fixed_mass"]
    assert error(np.array(reference.model.total_mass), wanted) <= DIGITS


def test_mimic(reference: Reference, compute) -> None:
    """The reduced system, where the file has one: poses, forces, inertia and accelerations."""
    data = reference.data
    if "mimic_q" not in data.files:
        pytest.skip("no mimic joints")
    model = reference.robot.model
    names, lead = data["mimic_reduced_names"].tolist(), 6 * model.floating_base
    order = [names.index(joint) for joint in model.joint_names]
    v_order = [*range(lead), *(lead + k for k in order)]
    q_order = [*range(lead + bool(lead)), *(lead + bool(lead) + k for k in order)]
    q, v, a, tau = (
        data["mimic_q"][:, q_order],
        *(data[f"mimic_{k}"][:, v_order] for k in ("v", "a", "tau")),
    )
    wanted = data["mimic_rnea"][:, v_order]
    assert error(compute(wd.rnea, model, q, v, a), wanted) <= DIGITS
    assert (
        error(compute(wd.rnea, model, q, 0 * v, 0 * a), data["mimic_gravity"][:, v_order], wanted)
        <= DIGITS
    )
    assert error(compute(wd.crba, model, q), data["mimic_M"][:, v_order][:, :, v_order]) <= DIGITS
    poses = data["mimic_poses"][:, reference.link_order]
    assert error(compute(wd.fk, model, q[: len(poses)]), poses) <= DIGITS
    if not data["singular_M"] and np.all(np.isfinite(data["mimic_ddq"])):
        assert (
            error(compute(wd.aba, model, q, v, tau), data["mimic_ddq"][:, v_order]) <= CONDITIONED
        )
    Gq, _, g = reduction(model)
    G, offset = data["mimic_G"], data["mimic_offset"]
    assert G.shape[1] in (Gq.shape[1], len(names)) and np.sum(np.abs(offset)) == pytest.approx(
        np.sum(np.abs(g))
    )


def test_rnea_derivatives(reference: Reference) -> None:
    """By q, by v, and by q with forces on links (the oracle's)."""
    data, model = reference.data, reference.model
    n = len(data["dtau_dq"])
    q, v, a = reference.q()[:n], reference.v("v")[:n], reference.v("a")[:n]
    by_q, by_v, _ = wd.oracle(wd.rnea_derivatives, model, q, v, a)
    assert error(by_q, reference.matrix("dtau_dq")) <= DIGITS
    assert error(by_v, reference.matrix("dtau_dv")) <= DIGITS
    by_q, *_ = wd.oracle(wd.rnea_derivatives, model, q, v, a, f_ext=reference.forces()[:n])
    assert error(by_q, reference.matrix("dtau_dq_fext")) <= DIGITS


def test_aba_derivatives(reference: Reference) -> None:
    """By q, by v, and M⁻¹ (the oracle's)."""
    data = reference.data
    if data["singular_M"]:
        pytest.skip("M is singular")
    n = len(data["ddq_dq"])
    given = reference.q()[:n], reference.v("v")[:n], reference.v("tau")[:n]
    _, by_q, by_v, by_tau = wd.oracle(wd.aba_derivatives, reference.model, *given)
    for found, key in ((by_q, "ddq_dq"), (by_v, "ddq_dv"), (by_tau, "Minv")):
        assert error(found, reference.matrix(key)) <= CONDITIONED


def test_frame_derivatives(reference: Reference) -> None:
    """Of a link's velocity and spatial acceleration in its own frame (the oracle's, of four states)."""
    data, options = (
        reference.data,
        {"frame": str(reference.data["obs_links"][0]), "reference": "local"},
    )
    q, v, a = reference.q()[:4], reference.v("v")[:4], reference.v("a")[:4]
    by_q = wd.oracle(wd.derivatives, wd.frame_velocity, reference.model, q, v, **options)
    assert error(by_q, data["fk_dv_dq"][:4][..., reference.v_order]) <= DIGITS
    both = wd.oracle(
        wd.derivatives, wd.frame_acceleration, reference.model, q, v, a, wrt=("q", "v"), **options
    )
    for found, key in zip(both, ("fk_da_dq", "fk_da_dv"), strict=True):
        assert error(found, data[key][:4][..., reference.v_order]) <= DIGITS


def test_puma_560(run) -> None:
    """The toolbox's PUMA 560 as a URDF: its inertia matrix, gravity load and inverse dynamics at 19 configurations."""
    folder = FOLDER / "puma560"
    stored = json.loads((folder / "puma560_ref.json").read_text())
    model = Robot("puma560", folder / "puma560.urdf").model
    armature = np.array(stored["armature_G2Jm"])
    rows = stored["states"]
    q, qd, qdd = (np.array([row[key] for row in rows], dtype=float) for key in ("q", "qd", "qdd"))
    M, tau, load = (np.array([row[key] for row in rows]) for key in ("inertia", "rne", "gravload"))
    drift = np.array([row["coriolis_times_qd"] for row in rows])
    assert error(run(wd.crba, model, q) + np.diag(armature), M) <= PUMA_DIGITS
    assert error(run(wd.rnea, model, q, qd, qdd) + armature * qdd, tau) <= PUMA_DIGITS
    assert error(run(wd.rnea, model, q, 0 * qd, 0 * qd), load, tau) <= PUMA_DIGITS
    assert error(run(wd.rnea, model, q, qd, 0 * qd), drift + load, tau) <= PUMA_DIGITS
