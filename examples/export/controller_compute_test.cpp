// Test of the controller's computation: finite states give inverse dynamics at rest, other states zeros.
#include <cstdio>
#include <limits>

#include "controller_compute.hpp"

int main() {
  const GravityCompute compute;
  GravityCompute::Joints q, tau, expected;
  q << 0.1, -0.5, 0.2, -2.0, 0.1, 1.6, 0.8, 0.02;
  const GravityCompute::Joints zero = GravityCompute::Joints::Zero();
  panda::rnea(q.data(), zero.data(), zero.data(), expected.data());
  const bool fine = compute.update(q, tau) && (tau - expected).cwiseAbs().maxCoeff() < 1e-12;
  q[3] = std::numeric_limits<double>::quiet_NaN();
  const bool refused = !compute.update(q, tau) && tau.isZero(0.0);
  std::printf("%s\n", fine && refused ? "as it should" : "wrong");
  return fine && refused ? 0 : 1;
}
