"""Calls: bound ones, the oracle, caches of two processes, threads, and errors that name what to do."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from devices import Placed
from robots import by_name
from states import error, states

import warpdyn as wd

CLOSE = 1e-12
"""Relative to the largest entry, float64 against the oracle."""

PACKAGE = Path(wd.__file__).parents[1]


# Bound calls.


def test_a_bound_call_follows_its_arrays(device: str) -> None:
    """It reads what the arrays hold at the time, writes the same result array, and returns it."""
    model = by_name("panda").model
    s = states(model, 33)
    given = [x.copy() for x in (s.q, s.v, s.a)]
    if device != "cpu":
        pytest.skip("changes NumPy arrays in place")
    tau = np.full_like(s.v, np.nan)
    run = wd.bind(wd.rnea, model, *given, out=tau)
    for turn in range(3):
        later = states(model, 33, seed=turn + 1)
        for array, values in zip(given, (later.q, later.v, later.a), strict=True):
            array[...] = values
        tau[...] = np.nan
        assert run() is tau
        assert error(tau, wd.oracle(wd.rnea, model, later.q, later.v, later.a)) <= CLOSE


def test_a_bound_call_makes_its_own_result() -> None:
    """Without out= it allocates once, when bound; runs return that array."""
    model = by_name("cartpole").model
    s = states(model, 8)
    run = wd.bind(wd.crba, model, s.q)
    first = run()
    assert run() is first and error(first, wd.oracle(wd.crba, model, s.q)) <= CLOSE


def test_constants_stay_where_binding_put_them() -> None:
    """Structural zeros and ones are written when binding and not at each run: what the caller puts there stays."""
    model = by_name("cartpole").model
    q, T = states(model, 20).q, np.full((20, model.nlinks, 4, 4), np.nan)
    run = wd.bind(wd.fk, model, q, out=T)
    assert error(T, wd.oracle(wd.fk, model, q)) <= CLOSE
    run()
    assert error(T, wd.oracle(wd.fk, model, q)) <= CLOSE


def test_bound_calls_keep_their_arrays_alive() -> None:
    """The memory of arrays that the caller lets go of is not read after it is freed."""
    model = by_name("panda").model
    s = states(model, 500)
    run = wd.bind(wd.rnea, model, s.q.copy(), s.v.copy(), s.a.copy())
    rubbish = [np.full_like(s.q, np.nan) for _ in range(50)]
    assert (
        error(run(), wd.oracle(wd.rnea, model, s.q, s.v, s.a)[:500]) <= CLOSE and len(rubbish) == 50
    )


def test_a_bound_call_allocates_no_array() -> None:
    """NumPy's memory does not grow while it runs, by far less than one array of the call."""
    model = by_name("panda").model
    s = states(model, 5000)
    run = wd.bind(wd.rnea, model, s.q, s.v, s.a)
    run()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(20):
            run()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < s.q.nbytes / 10


def test_bound_calls_of_one_kernel_do_not_disturb_each_other() -> None:
    """Two bound calls and plain calls between them keep to their own arrays."""
    model = by_name("cartpole").model
    one, two = states(model, 8, seed=1), states(model, 13, seed=2)
    runs = [wd.bind(wd.crba, model, s.q) for s in (one, two)]
    for _ in range(2):
        for run, s in zip(runs, (one, two), strict=True):
            wd.crba(model, s.q[::-1])
            assert error(run(), wd.oracle(wd.crba, model, s.q)) <= CLOSE


def test_bind_wants_a_batched_function() -> None:
    """A function of the caller's own cannot be bound: says which can."""
    with pytest.raises(
        TypeError, match=r"one of warpdyn's batched functions, such as wd\.rnea, got sin"
    ):
        wd.bind(np.sin, 1.0)
    with pytest.raises(TypeError, match="one of warpdyn's batched functions"):
        wd.oracle(print)
    with pytest.raises(TypeError, match="got Model"):
        wd.bind(wd.load_robot("ur5e"), wd.rnea)


# The oracle.


def test_the_oracle_takes_what_the_functions_take() -> None:
    """One robot or several, any library, forces and gravity in their forms; float64 NumPy comes out."""
    import warp as wp

    model = by_name("mimic_branches").model
    s = states(model, 3)
    whole = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity, f_ext=s.forces)
    assert whole.shape == (3, model.nv) and whole.dtype == np.float64
    one = wd.oracle(wd.rnea, model, s.q[1], s.v[1], s.a[1], gravity=s.gravity[1], f_ext=s.forces[1])
    assert np.array_equal(one, whole[1])
    named = {link: s.forces[:, i] for i, link in enumerate(model.link_names)}
    assert np.array_equal(
        wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity, f_ext=named), whole
    )
    from_warp = wd.oracle(
        wd.rnea,
        model,
        wp.array(s.q),
        wp.array(s.v),
        wp.array(s.a),
        gravity=s.gravity,
        f_ext=s.forces,
    )
    assert np.array_equal(from_warp, whole)
    rounded = wd.oracle(wd.crba, model, s.q.astype(np.float32))
    assert rounded.dtype == np.float64 and np.array_equal(
        rounded, wd.oracle(wd.crba, model, s.q.astype(np.float32).astype(float))
    )


# Caches.

SECOND_PROCESS = """
import json, sys, numpy as np, warp as wp
wp.config.quiet = True
import warpdyn as wd
from warpdyn.recording import program
recorded = []
record = program.record
def counting(*args, **kwargs):
    recorded.append(1)
    return record(*args, **kwargs)
program.record = counting
wd.execution.evaluate.record = counting
m = wd.load_robot("cartpole")
z = np.zeros((5, 2))
results = [wd.rnea(m, z, z, z), wd.crba(m, z), wd.aba(m, z, z, z), wd.fk(m, z)]
results.append(wd.rnea(m, z, z, z, gravity=[0, 0, 1.0]))
print(json.dumps([len(recorded), [r.tolist() for r in results]]))
"""


def files(*folders: Path) -> dict[str, tuple[int, int]]:
    """Every file below the folders with its size and time of change."""
    return {
        str(p): (p.stat().st_size, p.stat().st_mtime_ns)
        for f in folders
        for p in f.rglob("*")
        if p.is_file()
    }


def second_process(tmp_path: Path) -> list:
    import json

    environment = {
        **os.environ,
        "WARPDYN_CACHE_DIR": str(tmp_path / "programs"),
        "WARP_CACHE_PATH": str(tmp_path / "kernels"),
        "PYTHONPATH": str(PACKAGE),
    }
    done = subprocess.run(
        [sys.executable, "-c", SECOND_PROCESS],
        env=environment,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_second_process_neither_records_nor_compiles(tmp_path: Path) -> None:
    """It finds programs and kernels in the caches, leaves no new file there, and computes the same bits."""
    recorded, first = second_process(tmp_path)
    folders = tmp_path / "programs", tmp_path / "kernels"
    kept = files(*folders)
    assert recorded >= 5 and len(list(folders[0].iterdir())) == 5
    assert any(name.endswith((".o", ".obj")) for name in kept), sorted(kept)
    again, second = second_process(tmp_path)
    assert again == 0 and second == first
    now = files(*folders)
    assert {n: s for n, (s, _) in now.items() if not n.endswith(".lock")} == {
        n: s for n, (s, _) in kept.items() if not n.endswith(".lock")
    }


def test_a_spoilt_cache_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut, emptied or foreign files in the cache cost time, not the result."""
    from warpdyn.execution.cache import cache_directory

    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path))
    assert cache_directory() == tmp_path
    q = states(by_name("cartpole").model, 4).q
    wanted = wd.oracle(wd.crba, wd.load_robot("cartpole"), q)
    for text in ("", "{", "[]", '{"name": 1}', '{"arrays": 3}', "null"):
        model = wd.load_robot("cartpole")
        assert error(wd.crba(model, q), wanted) <= CLOSE
        (kept,) = tmp_path.glob("*.json")
        assert len(kept.read_text()) > 100
        kept.write_text(text)


def test_a_cache_that_cannot_be_written_costs_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only home, or a file where the folder should be."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(blocked / "inside"))
    model = wd.load_robot("cartpole")
    assert np.all(np.isfinite(wd.crba(model, model.neutral)))


def test_models_of_equal_content_share_programs() -> None:
    """The key is the content: another load of the same file has the same; any number that matters changes it."""
    from dataclasses import replace

    model, again = wd.load_robot("panda"), wd.load_robot("panda")
    assert model.key == again.key
    heavier = model.with_payload(model.link_names[-1], 0.1)
    others = (
        heavier,
        model.with_armature(0.1),
        replace(model, quaternion="wxyz"),
        replace(model, floating_base=True),
    )
    assert len({model.key, *(m.key for m in others)}) == 5
    q = states(model, 2).q
    wd.crba(model, q)
    assert error(wd.crba(heavier, q), wd.oracle(wd.crba, heavier, q)) <= CLOSE


def test_results_do_not_depend_on_what_was_called_before(device: str) -> None:
    """The same call between others of other sizes, dtypes and options gives the same bits."""
    model = by_name("panda").model
    s = states(model, 20)

    def once() -> bytes:
        out = Placed(np.full_like(s.v, np.nan), device)
        wd.rnea(model, *(Placed(x, device).array for x in (s.q, s.v, s.a)), out=out.array)
        return np.ascontiguousarray(out.back()).tobytes()

    first = once()
    if device == "cpu":
        wd.rnea(
            model,
            s.q[:3].astype(np.float32),
            s.v[:3].astype(np.float32),
            s.a[:3].astype(np.float32),
        )
        wd.rnea(model, s.q[0], s.v[0], s.a[0])
        wd.rnea(model, s.q, s.v, s.a, gravity=(1, 2, 3))
    assert once() == first


# Threads.


def test_number_of_threads() -> None:
    """Set, read, back to all cores; anything but a whole number of at least one is refused."""
    default = wd.get_num_threads()
    assert default >= 1
    try:
        wd.set_num_threads(3)
        assert wd.get_num_threads() == 3
        for wrong in (0, -1, 2.5, "2"):
            with pytest.raises(ValueError, match="number of threads must be at least 1, or None"):
                wd.set_num_threads(wrong)
        assert wd.get_num_threads() == 3
    finally:
        wd.set_num_threads(None)
    assert wd.get_num_threads() == default


def test_calls_from_several_threads() -> None:
    """Callers in their own threads get their own results, small batches and large."""
    from concurrent.futures import ThreadPoolExecutor

    model = by_name("panda").model
    inputs = [states(model, count, seed=count) for count in (1, 40, 3000, 20_000) * 3]
    wanted = [wd.rnea(model, s.q, s.v, s.a) for s in inputs]
    try:
        wd.set_num_threads(2)
        with ThreadPoolExecutor(6) as pool:
            found = list(
                pool.map(lambda s: [wd.rnea(model, s.q, s.v, s.a) for _ in range(3)], inputs)
            )
    finally:
        wd.set_num_threads(None)
    assert all(
        np.array_equal(r, w) for results, w in zip(found, wanted, strict=True) for r in results
    )


def test_fork_keeps_working() -> None:
    """A child process made by fork has threads of its own."""
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    code = (
        "import os, numpy as np, warpdyn as wd\n"
        "m = wd.load_robot('cartpole'); wd.set_num_threads(2); q = np.zeros((200000, 2))\n"
        "wd.fk(m, q)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n    wd.fk(m, q); os._exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=PACKAGE,
    )
    assert done.stdout.strip().endswith("7"), done.stdout + done.stderr


# Errors.


def test_unknown_links_are_named_with_their_likes() -> None:
    """A misspelt frame says what it may have meant; in fk, frames, jacobian and forces alike."""
    model = by_name("panda").model
    s = states(model, 2)
    right = model.link_names[3]
    wrong = right + "x"
    for call in (
        lambda: wd.fk(model, s.q, frame=wrong),
        lambda: wd.fk(model, s.q, frames=[right, wrong]),
        lambda: wd.jacobian(model, s.q, frame=wrong),
        lambda: wd.rnea(model, s.q, s.v, s.a, f_ext={wrong: np.zeros((2, 6))}),
        lambda: wd.oracle(wd.fk, model, s.q, frame=wrong),
    ):
        with pytest.raises(
            KeyError, match=f"panda has no link named '{wrong}'; did you mean .*'{right}'"
        ):
            call()


def test_frames_are_given_one_way() -> None:
    """Not both, not a word where a list belongs, not nothing."""
    model = by_name("cartpole").model
    q, name = model.neutral, model.link_names[0]
    with pytest.raises(
        ValueError, match=r"frame= \(one name\) or frames= \(a list of names\), not both"
    ):
        wd.fk(model, q, frame=name, frames=[name])
    with pytest.raises(ValueError, match=r'frames must be a list of link names.*frame="name"'):
        wd.fk(model, q, frames=name)
    with pytest.raises(ValueError, match="frames must be a list of link names"):
        wd.fk(model, q, frames=[])


def test_unknown_references_are_refused_with_the_known() -> None:
    """Lists the three names and their aliases."""
    model = by_name("cartpole").model
    with pytest.raises(
        ValueError, match="local, world, local_world_aligned, body, inertial, mixed; got 'spatial'"
    ):
        wd.jacobian(model, model.neutral, frame=model.link_names[-1], reference="spatial")


def test_the_first_argument_is_a_model() -> None:
    """A path or an array in its place is named as what it is, by every function."""
    z = np.zeros(7)
    calls = (
        lambda m: wd.fk(m, z),
        lambda m: wd.jacobian(m, z, frame="x"),
        lambda m: wd.rnea(m, z, z, z),
        lambda m: wd.crba(m, z),
        lambda m: wd.aba(m, z, z, z),
        lambda m: wd.bind(wd.crba, m, z),
        lambda m: wd.oracle(wd.crba, m, z),
        lambda m: wd.crba(model=m, q=z),
    )
    for call in calls:
        for wrong, name in (("panda.urdf", "str"), (z, "ndarray"), (None, "NoneType")):
            with pytest.raises(
                TypeError, match=rf"must be a Model \(of wd.load or load_robot\), got {name}"
            ):
                call(wrong)


def test_a_bound_call_follows_its_gravity() -> None:
    """An array of three given as gravity is read at each run, as the other arrays are."""
    model = by_name("panda").model
    s, gravity = states(model, 5), np.array([0.0, 0.0, -9.81])
    zero = np.zeros_like(s.v)
    run = wd.bind(wd.rnea, model, s.q, zero, zero, gravity=gravity)
    once = run().copy()
    gravity *= 2.0
    np.testing.assert_allclose(run(), 2.0 * once, rtol=1e-12, atol=1e-12)
