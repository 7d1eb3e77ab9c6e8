// Guards of joint torques: an enable gate, ramps, limits of torque and torque rate, repulsion before
// position limits, and a stop sequence. C++17 without ROS. Nothing allocates, locks or throws.
//
// The rules are those of warpdyn's ROS 2 node. The tables and constants below are written from its
// Python source, and tests compare both on random sequences of events.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace @namespace@ {

@gate_table@

// The reason for the last fault or loss.
enum class Cause : unsigned char {
  none,
  state_not_finite,
  state_too_old,
  torque_not_finite,
  command_not_finite,
  far_from_reference,
  collision,
  clock_backwards,
  outside
};

constexpr const char *cause_texts[] = {
    "",
    "the measured state is not finite",
    "no valid state for state_timeout",
    "a computed torque is not finite",
    "the command is not finite",
    "the robot is too far from its reference",
    "collision",
    "the clock ran backwards",
    "a fault outside of the gate"};

constexpr const char *text(Cause cause) noexcept { return cause_texts[static_cast<int>(cause)]; }

// The stored phase of one robot, and the cause of it where there is one.
class Gate {
 public:
  Phase phase() const noexcept { return phase_; }
  Cause cause() const noexcept { return cause_; }

  // Why an event would be refused now; nullptr when it would not.
  const char *refusal(GateEvent event) const noexcept {
    return refusals[static_cast<int>(event)][static_cast<int>(phase_)];
  }

  // Moves to the next phase. False, and nothing changes, when the event is refused.
  bool send(GateEvent event, Cause cause = Cause::none) noexcept {
    const int next = transitions[static_cast<int>(event)][static_cast<int>(phase_)];
    if (next < 0) return false;
    phase_ = static_cast<Phase>(next);
    if (!is_explained(phase_)) {
      cause_ = Cause::none;
    } else if (cause != Cause::none) {
      cause_ = cause;
    }
    return true;
  }

 private:
  Phase phase_ = Phase::off;
  Cause cause_ = Cause::none;
};

enum class StopAction : unsigned char { ramp_down, zero, hold };

// Numbers of the guards. Arrays have an entry for each commanded joint.
template <std::size_t n>
struct GateSettings {
  using Joints = std::array<double, n>;

  static constexpr Joints all(double x) noexcept {
    Joints filled{};
    for (double &each : filled) each = x;
    return filled;
  }

  double ramp_time = 1.0;                // [s]
  double state_timeout = 0.1;            // [s]
  StopAction stale_action = StopAction::ramp_down;
  Joints torque_scale = all(1.0);        // factor on the torques
  Joints described_effort = all(0.0);    // effort limits of the description; 0: none [N m, N]
  Joints effort_limits = all(0.0);       // further effort limits; 0: none [N m, N]
  double effort_limit_scale = 1.0;       // factor on the effort limits
  bool unlimited_effort = false;         // joints without an effort limit may be enabled
  Joints max_torque_rate = all(-1.0);    // [N m/s]; 0: none, -1: the effort limit in rise_time
  Joints lower = all(-infinity), upper = all(infinity);  // position limits; infinite: none
  bool repels = true;                    // joints are pushed back before their position limits
  Joints joint_limit_margin = all(0.1);  // [rad, m]
  double joint_limit_effort = 0.5;       // share of the effort limit at the position limit
  Joints inertia = all(0.0);             // smallest inertia of each joint, others free [kg m^2, kg]
};

// An array that goes to zero linearly within `duration`, from `start` on [s].
template <std::size_t n>
struct Fade {
  std::array<double, n> value{};
  double start = 0.0, duration = 0.0;

  double left(double now) const noexcept {
    if (duration <= 0.0) return 0.0;
    return std::fmax(1.0 - std::fmax(now - start, 0.0) / duration, 0.0);
  }
};

// Continuous commands over a change: the step that the commands would make is taken back, and fades.
template <std::size_t n>
class BumplessTransfer {
 public:
  using Joints = std::array<double, n>;

  // The next command goes on from the last one, within `duration` [s].
  void begin(double duration) noexcept {
    pending_ = std::fmax(duration, has_pending_ ? pending_ : 0.0);
    has_pending_ = active_ = true;
  }

  void clear() noexcept {
    count_ = 0;
    has_pending_ = active_ = false;
  }

  bool active() const noexcept { return active_; }
  bool has_pending() const noexcept { return has_pending_; }
  double pending() const noexcept { return pending_; }

  // Lets an offset fade from now on.
  void add(const Joints &offset, double now, double duration) noexcept {
    if (!(duration > 0.0)) return;
    std::size_t taker = most_fades;
    if (count_ > 0 && fades_[count_ - 1].left(now) >= 1.0 - 1.0 / fade_steps) taker = count_ - 1;
    if (taker == most_fades && count_ == most_fades) {
      taker = 0;
      for (std::size_t k = 1; k < count_; ++k) {
        if (fades_[k].left(now) > fades_[taker].left(now)) taker = k;
      }
    }
    if (taker < most_fades) {
      const double left = fades_[taker].left(now);
      for (std::size_t j = 0; j < n; ++j) fades_[taker].value[j] += offset[j] / left;
      return;
    }
    fades_[count_++] = Fade<n>{offset, now, duration};
    active_ = true;
  }

  // The wanted command with what has not faded; `last` is the command before.
  void apply(Joints &wanted, const Joints &last, double now) noexcept {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < count_; ++k) {
      if (fades_[k].left(now) > 0.0) {
        if (kept != k) fades_[kept] = fades_[k];
        ++kept;
      }
    }
    count_ = kept;
    for (std::size_t k = 0; k < count_; ++k) {
      const double left = fades_[k].left(now);
      for (std::size_t j = 0; j < n; ++j) wanted[j] += left * fades_[k].value[j];
    }
    const bool began = has_pending_;
    const double duration = pending_;
    has_pending_ = false;
    if (began) {
      Joints offset;
      for (std::size_t j = 0; j < n; ++j) offset[j] = last[j] - wanted[j];
      add(offset, now, duration);
      if (duration > 0.0) wanted = last;
    }
    active_ = count_ > 0;
  }

 private:
  std::array<Fade<n>, most_fades> fades_{};
  std::size_t count_ = 0;
  double pending_ = 0.0;
  bool has_pending_ = false, active_ = false;
};

// A spring and a damper in front of each position limit.
//
// Inside the margin m of a limit, at the depth d, the torque k d + c min(d / m, 1) d' pushes back; the
// damper acts only towards the limit.
template <std::size_t n>
class JointLimitRepulsion {
 public:
  using Joints = std::array<double, n>;

  void configure(const GateSettings<n> &settings, const Joints &effort_limit) noexcept {
    active_ = false;
    for (std::size_t j = 0; j < n; ++j) {
      const bool ends = std::isfinite(settings.lower[j]) && std::isfinite(settings.upper[j]);
      const double range = ends ? settings.upper[j] - settings.lower[j] : infinity;
      middle_[j] = ends ? 0.5 * (settings.lower[j] + settings.upper[j]) : 0.0;
      const double margin = std::fmin(settings.joint_limit_margin[j], largest_share * range);
      const bool has = ends && margin > 0.0;
      margin_[j] = has ? margin : 1.0;
      free_[j] = has ? 0.5 * range - margin : infinity;
      const bool able = has && std::isfinite(effort_limit[j]);
      spring_[j] = able ? settings.joint_limit_effort * effort_limit[j] / margin_[j] : 0.0;
      most_[j] = able ? effort_limit[j] : 0.0;
      inertia_[j] = settings.inertia[j];
      active_ = active_ || (has && settings.repels && settings.joint_limit_effort > 0.0);
    }
  }

  // Adds what repels at the positions q and velocities v. Call it in each cycle.
  void add(Joints &torque, const Joints &q, const Joints &v, double now) noexcept {
    if (!active_) return;
    const double passed = std::fmin(now - added_, longest_cycle);
    added_ = now;
    cycle_ += (passed - cycle_) / cycles;
    for (std::size_t j = 0; j < n; ++j) {
      const double way = q[j] - middle_[j], depth = std::fabs(way) - free_[j];
      if (!(depth > 0.0)) continue;
      const double side = way > 0.0 ? 1.0 : way < 0.0 ? -1.0 : 0.0;
      const double approach = std::fmax(side * v[j], 0.0);
      const double softest = spring_per_cycle / cycle_;
      const double spring = std::fmin(spring_[j], softest * softest * inertia_[j]);
      const double damper = std::fmin(braking_time * spring_[j], damper_per_cycle / cycle_ * inertia_[j]) *
                            std::fmin(depth / margin_[j], 1.0);
      const double push = std::fmin(spring * depth, most_[j]) + damper * approach;
      torque[j] -= side * std::fmin(push, most_[j]);
    }
  }

 private:
  Joints middle_{}, margin_{}, free_{}, spring_{}, most_{}, inertia_{};
  double cycle_ = first_cycle, added_ = -infinity;
  bool active_ = false;
};

// Commands of one robot from its computed torques.
//
// In each cycle: `watch`, `take_state`, then `command` where the state is valid, then `stop_step` where
// that gave no command. Where neither does, `last` stands. Times are seconds of one clock.
template <std::size_t n>
class TorqueGate {
 public:
  using Joints = std::array<double, n>;

  // Uses other numbers from the next command on, which goes on from the last one.
  void configure(const GateSettings<n> &settings) noexcept {
    const double longest = std::fmax(settings_.ramp_time, settings.ramp_time);
    settings_ = settings;
    is_limited_ = true;
    Joints effort_limit;
    for (std::size_t j = 0; j < n; ++j) {
      const double described = settings.described_effort[j], further = settings.effort_limits[j];
      const double limit = std::fmin(described > 0.0 ? described : infinity, further > 0.0 ? further : infinity);
      effort_limit[j] = limit;
      is_limited_ = is_limited_ && std::isfinite(limit);
      limit_[j] = std::isfinite(limit) ? limit * settings.effort_limit_scale : std::numeric_limits<double>::max();
      rate_is_derived_[j] = settings.max_torque_rate[j] < 0.0;
      const double rate = rate_is_derived_[j] ? limit / rise_time : settings.max_torque_rate[j];
      has_rate_[j] = rate > 0.0 && std::isfinite(rate);
      rate_[j] = has_rate_[j] ? rate : 0.0;
    }
    repulsion_.configure(settings, effort_limit);
    blend_.begin(longest);
  }

  Phase phase() const noexcept { return gate_.phase(); }
  Cause cause() const noexcept { return gate_.cause(); }
  const char *refusal(GateEvent event) const noexcept { return gate_.refusal(event); }
  bool enabled() const noexcept { return is_open(gate_.phase()); }
  bool stopping() const noexcept { return last_left_ > 0; }
  bool fresh(double now) const noexcept { return now - arrived_ <= settings_.state_timeout; }
  const Joints &last() const noexcept { return command_; }

  // Where the next `enable` begins: torques that act already, such as measured ones. Those beyond the
  // effort limits count as the limits, and those that are not finite as zero.
  void stand(const Joints &torque) noexcept {
    for (std::size_t j = 0; j < n; ++j) command_[j] = std::isfinite(torque[j]) ? clip(torque[j], limit_[j]) : 0.0;
  }

  // Requests. False where they are refused.

  bool enable(double now) noexcept {
    const bool refused = gate_.refusal(GateEvent::enable) != nullptr;
    if (refused || !fresh(now)) return false;
    if (enabled()) return true;
    if (!is_limited_ && !settings_.unlimited_effort) return false;
    gate_.send(GateEvent::enable);
    start(now);
    return true;
  }

  void disable(double now) noexcept { close(GateEvent::disable, Cause::none, now); }
  void fail(Cause cause, double now) noexcept { close(GateEvent::fail, cause, now); }
  void lose(Cause cause, double now) noexcept { close(GateEvent::lose, cause, now); }
  void reset() noexcept { gate_.send(GateEvent::reset); }
  bool start_by_itself() noexcept { return gate_.send(GateEvent::start); }
  void withdraw() noexcept { gate_.send(GateEvent::withdraw); }

  // A collision: the next torques are to be those of gravity alone.
  bool collide() noexcept {
    if (!gate_.send(GateEvent::collide, Cause::collision)) return false;
    blend_.clear();
    blend(float_time);
    return true;
  }

  // Something changes, such as a reference that ends: go over to it within the ramp time, and at most
  // `longest` [s].
  void blend(double longest) noexcept { blend_.begin(std::fmin(settings_.ramp_time, longest)); }

  // A cycle.

  // Begins a stop where the state is too old.
  void watch(double now) noexcept {
    if (enabled() && !fresh(now)) lose(Cause::state_too_old, now);
  }

  // Notes a measured state. False, and a stop begins, where it is not finite.
  bool take_state(const Joints &q, const Joints &v, double now) noexcept {
    if (!finite(q) || !finite(v)) {
      lose(Cause::state_not_finite, now);
      return false;
    }
    arrived_ = now;
    return true;
  }

  // The command for computed torques. False where none is to be sent.
  bool command(const Joints &q, const Joints &v, const Joints &torque, double now) noexcept {
    if (!finite(torque)) {
      fail(Cause::torque_not_finite, now);
      return false;
    }
    if (is_starting(gate_.phase())) {
      enable(now);
      return false;
    }
    if (!enabled()) return false;
    Joints repelled = torque;
    repulsion_.add(repelled, q, v, now);
    // A robot that floats after a collision has the torques of gravity alone, as in the node.
    if (compute(gate_.phase() == Phase::floating ? torque : repelled, now)) return true;
    fail(Cause::command_not_finite, now);
    return false;
  }

  // The next command of the stop sequence. False where none is running.
  bool stop_step(double now) noexcept {
    const bool sends = last_left_ > 0;
    if (sends) {
      const double passed = now - stop_from_;
      if (passed < stop_ramp_) {
        for (std::size_t j = 0; j < n; ++j) command_[j] = stop_command_[j] * (1.0 - passed / stop_ramp_);
      } else {
        end_of_stop();
        --last_left_;
      }
    }
    if (is_stopping(gate_.phase()) && last_left_ == 0) gate_.send(GateEvent::stopped);
    return sends;
  }

  // The last command at once, where there is no time for a stop sequence.
  void end_at_once(double now) noexcept {
    disable(now);
    if (last_left_ > 0) end_of_stop();
    last_left_ = 0;
    gate_.send(GateEvent::stopped);
  }

  static bool finite(const Joints &x) noexcept {
    for (std::size_t j = 0; j < n; ++j) {
      if (!std::isfinite(x[j])) return false;
    }
    return true;
  }

 private:
  void close(GateEvent event, Cause cause, double now) noexcept {
    const bool was_open = enabled();
    gate_.send(event, cause);
    if (was_open) stop(now);
  }

  // Begins the ramp, from zero or from what stands already.
  void start(double now) noexcept {
    share_ = 0.0;
    computed_ = now;
    begins_ = true;
    last_left_ = 0;
    blend_.clear();
    keep_bound(now, settings_.ramp_time);
    bool stands = false;
    for (std::size_t j = 0; j < n; ++j) stands = stands || command_[j] != 0.0;
    if (stands) blend_.add(command_, now, settings_.ramp_time);
  }

  bool compute(const Joints &torque, double now) noexcept {
    Joints wanted, bound = limit_;
    if (share_ < 1.0) rise(now);
    for (std::size_t j = 0; j < n; ++j) {
      wanted[j] = torque[j] * settings_.torque_scale[j];
      if (share_ < 1.0) wanted[j] *= share_;
      if (!std::isfinite(wanted[j])) return false;
      wanted[j] = clip(wanted[j], limit_[j]);
    }
    if (blend_.active()) {
      if (blend_.has_pending()) keep_bound(now, blend_.pending());
      const double left = excess_.left(now);
      for (std::size_t j = 0; j < n; ++j) bound[j] = limit_[j] + left * excess_.value[j];
      blend_.apply(wanted, command_, now);
      for (std::size_t j = 0; j < n; ++j) wanted[j] = clip(wanted[j], bound[j]);
    }
    limit_rate(wanted, bound, std::fmin(now - computed_, 0.1));
    computed_ = now;
    begins_ = false;
    command_ = wanted;
    return true;
  }

  // Lets the share of the torques rise until now. It never falls: a longer ramp_time makes the rest of
  // the ramp slower.
  void rise(double now) noexcept {
    const double passed = std::fmax(now - computed_, 0.0);
    const bool rises = passed < (1.0 - share_) * settings_.ramp_time;
    share_ = rises ? share_ + passed / settings_.ramp_time : 1.0;
  }

  // Keeps the wanted command as near to the last one as the rate allows.
  void limit_rate(Joints &wanted, const Joints &bound, double passed) const noexcept {
    Joints limited = wanted;
    bool is_slowed = false;
    for (std::size_t j = 0; j < n; ++j) {
      if (!has_rate_[j] || (begins_ && rate_is_derived_[j])) continue;  // a ramp of no time is a step
      const double step = rate_[j] * passed;
      if (std::fabs(wanted[j] - command_[j]) <= step) continue;
      limited[j] = std::fmin(std::fmax(wanted[j], command_[j] - step), command_[j] + step);
      is_slowed = true;
    }
    if (!is_slowed) return;
    for (std::size_t j = 0; j < n; ++j) wanted[j] = clip(limited[j], bound[j]);
  }

  void keep_bound(double now, double duration) noexcept {
    for (std::size_t j = 0; j < n; ++j) excess_.value[j] = std::fmax(std::fabs(command_[j]) - limit_[j], 0.0);
    excess_.start = now;
    excess_.duration = duration;
  }

  void stop(double now) noexcept {
    if (stopping()) return;
    stop_from_ = now;
    stop_action_ = settings_.stale_action;
    stop_ramp_ = stop_action_ == StopAction::ramp_down ? std::fmin(settings_.ramp_time, stop_time) : 0.0;
    stop_command_ = command_;
    last_left_ = last_commands;
  }

  void end_of_stop() noexcept {
    if (stop_action_ == StopAction::hold) {
      command_ = stop_command_;
    } else {
      command_.fill(0.0);
    }
  }

  static double clip(double x, double bound) noexcept { return std::fmin(std::fmax(x, -bound), bound); }

  GateSettings<n> settings_{};
  Gate gate_;
  BumplessTransfer<n> blend_;
  JointLimitRepulsion<n> repulsion_;
  Fade<n> excess_{};
  Joints limit_{}, rate_{}, command_{}, stop_command_{};
  std::array<bool, n> has_rate_{}, rate_is_derived_{};
  bool is_limited_ = false, begins_ = true;
  double arrived_ = -infinity, share_ = 1.0, computed_ = 0.0;
  double stop_from_ = 0.0, stop_ramp_ = 0.0;
  StopAction stop_action_ = StopAction::ramp_down;
  int last_left_ = 0;
};

}  // namespace @namespace@
