"""Quantities from texts and functions: names, inputs, values, and their descriptions."""

from __future__ import annotations

import hashlib
import re
from collections import namedtuple
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.labels.row_quantities import named_results, read_quantities, read_quantity
from warpdyn.user_kernels.loading import load_kernel

PANDA = wd.load_robot("panda")
KERNEL = '''import warpdyn as wd


@wd.kernel
def residual(robot, q, v, a, tau, *, gain=1.0):
    """Torque that the model does not explain [N·m]."""
    return {"tau": gain * (tau - robot.rnea(q, v, a)), "power": (tau * v).sum()}
'''


def test_values_equal_the_functions_results() -> None:
    """Names and inputs are those of the functions, in float32 too."""
    q = wd.random_configuration(PANDA, 5, dtype="float32")
    v = wd.random_configuration(PANDA, 5, seed=1, dtype="float32")
    arrays = {"q": q, "v": v, "a": v}
    rnea, fk, named = read_quantities(PANDA, ["rnea", "fk:panda_hand", "energy=kinetic_energy"])
    assert (rnea.name, fk.name, named.name) == ("tau", "fk_panda_hand", "energy")
    assert (rnea.inputs, fk.inputs, named.inputs) == (("q", "v", "a"), ("q",), ("q", "v"))
    assert np.array_equal(rnea.values(PANDA, arrays)["tau"], wd.rnea(PANDA, q, v, v))
    hand = wd.fk(PANDA, q, frame="panda_hand")
    assert np.array_equal(fk.values(PANDA, arrays)["fk_panda_hand"], hand)
    assert rnea.shape(PANDA, "q") == (8,)
    from_python = read_quantity(PANDA, partial(wd.fk, frame="panda_hand"))
    assert (from_python.name, from_python.text) == ("fk_panda_hand", "fk:panda_hand")


def test_a_users_kernel_is_a_quantity(tmp_path: Path) -> None:
    """It is given by its file with options, and its results have names. A changed file is another
    quantity."""
    path = tmp_path / "my.py"
    path.write_text(KERNEL)
    quantity = read_quantity(PANDA, f"{path}:residual:gain=2.0")
    assert quantity.inputs == ("q", "v", "a", "tau") and quantity.options == {"gain": 2.0}
    x = np.ones((3, 8))
    values = quantity.values(PANDA, {"q": 0 * x, "v": x, "a": x, "tau": x})
    assert np.allclose(values["residual_tau"], 2 * (1 - wd.rnea(PANDA, 0 * x, x, x)))
    assert np.allclose(values["residual_power"], 8.0)
    assert quantity.about()["about"] == "Torque that the model does not explain [N·m]."
    path.write_text(KERNEL.replace("tau - robot", "2 * tau - robot"))
    assert read_quantity(PANDA, f"{path}:residual:gain=2.0").text != quantity.text


def test_descriptions_contain_unit_frame_and_options() -> None:
    """They also contain the joints of a vector. Columns may be separate for each joint."""
    (tau, J) = read_quantities(PANDA, ["rnea", "jacobian:panda_hand:reference=local"])
    assert tau.about()["unit"] == "N·m, N" and tau.about()["frame"].startswith("joint axes")
    assert J.about()["options"] == {"frame": "panda_hand", "reference": "local", "part": "both"}
    (label,) = tau.labels(PANDA, {"tau": np.zeros((2, 8))}, True)
    assert label.apart[0] == "tau_panda_joint1" and label.about["entries"][0] == "panda_joint1"
    (label,) = J.labels(PANDA, {"J": np.zeros((2, 6, 8))}, True)
    assert len(label.apart) == 48 and label.apart[-1] == "J_47" and label.shape == (6, 8)


def test_several_results_are_named() -> None:
    """Tuples have numbers, named tuples and dictionaries have names. Missing results are left
    out."""
    x = np.zeros(3)
    assert set(named_results("a", (x, x))) == {"a_0", "a_1"}
    assert set(named_results("a", {"b": x, "c": None})) == {"a_b"}
    with pytest.raises(ValueError, match="a returned a float"):
        named_results("a", 1.0)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (["rnee"], "did you mean 'rnea'"),
        ([], "name at least one quantity"),
        (["rnea", "tau=crba"], "two quantities would be called tau"),
        (["manipulability"], "manipulability needs a frame: manipulability:LINK"),
        (["in_contact"], r"in_contact needs points, which no column of a log can be"),
        (
            ["momentum_observer"],
            "momentum_observer needs momentum, which no column of a log can be",
        ),
        (["height_scan"], "height_scan needs pattern, which no column of a log can be"),
        (["my-tau=rnea"], "must be an identifier"),
        (["no_such_file.py:residual"], "there is no file"),
        ([np.sin], "a quantity is a name, a function of a model"),
    ],
)
def test_invalid_quantities_are_refused(asked: list[str], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        read_quantities(PANDA, asked)


def test_incomplete_quantities_are_refused(tmp_path: Path) -> None:
    """A file lacks the function, or an option without default is not given, in text and in
    Python."""
    path = tmp_path / "my.py"
    path.write_text(
        "import warpdyn as wd\n\n\n@wd.kernel\ndef stiff(robot, q, *, k: float, d: float):\n"
        "    return k * q + d\n"
    )
    for text, said in (
        (f"{path}:soft", "soft"),
        (f"{path}:stiff", f"stiff needs its options: {path}:stiff:k=...:d=..."),
        (f"{path}:stiff:k=1.0", f"stiff needs its options: {path}:stiff:d=..."),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            read_quantity(PANDA, text)
    whole = read_quantity(PANDA, f"{path}:stiff:k=2.0:d=1.0")
    assert whole.options == {"k": 2.0, "d": 1.0} and whole.inputs == ("q",)
    assert whole.text == f"my.py:stiff:k=2.0:d=1.0 ({digest(path)})"
    assert whole.request == f"{path}:stiff:k=2.0:d=1.0"
    named = read_quantity(PANDA, f"s={path}:stiff:k=2.0:d=1.0")
    assert (named.name, named.request) == ("s", f"s={path}:stiff:k=2.0:d=1.0")
    kernel = load_kernel(f"{path}:stiff")
    with pytest.raises(ValueError, match=r"^stiff needs its options k, d$"):
        read_quantity(PANDA, kernel)
    with pytest.raises(ValueError, match=r"^stiff needs its options d$"):
        read_quantity(PANDA, partial(kernel, k=1.0))
    inner = partial(partial(kernel, k=1.0, d=2.0), k=3.0)
    assert read_quantity(PANDA, inner).options == {"k": 3.0, "d": 2.0}
    positional = partial(wd.rnea, PANDA)
    with pytest.raises(ValueError, match=r"or a wd\.kernel; got functools"):
        read_quantity(PANDA, positional)


def test_an_unknown_package_is_refused() -> None:
    with pytest.raises(ValueError, match="no_such_package"):
        read_quantity(PANDA, "no_such_package.kernels:residual")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def test_an_interactive_kernel_is_identified_by_its_code() -> None:
    """It has no file. Another constant makes another quantity."""
    texts = []
    for constant in (1.0, 2.0, 1.0):
        code = compile(f"def typed(robot, q):\n    return {constant} * q\n", "<stdin>", "exec")
        names: dict[str, object] = {}
        exec(code, names)
        texts.append(read_quantity(PANDA, wd.kernel(names["typed"])).text)
    assert texts[0] == texts[2] != texts[1] and re.fullmatch(r"typed \([0-9a-f]{12}\)", texts[0])


def test_descriptions_contain_given_options_and_relevant_defaults() -> None:
    """Relevant are the defaults that determine a meaning."""
    com, J = read_quantities(PANDA, ["com", "jacobian:panda_hand:part=linear"])
    assert "options" not in com.about() and com.about()["quantity"] == "com"
    wanted = {"reference": "local_world_aligned", "part": "linear", "frame": "panda_hand"}
    assert {n: J.about()["options"][n] for n in ("part", "frame")} == {
        n: wanted[n] for n in ("part", "frame")
    }
    assert set(J.about()["options"]) == {"reference", "part", "frame"}
    assert not J.about()["about"].endswith(".") and "." not in J.about()["about"]


def test_nested_results_are_named() -> None:
    """They are named tuples and dictionaries inside one another, in their order."""
    x, y = np.zeros(3), np.ones(3)
    pair = namedtuple("pair", "one two")
    found = named_results("a", {"b": (x, y), "c": pair(y, None)})
    assert list(found) == ["a_b_0", "a_b_1", "a_c_one"]
    assert [each[0] for each in found.values()] == [0.0, 1.0, 1.0]
