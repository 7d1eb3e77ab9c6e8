// A law of the robot behind the guards: measured states in, commands out. It is free of ROS, and
// nothing in it allocates, locks or throws.
//
// `Law` is a struct of a header that the package writer made: the number of joints, their columns in
// the model's arrays, its inputs, and `compute`.
#pragma once
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>

#include "message_queue.hpp"
#include "references.hpp"
#include "torque_gate.hpp"

namespace @namespace@ {

// Requests of other threads: bits of one number, so that none replaces another one.
enum class Request : unsigned char { enable = 1, disable = 2, reset = 4 };

constexpr unsigned char bit(Request request) noexcept { return static_cast<unsigned char>(request); }

template <class Law>
struct LawSettings {
  static constexpr std::size_t n = Law::joint_count;

  GateSettings<n> gate;
  ReferenceSettings<n> reference;
  std::array<double, 2> max_pose_error = {0.2, 0.5};   // [m, rad]; 0: any
  std::array<double, 3> gravity = {0.0, 0.0, -9.81};   // in the root link's axes [m/s^2]
  typename Law::Inputs inputs;
};

template <class Law>
class GuardedLaw {
 public:
  static constexpr std::size_t n = Law::joint_count;
  using Joints = std::array<double, n>;

  // Not while the robot is enabled.
  void configure(const LawSettings<Law> &settings) noexcept {
    settings_ = settings;
    gate_.configure(settings.gate);
    reference_.configure(settings.reference, Law::tracks_positions);
    pose_.configure(settings.max_pose_error);
  }

  // Enables the robot. `standing`: torques that act already, from which the commands go over to those
  // of the law within the ramp time. False where the gate refuses, or a number is not finite.
  bool activate(const Joints &q, const Joints &v, const Joints &standing, double now) noexcept {
    ReferencePoint<n> point;
    while (points_.pop(point)) continue;
    Pose pose;
    while (poses_.pop(pose)) continue;
    requests_.store(0, std::memory_order_release);
    reference_.forget();
    gate_.reset();
    if (!gate_.take_state(q, v, now)) return false;
    gate_.stand(standing);
    return enable(q, v, now);
  }

  // The last command at once: zeros, or the command as it stands with the action "hold".
  const Joints &deactivate(double now) noexcept {
    gate_.end_at_once(now);
    publish();
    return gate_.last();
  }

  // The command of this cycle.
  const Joints &update(const Joints &q, const Joints &v, double now) noexcept {
    gate_.watch(now);
    bool sent = false;
    if (gate_.take_state(q, v, now)) {
      write_state(q, v);
      answer_requests(q, v, now);
      prepare(q, now);
      Law::compute(arrays_, settings_.gravity.data(), settings_.inputs);
      Joints torque;
      for (std::size_t j = 0; j < n; ++j) torque[j] = arrays_.torque[Law::v_columns[j]];
      if (is_astray(q)) gate_.fail(Cause::far_from_reference, now);
      sent = gate_.command(q, v, torque, now);
    } else {
      drop_enable();
    }
    if (!sent) gate_.stop_step(now);
    publish();
    return gate_.last();
  }

  // The command of a cycle in which no state could be read: the last one, until the state is too old.
  const Joints &wait(double now) noexcept {
    gate_.watch(now);
    if (!gate_.fresh(now)) drop_enable();
    gate_.stop_step(now);
    publish();
    return gate_.last();
  }

  // Begins a stop because the measured state is not reliable.
  void lose(Cause cause, double now) noexcept { gate_.lose(cause, now); }

  // For another thread: the requests are answered in the next cycle with a valid state. A request to
  // enable is dropped if that state is not valid.
  void request(Request request) noexcept { requests_.fetch_or(bit(request), std::memory_order_acq_rel); }
  bool refer(const ReferencePoint<n> &point) noexcept { return points_.push(point); }
  bool refer_pose(const Pose &pose) noexcept { return poses_.push(pose); }

  Phase phase() const noexcept { return phase_.load(std::memory_order_acquire); }
  Cause cause() const noexcept { return cause_.load(std::memory_order_acquire); }
  // The reason for which the last reference was refused, once.
  Refusal take_refusal() noexcept { return refusal_.exchange(Refusal::none, std::memory_order_acq_rel); }

 private:
  bool enable(const Joints &q, const Joints &v, double now) noexcept {
    write_state(q, v);
    const bool was_enabled = gate_.enabled();
    if (!was_enabled) {
      reference_.stay(q, now - settings_.gate.state_timeout);
      if (reference_.astray(q)) return false;
      posture_ = q;
      posture_time_ = now;
      if constexpr (Law::has_frame) pose_.stay(Law::frame_pose(arrays_.q));
    }
    const bool good = gate_.enable(now);
    publish();
    return good;
  }

  void answer_requests(const Joints &q, const Joints &v, double now) noexcept {
    const unsigned char asked = requests_.exchange(0, std::memory_order_acq_rel);
    if ((asked & bit(Request::reset)) != 0) gate_.reset();
    // A request to stop counts, whatever else is asked for in the same cycle.
    if ((asked & bit(Request::disable)) != 0) {
      gate_.disable(now);
    } else if ((asked & bit(Request::enable)) != 0) {
      enable(q, v, now);
    }
  }

  // A robot must not be enabled long after the request, by the first valid state.
  void drop_enable() noexcept {
    requests_.fetch_and(static_cast<unsigned char>(~bit(Request::enable)), std::memory_order_acq_rel);
  }

  void prepare(const Joints &q, double now) noexcept {
    ReferencePoint<n> point;
    while (points_.pop(point)) note(reference_.read(point, now, gate_.enabled() ? &q : nullptr));
    // Commands that begin at the last one with each reference would not follow the robot.
    const bool crossed = reference_.take_change_at_limits(), ended = reference_.ends(now);
    if ((crossed || ended) && now - jumped_ >= float_time) {
      jumped_ = now;
      gate_.blend(float_time);
    }
    for (std::size_t j = 0; j < n; ++j) {
      arrays_.q_desired[Law::q_columns[j]] = reference_.q(j, q[j]);
      arrays_.v_desired[Law::v_columns[j]] = reference_.v(j);
      arrays_.a_desired[Law::v_columns[j]] = reference_.a(j);
    }
    if constexpr (Law::moves_posture) follow_posture(q, now);
    if constexpr (Law::has_frame) {
      const Pose present = Law::frame_pose(arrays_.q);
      Pose wanted;
      while (poses_.pop(wanted)) note(pose_.read(wanted, present, gate_.enabled()));
      if (!gate_.enabled()) pose_.stay(present);
      pose_is_astray_ = pose_.astray(present);
      arrays_.pose_desired = pose_.wanted();
    }
  }

  // Moves the posture of a law to the wanted position, no joint faster than its velocity limit.
  void follow_posture(const Joints &q, double now) noexcept {
    const double passed = std::fmin(std::fmax(now - posture_time_, 0.0), longest_posture_cycle);
    posture_time_ = now;
    for (std::size_t j = 0; j < n; ++j) {
      double &wanted = arrays_.q_desired[Law::q_columns[j]];
      if (gate_.enabled()) {
        const double limit = settings_.reference.velocity_limit[j];
        const double most = passed * (limit > 0.0 && std::isfinite(limit) ? limit : posture_speed);
        // An encoder that wraps changes the turn of the wanted position, and the last posture follows.
        const bool turns = settings_.reference.turns[j];
        const double last = turns ? wanted - short_way(wanted - posture_[j], true) : posture_[j];
        wanted = std::fmin(std::fmax(wanted, last - most), last + most);
        if (turns) wanted = q[j] + short_way(wanted - q[j], true);
      }
      posture_[j] = wanted;
    }
  }

  bool is_astray(const Joints &q) const noexcept {
    if (gate_.phase() != Phase::enabled) return false;
    return reference_.astray(q) || (Law::has_frame && pose_is_astray_);
  }

  void write_state(const Joints &q, const Joints &v) noexcept {
    for (std::size_t j = 0; j < n; ++j) {
      arrays_.q[Law::q_columns[j]] = q[j];
      arrays_.v[Law::v_columns[j]] = v[j];
    }
  }

  void note(Refusal refusal) noexcept {
    if (refusal != Refusal::none) refusal_.store(refusal, std::memory_order_release);
  }

  void publish() noexcept {
    phase_.store(gate_.phase(), std::memory_order_release);
    cause_.store(gate_.cause(), std::memory_order_release);
  }

  LawSettings<Law> settings_{};
  TorqueGate<n> gate_;
  JointReference<n> reference_;
  PoseReference pose_;
  bool pose_is_astray_ = false;
  Joints posture_{};
  double posture_time_ = -infinity, jumped_ = -infinity;
  typename Law::Arrays arrays_;
  MessageQueue<ReferencePoint<n>, 16> points_;
  MessageQueue<Pose, 16> poses_;
  std::atomic<unsigned char> requests_{0};
  std::atomic<Refusal> refusal_{Refusal::none};
  std::atomic<Phase> phase_{Phase::off};
  std::atomic<Cause> cause_{Cause::none};
};

}  // namespace @namespace@
