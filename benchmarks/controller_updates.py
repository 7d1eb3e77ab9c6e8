"""Time of a controller's `update` for ros2_control, without ROS, compared with a bare loop.

    python -m benchmarks.controller_updates [--cycles 1000000]

Each cycle lies between two clock readings. The cycles of the laws and those of two bare loops
alternate. The first bare loop only reads the clock. The second one reads it for 1.7 us, the length of a
cycle, so that the operating system interrupts it as often as a law. The robot is a UR5e that moves
around its reference, with all guards. Results go to benchmarks/results/controller_updates.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import warpdyn as wd
from ros2_node.ros2_control.control_package import control_package, package_name, write_package
from ros2_node.ros2_control.controller_laws import ControllerLaw, built_in_laws

from .__main__ import describe_run

RESULT = Path(__file__).parent / "results" / "controller_updates.json"
OPTIONS = ("-std=c++17", "-O2")
CYCLES = 1_000_000
BLOCK = 1000
"""Cycles in one turn of a law."""

MAIN = r"""
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>
#include "%(package)s/guarded_law.hpp"
#include "%(package)s/laws.hpp"
#include "%(package)s/parameter_values.hpp"
using namespace %(package)s;
using Clock = std::chrono::steady_clock;

struct Times {
  std::string name;
  std::vector<float> all;
  void add(Clock::duration d) { all.push_back(std::chrono::duration<float, std::nano>(d).count()); }
  void print(const char *end) {
    std::sort(all.begin(), all.end());
    const auto at = [this](double share) { return all[static_cast<std::size_t>(share * (all.size() - 1))]; };
    std::printf("\"%%s\": {\"median_ns\": %%.0f, \"p99_ns\": %%.0f, \"p99_99_ns\": %%.0f, \"worst_ns\": %%.0f}%%s",
                name.c_str(), at(0.5), at(0.99), at(0.9999), all.back(), end);
  }
};

template <class Law>
struct Loop {
  GuardedLaw<Law> law;
  std::array<double, 6> q{}, v{};
  double now = 0.0;
  Times times;

  void start(const char *name) {
    times.name = name;
    LawSettings<Law> settings;
    Law::describe(settings.gate, settings.reference);
    set_inputs(settings.inputs);
    law.configure(settings);
    move();
    if (!law.activate(q, v, {}, now)) std::abort();
  }
  void move() {  // half a radian around a bent pose, with the velocity of that motion
    const double middle[] = {0.0, -1.2, 1.4, -1.6, -1.5, 0.3};
    for (std::size_t j = 0; j < 6; ++j) {
      q[j] = middle[j] + 0.1 * std::sin(2.0 * now + j);
      v[j] = 0.2 * std::cos(2.0 * now + j);
    }
  }
  void run(int cycles) {
    for (int k = 0; k < cycles; ++k) {
      now += 0.001;
      move();
      const auto start = Clock::now();
      law.update(q, v, now);
      times.add(Clock::now() - start);
    }
  }
};

int main() {
  Times bare, busy;
  bare.name = "bare loop";
  busy.name = "bare loop of 1.7 us";
  %(loops)s
  for (int turn = 0; turn < %(blocks)d; ++turn) {
    for (int k = 0; k < %(block)d; ++k) {
      const auto start = Clock::now();
      bare.add(Clock::now() - start);
    }
    for (int k = 0; k < %(block)d; ++k) {
      const auto start = Clock::now();
      auto end = start;
      while (end - start < std::chrono::nanoseconds(1700)) end = Clock::now();
      busy.add(end - start);
    }
    %(runs)s
  }
  std::printf("{");
  bare.print(", ");
  busy.print(", ");
  %(prints)s
  std::printf("}\n");
}
"""


def main_source(model: wd.Model, laws: list[ControllerLaw], cycles: int) -> str:
    """C++ program that times the laws."""
    inputs = "template <class Inputs> void set_inputs(Inputs &) {}\n"
    for law in laws:
        inputs += (
            f"template <> void set_inputs({law.class_name}Law::Inputs &inputs) {{\n(void)inputs;\n"
        )
        for name, values in law.example(model).items():
            shape = law.inputs(model)[name]
            full = np.diag(values) if len(shape) == 2 else np.broadcast_to(values, shape)
            inputs += f"inputs.{name} = {{{', '.join(map(repr, full.ravel().tolist()))}}};\n"
        inputs += "}\n"
    loops = [
        f'auto {x.name} = std::make_unique<Loop<{x.class_name}Law>>(); {x.name}->start("{x.name}");'
        for x in laws
    ]
    text = MAIN % {
        "package": package_name(f"{model.name}_controllers"),
        "loops": "\n  ".join(loops),
        "blocks": cycles // BLOCK,
        "block": BLOCK,
        "runs": " ".join(f"{law.name}->run({BLOCK});" for law in laws),
        "prints": " ".join(
            f'{law.name}->times.print("{"" if law is laws[-1] else ", "}");' for law in laws
        ),
    }
    return text.replace("struct Times {", f"{inputs}\nstruct Times {{", 1)


def fused_multiply_add() -> tuple[str, ...]:
    """Options of the package's CMakeLists.txt for fused multiply-adds; empty if the processor has none."""
    has_them = "fma" in Path("/proc/cpuinfo").read_text().split()
    return ("-mfma", "-ffp-contract=fast") if has_them else ()


def measure(cycles: int) -> dict[str, Any]:
    """Times of the laws and of the bare loops [ns]."""
    model = wd.load_robot("ur5e")
    laws = list(built_in_laws("tool0").values())
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        write_package(control_package(model, laws), folder / "package")
        (folder / "time.cpp").write_text(main_source(model, laws, cycles))
        options = (*OPTIONS, *fused_multiply_add())
        command = ["g++", *options, "-Ipackage/include", "time.cpp", "-o", "time"]
        subprocess.run(command, cwd=folder, check=True)
        ran = subprocess.run(["./time"], cwd=folder, check=True, capture_output=True, text=True)
    return dict(json.loads(ran.stdout))


def main() -> None:
    """Measure the laws and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cycles", type=int, default=CYCLES)
    given = parser.parse_args()
    result = {"about": describe_run("cpu", []), "cycles": given.cycles}
    result |= measure(given.cycles)
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
