// A ros2_control controller around a guarded law: parameters, interfaces, topics and services.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <controller_interface/controller_interface.hpp>
#include <geometry_msgs/msg/pose_stamped.hpp>
#include <rcl_interfaces/msg/set_parameters_result.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <std_srvs/srv/set_bool.hpp>
#include <std_srvs/srv/trigger.hpp>
#include <trajectory_msgs/msg/joint_trajectory.hpp>

#include "guarded_law.hpp"
#include "parameter_values.hpp"

namespace @namespace@ {

// ros2_control's handles differ: before Jazzy they have get_value and a set_value without result. Since
// then they try a lock, which may fail.
template <class Handle>
auto read_handle(const Handle &handle, int) -> decltype(handle.get_optional()) {
  return handle.get_optional();
}
template <class Handle>
std::optional<double> read_handle(const Handle &handle, long) {
  return handle.get_value();
}
template <class Handle>
bool write_handle(Handle &handle, double value) {
  if constexpr (std::is_void_v<decltype(handle.set_value(value))>) {
    handle.set_value(value);
    return true;
  } else {
    return handle.set_value(value);
  }
}

// Law: of laws.hpp. Listener, Parameters: of generate_parameter_library. fill_inputs: reads the law's
// own parameters, and returns what is wrong with them.
template <class Law, class Listener, class Parameters,
          std::string (*fill_inputs)(const Parameters &, typename Law::Inputs &)>
class GuardedController : public controller_interface::ControllerInterface {
 public:
  static constexpr std::size_t n = Law::joint_count;
  using Joints = std::array<double, n>;
  using Return = controller_interface::return_type;
  using Callback = controller_interface::CallbackReturn;

  Callback on_init() override {
    try {
      listener_ = std::make_shared<Listener>(get_node());
      parameters_ = listener_->get_params();
    } catch (const std::exception &error) {
      RCLCPP_ERROR(get_node()->get_logger(), "parameters: %s", error.what());
      return Callback::ERROR;
    }
    return Callback::SUCCESS;
  }

  controller_interface::InterfaceConfiguration command_interface_configuration() const override {
    return {controller_interface::interface_configuration_type::INDIVIDUAL, names("effort")};
  }

  controller_interface::InterfaceConfiguration state_interface_configuration() const override {
    std::vector<std::string> all = names("position");
    for (const char *what : {"velocity", "effort"}) {
      if (std::string(what) == "effort" && !starts_at_measured_effort()) continue;
      for (std::string &each : names(what)) all.push_back(std::move(each));
    }
    return {controller_interface::interface_configuration_type::INDIVIDUAL, all};
  }

  Callback on_configure(const rclcpp_lifecycle::State &) override {
    parameters_ = listener_->get_params();
    joints_ = joints();  // before callbacks of another thread read it; the parameter is read-only
    if (!configure_law()) return Callback::FAILURE;
    listen();
    return Callback::SUCCESS;
  }

  Callback on_activate(const rclcpp_lifecycle::State &) override {
    if (!configure_law() || !has_interfaces()) return Callback::ERROR;
    Joints q, v, standing{};
    const bool is_read = read(0, q) && read(1, v) && (!starts_at_measured_effort() || read(2, standing));
    if (!is_read) {
      RCLCPP_ERROR(get_node()->get_logger(), "a state interface cannot be read");
      return Callback::ERROR;
    }
    has_time_ = false;
    written_ = seconds();
    active_ = true;
    if (law_.activate(q, v, standing, seconds())) return Callback::SUCCESS;
    active_ = false;
    RCLCPP_ERROR(get_node()->get_logger(),
                 "the gate stays closed: each measured position and velocity must be finite, and each joint without "
                 "an effort limit needs effort_limits or unlimited_effort");
    return Callback::ERROR;
  }

  Return update(const rclcpp::Time &time, const rclcpp::Duration &) override {
    advance(time.nanoseconds());
    Joints q, v;
    // A handle that is locked is a state that does not arrive: the last command stands for a while.
    const bool is_read = read(0, q) && read(1, v);
    if (write(is_read ? law_.update(q, v, seconds()) : law_.wait(seconds()))) written_ = seconds();
    const Phase phase = law_.phase();
    const bool ended = phase == Phase::fault || phase == Phase::lost;
    return ended || seconds() - written_ > parameters_.state_timeout ? Return::ERROR : Return::OK;
  }

  // The hardware keeps the last command: it is zero, or what stood with stale_action "hold".
  Callback on_deactivate(const rclcpp_lifecycle::State &) override {
    end();
    return Callback::SUCCESS;
  }

  Callback on_error(const rclcpp_lifecycle::State &) override {
    end();
    return Callback::SUCCESS;
  }

  Callback on_cleanup(const rclcpp_lifecycle::State &) override {
    reference_.reset();
    pose_.reset();
    enable_.reset();
    reset_.reset();
    timer_.reset();
    lock_.reset();
    return Callback::SUCCESS;
  }

 private:
  bool starts_at_measured_effort() const { return parameters_.start_effort == "measured"; }

  // The names of the joints in the hardware: those of the description, unless a parameter gives others.
  std::vector<std::string> joints() const {
    if (!parameters_.joints.empty()) return parameters_.joints;
    return {std::begin(Law::joint_names), std::end(Law::joint_names)};
  }

  std::vector<std::string> names(const std::string &what) const {
    std::vector<std::string> all;
    for (const std::string &joint : joints()) all.push_back(joint + "/" + what);
    return all;
  }

  bool configure_law() {
    parameters_ = listener_->get_params();
    LawSettings<Law> settings;
    const std::string wrong = read_parameters(settings);
    if (!wrong.empty()) {
      RCLCPP_ERROR(get_node()->get_logger(), "%s", wrong.c_str());
      return false;
    }
    law_.configure(settings);
    return true;
  }

  // The time of the guards goes on from cycle to cycle, and stands while the controller is not active.
  void advance(std::int64_t time) noexcept {
    if (has_time_ && time >= time_) passed_ += time - time_;
    if (has_time_ && time < time_) law_.lose(Cause::clock_backwards, seconds());
    time_ = time;
    has_time_ = true;
  }

  double seconds() const noexcept { return 1e-9 * static_cast<double>(passed_); }

  // Interfaces must be those that were asked for, in their order: a permutation would be dangerous.
  bool has_interfaces() const {
    const auto agree = [this](const auto &interfaces, const std::vector<std::string> &wanted) {
      bool same = interfaces.size() == wanted.size();
      for (std::size_t k = 0; same && k < wanted.size(); ++k) same = interfaces[k].get_name() == wanted[k];
      if (!same) RCLCPP_ERROR(get_node()->get_logger(), "the interfaces are not those that were asked for");
      return same;
    };
    return agree(command_interfaces_, command_interface_configuration().names) &&
           agree(state_interfaces_, state_interface_configuration().names);
  }

  // Reads a group of interfaces: positions (0), velocities (1) or efforts (2). False where one is locked.
  bool read(std::size_t group, Joints &values) const {
    for (std::size_t j = 0; j < n; ++j) {
      const std::optional<double> value = read_handle(state_interfaces_[group * n + j], 0);
      if (!value.has_value()) return false;
      values[j] = *value;
    }
    return true;
  }

  // False where a handle is locked: the hardware keeps the command of before.
  bool write(const Joints &command) {
    bool wrote = true;
    for (std::size_t j = 0; j < n; ++j) wrote = write_handle(command_interfaces_[j], command[j]) && wrote;
    return wrote;
  }

  void end() {
    if (active_ && command_interfaces_.size() == n) write(law_.deactivate(seconds()));
    active_ = false;
  }

  // What is wrong with the names of the joints. The description's names in another order would give
  // joints each other's torques.
  std::string check_joints() const {
    if (joints_.size() != n) {
      return "joints must name " + std::to_string(n) + " joints, got " + std::to_string(joints_.size());
    }
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) {
        if (j == k) continue;
        if (joints_[j] == joints_[k]) return "joints names " + joints_[j] + " twice";
        if (joints_[j] == Law::joint_names[k]) {
          return "joints must be in the order of the description: " + joints_[j] + " is number " +
                 std::to_string(k + 1) + " there";
        }
      }
    }
    return {};
  }

  // The parameters as numbers. Returns what is wrong with them.
  std::string read_parameters(LawSettings<Law> &settings) const {
    const auto &p = parameters_;
    std::string wrong = check_joints();
    if (!wrong.empty()) return wrong;
    GateSettings<n> &gate = settings.gate;
    ReferenceSettings<n> &reference = settings.reference;
    Law::describe(gate, reference);
    gate.ramp_time = p.ramp_time;
    gate.state_timeout = p.state_timeout;
    gate.stale_action = p.stale_action == "hold"   ? StopAction::hold
                        : p.stale_action == "zero" ? StopAction::zero
                                                   : StopAction::ramp_down;
    gate.effort_limit_scale = p.effort_limit_scale;
    gate.unlimited_effort = p.unlimited_effort;
    gate.joint_limit_effort = p.joint_limit_effort;
    const std::string repulsion = p.joint_limit_repulsion;
    gate.repels = repulsion == "always" || (repulsion == "by_law" && Law::repels);
    reference.keeps_limits = repulsion != "never";
    reference.timeout = p.reference_timeout;
    reference.max_reference_acceleration = p.max_reference_acceleration;
    reference.clips = p.reference_violation == "clip";
    const auto per_joint = [&wrong](const char *name, const std::vector<double> &list, Joints &array) {
      if (wrong.empty()) wrong = fill(name, list, array, Form::one_for_all);
    };
    per_joint("torque_scale", p.torque_scale, gate.torque_scale);
    per_joint("effort_limits", p.effort_limits, gate.effort_limits);
    per_joint("max_torque_rate", p.max_torque_rate, gate.max_torque_rate);
    per_joint("joint_limit_margin", p.joint_limit_margin, gate.joint_limit_margin);
    per_joint("max_tracking_error", p.max_tracking_error, reference.max_tracking_error);
    if (wrong.empty()) wrong = fill("max_pose_error", p.max_pose_error, settings.max_pose_error, Form::plain);
    if (wrong.empty()) wrong = fill("gravity", p.gravity, settings.gravity, Form::plain);
    return wrong.empty() ? fill_inputs(p, settings.inputs) : wrong;
  }

  // Topics, services, and a timer that tells of faults. All of them run outside of the control loop.
  void listen() {
    const auto node = get_node();
    reference_ = node->template create_subscription<trajectory_msgs::msg::JointTrajectory>(
        "~/reference", rclcpp::QoS(1),
        [this](const trajectory_msgs::msg::JointTrajectory::ConstSharedPtr message) { refer(*message); });
    if constexpr (Law::has_frame) {
      pose_ = node->template create_subscription<geometry_msgs::msg::PoseStamped>(
          "~/pose_reference", rclcpp::QoS(1),
          [this](const geometry_msgs::msg::PoseStamped::ConstSharedPtr message) { refer_pose(*message); });
    }
    enable_ = node->template create_service<std_srvs::srv::SetBool>(
        "~/enable", [this](const std::shared_ptr<std_srvs::srv::SetBool::Request> asked,
                           std::shared_ptr<std_srvs::srv::SetBool::Response> answer) {
          answer->success = ask(asked->data ? GateEvent::enable : GateEvent::disable, answer->message);
        });
    reset_ = node->template create_service<std_srvs::srv::Trigger>(
        "~/reset", [this](const std::shared_ptr<std_srvs::srv::Trigger::Request>,
                          std::shared_ptr<std_srvs::srv::Trigger::Response> answer) {
          answer->success = ask(GateEvent::reset, answer->message);
        });
    timer_ = node->create_wall_timer(std::chrono::milliseconds(50), [this]() { tell(); });
    lock_ = node->add_on_set_parameters_callback([this](const std::vector<rclcpp::Parameter> &) {
      rcl_interfaces::msg::SetParametersResult result;
      result.successful = !active_;
      if (active_) result.reason = "parameters cannot change while the controller is active: deactivate it first";
      return result;
    });
  }

  // A request of a service: done in the next cycle.
  bool ask(GateEvent event, std::string &answer) {
    if (!active_) {
      answer = "the controller is not active";
      return false;
    }
    const char *refusal = refusals[static_cast<int>(event)][static_cast<int>(law_.phase())];
    if (refusal != nullptr) {
      answer = refusal;
      const std::string place = "{reason}";
      const std::size_t at = answer.find(place);
      if (at != std::string::npos) answer.replace(at, place.size(), text(law_.cause()));
      return false;
    }
    law_.request(event == GateEvent::enable    ? Request::enable
                 : event == GateEvent::disable ? Request::disable
                                               : Request::reset);
    answer = "requested; the log says what follows";
    return true;
  }

  void refer(const trajectory_msgs::msg::JointTrajectory &message) {
    const auto logger = get_node()->get_logger();
    if (message.points.size() != 1) {
      RCLCPP_WARN(logger, "~/reference needs one point, got %zu", message.points.size());
      return;
    }
    const auto &from = message.points[0];
    const std::size_t count = message.joint_names.size();
    ReferencePoint<n> point;
    point.has_q = !from.positions.empty();
    point.has_v = !from.velocities.empty();
    point.has_a = !from.accelerations.empty();
    const bool fits = count > 0 && (!point.has_q || from.positions.size() == count) &&
                      (!point.has_v || from.velocities.size() == count) &&
                      (!point.has_a || from.accelerations.size() == count);
    if (!fits) {
      RCLCPP_WARN(logger, "~/reference: its lists must have a number for each of its joint names, or be empty");
      return;
    }
    for (std::size_t k = 0; k < count; ++k) {
      std::size_t j = 0;
      while (j < n && joints_[j] != message.joint_names[k]) ++j;
      if (j == n || point.named[j]) {
        RCLCPP_WARN(logger, "~/reference names %s, which is unknown or named twice", message.joint_names[k].c_str());
        return;
      }
      point.named[j] = true;
      if (point.has_q) point.q[j] = from.positions[k];
      if (point.has_v) point.v[j] = from.velocities[k];
      if (point.has_a) point.a[j] = from.accelerations[k];
    }
    if (active_ && !law_.refer(point)) RCLCPP_WARN(logger, "~/reference: a point was dropped, they come too fast");
  }

  void refer_pose(const geometry_msgs::msg::PoseStamped &message) {
    const auto logger = get_node()->get_logger();
    if (message.header.frame_id != Law::root) {
      RCLCPP_WARN(logger, "~/pose_reference must be in the frame %s, got %s", Law::root,
                  message.header.frame_id.c_str());
      return;
    }
    const auto &p = message.pose.position;
    const auto &o = message.pose.orientation;
    if (active_ && !law_.refer_pose(Pose{p.x, p.y, p.z, o.x, o.y, o.z, o.w})) {
      RCLCPP_WARN(logger, "~/pose_reference: a pose was dropped, they come too fast");
    }
  }

  void tell() {
    const Refusal refused = law_.take_refusal();
    if (refused != Refusal::none) RCLCPP_WARN(get_node()->get_logger(), "reference refused: %s", text(refused));
    const Phase phase = law_.phase();
    const Cause cause = law_.cause();
    if (phase == told_phase_ && cause == told_cause_) return;
    told_phase_ = phase;
    told_cause_ = cause;
    const char *why = text(cause);
    RCLCPP_INFO(get_node()->get_logger(), "%s%s%s", text(phase), *why ? ": " : "", why);
  }

  std::shared_ptr<Listener> listener_;
  Parameters parameters_;
  GuardedLaw<Law> law_;
  std::atomic<bool> active_{false};
  std::vector<std::string> joints_;
  std::int64_t time_ = 0, passed_ = 0;  // [ns]
  double written_ = 0.0;                // the time of the last command that all handles took [s]
  bool has_time_ = false;
  Phase told_phase_ = Phase::off;
  Cause told_cause_ = Cause::none;
  typename rclcpp::Subscription<trajectory_msgs::msg::JointTrajectory>::SharedPtr reference_;
  typename rclcpp::Subscription<geometry_msgs::msg::PoseStamped>::SharedPtr pose_;
  rclcpp::Service<std_srvs::srv::SetBool>::SharedPtr enable_;
  rclcpp::Service<std_srvs::srv::Trigger>::SharedPtr reset_;
  rclcpp::TimerBase::SharedPtr timer_;
  rclcpp_lifecycle::LifecycleNode::OnSetParametersCallbackHandle::SharedPtr lock_;
};

}  // namespace @namespace@
