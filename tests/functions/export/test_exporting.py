"""Exported code gives the oracle's numbers with each compiler, and what cannot be exported is
refused.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from exported_code import WARNINGS, CompiledHeader, compiler

import warpdyn as wd
from ros2_node.laws.joint_impedance import joint_impedance
from warpdyn.cli.workload import random_states

FREE = ("quadruped", "humanoid")
STATES = {"rnea": ("q", "v", "a"), "aba": ("q", "v", "tau"), "crba": ("q",), "fk": ("q",)}
ROWS = 11
"""Robots of a batch: no whole number of vectors."""


def functions_of(model: wd.Model) -> dict:
    """The five algorithms, of the last link if they need one."""
    frame = model.link_names[-1]
    return {
        "rnea": wd.rnea,
        "aba": wd.aba,
        "crba": wd.crba,
        "fk": partial(wd.fk, frame=frame),
        "jacobian": partial(wd.jacobian, frame=frame),
    }


def robot(name: str) -> wd.Model:
    return wd.load_robot(name, floating_base=True) if name in FREE else wd.load_robot(name)


CASES = [
    ("panda", "c++", 0, "-O3", "float32"),
    ("ur5e", "c++", 1, "-O2", "float64"),
    ("quadruped", "c", 0, "-O1", "float64"),  # optimising takes long
    ("cartpole", "c", 1, "-O3", "float32"),
    *(pytest.param(*case, "float64", marks=pytest.mark.slow) for case in (
        ("quadruped", "c++", 1, "-O2"),
        ("humanoid", "c++", 0, "-O1"),
        ("humanoid", "c", 1, "-O1"),
    )),
]  # fmt: skip
"""Each language with each compiler and each precision, and each compiler with each precision. Large
headers take long to compile."""


@pytest.mark.parametrize(("name", "language", "which", "level", "dtype"), CASES)
def test_exported_code_equals_the_oracle(
    name: str, language: str, which: int, level: str, dtype: str, tmp_path: Path
) -> None:
    """The test covers one robot and a batch, both languages and precisions, and gcc and clang."""
    compiler(language, which)
    model = robot(name)
    functions = functions_of(model)
    text = wd.export(model, functions, language=language, dtype=dtype)
    made = CompiledHeader(
        tmp_path,
        text,
        {f: (*STATES.get(f, ("q",)), "out") for f in functions},
        namespace=name,
        language=language,
        which=which,
        options=(level, "-march=native"),
        single=dtype == "float32",
    )
    states = {k: x.astype(dtype) for k, x in random_states(model, ROWS).items()}
    for f, function in functions.items():
        inputs = [states[x] for x in STATES.get(f, ("q",))]
        whole = function.func if isinstance(function, partial) else function
        options = function.keywords if isinstance(function, partial) else {}
        expected = np.asarray(
            wd.oracle(whole, model, *(x.astype(float) for x in inputs), **options)
        )
        for found in (made.one_by_one, made.batch):
            error = np.abs(found(f, inputs, expected.shape[1:]) - expected).max()
            bound = 1e-13 if dtype == "float64" else 1e-5
            assert error <= bound * max(1.0, np.abs(expected).max()), (f, found.__name__)


def test_freestanding_code_without_libm_equals_the_oracle(tmp_path: Path) -> None:
    """C without the mathematical library and C++ without exceptions give the same numbers."""
    model = robot("quadruped")
    states = random_states(model, ROWS)
    expected = wd.oracle(wd.rnea, model, states["q"], states["v"], states["a"])
    for language, options in (
        ("c", ("-O2", "-ffreestanding", "-fno-math-errno")),
        ("c++", ("-O2", "-fno-exceptions", "-fno-rtti")),
    ):
        text = wd.export(model, [wd.rnea], language=language, libm=False)
        assert "#include <math.h>" not in text and "#include <cmath>" not in text
        made = CompiledHeader(
            tmp_path,
            text,
            {"rnea": ("q", "v", "a", "tau")},
            namespace="quadruped",
            language=language,
            options=options,
        )
        found = made.batch("rnea", [states[x] for x in "qva"], (model.nv,))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_sanitizers_report_no_error_in_exported_code(tmp_path: Path) -> None:
    """The program is built with the sanitizers of addresses and of undefined behaviour."""
    gcc = compiler("c++", 0)
    model = robot("quadruped")
    (tmp_path / "quadruped.hpp").write_text(wd.export(model, functions_of(model)))
    (tmp_path / "main.cpp").write_text(
        '#include "quadruped.hpp"\n'
        "int main() {\n"
        "  using namespace quadruped;\n"
        "  double q[5 * nq] = {}, v[5 * nv] = {}, a[5 * nv] = {}, M[5 * nv * nv];\n"
        "  for (int k = 0; k < 5; ++k) q[k * nq + 6] = 1.0;\n"
        "  rnea(q, v, a, M); aba(q, v, a, M); crba(q, M);\n"
        "  rnea_batch(5, q, v, a, M); aba_batch(5, q, v, a, M); crba_batch(5, q, M);\n"
        "  return M[0] > 0 ? 0 : 1;\n"
        "}\n"
    )
    checks = "-fsanitize=address,undefined"
    build = [gcc, "-std=c++17", *WARNINGS, "-O1", checks, "-fno-sanitize-recover", "main.cpp"]
    subprocess.run([*build, "-o", "main"], cwd=tmp_path, check=True)
    ran = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:2000]


def test_code_for_aarch64_equals_the_oracle(tmp_path: Path) -> None:
    """It is cross-compiled and run by qemu if both are installed."""
    cross, qemu = "aarch64-linux-gnu-g++", "qemu-aarch64"
    if shutil.which(cross) is None or shutil.which(qemu) is None:
        pytest.skip(f"there is no {cross} or no {qemu} here")
    model = robot("panda")
    (tmp_path / "panda.hpp").write_text(wd.export(model, [wd.rnea]))
    (tmp_path / "main.cpp").write_text(
        '#include <cstdio>\n#include "panda.hpp"\nint main() {\n'
        "  double q[8], v[8], a[8], tau[8];\n"
        "  for (int k = 0; k < 8; ++k) { q[k] = 0.1 * k; v[k] = 0.2 - 0.1 * k; a[k] = 0.3; }\n"
        "  panda::rnea_batch(1, q, v, a, tau);\n"
        '  for (int k = 0; k < 8; ++k) std::printf("%.17g\\n", tau[k]);\n}\n'
    )
    build = [cross, "-std=c++17", *WARNINGS, "-O3", "-static", "main.cpp", "-o", "main"]
    subprocess.run(build, cwd=tmp_path, check=True)
    ran = subprocess.run([qemu, "./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    k = np.arange(8)
    expected = wd.oracle(wd.rnea, model, 0.1 * k, 0.2 - 0.1 * k, np.full(8, 0.3))
    np.testing.assert_allclose([float(x) for x in ran.stdout.split()], expected, atol=1e-13)


def test_parameters_of_a_partial_become_arguments(tmp_path: Path) -> None:
    """Params in a partial become arrays of the function, after the others."""
    model = robot("panda")
    links = ["panda_hand"]
    some = model.params(mass={x: np.array(1.0) for x in links})
    text = wd.export(model, [partial(wd.rnea, params=some)])
    assert "const number mass[" in text
    sizes = model.params(mass={x: np.array(1.0) for x in links}).shape("mass")
    made = CompiledHeader(
        tmp_path, text, {"rnea": ("q", "v", "a", "mass", "tau")}, namespace="panda"
    )
    states = random_states(model, 3)
    masses = np.full((3, *sizes), 2.5)
    found = made.one_by_one("rnea", [*(states[x] for x in "qva"), masses], (model.nv,))
    heavier = model.params(mass={x: np.full(3, 2.5) for x in links})
    expected = wd.oracle(wd.rnea, model, *(states[x] for x in "qva"), params=heavier)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_users_kernel_is_exported(tmp_path: Path) -> None:
    """Like a function of the library, with fixed options."""

    @wd.kernel
    def impedance(robot, q, v, q_wanted, *, stiffness: float = 40.0):
        """Torques of springs at the joints, and what gravity takes."""
        return {"tau": stiffness * (q_wanted - q) - 2.0 * v + robot.rnea(q, 0.0 * v, 0.0 * v)}

    model = robot("ur5e")
    text = wd.export(model, [impedance])
    assert "/// impedance: Torques of springs at the joints" in text
    made = CompiledHeader(
        tmp_path, text, {"impedance": ("q", "v", "q_wanted", "tau")}, namespace="ur5e"
    )
    states = random_states(model, 4)
    inputs = [states["q"], states["v"], states["q"] + 0.1]
    found = made.one_by_one("impedance", inputs, (model.nv,))
    gravity = wd.oracle(wd.rnea, model, states["q"], 0 * states["v"], 0 * states["v"])
    np.testing.assert_allclose(found, 4.0 - 2.0 * states["v"] + gravity, atol=1e-12)


def test_functions_that_cannot_be_exported_are_refused_with_the_reason(tmp_path: Path) -> None:
    """Iterations without a fixed end, functions with one name, and an existing file."""
    model = robot("panda")
    search = partial(wd.inverse_kinematics, frame="panda_hand")
    with pytest.raises(ValueError, match="it repeats until it is done"):
        wd.export(model, [search])
    frames = [partial(wd.fk, frame="panda_hand"), partial(wd.fk, frame="panda_hand")]
    with pytest.raises(ValueError, match=r"two functions would be called fk_panda_hand; give"):
        wd.export(model, frames)
    for names in (("a b", "a_b"), ("rnea", "rnea_batch"), ("rnea_batch", "rnea")):
        with pytest.raises(ValueError, match=f"two functions would be called {names[1]}; give"):
            wd.export(model, dict.fromkeys(names, wd.rnea))
    with pytest.raises(ValueError, match="no function can be called nq, which the header itself"):
        wd.export(model, {"nq": wd.rnea})
    with pytest.raises(TypeError, match=r"must hold functions .* such as wd.rnea, got 'rnea'"):
        wd.export(model, ["rnea"])
    with pytest.raises(TypeError, match=r"^calls must hold functions of a model, .* got 'sin'"):
        wd.export(model, [np.sin])
    with pytest.raises(ValueError, match="nothing to export"):
        wd.export(model, [])
    with pytest.raises(TypeError, match="calls must be a list"):
        wd.export(model, wd.rnea)
    with pytest.raises(ValueError, match=r'language must be "c\+\+" or "c", got \'rust\''):
        wd.export(model, [wd.rnea], language="rust")

    @wd.kernel
    def growth(robot, q, v):
        return {"rate": np.exp(q[:1]) + np.log(v[:1])}

    words = "growth needs exp, log of the C library, which libm=False leaves out"
    with pytest.raises(ValueError, match=words):
        wd.export(model, [wd.rnea, growth], libm=False)
    file = tmp_path / "panda.hpp"
    wd.export(model, [wd.crba], file)
    with pytest.raises(FileExistsError, match="overwrite=True replaces it"):
        wd.export(model, [wd.crba], file)
    assert wd.export(model, [wd.crba], file, overwrite=True) == file.read_text()
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file in it"):
        wd.export(model, [wd.crba], tmp_path)


def test_arguments_named_sine_and_cosine_do_not_clash_with_tables(tmp_path: Path) -> None:
    """They are read unchanged, next to sines of the robot's angles."""

    @wd.kernel
    def mix(robot, q, sine: (2,), cosine: (2,)):
        """Turned, and added to."""
        return {"out": np.sin(q) * sine + np.cos(q) + cosine}

    model = robot("double_pendulum")
    text = wd.export(model, [mix])
    names = ("q", "sine_", "cosine_", "out_")
    made = CompiledHeader(tmp_path, text, {"mix": names}, namespace="double_pendulum")
    q, one, other = np.random.default_rng(0).uniform(-1, 1, (3, 4, model.nq))
    found = made.batch("mix", [q, one, other], (model.nq,))
    np.testing.assert_allclose(found, np.sin(q) * one + np.cos(q) + other, atol=1e-14)


def test_arguments_named_like_types_and_helpers_do_not_clash(tmp_path: Path) -> None:
    """Names that the header defines itself stay. The function's name becomes an identifier too."""

    @wd.kernel
    def odd(robot, q, number: (2,), sqrt: (2,), lanes: (2,), q_lanes: (2,)):
        """Arrays that a header has names for."""
        return {"routine0_out": np.sqrt(q * q + 1.0) * number + sqrt - lanes * q_lanes}

    model = robot("cartpole")
    arrays = ("q", "number_", "sqrt_", "lanes_", "q_lanes_", "out_")
    text = wd.export(model, {"1st of: mine": odd})
    made = CompiledHeader(tmp_path, text, {"n1st_of_mine": arrays}, namespace="cartpole")
    q, *others = np.random.default_rng(0).uniform(-1, 1, (5, 4, 2))
    expected = np.sqrt(q * q + 1.0) * others[0] + others[1] - others[2] * others[3]
    found = made.batch("n1st_of_mine", [q, *others], (2,))
    np.testing.assert_allclose(found, expected, atol=1e-14)


def test_empty_results_are_not_written() -> None:
    """A model without contact points has no forces.

    Writing them would access memory outside any array.
    """
    text = wd.export(robot("cartpole"), [wd.state_derivative])
    assert "forces[n x 0 x 3]" in text and "scatter(acceleration_lanes" in text
    assert "scatter(forces" not in text


def test_names_that_are_not_identifiers_in_c_are_changed() -> None:
    """Robots and links may have any name.

    Arrays do not clash with names that a program uses itself.
    """

    @wd.kernel
    def spring(robot, q, t1: (2,), work: (2,)):
        """Something of arrays with short names."""
        return {"out": q[0] * t1 + work}

    text = wd.export(robot("cartpole"), {"spring": spring}, namespace="1st robot: Ärm")
    assert "namespace n1st_robot_Arm {" in text
    assert "const number t1_[2], const number work_[2], number out_[2]" in text


def test_comments_state_the_reference_frame_of_a_result() -> None:
    """Options are listed with their defaults, and the meaning of a reference is explained."""
    model = wd.load_robot("cartpole")
    hand = partial(wd.jacobian, frame="pole")
    text = wd.export(model, {"J": hand, "J_local": partial(hand, reference="local")})
    assert text.count("/// frame = pole\n") == 2
    assert "/// reference = local, in the link's axes, at its origin\n" in text
    assert (
        "/// reference = local_world_aligned, in the world's axes, at the link's origin\n" in text
    )


@pytest.mark.parametrize("language", ["c++", "c"])
def test_a_loop_that_ends_early_is_exported_with_bounded_loops(
    language: str, tmp_path: Path
) -> None:
    """It gives the oracle's numbers for one robot and for a batch."""
    model = robot("ur5e")
    with pytest.raises(ValueError, match="bounded_loops=True"):
        wd.export(model, {"law": joint_impedance}, language=language)
    text = wd.export(model, {"law": joint_impedance}, language=language, bounded_loops=True)
    assert "Loops of at most 19 steps end early" in text
    shapes = joint_impedance.signature.arrays
    names = [name for name, each in shapes.items() if each.default is None]
    functions = {"law": (*names, "out")}
    made = CompiledHeader(tmp_path, text, functions, namespace="ur5e", language=language)
    draw = np.random.default_rng(0)
    inputs = {n: draw.uniform(0.1, 1.0, (ROWS, *shapes[n].sizes(model))) for n in names}
    expected = np.asarray(wd.oracle(joint_impedance, model, **inputs))
    for found in (made.one_by_one, made.batch):
        error = np.abs(found("law", [*inputs.values()], (model.nv,)) - expected).max()
        assert error <= 1e-13 * np.abs(expected).max(), found.__name__


COMMENTS = """\
tip: Forward kinematics: poses of links in the world, or in the frame `relative_to`.

q: configuration [rad, m], 2
pose: homogeneous transform, link axes to those of the world or of relative_to [m], 4 x 4,
rows one after the other
frame = tip
form = matrix
8 operations, 2 sines and cosines.

The same for n robots, a row each: q[n x 2], pose[n x 4 x 4]."""


def test_comments_describe_the_arrays_and_the_cost() -> None:
    """The whole comment: first paragraph, arrays with their shapes, options, operations."""
    text = wd.export(wd.load_robot("double_pendulum"), {"tip": partial(wd.fk, frame="tip")})
    comments = re.findall(r"(?:^/// ?.*\n)+", text, re.MULTILINE)
    lines = [[line[4:] for line in each.splitlines()] for each in comments]
    assert "\n\n".join("\n".join(each) for each in lines) == COMMENTS


def test_comments_state_conventions_and_the_order_of_varying_numbers(tmp_path: Path) -> None:
    """The order of quaternions and the axes of the base, and the links whose numbers vary. Links are
    in the model's order, whatever the order of the caller."""
    (tmp_path / "r.urdf").write_text(wd.load_robot("quadruped").to_urdf())
    model = wd.load_urdf(tmp_path / "r.urdf", floating_base=True, quaternion="wxyz")
    model = model.with_base_velocity("world")
    params = model.params(mass={"FL_foot": 0.1, "FL_hip": 0.5})
    calls = [partial(wd.rnea, params=params, f_ext={"FL_foot": np.zeros((1, 6))})]
    text = wd.export(model, calls).replace("\n/// ", " ")
    for said in (
        "q: configuration [rad, m], 19; quaternions are w x y z",
        "v: velocity [rad/s, m/s], 18; the free base's in the world's axes, at its origin",
        "mass: [kg], 2, of FL_hip, FL_foot",
        "in its axes [N, N m], 6, on FL_foot",
    ):
        assert said in text, said


def test_the_header_describes_the_robot() -> None:
    """The header states the robot's name, key, base, sizes and precision."""
    for base, words in (
        (False, "a fixed base, nq = 8, nv = 8"),
        (True, "a free base, nq = 15, nv = 14"),
    ):
        model = wd.load_robot("panda", floating_base=base)
        text = wd.export(model, [wd.gravity_torques])
        first, second = text.splitlines()[:2]
        assert first.startswith("// panda: dynamics as straight-line code, written by warpdyn ")
        assert second.startswith(f"// Model {model.key[:16]}: {words}")


def test_links_with_the_same_identifier_in_c_are_refused() -> None:
    """Forces on both would be one argument."""
    builder = wd.ModelBuilder("r").add_link("base")
    for name in ("a b", "a_b"):
        builder.add_link(name, 1.0, inertia=np.eye(3))
        builder.add_joint(f"{name} joint", "continuous", "base", name, axis=(0, 0, 1))
    forces = {name: np.zeros((1, 6)) for name in ("a b", "a_b")}
    words = "rnea: arrays f_ext:a b, f_ext:a_b would all be called f_ext_a_b; rename a link"
    with pytest.raises(ValueError, match=f"^{words}$"):
        wd.export(builder.build(), [partial(wd.rnea, f_ext=forces)])
