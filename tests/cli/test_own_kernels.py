"""A user's own kernel on the command line: printed, timed and compiled, with one line for each
mistake."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.cli.main import main
from warpdyn.cli.own_kernels import ChosenKernel, kind_of
from warpdyn.cli.workload import Memory

TEXT = '''import numpy as np
import warpdyn as wd


@wd.kernel
def impedance(robot, q, v, target: (3,), *, frame, stiffness=400.0, damping=40.0):
    """Torques that pull `frame` to `target` [m] like a spring and carry the robot's weight."""
    J = robot.jacobian(q, frame=frame, reference="local_world_aligned")[:3]
    error = target - robot.fk(q, frame=frame)[:3, 3]
    return robot.gravity_torques(q) + J.T @ (stiffness * error - damping * (J @ v))


@wd.kernel
def several(robot, q, q_next, v0, t: (), bias: ("nv",), gain: (2,) = (1.0, 2.0), *, table_of):
    """Two results, plain numbers, an array that is left away."""
    return {"q": q_next - q * t + gain[0], "late": t > 0.5, "sum": v0 + bias * table_of}


@wd.kernel
def tables(robot, table: wd.kernels.shared((4, 4)), v):
    """One table for all."""
    return table[0, :2] * v[:2]


@wd.kernel
def rnea(robot, q):
    """A name that an algorithm has."""
    return 2.0 * q


@wd.kernel
def deciding(robot, q):
    if q[0] > 0:
        return q
    return -q


@wd.kernel
def failing(robot, q, *, size=0):
    return q / len(range(size)) if size else 1 / size


@wd.kernel
def plainly(robot, q):
    return 2.0 * q


def plain(robot, q):
    return q
'''


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of kernels in the present folder."""
    path = tmp_path / "my_own.py"
    path.write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return path


def select_kernel(
    text: str, model: wd.Model, *option: str, frame: str | None = None
) -> ChosenKernel:
    """A kernel as the command line selects it."""
    return ChosenKernel.of(text, argparse.Namespace(option=option, frame=frame), model)


def test_source_accepts_kernel_and_robot_in_either_order(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kernel is named by file or module. The program is that of its call."""
    texts = []
    for words in (
        ["my_own.py:impedance", "double_pendulum"],
        ["double_pendulum", "my_own.py:impedance"],
        ["double_pendulum", str(mine) + ":impedance"],
        ["my_own:impedance", "double_pendulum"],
    ):
        assert main(["source", *words]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0].startswith("impedance_double_pendulum(q[2], v[2], target[3]) -> out[2]")
    assert len(set(texts)) == 1


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_source_prints_a_kernel_as_cpp(
    target: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for dtype, word in (("float32", "float"), ("float64", "double")):
        words = ["source", "cartpole", "my_own.py:several", "--option", "table_of=2"]
        assert main([*words, "--target", target, "--dtype", dtype]) == 0
        assert word in capsys.readouterr().out


def test_options_change_the_program(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers are read as numbers and words as text. --frame is the option of that name."""
    programs = []
    for words in (
        [],
        ["--option", "stiffness=300", "frame=panda_link4"],
        ["--option", "stiffness=300", "--frame", "panda_link4"],
    ):
        assert main(["source", "panda", "my_own.py:impedance", *words]) == 0
        programs.append(capsys.readouterr().out)
    assert programs[1] == programs[2] != programs[0] and "300.0 *" in programs[1]
    # Joints after link 4 do not move it.
    assert len(programs[1].splitlines()) < len(programs[0].splitlines())


def test_the_default_frame_is_the_furthest_link(mine: Path) -> None:
    model = wd.load_robot("panda")
    assert select_kernel("my_own.py:impedance", model).options == {"frame": "panda_leftfinger"}
    named = select_kernel("my_own.py:impedance", model, frame="panda_link3")
    assert named.options == {"frame": "panda_link3"}
    both = select_kernel("my_own.py:impedance", model, "frame=panda_hand", frame="panda_link3")
    assert both.options == {"frame": "panda_hand"}


def test_random_arrays_follow_the_signature(mine: Path) -> None:
    """Configurations are within limits and all different. Other arrays are from (-1, 1), and shared
    ones are drawn once. Inputs with a default are left out."""
    model = wd.load_robot("panda")
    q, q_next, v0, t, bias = select_kernel("my_own.py:several", model, "table_of=1").arrays(50)
    for x in (q, q_next):
        assert x.shape == (50, model.nq)
        assert (x >= model.position_lower).all() and (x <= model.position_upper).all()
    assert not np.array_equal(q, q_next)
    assert v0.shape == (50, model.nv) and abs(v0).max() > 1.0  # up to the velocity limits
    assert t.shape == (50,) and bias.shape == (50, model.nv)
    assert max(abs(t).max(), abs(bias).max()) < 1.0
    table, v = select_kernel("my_own.py:tables", model).arrays(50)
    assert table.shape == (4, 4) and v.shape == (50, model.nv)
    names = ("q", "q_next", "v0", "v_wanted", "tau", "a1", "target", "value", "question", "queue")
    kinds = ["q", "q", "v", "v", "tau", "a", "", "", "", ""]
    assert [kind_of(name) for name in names] == kinds


@pytest.mark.parametrize("layout", ["columns", "rows"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["impedance", "several", "tables"])
def test_a_workload_agrees_with_the_kernels_call(
    name: str, dtype: str, layout: str, mine: Path
) -> None:
    """The kernel's oracle gives the same results for the same arrays."""
    model = wd.load_robot("double_pendulum")
    own = select_kernel(f"my_own.py:{name}", model, *(["table_of=2"] if name == "several" else []))
    work = own.workload(9, Memory(dtype, layout))
    for x in work.out if isinstance(work.out, tuple) else (work.out,):
        x[:] = np.nan
    work.bind()()
    wanted = wd.oracle(own.kernel, model, *work.states(9), **own.options)
    results = work.all_results(9)
    several = wanted if isinstance(wanted, tuple) else (wanted,)
    assert len(results) == len(several) == {"several": 3}.get(name, 1)
    for result, each in zip(results, several, strict=True):
        assert np.allclose(result, each, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-5)


def test_bench_measures_only_a_kernel(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each batch has a row. The file has the measurements and the kernel's name."""
    words = "bench double_pendulum --device cpu --batch 3 16 --json new.json --dtype float64"
    kernel = ["--kernel", "my_own.py:several", "--option", "table_of=2"]
    assert main([*words.split(), *kernel]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "several: my_own.py:several, table_of = 2; t, bias drawn from (-1, 1)." in said
    figures = json.loads((tmp_path / "new.json").read_text())["figures"]
    assert [(f["algorithm"], f["batch"]) for f in figures] == [("several", 3), ("several", 16)]
    assert all(f["ns_per_robot"] > 0 and f["worst_relative_error"] < 1e-12 for f in figures)


def test_bench_measures_a_kernel_next_to_algorithms(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If the kernel has the name of an algorithm, its file is printed too."""
    words = "bench double_pendulum --device cpu --batch 3 --algorithm rnea --kernel my_own.py:rnea"
    assert main(words.split()) == 0
    said = capsys.readouterr().out
    rows = [line.split("│")[1].strip() for line in said.splitlines() if line.startswith("│")]
    assert rows == ["rnea", "my_own.py:rnea"]


def test_compile_fills_the_cache_with_a_kernel(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only the kernel and its gradient are compiled. The second time both are in the cache."""
    words = "compile double_pendulum --kernel my_own.py:impedance --device cpu --gradients q"
    assert main(words.split()) == 0
    *lines, _ = capsys.readouterr().out.splitlines()
    labels = {line.split(" float32 ")[0].strip() for line in lines}
    assert labels <= {"impedance for double_pendulum", "vjp of impedance for double_pendulum"}
    assert main(words.split()) == 0
    assert ": 0 kernels compiled, 2 in the cache before" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("source nix.py:impedance panda", "there is no file nix.py"),
        ("source panda nix:impedance", "there is no module 'nix'"),
        ("source panda my_own.py:impedence", "did you mean 'impedance'?"),
        ("source panda my_own.py:plain", "is not a kernel: put @wd.kernel above it"),
        ("source panda broken.py:impedance", "broken.py:3: ZeroDivisionError: division by zero"),
        ("source panda impedance", "or a kernel of your own, my.py:impedance"),
        ("source panda rnae", "did you mean 'rnea'?"),
        ("source panda rnea --option a=1", "--option is for a kernel of your own"),
        ("bench panda --option a=1", "--option is for a kernel of your own: --kernel my.py"),
        ("source cartpole my_own.py:several", "several needs its options: --option table_of=..."),
        (
            "source panda my_own.py:impedance --option stifness=1",
            "has no option 'stifness'; it has frame, stiffness, damping",
        ),
        ("source panda my_own.py:rnea --option a=1", "rnea has no option 'a'; it has none"),
        ("source panda my_own.py:impedance --option stiffness", "options are NAME=VALUE"),
        ("source panda my_own.py:impedance --option stiffness=[1]", "stiffness is a list"),
        ("source panda my_own.py:impedance --option frame=nix", "my_own.py:8: KeyError: panda has"),
        ("source panda my_own.py:impedance --frame nix", "panda has no link named 'nix'"),
        ("source panda my_own.py:deciding", "my_own.py:33: a Python `if`"),
        ("source panda my_own.py:failing", "my_own.py:40: ZeroDivisionError: division by zero"),
        ("bench panda --kernel my_own.py:deciding", "my_own.py:33: a Python `if`"),
        ("compile panda --device cpu --kernel my_own.py:deciding", "my_own.py:33: a Python `if`"),
        ("compile panda --kernel nix.py:a", "there is no file nix.py"),
    ],
)
def test_every_mistake_is_one_line(
    words: str, said: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 2. For a mistake in a text the line has the user's file and line number."""
    (mine.parent / "broken.py").write_text("import warpdyn as wd\n\nx = 1 / 0\n")
    assert main(words.split()) == 2
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 1 and err[0].startswith("warpdyn: error: ") and said in err[0], err


def test_an_error_inside_warpdyn_is_not_hidden(mine: Path) -> None:
    """An error that is neither in the user's text nor about its arguments keeps its traceback."""
    own = select_kernel("my_own.py:rnea", wd.load_robot("cartpole"))
    with pytest.raises(ZeroDivisionError), own.mistakes():
        raise ZeroDivisionError


def test_a_kernel_is_described_with_its_options(mine: Path) -> None:
    """Defaults are included. Random arrays are mentioned only if there are some."""
    arm = wd.load_robot("panda")
    assert select_kernel("my_own.py:impedance", arm, "damping=3").about() == (
        "impedance: my_own.py:impedance, stiffness = 400.0, damping = 3, frame = 'panda_leftfinger'; "
        "target drawn from (-1, 1)."
    )
    assert select_kernel("my_own.py:plainly", arm).about() == "plainly: my_own.py:plainly."
