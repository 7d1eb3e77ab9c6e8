#include "errors.h"

#include <cstdio>

#include "counters.h"

extern "C" int wp_is_error_output_enabled();  // of Warp's own library

namespace emulated {

namespace {

std::string last_text;
Error state_of_device = Error::none;
std::string reason_of_device;  // what the kernel did

const char* meaning(Error error) {
    switch (error) {
        case Error::none: return "no error";
        case Error::invalid_value: return "invalid argument";
        case Error::out_of_memory: return "out of memory";
        case Error::invalid_ptx: return "a PTX JIT compilation failed";
        case Error::not_found: return "named symbol not found";
        case Error::not_ready: return "device not ready";
        case Error::illegal_address: return "an illegal memory access was encountered";
        case Error::launch_timeout: return "the launch timed out and was terminated";
        case Error::misaligned_address: return "misaligned address";
        case Error::launch_failure: return "unspecified launch failure";
        case Error::not_supported: return "operation not supported by the emulated device";
        case Error::capture_unsupported: return "operation not permitted when stream is capturing";
        case Error::capture_invalidated: return "operation failed due to a previous error during capture";
        case Error::capture_isolation: return "dependency created on uncaptured work in another stream";
        case Error::capture_implicit:
            return "operation would make the legacy stream depend on a capturing blocking stream";
        case Error::captured_event: return "operation not permitted on an event last recorded in a capturing stream";
    }
    return "unknown error";
}

}  // namespace

bool fail(Error error, const std::string& what) {
    ++counters.errors;
    const std::string number = std::to_string(static_cast<int>(error));
    last_text = "Warp CUDA error " + number + ": " + meaning(error) + " (" + what;
    if (error == state_of_device && what != reason_of_device) last_text += ", after " + reason_of_device;
    last_text += ")";
    if (wp_is_error_output_enabled()) std::fprintf(stderr, "%s\n", last_text.c_str());
    return false;
}

void fail_device(Error error, const std::string& what) {
    if (state_of_device != Error::none) return;
    state_of_device = error;
    reason_of_device = what;
    fail(error, what);
}

Error device_error() { return state_of_device; }

void forget_device_error() { state_of_device = Error::none; }

const std::string& last_error() { return last_text; }

}  // namespace emulated
