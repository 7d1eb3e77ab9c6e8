"""An exported Python module needs no warpdyn, gives the same numbers, and refuses wrong arrays."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.cli.workload import random_states
from warpdyn.functions.export import python_extension

HERE = Path(sysconfig.get_path("include"), "Python.h").exists() and shutil.which("cc") is not None
needs_headers = pytest.mark.skipif(not HERE, reason="needs a C compiler and Python's headers")

USER = """
import sys
import numpy as np, panda
q, v, a = np.load("states.npy")
tau = np.empty_like(q)
panda.rnea_batch(q, v, a, tau)
one = np.empty(8)
panda.rnea(q[0], v[0], a[0], one)
assert (one == tau[0]).all() or abs(one - tau[0]).max() < 1e-13
# Flat buffers, dimensions of 1 and several leading dimensions have the same numbers.
J, many = np.empty((6, 8)), np.empty((5, 1, 6, 8))
panda.jacobian_panda_hand(q[:1], J)
panda.jacobian_panda_hand_batch(q[:, None], many)
assert abs(many[0, 0] - J).max() < 1e-13
panda.rnea_batch(*(np.zeros(x) for x in ((2, 1, 3, 8), (6, 8), (2, 3, 8), (48,))))
for shape in ((48,), (1, 48), (1, 6, 1, 8)):
    found = np.empty(shape)
    panda.jacobian_panda_hand(q[0][:, None], found)
    assert (found.ravel() == J.ravel()).all()
panda.jacobian_panda_hand_batch(q.ravel(), found := np.empty((5, 48)))
assert (found.ravel() == many.ravel()).all()
panda.energy_batch(q, total := np.empty((5, 1)))
panda.energy(q[4], last := np.empty(()))
assert abs(last - total[4]) < 1e-13
panda.rnea_batch(q[:0], v[:0], a[:0], tau[:0])
columns = [np.ascontiguousarray(x.T) for x in (q, v, a, tau)]
# A robot without closed loops has no errors of loops.
panda.errors(q[0], np.empty(0))
panda.errors_batch(q, np.empty((5, 0)))
for wrong, kind, said in (
    (lambda: panda.rnea(q[0], v[0], a[0]), TypeError, "takes 4 arrays, got 3"),
    (lambda: panda.rnea(q[0, :3], v[0], a[0], one), ValueError, "q must hold 8 numbers, got 3"),
    (lambda: panda.rnea(q[0].astype("f4"), v[0], a[0], one), TypeError, "float64"),
    (lambda: panda.rnea_batch(q, v[:2], a, tau), ValueError, "as many rows as q, 5, got 2"),
    (lambda: panda.rnea_batch(q, v, a, a), ValueError, "tau overlaps a: results are written"),
    (lambda: panda.rnea(q[0], v[0], a[0], q.ravel()[4:12]), ValueError, "tau overlaps q"),
    (lambda: panda.rnea_batch(*columns), ValueError,
     "q must have one robot's 8 numbers in its last dimensions, got the shape (8, 5)"),
    (lambda: panda.jacobian_panda_hand(q[0], J.T.copy()), ValueError,
     "J must have one robot's 48 numbers in its last dimensions, in their order, got the shape (8, 6)"),
    (lambda: panda.jacobian_panda_hand_batch(q, np.empty((5, 8, 6))), ValueError, "(5, 8, 6)"),
    (lambda: panda.jacobian_panda_hand_batch(q, np.empty((6, 8, 5))), ValueError, "(6, 8, 5)"),
    (lambda: panda.jacobian_panda_hand(q[0], memoryview(J.T.copy())), ValueError, "(8, 6)"),
    (lambda: panda.rnea_batch(q, v, a, np.empty((4, 2, 5))), ValueError, "(4, 2, 5)"),
    (lambda: panda.rnea(np.ma.masked_array(q[0], mask=q[0] > 0), v[0], a[0], one), TypeError,
     "q is a masked array; pass q.filled(value), or q.data"),
    (lambda: panda.rnea_batch(*(np.zeros(x) for x in ((6, 8), (2, 3, 8), (3, 2, 8), (6, 8)))), ValueError,
     "a must have its rows in the same dimensions as v, (2, 3, 8), got the shape (3, 2, 8)"),
    (lambda: panda.errors_batch(q, np.empty(5)), ValueError,
     "out_ must hold rows of 0 numbers, got 5 numbers"),
):
    try:
        wrong()
    except kind as error:
        assert said in str(error), error
    else:
        raise AssertionError(said)
assert not {"warp", "warpdyn"} & set(sys.modules)
np.save("tau.npy", tau)
"""


@needs_headers
def test_the_module_runs_in_a_process_without_warpdyn(tmp_path: Path) -> None:
    """It returns torques of a batch, and its errors name the array."""
    model = wd.load_robot("panda")
    folder = tmp_path / "new" / "modules"
    calls = {
        "rnea": wd.rnea,
        "jacobian_panda_hand": partial(wd.jacobian, frame="panda_hand"),
        "energy": wd.potential_energy,
        "errors": wd.loops.errors,
    }
    made = wd.export_python(model, calls, folder)
    assert made.name == "panda.abi3.so" and (folder / "panda.pyi").exists()
    states = random_states(model, 5)
    np.save(folder / "states.npy", np.stack([states[x] for x in "qva"]))
    subprocess.run([sys.executable, "-c", USER], cwd=folder, check=True, env={})
    expected = wd.oracle(wd.rnea, model, *(states[x] for x in "qva"))
    np.testing.assert_allclose(np.load(folder / "tau.npy"), expected, atol=1e-12)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        wd.export_python(model, [wd.rnea], folder)


@needs_headers
@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="needs qemu")
def test_a_module_for_another_processor_is_not_imported(tmp_path: Path) -> None:
    """Before, its functions ended Python by an illegal instruction."""
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("the module is compiled for the oldest processors")
    wd.export_python(wd.load_robot("cartpole"), [wd.gravity_torques], tmp_path)
    command = ["qemu-x86_64", "-cpu", "Nehalem", sys.executable, "-S", "-c", "import cartpole"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "ImportError: cartpole was compiled for a processor with avx" in ran.stderr
    assert "which this one lacks; export the module again" in ran.stderr


def test_a_missing_compiler_is_refused_with_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error message is one line."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match=r"a C compiler is needed .* apt-get install gcc"):
        wd.export_python(wd.load_robot("cartpole"), [wd.rnea], tmp_path)


@needs_headers
def test_a_compilers_message_is_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No module is left behind."""
    failing = tmp_path / "cc"
    failing.write_text("#!/bin/sh\necho no more memory >&2\nexit 3\n")
    failing.chmod(0o755)
    monkeypatch.setattr(python_extension, "COMPILERS", [str(failing)])
    with pytest.raises(RuntimeError, match=r"cc did not compile the module: no more memory$"):
        wd.export_python(wd.load_robot("cartpole"), [wd.rnea], tmp_path / "made")
    assert not list((tmp_path / "made").iterdir())
