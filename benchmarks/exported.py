"""Exported code: time of a call, compile time and code size, compared with Pinocchio's C++.

    python -m benchmarks.exported [--eigen FOLDER]

`--eigen` is the folder of Eigen's headers (/usr/include/eigen3 on Debian). If it is given and the
package `pin` has its headers, the same compiler also compiles Pinocchio's templates with the same
options for the same robot. Both run in turns in one process. Results go to
benchmarks/results/exported.json.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn.execution.batched import FUNCTIONS

from .__main__ import describe_run

RESULT = Path(__file__).parent / "results" / "exported.json"
OPTIONS = ("-std=c++17", "-O3", "-march=native")
CALLS = 1_000_000

ONE = """
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>
#include "panda.hpp"
using Clock = std::chrono::steady_clock;
static double ns(Clock::duration d) { return std::chrono::duration<double, std::nano>(d).count(); }
template <class F> static double in_a_row(F call) {
  std::vector<double> all;
  for (int turn = 0; turn < 51; ++turn) {
    const auto start = Clock::now();
    for (int k = 0; k < 2000; ++k) call();
    all.push_back(ns(Clock::now() - start) / 2000);
  }
  std::sort(all.begin(), all.end());
  return all[25];
}
"""

MAIN = """
int main() {
  double q[8] = {0.1, -0.5, 0.2, -2.0, 0.1, 1.6, 0.8, 0.02}, v[8] = {0.1, 0.2}, a[8] = {0.3}, tau[8];
  std::vector<float> each;
  each.reserve(%(calls)d);
  for (int k = 0; k < %(calls)d; ++k) {
    q[1] += 1e-12 * tau[1];
    const auto start = Clock::now();
    panda::rnea(q, v, a, tau);
    each.push_back((float)ns(Clock::now() - start));
  }
  std::sort(each.begin(), each.end());
  const int n = 4096;
  std::vector<double> Q(n * 8, 0.3), V(n * 8, 0.1), A(n * 8, 0.2), T(n * 8);
  double rows = 1e18;
  for (int turn = 0; turn < 51; ++turn) {
    const auto start = Clock::now();
    panda::rnea_batch(n, Q.data(), V.data(), A.data(), T.data());
    rows = std::min(rows, ns(Clock::now() - start) / n);
  }
  const auto ours = [&] { q[1] += 1e-12; panda::rnea(q, v, a, tau); };
  %(peer)s
  std::printf("{\\"one_ns\\": %%.1f, \\"with_clock_median_ns\\": %%.1f, \\"with_clock_worst_ns\\": %%.0f, "
              "\\"batch_ns\\": %%.1f, \\"pinocchio_ns\\": %%.1f}\\n",
              in_a_row(ours), each[each.size() / 2], each.back(), rows, peer);
}
"""

PEER_HEADERS = "#include <pinocchio/multibody.hpp>\n#include <pinocchio/algorithm/rnea.hpp>\n"

PEER_DEFINES = (
    "-DNDEBUG",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=10",
)


def pinocchio_in_cpp() -> str:
    """C++ code that builds Pinocchio's model of panda joint by joint and times its rnea."""
    import pinocchio as pin

    urdf = Path(wd.__file__).parent / "robots" / "panda.urdf"
    model = pin.buildModelFromUrdf(str(urdf))

    def join_numbers(numbers: Any) -> str:
        return ", ".join(repr(float(x)) for x in np.asarray(numbers).flatten())

    lines = ["pinocchio::Model m;"]
    for k in range(1, model.njoints):
        pose, inertia = model.jointPlacements[k], model.inertias[k]
        kind = model.joints[k].shortname().replace("JointModel", "pinocchio::JointModel")
        if "Unaligned" in kind:  # finger joints, along -y
            kind = "pinocchio::JointModelPrismaticUnaligned(Eigen::Vector3d(0, -1, 0))"
        else:
            kind += "()"
        lines.append(
            f"{{ Eigen::Matrix3d R, I; R << {join_numbers(pose.rotation)}; I << {join_numbers(inertia.inertia)};"
            f" const auto j = m.addJoint({model.parents[k]}, {kind}, pinocchio::SE3(R, "
            f'Eigen::Vector3d({join_numbers(pose.translation)})), "j{k}");'
            f" m.appendBodyToJoint(j, pinocchio::Inertia({float(inertia.mass)!r}, "
            f"Eigen::Vector3d({join_numbers(inertia.lever)}), I), pinocchio::SE3::Identity()); }}"
        )
    lines += [
        "pinocchio::Data d(m);",
        "Eigen::VectorXd x = Eigen::VectorXd::Constant(m.nq, 0.3), y = 0.3 * x, z = 0.6 * x;",
        "const double peer = in_a_row([&] { x[1] += 1e-12; pinocchio::rnea(m, d, x, y, z); });",
    ]
    return "\n  ".join(lines)


def time_rnea(folder: Path, eigen: Path | None) -> dict[str, Any]:
    """Times of panda's rnea."""
    wd.export(wd.load_robot("panda"), [wd.rnea], folder / "panda.hpp", overwrite=True)
    peer, headers, more = "const double peer = 0.0;", "", []
    found = importlib.util.find_spec("cmeel")
    if eigen is not None and found is not None and found.origin is not None:
        prefix = Path(found.origin).parents[1] / "cmeel.prefix"
        peer, headers = pinocchio_in_cpp(), PEER_HEADERS
        more = [*PEER_DEFINES, f"-I{prefix / 'include'}", f"-I{eigen}", f"-L{prefix / 'lib'}"]
        more += [f"-Wl,-rpath,{prefix / 'lib'}", "-lpinocchio_default"]
    (folder / "time.cpp").write_text(headers + ONE + MAIN % {"calls": CALLS, "peer": peer})
    command = ["g++", *OPTIONS, "time.cpp", "-o", "time", *more]
    subprocess.run(command, cwd=folder, check=True)
    ran = subprocess.run(["./time"], cwd=folder, check=True, capture_output=True, text=True)
    return dict(json.loads(ran.stdout))


def measure_compilation(folder: Path, model: wd.Model, name: str, compiler: str) -> dict[str, Any]:
    """CPU seconds to compile a function's header, and the size of its machine code."""
    function = FUNCTIONS[name]
    wd.export(model, [function], folder / "robot.hpp", namespace="robot", overwrite=True)
    (folder / "unit.cpp").write_text(
        f'#include "robot.hpp"\nvoid *one = (void *)&robot::{name};\n'
        f"void *many = (void *)&robot::{name}_batch;\n"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [compiler, *OPTIONS, "-c", "unit.cpp", "-o", "unit.o"]
    subprocess.run(command, cwd=folder, check=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    size = subprocess.run(
        ["size", "unit.o"], cwd=folder, check=True, capture_output=True, text=True
    )
    return {"seconds": round(seconds, 2), "code_bytes": int(size.stdout.split()[6])}


def robots() -> dict[str, wd.Model]:
    """panda, the humanoid with a free base, and talos if example-robot-data is installed."""
    found = {
        "panda": wd.load_robot("panda"),
        "humanoid": wd.load_robot("humanoid", floating_base=True),
    }
    spec = importlib.util.find_spec("cmeel")
    if spec is not None and spec.origin is not None:
        prefix = Path(spec.origin).parents[1] / "cmeel.prefix" / "share" / "example-robot-data"
        file = prefix / "robots" / "talos_data" / "robots" / "talos_full_v2.urdf"
        if file.exists():
            found["talos"] = wd.load(file, floating_base=True)
    return found


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--eigen", type=Path, help="folder of Eigen's headers")
    given = parser.parse_args()
    result: dict[str, Any] = {"about": describe_run("cpu", [])}
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        result["panda rnea"] = time_rnea(folder, given.eigen)
        for robot, model in robots().items():
            for name in ("rnea", "aba"):
                for compiler in ("g++", "clang++"):
                    if shutil.which(compiler):
                        key = f"{robot} {name}, {compiler}"
                        result[key] = measure_compilation(folder, model, name, compiler)
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
