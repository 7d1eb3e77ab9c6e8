// The computation in `update()` of a ros2_control controller, without ROS: on Eigen's vectors, without
// copies or allocations. gravity_controller.cpp is the rest of the controller, which needs ROS.
#pragma once
#include <Eigen/Core>
#include <cmath>

#include "panda.hpp"

class GravityCompute {
 public:
  using Joints = Eigen::Matrix<double, panda::nv, 1>;

  // Torques [N m] within the limits; false, with zeros, if a torque is not finite.
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
