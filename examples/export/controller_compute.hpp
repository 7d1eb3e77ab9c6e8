// What a ros2_control controller computes in `update()`, free of ROS: Eigen's vectors, no copies, no
// allocation. gravity_controller.cpp, which needs ROS, is the plain rest.
#pragma once
#include <Eigen/Core>
#include <cmath>

#include "panda.hpp"

class GravityCompute {
 public:
  using Joints = Eigen::Matrix<double, panda::nv, 1>;

  // Torques [N m] within the limits; false, and zeros, where a state is not finite.
  bool update(const Eigen::Ref<const Joints> &q, Eigen::Ref<Joints> tau) const noexcept {
    panda::gravity_torques(q.data(), tau.data());
    if (!tau.allFinite()) {
      tau.setZero();
      return false;
    }
    const Eigen::Map<const Joints> limit(panda::effort_limit);
    tau = tau.cwiseMin(limit).cwiseMax(-limit);
    return true;
  }
};
