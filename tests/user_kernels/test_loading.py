"""Loading a kernel by its name: what is loaded, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.user_kernels.loading import load_kernel, missing_options, names_a_kernel, read_options
from warpdyn.user_kernels.own_kernel import OwnKernel

TEXT = """
import warpdyn as wd

GAIN = 3.0

def plain(robot, q):
    return q

@wd.kernel
def spring(robot, q, *, stiffness=2.0):
    return -stiffness * q

@wd.kernel
def damper(robot, v):
    return -v
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with two kernels."""
    path = tmp_path / "mine.py"
    path.write_text(TEXT)
    return path


def test_kernels_are_loaded_from_files_and_modules(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both run."""
    package = tmp_path / "arm_laws"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "springs.py").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    for text in (f"{file}:spring", "arm_laws.springs:spring"):
        kernel = load_kernel(text)
        assert isinstance(kernel, OwnKernel)
        result = kernel(wd.load_robot("cartpole"), np.ones((1, 2)), stiffness=5.0)
        assert np.array_equal(result, [[-5.0, -5.0]])
    for name in ("arm_laws", "arm_laws.springs"):
        sys.modules.pop(name)


def test_a_kernel_file_can_import_modules_next_to_it(file: Path) -> None:
    """Python does the same when it runs the file. sys.path is as before afterwards."""
    (file.parent / "neighbour_of_mine.py").write_text("GAIN = 7.0\n")
    file.write_text(TEXT + "from neighbour_of_mine import GAIN\n")
    before = list(sys.path)
    load_kernel(f"{file}:damper")
    assert sys.path == before
    sys.modules.pop("neighbour_of_mine")


def test_a_changed_kernel_file_is_read_again(file: Path) -> None:
    """The name does not refer to an earlier version."""
    model, q = wd.load_robot("cartpole"), np.ones((1, 2))
    assert load_kernel(f"{file}:spring")(model, q)[0, 0] == -2.0
    file.write_text(TEXT.replace("-stiffness", "-10 * stiffness"))
    assert load_kernel(f"{file}:spring")(model, q)[0, 0] == -20.0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sprnig", r"has no kernel 'sprnig'; it has spring, damper; did you mean 'spring'\?"),
        ("nothing", r"has no kernel 'nothing'; it has spring, damper$"),
        ("plain", r"mine.py:plain is not a kernel: put @wd.kernel above it"),
        ("GAIN", r"mine.py:GAIN is not a kernel but a float"),
    ],
)
def test_names_that_are_not_kernels_are_refused(name: str, said: str, file: Path) -> None:
    """The message says what is there instead, and gives the remedy."""
    with pytest.raises(ValueError, match=said):
        load_kernel(f"{file}:{name}")


@pytest.mark.parametrize("text", ["", "spring", "mine.py:", ":spring", "mine.py:a-b"])
def test_malformed_names_are_refused(text: str) -> None:
    """The message gives the two accepted forms."""
    with pytest.raises(ValueError, match=r"my.py:impedance or package.module:impedance; got"):
        load_kernel(text)


def test_missing_files_and_modules_are_refused(tmp_path: Path) -> None:
    """A file by its path, a module with the other form."""
    with pytest.raises(ValueError, match=r"there is no file .*none.py"):
        load_kernel(f"{tmp_path}/none.py:spring")
    for name in ("no_such_module", "no_such_package.module", "warpdyn.no_such_module"):
        with pytest.raises(
            ImportError, match=f"there is no module '{name}'.*named with its ending"
        ):
            load_kernel(f"{name}:spring")


def test_a_file_without_kernels_is_refused(file: Path) -> None:
    file.write_text("def spring(robot, q):\n    return q\n")
    with pytest.raises(ValueError, match=r"mine.py has no kernel: put @wd.kernel above a function"):
        load_kernel(f"{file}:sprung")


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ("x = 1 / 0\n", r"^mine.py:16: ZeroDivisionError: division by zero$"),
        ("def f(:\n", r"^mine.py:16: SyntaxError: "),
        ("import no_such_thing\n", r"^mine.py:16: ModuleNotFoundError: No module named"),
        ("import sys\nsys.exit(3)\n", r"^mine.py:17: SystemExit: 3$"),
        ("raise ValueError\n", r"^mine.py:16: ValueError$"),
        ("{}['a b']\n", r"^mine.py:16: KeyError: a b$"),
        (
            "@wd.kernel\ndef f(robot, x):\n    return x\n",
            r"^mine.py:16: TypeError: f: the shape of",
        ),
        (
            "import numpy as np\n@wd.kernel\ndef f(robot, q):\n    return q if q[0] > 0 else -q\n"
            "f(wd.load_robot('cartpole'), np.zeros((1, 2)))\n",
            r"^mine.py:19: a Python `if`",
        ),
    ],
)
@pytest.mark.parametrize("form", ["file", "module"])
def test_an_error_inside_a_kernel_file_is_one_line_with_its_line_number(
    added: str, said: str, form: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line is the file's own. No module is left in sys.modules."""
    file.write_text(TEXT + added)
    monkeypatch.syspath_prepend(file.parent)
    with pytest.raises(ImportError, match=said) as raised:
        load_kernel(f"{file if form == 'file' else 'mine'}:spring")
    assert "\n" not in str(raised.value)
    assert not {"mine", "kernels_of_mine"} & set(sys.modules)


def test_a_failing_import_of_the_package_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message gives the name that is missing, not that of the module."""
    package = tmp_path / "broken_laws"
    package.mkdir()
    (package / "__init__.py").write_text("import no_such_thing\n")
    (package / "springs.py").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"broken_laws.springs: .*'no_such_thing'"):
        load_kernel("broken_laws.springs:spring")


def test_an_exception_in_the_package_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message is one line."""
    package = tmp_path / "odd_laws"
    package.mkdir()
    (package / "__init__.py").write_text("raise OSError('no\\n  disk')\n")
    (package / "springs.py").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"^odd_laws.springs: OSError: no disk$"):
        load_kernel("odd_laws.springs:spring")


def test_a_name_with_a_colon_is_a_kernel_unless_the_file_exists(tmp_path: Path) -> None:
    odd = tmp_path / "a:b.urdf"
    odd.write_text("")
    assert names_a_kernel("my.py:impedance") and names_a_kernel("laws.arm:impedance")
    assert not names_a_kernel("panda") and not names_a_kernel(str(odd))


@wd.kernel
def with_options(robot, q, *, a, b=1, c=2, d=3, e=4, f=5, g=6, h=7):
    """A kernel with and without defaults of its options."""
    return q


def test_options_are_parsed_from_text() -> None:
    """A value is a Python literal or else text. An option without a default is required."""
    given = ["b=2.5", "c=True", "d=(1, 2)", "e=panda_hand", "f='x=1'", "g=", "h=None"]
    values = [2.5, True, (1, 2), "panda_hand", "x=1", "", None]
    options = read_options(with_options, given)
    assert options == dict(zip("bcdefgh", values, strict=True))
    assert missing_options(with_options, options) == ["a"] and not missing_options(
        with_options, {"a": 0}
    )
    for wrong in ("stiffness", "=3", "a-b=3"):
        with pytest.raises(ValueError, match=f"NAME=VALUE, such as stiffness=300; got '{wrong}'"):
            read_options(with_options, [wrong])
    with pytest.raises(ValueError, match="with_options has no option 'x'; it has a, b"):
        read_options(with_options, ["x=1"])
