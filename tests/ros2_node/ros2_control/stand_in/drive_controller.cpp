// Drives a controller of a UR5e through its life as the controller manager does, and prints what does
// not hold. CONTROLLER is the class, in the namespace ur5e_controllers, and PARAMETERS its listener.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>

#include "stand_in_ros.hpp"

static long allocations = 0, locks = 0;
static bool is_counting = false;

#ifdef COUNTS
extern "C" void *__libc_malloc(std::size_t);
extern "C" void *malloc(std::size_t size) {
  if (is_counting) ++allocations;
  return __libc_malloc(size);
}
extern "C" int pthread_mutex_lock(pthread_mutex_t *mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t *);
  static const Lock lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  if (is_counting) ++locks;
  return lock(mutex);
}
#endif

using namespace ur5e_controllers;
using controller_interface::CallbackReturn;
using controller_interface::return_type;
using hardware_interface::Handle;

static int failures = 0;
#define CHECK(what)                                       \
  do {                                                    \
    if (!(what)) {                                        \
      std::printf("line %d: %s\n", __LINE__, #what);      \
      ++failures;                                         \
    }                                                     \
  } while (false)

constexpr std::size_t n = 6;
static double positions[n], velocities[n], efforts[n], commands[n];

static std::vector<Handle> handles(const std::vector<std::string> &names) {
  std::vector<Handle> made;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string what = names[k].substr(names[k].find('/') + 1);
    double *place = what == "position" ? positions : what == "velocity" ? velocities : efforts;
    made.emplace_back(names[k], place + k % n);
  }
  return made;
}

struct Rig {
  CONTROLLER controller;
  rclcpp::Time time{1'000'000'000'000};

  void assign() {
    std::vector<Handle> written;
    const auto names = controller.command_interface_configuration().names;
    for (std::size_t k = 0; k < names.size(); ++k) written.emplace_back(names[k], commands + k);
    controller.assign_interfaces(written, handles(controller.state_interface_configuration().names));
  }
  void rest() {
    const double pose[] = {0.3, -1.2, 1.4, -1.6, -1.5, 0.4};
    for (std::size_t j = 0; j < n; ++j) positions[j] = pose[j], velocities[j] = efforts[j] = 0.0;
  }
  bool activate() {
    assign();
    return controller.on_activate({}) == CallbackReturn::SUCCESS;
  }
  return_type run(int cycles) {
    return_type last = return_type::OK;
    for (int k = 0; k < cycles; ++k) {
      time.now += 1'000'000;
      is_counting = true;
      last = controller.update(time, {});
      is_counting = false;
      for (const double each : commands) CHECK(std::isfinite(each) && std::fabs(each) <= 150.0);
    }
    return last;
  }
  double largest() const {
    double most = 0.0;
    for (const double each : commands) most = std::fmax(most, std::fabs(each));
    return most;
  }
  const std::string &said() {
    const auto node = controller.get_node();
    node->template find<rclcpp::TimerBase>("timer")->call();
    return node->lines.back();
  }
  bool enable(bool on, std::string &answer) {
    const auto asked = std::make_shared<std_srvs::srv::SetBool::Request>();
    const auto response = std::make_shared<std_srvs::srv::SetBool::Response>();
    asked->data = on;
    controller.get_node()->template find<rclcpp::Service<std_srvs::srv::SetBool>>("~/enable")->call(asked, response);
    answer = response->message;
    return response->success;
  }
  void refer(std::vector<std::string> names, std::vector<double> at) {
    const auto message = std::make_shared<trajectory_msgs::msg::JointTrajectory>();
    message->joint_names = std::move(names);
    message->points.resize(1);
    message->points[0].positions = std::move(at);
    controller.get_node()
        ->template find<rclcpp::Subscription<trajectory_msgs::msg::JointTrajectory>>("~/reference")
        ->call(message);
  }
};

int main() {
  auto rig_ = std::make_unique<Rig>();
  Rig &rig = *rig_;
  auto &controller = rig.controller;
  std::string answer;
  rig.rest();
  // Parameters that do not fit are refused with their reason.
  const auto parameters = PARAMETERS::given;
  const auto refuses = [&](const char *reason) {
    CHECK(controller.on_init() == CallbackReturn::SUCCESS);
    CHECK(controller.on_configure({}) == CallbackReturn::FAILURE);
    const std::string last = controller.get_node()->lines.back();
    if (last != reason) std::printf("got: %s\n", last.c_str());
    CHECK(last == reason);
    PARAMETERS::given = parameters;
  };
  std::swap(PARAMETERS::given.joints[0], PARAMETERS::given.joints[1]);
  refuses("joints must be in the order of the description: shoulder_lift_joint is number 2 there");
  PARAMETERS::given.joints[0] = "wrist";
  PARAMETERS::given.joints[1] = "wrist";
  refuses("joints names wrist twice");
  PARAMETERS::given.joints.pop_back();
  refuses("joints must name 6 joints, got 5");
  PARAMETERS::given.effort_limits = {1.0, 2.0};
  refuses("effort_limits must have 6 numbers, or one for all, got 2");
  PARAMETERS::given.gravity = {0.0, 0.0, std::nan("")};
  refuses("gravity must be finite");

  // Commands begin at the measured efforts where the parameters say so.
  PARAMETERS::given.start_effort = "measured";
  CHECK(controller.on_init() == CallbackReturn::SUCCESS);
  CHECK(controller.on_configure({}) == CallbackReturn::SUCCESS);
  CHECK(controller.state_interface_configuration().names.size() == 3 * n);
  efforts[1] = -20.0;
  CHECK(rig.activate());
  CHECK(rig.run(1) == return_type::OK);
  CHECK(std::fabs(commands[1] + 20.0) < 1e-9 && commands[2] == 0.0);
  CHECK(controller.on_deactivate({}) == CallbackReturn::SUCCESS);
  rig.rest();
  PARAMETERS::given = parameters;

  CHECK(controller.on_init() == CallbackReturn::SUCCESS);
  CHECK(controller.on_configure({}) == CallbackReturn::SUCCESS);
  CHECK(controller.command_interface_configuration().names[1] == "shoulder_lift_joint/effort");
  CHECK(controller.state_interface_configuration().names.size() == 2 * n);

  // Interfaces in another order are refused.
  {
    auto names = controller.command_interface_configuration().names;
    std::swap(names[0], names[1]);
    controller.assign_interfaces(handles(names), handles(controller.state_interface_configuration().names));
    CHECK(controller.on_activate({}) == CallbackReturn::ERROR);
  }
  // So is a state that is not finite.
  positions[2] = std::nan("");
  CHECK(!rig.activate());
  rig.rest();

  // Commands rise from zero within a second.
  CHECK(rig.activate());
  CHECK(rig.run(1) == return_type::OK);
  CHECK(rig.largest() < 1.0);
  CHECK(rig.run(500) == return_type::OK);
  const double half = rig.largest();
  CHECK(rig.run(1000) == return_type::OK);
  CHECK(half > 5.0 && rig.largest() > 1.8 * half);
  CHECK(rig.said() == "enabled");

  // Parameters are locked meanwhile.
  using Lock = rclcpp_lifecycle::LifecycleNode::OnSetParametersCallbackHandle;
  CHECK(!controller.get_node()->find<Lock>("parameters")->call({}).successful);

  // References: one that jumps is refused, and so are unknown joints. A state that is not finite
  // starts the stop sequence, from the last command.
  rig.refer({"elbow_joint"}, {1.45});
  CHECK(rig.run(1) == return_type::OK);
  rig.refer({"elbow_joint"}, {std::nan("")});
  CHECK(rig.run(1) == return_type::OK);
  CHECK(rig.said().find("reference refused: a number is not finite") == 0);
  rig.refer({"knee"}, {1.0});
  CHECK(rig.said().find("~/reference names knee") == 0);
  CHECK(rig.run(10) == return_type::OK);
  const double before = rig.largest();
  velocities[3] = std::nan("");
  CHECK(rig.run(1) == return_type::OK);
  CHECK(rig.largest() == before);
  CHECK(rig.said() == "stopping, state lost: the measured state is not finite");
  CHECK(rig.run(100) == return_type::OK);
  CHECK(rig.largest() < before && rig.largest() > 0.0);
  CHECK(!rig.enable(true, answer) && answer == "the stop sequence is still running");
  CHECK(rig.run(200) == return_type::ERROR);
  CHECK(rig.largest() == 0.0);
  CHECK(rig.said() == "state lost: the measured state is not finite");

  // It goes on when it is asked to, and stops on request.
  rig.rest();
  CHECK(rig.enable(true, answer));
  CHECK(rig.run(1200) == return_type::OK);
  CHECK(rig.largest() > 10.0);
  CHECK(rig.enable(false, answer));
  CHECK(rig.run(300) == return_type::OK);
  CHECK(rig.largest() == 0.0);

  // A gap between two cycles, and a clock that runs backwards, stop it.
  for (const std::int64_t jump : {500'000'000LL, -500'000'000LL}) {
    CHECK(rig.enable(true, answer));
    CHECK(rig.run(1200) == return_type::OK);
    rig.time.now += jump;
    CHECK(rig.run(1) == return_type::OK);
    CHECK(rig.said() == (jump > 0 ? "stopping, state lost: no valid state for state_timeout"
                                  : "stopping, state lost: the clock ran backwards"));
    rig.run(300);
    CHECK(rig.largest() == 0.0);
  }

#ifndef OLD_HANDLES
  // Handles that are locked for a moment change nothing. Where they stay locked, the robot stops.
  CHECK(rig.enable(true, answer));
  CHECK(rig.run(1200) == return_type::OK);
  const double held = rig.largest();
  Handle::is_locked = true;
  CHECK(rig.run(50) == return_type::OK);
  CHECK(rig.largest() == held);
  Handle::is_locked = false;
  CHECK(rig.run(1) == return_type::OK);
  CHECK(rig.said() == "enabled");
  Handle::is_locked = true;
  CHECK(rig.run(110) == return_type::ERROR);
  CHECK(rig.said() == "stopping, state lost: no valid state for state_timeout");
  Handle::is_locked = false;
  CHECK(rig.run(1) == return_type::OK);
  CHECK(rig.run(300) == return_type::ERROR);
  CHECK(rig.largest() == 0.0);
#endif

  // Deactivation writes the last command at once.
  CHECK(controller.on_deactivate({}) == CallbackReturn::SUCCESS);
  CHECK(rig.activate());
  CHECK(rig.run(1200) == return_type::OK);
  CHECK(rig.largest() > 10.0);
  CHECK(controller.on_deactivate({}) == CallbackReturn::SUCCESS);
  CHECK(rig.largest() == 0.0);
  CHECK(controller.get_node()->find<Lock>("parameters")->call({}).successful);
  CHECK(!rig.enable(true, answer) && answer == "the controller is not active");
  CHECK(controller.on_cleanup({}) == CallbackReturn::SUCCESS);

  CHECK(allocations == 0);
  CHECK(locks == 0);
  std::printf("%d failures\n", failures);
  return failures;
}
