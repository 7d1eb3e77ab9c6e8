// References that a robot follows: positions, velocities and accelerations of its joints, and the pose
// of one of its frames. The checks are those of warpdyn's ROS 2 node. Nothing allocates, locks or throws.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "torque_gate.hpp"

namespace @namespace@ {

constexpr double setpoint_bound = @setpoint_bound@;  // larger references are refused [rad, rad/s, rad/s^2, m ...]
constexpr double pose_bound = @pose_bound@;          // larger positions of a pose are refused [m]
constexpr double unit_tolerance = @unit_tolerance@;  // deviation of a quaternion's length from 1

// The reason for which a reference was refused.
enum class Refusal : unsigned char { none, not_finite, too_fast, too_far, no_rotation };

constexpr const char *refusal_texts[] = {
    "",
    "a number is not finite, or beyond all sense",
    "it is faster than a velocity limit or max_reference_acceleration",
    "it is farther than the largest error from the robot and from the reference before",
    "its quaternion does not have the length 1"};

constexpr const char *text(Refusal refusal) noexcept { return refusal_texts[static_cast<int>(refusal)]; }

// A change of position, the short way round for joints without an end.
inline double short_way(double step, bool turns) noexcept {
  if (!turns) return step;
  constexpr double pi = 3.141592653589793;
  const double turned = std::fmod(step + pi, 2.0 * pi);
  return (turned < 0.0 ? turned + 2.0 * pi : turned) - pi;
}

template <std::size_t n>
struct ReferenceSettings {
  using Joints = std::array<double, n>;

  double timeout = 0.5;                                        // [s]; 0: none
  Joints max_tracking_error = GateSettings<n>::all(0.5);       // [rad, m]; 0: any
  Joints velocity_limit = GateSettings<n>::all(0.0);           // [rad/s, m/s]; 0: any
  double max_reference_acceleration = 50.0;                    // [rad/s^2, m/s^2]; 0: any
  bool clips = false;                                          // too fast references are clipped
  bool keeps_limits = true;                                    // positions are clipped to the limits
  Joints lower = GateSettings<n>::all(-infinity), upper = GateSettings<n>::all(infinity);
  std::array<bool, n> turns{};                                 // joints without an end
};

// A point of a reference. Joints that it does not name keep their positions.
template <std::size_t n>
struct ReferencePoint {
  std::array<double, n> q{}, v{}, a{};
  std::array<bool, n> named{};
  bool has_q = false, has_v = false, has_a = false;
};

// The wanted position, velocity and acceleration of the joints.
template <std::size_t n>
class JointReference {
 public:
  using Joints = std::array<double, n>;

  void configure(const ReferenceSettings<n> &settings, bool watched) noexcept {
    settings_ = settings;
    watched_ = watched;
  }

  // Uses a point. `q`: the present position, where the robot follows references; else nullptr.
  Refusal read(const ReferencePoint<n> &wanted, double now, const Joints *q) noexcept {
    ReferencePoint<n> point = wanted;
    for (std::size_t j = 0; j < n; ++j) {
      if (!point.named[j]) continue;
      const bool makes_sense = (!point.has_q || std::fabs(point.q[j]) <= setpoint_bound) &&
                               (!point.has_v || std::fabs(point.v[j]) <= setpoint_bound) &&
                               (!point.has_a || std::fabs(point.a[j]) <= setpoint_bound);
      if (!makes_sense) return Refusal::not_finite;
    }
    if (!bound(point)) return Refusal::too_fast;
    if (point.has_q) {
      const std::array<bool, n> at_limits = keep_within(point);
      at_limits_changed_ = at_limits_changed_ || at_limits != at_limits_;
      at_limits_ = at_limits;
      if (q != nullptr && jumps(point, *q)) return Refusal::too_far;
      for (std::size_t j = 0; j < n; ++j) {
        if (!point.named[j]) continue;
        q_[j] = point.q[j];
        placed_[j] = true;
        named_[j] = now;
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      v_[j] = point.named[j] && point.has_v ? point.v[j] : 0.0;
      a_[j] = point.named[j] && point.has_a ? point.a[j] : 0.0;
    }
    rests_ = false;
    arrived_ = now;
    return Refusal::none;
  }

  // No reference has named a joint.
  void forget() noexcept {
    named_.fill(-infinity);
    placed_.fill(false);
    at_limits_.fill(false);
    v_.fill(0.0);
    a_.fill(0.0);
    arrived_ = -infinity;
    rests_ = true;
    at_limits_changed_ = false;
  }

  // Wants the present position of all joints that no reference has named since that time.
  void stay(const Joints &q, double since) noexcept {
    for (std::size_t j = 0; j < n; ++j) {
      if (named_[j] < since) q_[j] = q[j];
      placed_[j] = true;
    }
    if (arrived_ < since) {
      v_.fill(0.0);
      a_.fill(0.0);
      arrived_ = -infinity;
    }
  }

  // Stays where the reference was, once it is older than the timeout. True where it has moved until now.
  bool ends(double now) noexcept {
    if (rests_ || !(settings_.timeout > 0.0) || now - arrived_ <= settings_.timeout) return false;
    bool moved = false;
    for (std::size_t j = 0; j < n; ++j) moved = moved || v_[j] != 0.0 || a_[j] != 0.0;
    v_.fill(0.0);
    a_.fill(0.0);
    rests_ = true;
    return moved;
  }

  // True once after references began or ceased to ask for positions beyond a limit.
  bool take_change_at_limits() noexcept {
    const bool changed = at_limits_changed_;
    at_limits_changed_ = false;
    return changed;
  }

  // The wanted position of a joint at q, the short way round.
  double q(std::size_t j, double q) const noexcept {
    if (!placed_[j]) return q;
    return settings_.turns[j] ? q + short_way(q_[j] - q, true) : q_[j];
  }
  double v(std::size_t j) const noexcept { return v_[j]; }
  double a(std::size_t j) const noexcept { return a_[j]; }

  // True where a joint is too far from its wanted position.
  bool astray(const Joints &q) const noexcept {
    if (!watched_) return false;
    for (std::size_t j = 0; j < n; ++j) {
      if (placed_[j] && std::fabs(short_way(q_[j] - q[j], settings_.turns[j])) > farthest(j)) return true;
    }
    return false;
  }

 private:
  double farthest(std::size_t j) const noexcept {
    const double far = settings_.max_tracking_error[j];
    return far > 0.0 ? far : infinity;
  }

  // Clips what is too fast, or returns false.
  bool bound(ReferencePoint<n> &point) const noexcept {
    for (std::size_t j = 0; j < n; ++j) {
      if (!point.named[j]) continue;
      const double limit = settings_.velocity_limit[j];
      const double fastest = limit > 0.0 && std::isfinite(limit) ? limit : infinity;
      const double strongest =
          settings_.max_reference_acceleration > 0.0 ? settings_.max_reference_acceleration : infinity;
      const bool fast = point.has_v && std::fabs(point.v[j]) > fastest * (1.0 + 1e-9);
      const bool strong = point.has_a && std::fabs(point.a[j]) > strongest * (1.0 + 1e-9);
      if ((fast || strong) && !settings_.clips) return false;
      if (fast) point.v[j] = std::fmin(std::fmax(point.v[j], -fastest), fastest);
      if (strong) point.a[j] = std::fmin(std::fmax(point.a[j], -strongest), strongest);
    }
    return true;
  }

  // Clips positions to the limits. A joint that would go beyond rests at its limit. Returns those joints.
  std::array<bool, n> keep_within(ReferencePoint<n> &point) const noexcept {
    std::array<bool, n> beyond_limits{};
    if (!settings_.keeps_limits) return beyond_limits;
    for (std::size_t j = 0; j < n; ++j) {
      if (!point.named[j]) continue;
      const double low = settings_.lower[j], high = settings_.upper[j];
      const bool beyond = point.q[j] < low || point.q[j] > high;
      beyond_limits[j] = beyond;
      point.q[j] = std::fmin(std::fmax(point.q[j], low), high);
      for (double *rate : {&point.v[j], &point.a[j]}) {
        const bool leaves = (point.q[j] == high && *rate > 0.0) || (point.q[j] == low && *rate < 0.0);
        if (beyond || leaves) *rate = 0.0;
      }
    }
    return beyond_limits;
  }

  // True if a point lies too far both from the point before and from the robot.
  bool jumps(const ReferencePoint<n> &point, const Joints &q) const noexcept {
    if (!watched_) return false;
    for (std::size_t j = 0; j < n; ++j) {
      const double wanted = point.named[j] ? point.q[j] : q_[j];
      const double step = std::fabs(short_way(wanted - q_[j], settings_.turns[j]));
      const double error = std::fabs(short_way(wanted - q[j], settings_.turns[j]));
      if (std::fmin(step, error) > farthest(j)) return true;
    }
    return false;
  }

  ReferenceSettings<n> settings_{};
  Joints q_{}, v_{}, a_{};
  Joints named_ = GateSettings<n>::all(-infinity);
  std::array<bool, n> placed_{}, at_limits_{};
  double arrived_ = -infinity;
  bool watched_ = false, rests_ = true, at_limits_changed_ = false;
};

// A pose: position [m] and quaternion x y z w.
using Pose = std::array<double, 7>;

// Distance [m] and angle [rad] between two poses with unit quaternions.
inline std::array<double, 2> apart(const Pose &one, const Pose &other) noexcept {
  double square = 0.0, product = 0.0;
  for (std::size_t k = 0; k < 3; ++k) square += (one[k] - other[k]) * (one[k] - other[k]);
  for (std::size_t k = 3; k < 7; ++k) product += one[k] * other[k];
  const double sign = product >= 0.0 ? 1.0 : -1.0;  // a quaternion and its negative are one rotation
  double difference = 0.0, sum = 0.0;
  for (std::size_t k = 3; k < 7; ++k) {
    const double b = sign * other[k];
    difference += (one[k] - b) * (one[k] - b);
    sum += (one[k] + b) * (one[k] + b);
  }
  return {std::sqrt(square), 4.0 * std::atan2(std::sqrt(difference), std::sqrt(sum))};
}

// The wanted pose of a frame of the robot, in its root link.
class PoseReference {
 public:
  // max_error: [m, rad]; 0: any.
  void configure(const std::array<double, 2> &max_error) noexcept {
    for (std::size_t k = 0; k < 2; ++k) farthest_[k] = max_error[k] > 0.0 ? max_error[k] : infinity;
  }

  const Pose &wanted() const noexcept { return wanted_; }

  // Uses a pose. A robot that is not enabled checks it, and stays where it is.
  Refusal read(Pose pose, const Pose &present, bool enabled) noexcept {
    double square = 0.0;
    for (std::size_t k = 0; k < 7; ++k) {
      if (!(std::fabs(pose[k]) <= pose_bound)) return Refusal::not_finite;
      if (k >= 3) square += pose[k] * pose[k];
    }
    const double length = std::sqrt(square);
    if (std::fabs(length - 1.0) > unit_tolerance) return Refusal::no_rotation;
    if (!enabled) return Refusal::none;
    for (std::size_t k = 3; k < 7; ++k) pose[k] /= length;
    const auto step = apart(pose, wanted_), error = apart(pose, present);
    for (std::size_t k = 0; k < 2; ++k) {
      if (std::fmin(step[k], error[k]) > farthest_[k]) return Refusal::too_far;
    }
    wanted_ = pose;
    return Refusal::none;
  }

  void stay(const Pose &present) noexcept { wanted_ = present; }

  // True where the frame is too far from the wanted pose.
  bool astray(const Pose &present) const noexcept {
    const auto error = apart(wanted_, present);
    return error[0] > farthest_[0] || error[1] > farthest_[1];
  }

 private:
  Pose wanted_ = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0};
  std::array<double, 2> farthest_ = {infinity, infinity};
};

}  // namespace @namespace@
