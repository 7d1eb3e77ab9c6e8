"""The API as a type checker sees it: array types, words, options and results."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any, get_args

import pytest
from public_names import public_names

import warpdyn as wd
from warpdyn.algorithms.fk import FORMS, Form
from warpdyn.algorithms.frames import PARTS, Part
from warpdyn.functions import centroidal, representations
from warpdyn.model.conventions import CONVENTIONS, OtherLibrary
from warpdyn.model.joints import KindName
from warpdyn.model.reference_frames import ALIASES, REFERENCES, Reference, reference_of
from warpdyn.model.structure import QuaternionOrder

ROOT = Path(__file__).parents[1]

PROGRAM = """
import numpy as np
import torch
from numpy.typing import NDArray

import warpdyn as wd

model = wd.load("x.urdf", floating_base=True, base_velocity="mixed", loops="cut")
model = wd.load_robot("panda", quaternion="wxyz", floating_base=None)
q, v = np.zeros((3, 7)), np.zeros((3, 7))
t, f = torch.zeros((3, 7)), np.zeros((3, 7), np.float32)


def step(q: NDArray[np.float64], v: np.ndarray, params: wd.Params) -> np.ndarray:
    a = wd.aba(model, q, v, np.zeros(7), gravity=(0, 0, -1), f_ext={"hand": v}, params=params)
    batch, rows, columns = wd.crba(model, np.zeros((3, 7)), params=None).shape
    return wd.integrate(model, q, a * 0.1 / rows, out=q)


reveal_type(wd.rnea(model, q, v, v))  # ndarray
reveal_type(wd.rnea(model, f, f, f, out=f))  # ndarray
reveal_type(wd.rnea(model, t, t, t))  # Tensor
reveal_type(wd.jacobian(model, t, frame="hand", point=[0, 0, 1]))  # Tensor
reveal_type(wd.fk(model, q, form="pose"))  # ndarray
reveal_type(wd.pose_and_jacobian(model, t, frame="hand"))  # tuple[Tensor, Tensor]
reveal_type(wd.bind(wd.rnea, model, q, v, v, out=v))  # def () -> ndarray
reveal_type(wd.bind(wd.crba, model, t)())  # Tensor
reveal_type(wd.bind(wd.crba, model, t, constants="once")())  # Any
reveal_type(wd.inverse_kinematics(model, {"hand": t}).q)  # Tensor
reveal_type(wd.inverse_kinematics(model, q, frame="hand"))  # Solution[ndarray]
reveal_type(wd.derivatives(wd.rnea, model, t, t, t))  # Tensor
reveal_type(wd.vjp(wd.rnea, model, q, v, v, cotangents=v, wrt="q"))  # ndarray
reveal_type(wd.jvp(wd.com, model, q, tangents={"q": v}))  # ndarray
reveal_type(wd.random_configuration(model, 3))  # ndarray
reveal_type(wd.random_configuration(model, 3, like=t))  # Tensor
reveal_type(wd.Group([model], [3])(wd.rnea, t, t, t))  # Tensor
reveal_type(wd.convert.pack_q(model, {"a": 1.0}))  # ndarray
reveal_type(wd.convert.split_q(model, t)[1])  # Tensor
reveal_type(wd.convert.matrix_to_pose(t, order="wxyz"))  # Tensor
reveal_type(model.with_payload("hand", 1.0, np.zeros(3), np.eye(3)))  # Model
reached = wd.inverse_kinematics(model, {"hand": q}).success.all()
wd.jacobian(model, q, frame="hand", reference="LOCAL_WORLD_ALIGNED", part="linear")
wd.momentum(model, q, v, reference="centroidal")
wd.convert.velocity(model, q, v, source="mixed", target="mujoco")

wd.jacobian(model, q, frame="hand", reference="lokal")  # error: "reference"
wd.jacobian(model, q, frame="hand", part="top")  # error: "part"
wd.fk(model, q, form="quaternion")  # error: "form"
wd.frame_acceleration(model, q, v, v, kind="spacial")  # error: "kind"
wd.aba(model, q, v, v, method="rnea")  # error: "method"
wd.convert.matrix_to_pose(q, order="wxzy")  # error: "order"
wd.momentum(model, q, v, reference="com")  # error: "reference"
wd.convert.force(model, q, v, source="bullet")  # error: "source"
wd.random.scale(0.5, 2.0, "gauss")  # error: "scale"
wd.load("x.urdf", floating_bas=True)  # error: "floating_bas"
wd.load("x.xml", loops="open")  # error: "loops"
wd.load_robot("panda", base_velocity="lokal")  # error: "base_velocity"
wd.ModelBuilder("r").add_joint("j", "hinge", "a", "b")  # error: "add_joint"
model.with_base_velocity("lokal")  # error: 'lokal'
wd.rnea(model, q, v, v, params={"mass": 1.0})  # error: "params"
wd.rnea(model, q, v)  # error: "a"
wd.bind(wd.rnea, model, q, v)  # error: "bind"
wd.crba(model, "q")  # error: "crba"
wrong: torch.Tensor = wd.crba(model, q)  # error: Tensor
"""

TASKS = """
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn import rl
from warpdyn.rl import terms


class Walking(rl.Episode):
    phase: float
    tilt: np.ndarray


def calm(robot: wd.kernels.Robot, s: rl.Episode, *, size: float) -> Any:
    return terms.action_rate(s.action, s.last_action) / size


class Walk(rl.Task[Walking]):
    dt, substeps, seconds = 0.005, 4, 5.0
    actions, largest_action = 2, 1.0
    scales = {"upright": 1.0, "touch": -0.1}
    rewards = {"calm": rl.Reward(-0.01, calm, size=2.0)}
    numbers = {"tilt": np.array([0.2])}
    groups = {"policy": ("gravity", "speeds"), "critic": ("gravity", "speeds", "force")}
    noise = {"speeds": rl.Noise(0.1)}
    history = {"policy": 3}
    vary = {"friction": rl.Vary(0.4, 1.0), "mass": rl.Vary(0.9, 1.1, how="scale", of="*_foot")}
    push = rl.Push(1.0, 5.0)
    drives = wd.PD(500.0, 50.0)
    recipe = rl.Recipe(envs=64, practice={"seconds": 3.0})

    def __init__(self) -> None:
        self.model = wd.load_robot("quadruped")
        self.pairs = wd.ContactPairs(self.model).with_ground("base")
        self.points = [wd.ContactPoint("base", (0.0, 0.0, 0.0), 0.02)]

    def begin(self, robot: wd.kernels.Robot, s: Walking) -> dict[str, Any]:
        joints = wd.random.uniform(s.random.at(32), 12, -0.1, 0.1)
        return {"q": s.configuration(joints, {"base": s.body("base").pose}), "phase": 0.0}

    def control(self, robot: wd.kernels.Robot, s: Walking) -> dict[str, Any]:
        return {"targets": s.q[7:] + 0.1 * s.action, "tau": robot.gravity_torques(s.q)}

    def update(self, robot: wd.kernels.Robot, s: Walking) -> dict[str, np.ndarray]:
        reveal_type(s.phase)  # float
        reveal_type(s.tilt)  # ndarray
        reveal_type(s.task.name)  # str
        return {"phase": terms.advance_phase(s.phase, self.step_seconds, True)}

    def observe(self, robot: wd.kernels.Robot, s: rl.Episode) -> dict[str, Any]:
        return {"gravity": terms.gravity_in_base(s.q), "force": s.force_on("base"), "speeds": s.v}

    def reward(self, robot: wd.kernels.Robot, s: Walking) -> dict[str, Any]:
        s.phace  # error: "phace"; maybe "phase"
        s.force_onn("base")  # error: "force_onn"
        s.body("base").positon  # error: "positon"
        s.in_contact("base", treshold=1.0)  # error: "treshold"
        terms.tillt(s.q)  # error: "tillt"
        self.step_second  # error: "step_second"
        return {"upright": terms.uprightness(s.q), "touch": s.in_contact("base", threshold=1.0)}

    def is_terminal(self, robot: wd.kernels.Robot, s: Walking) -> Any:
        return (s.time > 0.1) & (np.abs(s.q[1]) > s.tilt[0]) & (s.age > 1)


class Short(rl.Task):
    actions = 1

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        s.torque  # error: "torque"; maybe "torques"
        reveal_type(s.torques)  # ndarray
        return {}


class Own(rl.QuadrupedVelocity):
    rewards = {**Walk.rewards, "less": Walk.rewards["calm"].with_weight(-0.02)}

    def reward(self, robot: wd.kernels.Robot, s: Any) -> dict[str, Any]:
        return {**super().reward(robot, s), "clock": s.phase}


env = rl.VecEnv(Walk(), 16, seed=0, autoreset="next_step")
rl.Trainer(Walk(), recipe=Walk.recipe, seed=1)
rl.evaluate(Short(), rl.bundled_policy("quadruped_velocity"))
rl.NumpyEnv(rl.VecEnv(rl.make("cartpole_swing_up"), 2), "rgb_array")
rl.SingleEnv(Own(), dtype="float64").reset(seed=0)
rl.VecEnv(Walk(), 16, autoreset="nextstep")  # error: "autoreset"
rl.Vary(0.4, 1.0, how="scaled")  # error: "how"
rl.Noise(0.4, "gauss")  # error: "Noise"
rl.Recipe(learner="sac")  # error: "learner"
rl.VecEnv(Walk, 16)  # error: "VecEnv"
"""


@pytest.mark.parametrize("program", [PROGRAM, TASKS], ids=["functions", "tasks"])
def test_a_type_checker_knows_arrays_words_and_options(tmp_path: Path, program: str) -> None:
    """NumPy arrays give NumPy arrays, Torch tensors give Torch tensors, and an episode has the
    fields of its class. A misspelt word, option, field or method is an error on its line, and there
    is no other error."""
    pytest.importorskip("mypy")
    pytest.importorskip("torch")
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", tmp_path / "program.py"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(ROOT)},
    )
    said: dict[int, list[str]] = {}
    for line in done.stdout.splitlines():
        place = re.fullmatch(r"(.*program\.py):(\d+): (?:error|note): (.*)", line)
        assert place or line.startswith("Found "), done.stdout + done.stderr
        if place:
            said.setdefault(int(place[2]), []).append(place[3])
    for number, line in enumerate(program.splitlines(), 1):
        code, _, wanted = line.partition("  # ")
        answers = said.get(number, [])
        if wanted.startswith("error: "):
            assert answers and wanted.removeprefix("error: ") in answers[0], (line, answers)
        elif wanted:
            (answer,) = answers
            assert without_details(answer) == wanted, (line, answer)
        else:
            assert not answers, (code, answers)


def without_details(revealed: str) -> str:
    """The type that `reveal_type` prints, without modules, shapes and dtypes."""
    kind = re.fullmatch(r'Revealed type is "(.*)"', revealed)
    assert kind, revealed
    text = re.sub(r"numpy\.floating\[[\w.]+\]", "float32", kind[1])
    text = re.sub(r"ndarray\[tuple\[[^\]]*\], numpy\.dtype\[[^\]]*\]\]", "ndarray", text)
    text = re.sub(r"\w+(?:\.\w+)*\.(\w+)", r"\1", text)
    named = re.search(r"fallback=(.*)\]$", text)
    return named[1] if named else text


def words(alias: Any) -> list[str]:
    """The words of a Literal, or of a union of them."""
    return [word for each in get_args(alias) for word in (words(each) or [each])]


@pytest.mark.parametrize(
    ("alias", "known"),
    [
        (Form, FORMS),
        (Part, PARTS),
        (KindName, wd.description.KINDS),
        (OtherLibrary, CONVENTIONS),
        (representations.Side, [representations.OWN, *CONVENTIONS]),
    ],
    ids=["Form", "Part", "KindName", "OtherLibrary", "Side"],
)
def test_a_literal_type_lists_exactly_the_known_words(alias: Any, known: Collection[str]) -> None:
    """Each word is listed once."""
    assert sorted(words(alias)) == sorted(known)


@pytest.mark.parametrize(
    ("alias", "choices"),
    [
        (Reference, REFERENCES),
        (centroidal.MomentumReference, centroidal.REFERENCES),
        (centroidal.CentroidalReference, centroidal.CENTROIDAL_REFERENCES),
    ],
    ids=["Reference", "MomentumReference", "CentroidalReference"],
)
def test_the_reference_type_lists_all_accepted_spellings(
    alias: Any, choices: Collection[str]
) -> None:
    """References have names and aliases, in lower case and in upper case as in Pinocchio."""
    small = {*choices, *(word for word, name in ALIASES.items() if name in choices)}
    assert sorted(words(alias)) == sorted(small | {word.upper() for word in small})
    assert {reference_of(word, choices=list(choices)) for word in words(alias)} == set(choices)


def public_callables() -> dict[str, Any]:
    """Public functions, and public methods of the classes that users call."""
    known = {name: each for name, each in public_names().items() if name.islower()}
    known["labels.label"] = wd.labels.label
    known |= {
        f"inertial.{name}": each
        for name, each in vars(wd.inertial).items()
        if inspect.isfunction(each) and each.__module__ == wd.inertial.__name__
    }
    for owner in (wd.Model, wd.ModelBuilder, wd.Group, wd.Params):
        for name, method in inspect.getmembers(owner, callable):
            if not name.startswith("_"):
                known[f"{owner.__name__}.{name}"] = method
    return {name: each for name, each in known.items() if callable(each)}


FREE = {
    *(
        "derivatives: wrt",
        "kernels.compile: device",
        "Model.attach: prefix",
        "Model.assemble: source",
    ),
    *(
        *(f"ModelBuilder.{kind}: name" for kind in ("connect", "weld", "hinge", "couple")),
        "labels.label: on",
        "labels.label: filter",
        "labels.label: topic",
    ),  # with an address, a window, of any name
}
"""Texts that are no choice between words."""


def test_no_option_with_a_default_word_has_type_str() -> None:
    """The type of such an option lists the other words."""
    untyped = {
        f"{name}: {parameter.name}"
        for name, function in public_callables().items()
        for parameter in inspect.signature(function).parameters.values()
        if isinstance(parameter.default, str) and "str" in re.findall(r"\w+", parameter.annotation)
    }
    assert untyped <= FREE


def test_no_public_function_takes_unnamed_options() -> None:
    """Exceptions are functions that pass options on to another function, and a xacro file's
    arguments."""
    open_ended = {
        name
        for name, function in public_callables().items()
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.VAR_KEYWORD
    }
    handing_on = {"bind", "oracle", "vjp", "jvp", "derivatives", "Group.bind", "Group.cost"}
    assert open_ended <= {*handing_on, "load_xacro", "Params.replace"}


def test_words_from_run_time_strings_are_accepted(tmp_path: Path) -> None:
    """A type checker sees such a word as a str. The call works all the same."""
    word, order = "".join(["wor", "ld"]), "wxyz"
    model: Any = wd.load_robot("panda", quaternion=order, base_velocity=word)  # type: ignore[arg-type]
    assert model.quaternion in get_args(QuaternionOrder) and model.base_velocity in REFERENCES
