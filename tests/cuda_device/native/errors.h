// CUDA's error numbers, and the text of the last error.
#pragma once
#include <string>

namespace emulated {

enum class Error : int {
    none = 0,
    invalid_value = 1,
    out_of_memory = 2,
    invalid_ptx = 218,
    not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    launch_timeout = 702,
    misaligned_address = 716,
    launch_failure = 719,
    not_supported = 801,
    capture_unsupported = 900,
    capture_invalidated = 901,
    capture_isolation = 905,
    capture_implicit = 906,
    captured_event = 907,
};

// Remember and print an error, as Warp's native library does. Always false, so that callers can return it.
bool fail(Error error, const std::string& what);

// A kernel has failed. The device stays in this state until the process ends, as in CUDA.
void fail_device(Error error, const std::string& what);
Error device_error();
void forget_device_error();  // for tests

// Text of the last error; empty if there is none.
const std::string& last_error();

}  // namespace emulated
