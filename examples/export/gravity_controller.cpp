// A ros2_control controller around controller_compute.hpp. This file is not compiled by the
// tests, because controller_interface is in no wheel. The header has the whole computation, and is
// compiled and tested.
#include <controller_interface/controller_interface.hpp>
#include <pluginlib/class_list_macros.hpp>

#include "controller_compute.hpp"

namespace warpdyn_example {

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;

class GravityController : public controller_interface::ControllerInterface {
 public:
  CallbackReturn on_init() override { return CallbackReturn::SUCCESS; }

  InterfaceConfiguration command_interface_configuration() const override { return named("effort"); }

  InterfaceConfiguration state_interface_configuration() const override { return named("position"); }

  return_type update(const rclcpp::Time &, const rclcpp::Duration &) override {
    for (int k = 0; k < panda::nv; ++k) {
      q_[k] = state_interfaces_[static_cast<std::size_t>(k)].get_optional().value_or(std::nan(""));
    }
    const bool fine = compute_.update(q_, tau_);
    for (int k = 0; k < panda::nv; ++k) {
      if (!command_interfaces_[static_cast<std::size_t>(k)].set_value(tau_[k])) return return_type::ERROR;
    }
    return fine ? return_type::OK : return_type::ERROR;
  }

 private:
  static InterfaceConfiguration named(const std::string &what) {
    InterfaceConfiguration wanted{interface_configuration_type::INDIVIDUAL, {}};
    for (const char *joint : panda::joint_names) wanted.names.push_back(std::string(joint) + "/" + what);
    return wanted;
  }

  GravityCompute compute_;
  GravityCompute::Joints q_, tau_;
};

}  // namespace warpdyn_example

PLUGINLIB_EXPORT_CLASS(warpdyn_example::GravityController, controller_interface::ControllerInterface)
