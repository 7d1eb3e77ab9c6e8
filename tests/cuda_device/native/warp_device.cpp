// Warp's C interface: the device, its context, and errors.
#include <cstring>
#include <vector>

#include "counters.h"
#include "device_memory.h"
#include "warp_library.h"

using namespace emulated;

namespace {

constexpr int DRIVER_VERSION = 13040;  // CUDA 13.4: not older than the toolkit that Warp was built with
constexpr int ARCHITECTURE = 90;       // PTX is made for sm_90

int the_context = 0;  // its address is the handle
std::shared_ptr<Stream> stream_of_context;
std::vector<void*> contexts{nullptr};  // a stack; the last one is current

}  // namespace

namespace emulated {

std::shared_ptr<Stream> current_stream() { return stream_of_context ? stream_of_context : default_stream(); }

std::shared_ptr<Stream> stream_argument(void* stream) {
    return stream == CURRENT_STREAM ? current_stream() : stream_of(stream);
}

}  // namespace emulated

// ---------------------------------------------------------------- for tests

WARP_API const char* emulated_cuda_counters() {
    Locked lock(interface_lock);
    static std::string text;
    text = counters_as_json();
    return text.c_str();
}

// Count what kernels do, from now on or no longer. It makes them slower.
WARP_API void emulated_cuda_measure(int on) { measuring = on; }

// Streams run as late as CUDA allows, or at once.
WARP_API void emulated_cuda_run_late(int late) {
    Locked lock(interface_lock);
    run_late(late != 0);
}

// Go on after an error of a kernel, which CUDA does not allow. For tests that cause such errors.
WARP_API void emulated_cuda_forget_error() {
    Locked lock(interface_lock);
    forget_device_error();
}

// Warp version whose C interface this library has.
WARP_API const char* emulated_cuda_warp_version() { return EMULATED_WARP_VERSION; }

// ---------------------------------------------------------------- errors

extern "C" const char* warp_error_string_of_library();  // interface_of_library.cpp

WARP_API const char* wp_get_error_string() {
    return last_error().empty() ? warp_error_string_of_library() : last_error().c_str();
}

// ---------------------------------------------------------------- device

WARP_API int wp_is_cuda_enabled() { return 1; }
WARP_API int wp_cuda_driver_version() { return DRIVER_VERSION; }
WARP_API bool wp_cuda_driver_is_initialized() { return true; }
WARP_API int wp_cuda_device_get_count() { return 1; }
WARP_API void* wp_cuda_device_get_primary_context(int) { return &the_context; }
WARP_API const char* wp_cuda_device_get_name(int) { return "Emulated CUDA device (PTX on the CPU)"; }
WARP_API int wp_cuda_device_get_arch(int) { return ARCHITECTURE; }
WARP_API int wp_cuda_device_get_sm_count(int) { return MULTIPROCESSORS; }
WARP_API int wp_cuda_device_get_max_shared_memory(int) { return SHARED_MEMORY_OF_A_BLOCK; }
WARP_API int wp_cuda_get_max_shared_memory(void*) { return SHARED_MEMORY_OF_A_BLOCK; }
WARP_API void wp_cuda_device_get_uuid(int, char uuid[16]) { std::memcpy(uuid, "emulated device!", 16); }
WARP_API int wp_cuda_device_get_pci_domain_id(int) { return 0; }
WARP_API int wp_cuda_device_get_pci_bus_id(int) { return 0; }
WARP_API int wp_cuda_device_get_pci_device_id(int) { return 0; }
WARP_API int wp_cuda_device_is_uva(int) { return 1; }
WARP_API int wp_cuda_device_get_pageable_memory_access(int) { return 0; }
WARP_API int wp_cuda_device_get_direct_managed_mem_access_from_host(int) { return 0; }
WARP_API int wp_cuda_device_get_host_native_atomic_supported(int) { return 0; }
WARP_API int wp_cuda_device_get_managed_memory_supported(int) { return 1; }
WARP_API int wp_cuda_device_get_concurrent_managed_access_supported(int) { return 0; }
WARP_API int wp_cuda_device_is_mempool_supported(int) { return 1; }
WARP_API int wp_cuda_device_is_ipc_supported(int) { return 0; }
WARP_API int wp_cuda_device_set_mempool_release_threshold(int, std::uint64_t) { return 1; }
WARP_API std::uint64_t wp_cuda_device_get_mempool_release_threshold(int) { return 0; }
WARP_API std::uint64_t wp_cuda_device_get_mempool_used_mem_current(int) { return counters.live_bytes; }
WARP_API std::uint64_t wp_cuda_device_get_mempool_used_mem_high(int) { return counters.live_bytes; }
WARP_API std::uint64_t wp_cuda_device_get_graph_mem_current(int) { return 0; }
WARP_API void wp_cuda_device_graph_mem_trim(int) {}
WARP_API void wp_cuda_device_get_memory_info(int, std::size_t* free, std::size_t* total) {
    if (free) *free = DeviceMemory::CAPACITY - counters.live_bytes;
    if (total) *total = DeviceMemory::CAPACITY;
}
WARP_API int wp_cuda_is_peer_access_supported(int, int) { return 0; }
WARP_API int wp_cuda_is_peer_access_enabled(void*, void*) { return 0; }
WARP_API int wp_cuda_set_peer_access_enabled(void*, void*, int) { return 0; }
WARP_API int wp_cuda_is_mempool_access_enabled(int, int) { return 1; }
WARP_API int wp_cuda_set_mempool_access_enabled(int, int, int) { return 1; }
WARP_API bool wp_cuda_profiler_start(void*) { return true; }
WARP_API bool wp_cuda_profiler_stop(void*) { return true; }
WARP_API void wp_cuda_timing_begin(int) {}
WARP_API int wp_cuda_timing_get_result_count() { return 0; }
WARP_API void wp_cuda_timing_end(void*, int) {}

// ---------------------------------------------------------------- context

WARP_API void* wp_cuda_context_get_current() { return contexts.back(); }
WARP_API void wp_cuda_context_set_current(void* context) { contexts.back() = context; }
WARP_API void wp_cuda_context_push_current(void* context) { contexts.push_back(context); }
WARP_API void wp_cuda_context_pop_current() {
    if (contexts.size() > 1) contexts.pop_back();
}
WARP_API void* wp_cuda_context_create(int) {
    fail(Error::not_supported, "a second context");
    return nullptr;
}
WARP_API void wp_cuda_context_destroy(void*) {}
WARP_API int wp_cuda_context_get_device_ordinal(void*) { return 0; }
WARP_API int wp_cuda_context_is_primary(void*) { return 1; }
WARP_API void wp_cuda_set_context_restore_policy(bool) {}
WARP_API int wp_cuda_get_context_restore_policy() { return 0; }

WARP_API void* wp_cuda_context_get_stream(void*) { return stream_of_context.get(); }

WARP_API void wp_cuda_context_set_stream(void*, void* stream, int sync) {
    Locked lock(interface_lock);
    const std::shared_ptr<Stream> next = stream_of(stream), previous = current_stream();
    if (sync && next != previous && stream_of_context) {
        Event event;
        record(event, previous);
        wait_in_stream(next, event);
    }
    stream_of_context = next == default_stream() ? nullptr : next;
}

WARP_API bool wp_cuda_context_synchronize(void*) {
    Locked lock(interface_lock);
    return wait_for_device("cuCtxSynchronize");
}

// The error of the device, after all its work where no stream is captured.
WARP_API std::uint64_t wp_cuda_context_check(void*) {
    Locked lock(interface_lock);
    if (!is_capturing()) wait_for_device("cudaDeviceSynchronize");
    return static_cast<std::uint64_t>(device_error());
}
