// The plugin of the law @law@.
#include <pluginlib/class_list_macros.hpp>
#include <string>

#include "@namespace@/controller.hpp"
#include "@namespace@/laws.hpp"
#if __has_include("@namespace@/@law@_parameters.hpp")
#include "@namespace@/@law@_parameters.hpp"
#else  // generate_parameter_library before 0.4
#include "@law@_parameters.hpp"
#endif

namespace @namespace@ {

// Reads the law's own parameters. Returns what is wrong with them.
std::string fill_@law@(const @law@_parameters::Params &parameters, @name@Law::Inputs &inputs) {
@fill@
}

class @name@Controller
    : public GuardedController<@name@Law, @law@_parameters::ParamListener, @law@_parameters::Params, fill_@law@> {};

}  // namespace @namespace@

PLUGINLIB_EXPORT_CLASS(@namespace@::@name@Controller, controller_interface::ControllerInterface)
