// A loop at 1 kHz that holds a simulated arm up with gravity torques from an exported header, and a
// histogram of the start times of its cycles and of their computation times.
//
//     warpdyn export panda gravity_torques,aba,rnea --out panda.hpp
//     cmake -B build && cmake --build build
//     build/gravity_compensation 10 latency.csv        # seconds, file
//     python latency_picture.py latency.csv latency.png
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "panda.hpp"

namespace {

using Configuration = std::array<double, panda::nq>;
using Velocity = std::array<double, panda::nv>;

constexpr long kPeriod = 1000000;  // ns
constexpr int kSubsteps = 4;       // of the simulated arm, each a quarter of a cycle
constexpr double kFriction = 0.5;  // N m s/rad, of the simulated arm alone

// The robot: an arm with viscous friction, simulated in small steps.
struct SimulatedArm {
  Configuration q{};
  Velocity v{};

  void apply(const Velocity &tau) {
    Velocity net, a;
    constexpr double dt = 1e-9 * static_cast<double>(kPeriod) / kSubsteps;
    for (int step = 0; step < kSubsteps; ++step) {
      for (std::size_t k = 0; k < net.size(); ++k) net[k] = tau[k] - kFriction * v[k];
      panda::aba(q.data(), v.data(), net.data(), a.data());
      for (std::size_t k = 0; k < v.size(); ++k) {
        v[k] += dt * a[k];
        q[k] += dt * v[k];
      }
    }
  }
};

// The controller: gravity torques within the robot's limits. A torque that is not finite becomes zero.
void compensate(const Configuration &q, Velocity &tau) {
  panda::gravity_torques(q.data(), tau.data());
  for (std::size_t k = 0; k < tau.size(); ++k) {
    const double limit = panda::effort_limit[k];
    tau[k] = std::isfinite(tau[k]) ? std::clamp(tau[k], -limit, limit) : 0.0;
  }
}

double nanoseconds(const timespec &t) {
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

struct Cycle {
  double late, took;  // us
};

struct Loop {
  std::vector<Cycle> cycles;
  SimulatedArm arm;
};

void *run(void *argument) {
  Loop &loop = *static_cast<Loop *>(argument);
  timespec next, began, ended;
  clock_gettime(CLOCK_MONOTONIC, &next);
  Velocity tau;
  for (Cycle &cycle : loop.cycles) {
    next.tv_nsec += kPeriod;
    if (next.tv_nsec >= 1000000000L) {
      next.tv_nsec -= 1000000000L;
      ++next.tv_sec;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
    clock_gettime(CLOCK_MONOTONIC, &began);
    compensate(loop.arm.q, tau);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    cycle.late = 1e-3 * (nanoseconds(began) - nanoseconds(next));
    cycle.took = 1e-3 * (nanoseconds(ended) - nanoseconds(began));
    loop.arm.apply(tau);  // on a real arm: send the torques, read the joints
  }
  return nullptr;
}

}  // namespace

int main(int count, char **words) {
  const double seconds = count > 1 ? std::atof(words[1]) : 10.0;
  Loop loop;
  loop.cycles.resize(static_cast<std::size_t>(1e3 * seconds));
  loop.arm.q = {0.0, -0.5, 0.2, -2.0, 0.1, 1.6, 0.8, 0.02};
  const Configuration start = loop.arm.q;

  // No page is fetched, and no other thread takes the processor, while the loop runs: where allowed.
  const bool pinned = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  sched_param priority{};
  priority.sched_priority = 80;
  pthread_attr_setschedparam(&attributes, &priority);
  pthread_t thread;
  bool real_time = pthread_create(&thread, &attributes, run, &loop) == 0;
  if (!real_time && pthread_create(&thread, nullptr, run, &loop) != 0) return 1;
  pthread_join(thread, nullptr);

  double drift = 0.0;
  for (std::size_t k = 0; k < start.size(); ++k) {
    drift = std::max(drift, std::abs(loop.arm.q[k] - start[k]));
  }
  std::vector<double> took;
  for (const Cycle &cycle : loop.cycles) took.push_back(cycle.took);
  std::sort(took.begin(), took.end());
  std::printf("%zu cycles, SCHED_FIFO %s, memory pinned %s\n", took.size(),
              real_time ? "yes" : "no", pinned ? "yes" : "no");
  std::printf("computation: median %.2f us, worst %.2f us; drift %.2e rad\n",
              took[took.size() / 2], took.back(), drift);
  if (count > 2) {
    if (std::FILE *file = std::fopen(words[2], "w")) {
      std::fprintf(file, "late_us,took_us\n");
      for (const Cycle &c : loop.cycles) std::fprintf(file, "%.3f,%.3f\n", c.late, c.took);
      std::fclose(file);
    }
  }
  return drift < 1e-3 ? 0 : 1;
}
