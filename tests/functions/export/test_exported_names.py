"""Malicious names of a robot are only names in every exported language."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from functools import partial
from pathlib import Path

import pytest
from exported_code import WARNINGS, compiler
from hostile_names import hostile_names

import warpdyn as wd

NAMES = [name for name in hostile_names(160) if name.strip()]
HERE = Path(sysconfig.get_path("include"), "Python.h").exists() and shutil.which("cc") is not None
needs_headers = pytest.mark.skipif(not HERE, reason="needs a C compiler and Python's headers")
LANGUAGES = [("c++", 0), ("c++", 1), ("c", 0), ("c", 1)]


def robot() -> wd.Model:
    """A star of links whose names are also names of joints and parts of the robot's name."""
    made = wd.ModelBuilder("".join(NAMES))
    made.add_link("base")
    for name in NAMES:
        made.add_link(name, mass=1.0)
        made.add_joint(name, "prismatic", "base", name, axis=(0, 0, 1))
    return made.build()


def functions(model: wd.Model) -> dict:
    """A function of a malicious link under its own name, one for each way to end a comment."""
    ends = [*[name for name in NAMES if "injected" in name][::7], "ends\\", "what??", "*/", "??/"]
    return {f"f{k}{name}": partial(wd.fk, frame=name) for k, name in enumerate(ends)}


@pytest.mark.parametrize(("language", "which"), LANGUAGES)
def test_malicious_names_inject_no_code_and_are_kept_in_joint_names(
    language: str, which: int, tmp_path: Path
) -> None:
    """No name appears outside comments, strings and identifiers.

    `joint_names` equals the model's list byte by byte.
    """
    model = robot()
    suffix, standard = ("hpp", "-std=c++17") if language == "c++" else ("h", "-std=c99")
    compiled_by = compiler(language, which)
    text = wd.export(model, functions(model), language=language, namespace="arm")
    assert text.isascii()
    (tmp_path / f"arm.{suffix}").write_text(text)
    names = "arm::joint_names[k]" if language == "c++" else "arm_joint_names[k]"
    main = tmp_path / f"main.{'cpp' if language == 'c++' else 'c'}"
    main.write_text(
        f'#include "arm.{suffix}"\n#include <stdio.h>\nint main(void) {{\n'
        f"  for (int k = 0; k < {model.nv}; ++k) fwrite({names}, 1, strlen({names}) + 1, stdout);\n"
        "  return 0;\n}\n"
    )
    build = [compiled_by, standard, *WARNINGS, "-trigraphs", str(main), "-o", str(tmp_path / "go")]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:2000]
    said = subprocess.run([str(tmp_path / "go")], capture_output=True, check=True).stdout
    assert said == b"".join(name.encode() + b"\0" for name in model.joint_names)
    seen = subprocess.run(
        [compiled_by, standard, "-trigraphs", "-E", "-P", str(main)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    code = re.sub(r'"(\\.|[^"\\])*"', "", seen)
    assert not re.search(r"\binjected\b", code)


@needs_headers
def test_a_python_module_with_malicious_names_is_imported_safely(tmp_path: Path) -> None:
    """File, functions and stub of the module have valid identifiers, and the module runs."""
    model = robot()
    made = wd.export_python(model, functions(model), tmp_path, name='x */ int injected; /* "')
    assert made.name == "x_int_injected.abi3.so"
    stub = made.with_name("x_int_injected.pyi").read_text()
    compile(stub, "stub", "exec")
    assert stub.isascii()
    run = "import x_int_injected as m; print(sum(x.startswith('f') for x in dir(m)))"
    said = subprocess.run(
        [sys.executable, "-c", run], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert int(said) == 2 * len(functions(model))


def test_a_name_with_a_nul_character_is_refused() -> None:
    """A C string would end there. The error has the whole name."""
    made = wd.ModelBuilder("arm")
    made.add_link("base").add_link("tip", mass=1.0)
    model = made.add_joint("el\0bow", "revolute", "base", "tip", axis=(0, 0, 1)).build()
    with pytest.raises(ValueError, match=r"'el\\x00bow' cannot be a C string"):
        wd.export(model, [wd.rnea])


@pytest.mark.parametrize("name", ["size_t", "lane_square", "V", "WARPDYN_APART", "nq"])
def test_functions_named_like_types_and_macros_are_refused(name: str) -> None:
    """Before, compilers reported errors in the header."""
    with pytest.raises(ValueError, match="which the header itself defines; give another name"):
        wd.export(wd.load_robot("cartpole"), {name: wd.gravity_torques})


@pytest.mark.parametrize(("language", "which"), [("c++", 0), ("c++", 1), ("c", 0)])
@pytest.mark.parametrize("name", ["gamma", "index", "div_t"])
def test_headers_of_robots_named_like_functions_of_c_compile(
    name: str, language: str, which: int, tmp_path: Path
) -> None:
    """Before, the namespace `gamma` was an error next to the function of math.h."""
    model = wd.load_robot("cartpole")
    text = wd.export(model, [wd.gravity_torques], namespace=name, language=language)
    ending, standard = ("cpp", "-std=gnu++17") if language == "c++" else ("c", "-std=gnu99")
    header = tmp_path / "robot.h"
    header.write_text(text)
    source = tmp_path / f"robot.{ending}"
    call = f"{name}_::gravity_torques" if language == "c++" else f"{name}_gravity_torques"
    declared = "void torques(const double *q, double *tau)"
    source.write_text(f'#include "robot.h"\n{declared};\n{declared} {{ {call}(q, tau); }}\n')
    command = [compiler(language, which), standard, *WARNINGS, "-fsyntax-only", str(source)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:2000]
