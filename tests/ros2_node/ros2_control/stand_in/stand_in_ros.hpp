// The part of ROS 2 and ros2_control that a controller of a written package uses, for tests without
// ROS. With OLD_HANDLES the handles are those of Humble: get_value, and set_value without a result.
#pragma once
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace geometry_msgs::msg {
struct PoseStamped {
  using ConstSharedPtr = std::shared_ptr<const PoseStamped>;
  struct { std::string frame_id; } header;
  struct {
    struct { double x = 0.0, y = 0.0, z = 0.0; } position;
    struct { double x = 0.0, y = 0.0, z = 0.0, w = 1.0; } orientation;
  } pose;
};
}  // namespace geometry_msgs::msg

namespace trajectory_msgs::msg {
struct JointTrajectory {
  using ConstSharedPtr = std::shared_ptr<const JointTrajectory>;
  struct Point { std::vector<double> positions, velocities, accelerations; };
  std::vector<std::string> joint_names;
  std::vector<Point> points;
};
}  // namespace trajectory_msgs::msg

namespace std_srvs::srv {
struct SetBool {
  struct Request { bool data = false; };
  struct Response { bool success = false; std::string message; };
};
struct Trigger {
  struct Request {};
  struct Response { bool success = false; std::string message; };
};
}  // namespace std_srvs::srv

namespace rcl_interfaces::msg {
struct SetParametersResult { bool successful = true; std::string reason; };
}  // namespace rcl_interfaces::msg

namespace rclcpp {
struct Logger { std::vector<std::string> *lines; };
inline void log(const Logger &logger, const char *format, ...) __attribute__((format(printf, 2, 3)));
inline void log(const Logger &logger, const char *format, ...) {
  char text[500];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  logger.lines->push_back(text);
}
#define RCLCPP_ERROR(...) rclcpp::log(__VA_ARGS__)
#define RCLCPP_WARN(...) rclcpp::log(__VA_ARGS__)
#define RCLCPP_INFO(...) rclcpp::log(__VA_ARGS__)

struct Time {
  std::int64_t now = 0;
  std::int64_t nanoseconds() const { return now; }
};
struct Duration {};
struct Parameter {};
struct QoS { explicit QoS(int) {} };
struct TimerBase {
  using SharedPtr = std::shared_ptr<TimerBase>;
  std::function<void()> call;
};
template <class Message>
struct Subscription {
  using SharedPtr = std::shared_ptr<Subscription>;
  std::function<void(typename Message::ConstSharedPtr)> call;
};
template <class Type>
struct Service {
  using SharedPtr = std::shared_ptr<Service>;
  std::function<void(std::shared_ptr<typename Type::Request>, std::shared_ptr<typename Type::Response>)> call;
};
}  // namespace rclcpp

namespace rclcpp_lifecycle {
struct State {};
class LifecycleNode {
 public:
  struct OnSetParametersCallbackHandle {
    using SharedPtr = std::shared_ptr<OnSetParametersCallbackHandle>;
    std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<rclcpp::Parameter> &)> call;
  };

  rclcpp::Logger get_logger() const { return {&lines}; }

  template <class Message, class Callback>
  std::shared_ptr<rclcpp::Subscription<Message>> create_subscription(const std::string &name, const rclcpp::QoS &,
                                                                     Callback callback) {
    return keep<rclcpp::Subscription<Message>>(name, callback);
  }
  template <class Type, class Callback>
  std::shared_ptr<rclcpp::Service<Type>> create_service(const std::string &name, Callback callback) {
    return keep<rclcpp::Service<Type>>(name, callback);
  }
  template <class Callback>
  rclcpp::TimerBase::SharedPtr create_wall_timer(std::chrono::milliseconds, Callback callback) {
    return keep<rclcpp::TimerBase>("timer", callback);
  }
  template <class Callback>
  OnSetParametersCallbackHandle::SharedPtr add_on_set_parameters_callback(Callback callback) {
    return keep<OnSetParametersCallbackHandle>("parameters", callback);
  }

  // What a test calls: a subscription, a service, the timer, or the check of parameters.
  template <class Kind>
  std::shared_ptr<Kind> find(const std::string &name) const {
    return std::static_pointer_cast<Kind>(all.at(name).lock());
  }

  mutable std::vector<std::string> lines;

 private:
  template <class Kind, class Callback>
  std::shared_ptr<Kind> keep(const std::string &name, Callback callback) {
    auto made = std::make_shared<Kind>();
    made->call = callback;
    all[name] = made;
    return made;
  }
  std::map<std::string, std::weak_ptr<void>> all;
};
}  // namespace rclcpp_lifecycle

namespace hardware_interface {
class Handle {
 public:
  Handle(std::string name, double *place) : name_(std::move(name)), place_(place) {}
  const std::string &get_name() const { return name_; }
  static inline bool is_locked = false;  // by another thread
#ifdef OLD_HANDLES
  double get_value() const { return *place_; }
  void set_value(double value) { *place_ = value; }
#else
  std::optional<double> get_optional() const { return is_locked ? std::nullopt : std::optional(*place_); }
  [[nodiscard]] bool set_value(double value) {
    if (!is_locked) *place_ = value;
    return !is_locked;
  }
#endif

 private:
  std::string name_;
  double *place_;
};
}  // namespace hardware_interface

namespace controller_interface {
enum class return_type { OK, ERROR };
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration {
  interface_configuration_type type;
  std::vector<std::string> names;
};

class ControllerInterface {
 public:
  virtual ~ControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_cleanup(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_error(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() const { return node_; }

  // What the controller manager does.
  void assign_interfaces(std::vector<hardware_interface::Handle> commands,
                         std::vector<hardware_interface::Handle> states) {
    command_interfaces_ = std::move(commands);
    state_interfaces_ = std::move(states);
  }

 protected:
  std::vector<hardware_interface::Handle> command_interfaces_, state_interfaces_;

 private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};
}  // namespace controller_interface

#define PLUGINLIB_EXPORT_CLASS(Class, Base) static_assert(std::is_base_of_v<Base, Class>);
