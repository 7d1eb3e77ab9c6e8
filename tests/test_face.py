"""The public face of the package: its names, and how its objects print."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from itertools import pairwise
from types import ModuleType

import numpy as np
import pytest
from public_names import public_names

import warpdyn as wd

NAMESPACES = ("convert", "description", "kernels", "loops", "random", "results", "runtime")


def test_dir_shows_the_public_names() -> None:
    """`dir(wd)` shows no module but `inertial` and the namespaces, and no old name."""
    assert set(dir(wd)) == {*wd.__all__, "__version__"}
    modules = {name for name in dir(wd) if isinstance(getattr(wd, name), ModuleType)}
    assert modules == {"inertial", *NAMESPACES}


def test_the_top_level_is_short() -> None:
    """It has at most 130 names, each once. No namespace repeats one of them."""
    names = list(public_names())
    assert len(wd.__all__) == len(set(wd.__all__)) <= 130
    spaced = {name.partition(".")[2] for name in names if "." in name}
    assert not spaced & {*wd.__all__}


@pytest.mark.parametrize("name", NAMESPACES)
def test_a_namespace_is_a_module(name: str) -> None:
    """`import warpdyn.convert` works, and each name of its `__all__` exists."""
    space = importlib.import_module(f"warpdyn.{name}")
    assert space is getattr(wd, name) and (space.__doc__ or "").strip()
    assert space.__all__ and all(hasattr(space, each) for each in space.__all__)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("convert_quaternions", "convert.quaternion"),
        ("set_num_thread", "runtime.set_num_threads"),
        ("forward_kinematics", "fk"),
        ("inverse_dynamics", "rnea"),
        ("forward_dynamics", "aba"),
        ("mass_matrix", "crba"),
        ("randomize", "randomise"),
        ("id", "rnea"),
        ("fd", "aba"),
        ("jacobain", "jacobian"),
    ],
)
def test_a_common_name_of_the_field_suggests_our_name(word: str, meant: str) -> None:
    """The AttributeError names the function that is meant."""
    with pytest.raises(AttributeError, match=f"no attribute '{word}'; did you mean wd.{meant}\\?"):
        getattr(wd, word)
    assert meant in public_names()


def test_suggested_names_are_public() -> None:
    """Every suggestion is a public name, and no public name needs one."""
    words = vars(wd)["_FIELD_WORDS"]
    assert set(words.values()) <= set(wd.__all__) and not set(words) & set(wd.__all__)
    with pytest.raises(AttributeError, match=r"no attribute 'xyzzy'$"):
        getattr(wd, "xyzzy")  # noqa: B009
    with pytest.raises(AttributeError, match=r"no attribute '_rnea'$"):
        getattr(wd, "_rnea")  # noqa: B009


def test_references_may_have_pinocchios_spelling() -> None:
    """LOCAL_WORLD_ALIGNED means "local_world_aligned". An unknown word is refused."""
    model = wd.load_robot("panda")
    one, other = (
        wd.jacobian(model, model.neutral, frame="panda_hand", reference=word)
        for word in ("LOCAL_WORLD_ALIGNED", "local_world_aligned")
    )
    assert (one == other).all()
    with pytest.raises(ValueError, match="reference must be one of local, world"):
        wd.jacobian(model, model.neutral, frame="panda_hand", reference="LOKAL")


def test_solutions_and_params_print_one_line() -> None:
    """A solution prints how many targets were solved, and how well. Params print which quantities
    vary, and of which links."""
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    model = wd.load_robot("panda")
    T = np.tile(np.eye(4), (3, 1, 1))
    T[:, :3, 3] = 0.4, 0.1, 0.5
    T[2, :3, 3] = 5.0, 0.0, 0.0  # out of reach
    for targets in (T, torch.tensor(T)):
        said = repr(wd.inverse_kinematics(model, targets, frame="panda_hand"))
        assert said.startswith("<Solution: 2 of 3 solved; at worst 4") and "\n" not in said
    shown: list[str] = []

    def solve(x: jax.Array) -> jax.Array:
        found = wd.inverse_kinematics(model, x, frame="panda_hand")
        shown.append(repr(found))
        return found.q

    jax.jit(solve)(jax.numpy.asarray(T, jax.numpy.float32))
    assert shown == ["<Solution with q (3, 8)>"]
    params = model.params(
        4, mass={"panda_hand": 1.0}, armature={"panda_joint1": 0.1, "panda_joint2": 0.2}
    )
    assert repr(params) == (
        "<Params of panda: mass (4, 1) of panda_hand, armature (4, 2) of 2 of the model>"
    )


def test_labels_and_the_viewer_are_imported_on_first_use() -> None:
    """Neither needs an import statement, and `import warpdyn` needs none of their packages. Without
    them, `wd.viewer` says what to install."""
    code = (
        "import sys, warpdyn as wd\n"
        "assert not {'viser', 'warpdyn.viewer', 'warpdyn.labels'} & set(sys.modules)\n"
        "wd.labels.label; sys.modules['viser'] = None\n"
        "try: wd.viewer\nexcept ImportError as error: print(error)\n"
        "del sys.modules['viser']; print(wd.viewer.show.__name__)"
    )
    pytest.importorskip("viser")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    refused, opened = done.stdout.splitlines()[-2:]
    assert refused.startswith("warpdyn.viewer needs viser") and opened == "show"
    assert "pip install '.[viewer]' in warpdyn's folder" in refused


def test_the_command_prints_its_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "warpdyn", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"warpdyn {wd.__version__}\n"


def undocumented_attributes(owner: type) -> list[str]:
    """Public attributes without a docstring. The docstring of a field of a dataclass or named tuple
    is below it."""
    documented: set[str] = set()
    for each in owner.__mro__:
        if not each.__module__.startswith("warpdyn"):
            continue
        (definition,) = ast.parse(inspect.getsource(each)).body
        assert isinstance(definition, ast.ClassDef)
        for line, below in pairwise(definition.body):
            if (
                isinstance(line, ast.AnnAssign)
                and isinstance(line.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
                and isinstance(below.value.value, str)
            ):
                documented.add(line.target.id)
    names = {name for each in owner.__mro__ for name in getattr(each, "__annotations__", {})}
    members = {name: getattr(owner, name, None) for name in {*names, *dir(owner)}}
    if issubclass(owner, tuple):
        members = {name: members[name] for name in members if not hasattr(tuple, name)}
    return sorted(
        name
        for name, member in members.items()
        if not name.startswith("_")
        and name not in documented
        and (name in names or not inspect.getdoc(member))
    )


@pytest.mark.parametrize(
    "owner", [wd.Model, wd.Params, wd.results.Solution], ids=lambda each: each.__name__
)
def test_every_public_attribute_has_a_docstring(owner: type) -> None:
    """The test covers fields, properties and methods of the classes that users meet most."""
    assert undocumented_attributes(owner) == []
