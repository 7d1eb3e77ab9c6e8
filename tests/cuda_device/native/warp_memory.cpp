// Warp's C interface: allocations, copies and fills.
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "counters.h"
#include "device_memory.h"
#include "graphs.h"
#include "warp_library.h"

using namespace emulated;

namespace {

enum MemoryKind { unknown = 0, host = 1, pinned = 2, device = 3, pool = 4 };  // as in warp.h

std::map<u64, std::size_t> pinned_memory;  // address -> bytes

bool is_pinned(const void* memory) {
    const auto above = pinned_memory.upper_bound(reinterpret_cast<u64>(memory));
    if (above == pinned_memory.begin()) return false;
    const auto& [first, bytes] = *std::prev(above);
    return reinterpret_cast<u64>(memory) < first + bytes;
}

bool check_range(const void* memory, std::size_t bytes, const char* what) {
    if (!bytes || device_memory.contains(memory, bytes)) return true;
    return fail(Error::invalid_value, std::string(what) + ": these " + std::to_string(bytes) +
                                          " bytes are not in one allocation of the device");
}

// Memory of a graph that has not run yet, or has freed it, cannot be copied.
bool check_usable(const void* memory, std::size_t bytes, const char* what) {
    if (!bytes || !device_memory.contains(memory, bytes)) return true;
    if (device_memory.accessible(reinterpret_cast<u64>(memory), 1)) return true;
    fail_device(Error::illegal_address, std::string(what) + ": memory of a graph that is not usable now");
    return false;
}

void copy(void* to, const void* from, std::size_t bytes, const char* what) {
    if (check_usable(to, bytes, what) && check_usable(from, bytes, what)) std::memmove(to, from, bytes);
}

void fill(void* to, int value, std::size_t bytes) {
    if (check_usable(to, bytes, "cudaMemset")) std::memset(to, value, bytes);
}

}  // namespace

// ---------------------------------------------------------------- allocations

WARP_API void* wp_alloc_pinned(std::size_t bytes, const char*) {
    Locked lock(interface_lock);
    ++counters.pinned_allocations;
    void* memory = ::operator new(bytes + 1);
    std::memset(memory, NEW_BYTE, bytes);
    pinned_memory[reinterpret_cast<u64>(memory)] = bytes;
    return memory;
}

WARP_API void wp_free_pinned(void* memory) {
    Locked lock(interface_lock);
    if (pinned_memory.erase(reinterpret_cast<u64>(memory))) ::operator delete(memory);
}

WARP_API void* wp_alloc_device_async(void*, std::size_t bytes, void* stream, const char*) {
    Locked lock(interface_lock);
    void* memory = allocate_for(stream_argument(stream), bytes);
    if (!memory) fail(Error::out_of_memory, "cudaMallocAsync of " + std::to_string(bytes) + " bytes");
    return memory;
}

WARP_API void* wp_alloc_device_default(void*, std::size_t bytes, const char*) {
    Locked lock(interface_lock);
    if (is_capturing()) {
        fail(Error::capture_unsupported, "cudaMalloc");
        return nullptr;
    }
    void* memory = device_memory.allocate(bytes);
    if (!memory) fail(Error::out_of_memory, "cudaMalloc of " + std::to_string(bytes) + " bytes");
    return memory;
}

WARP_API void* wp_alloc_device(void* context, std::size_t bytes, const char* tag) {
    return wp_alloc_device_async(context, bytes, CURRENT_STREAM, tag);
}

WARP_API void* wp_alloc_device_managed(void* context, std::size_t bytes, const char* tag) {
    return wp_alloc_device_default(context, bytes, tag);
}

WARP_API void wp_free_device_async(void*, void* memory, void**) {
    Locked lock(interface_lock);
    if (memory && !free_memory(memory)) fail(Error::invalid_value, "cudaFreeAsync: not memory of the device");
}

WARP_API void wp_free_device_default(void* context, void* memory) { wp_free_device_async(context, memory, nullptr); }
WARP_API void wp_free_device(void* context, void* memory) { wp_free_device_async(context, memory, nullptr); }

WARP_API int wp_cuda_pointer_get_memory_kind(void*, void* memory) {
    Locked lock(interface_lock);
    if (device_memory.contains(memory, 0)) return pool;
    return is_pinned(memory) ? pinned : unknown;
}

// ---------------------------------------------------------------- copies

WARP_API bool wp_memcpy_h2d(void*, void* to, void* from, std::size_t bytes, void* stream) {
    Locked lock(interface_lock);
    ++counters.host_to_device;
    if (!check_range(to, bytes, "copy to the device")) return false;
    const std::shared_ptr<Stream> target = stream_argument(stream);
    // The numbers of pageable memory leave it during the call. A graph reads them at each launch, and pinned memory is
    // read when the copy runs: the caller must keep both.
    if (target->capture || is_pinned(from))
        return submit(target, "host to device", [=] { copy(to, from, bytes, "copy to the device"); });
    const Kept numbers = keep(from, bytes);
    return submit(target, "host to device", [=] { copy(to, numbers->data(), bytes, "copy to the device"); });
}

WARP_API bool wp_memcpy_d2h(void*, void* to, void* from, std::size_t bytes, void* stream) {
    Locked lock(interface_lock);
    ++counters.device_to_host;
    if (!check_range(from, bytes, "copy from the device")) return false;
    const std::shared_ptr<Stream> source = stream_argument(stream);
    const bool submitted = submit(source, "device to host", [=] { copy(to, from, bytes, "copy from the device"); });
    // CUDA returns from a copy to pageable memory when it is done.
    if (!submitted || source->capture || is_pinned(to)) return submitted;
    return wait_for(source, "cudaMemcpyAsync to pageable memory");
}

WARP_API bool wp_memcpy_d2d(void*, void* to, void* from, std::size_t bytes, void* stream) {
    Locked lock(interface_lock);
    ++counters.device_to_device;
    if (!check_range(to, bytes, "copy on the device") || !check_range(from, bytes, "copy on the device")) return false;
    return submit(stream_argument(stream), "device to device", [=] { copy(to, from, bytes, "copy on the device"); });
}

WARP_API bool wp_memcpy_p2p(void*, void* to, void*, void* from, std::size_t bytes, void* stream) {
    return wp_memcpy_d2d(nullptr, to, from, bytes, stream);
}

WARP_API bool wp_memcpy_batch(void*, void** to, void** from, std::size_t* bytes, std::size_t count, void* stream) {
    for (std::size_t k = 0; k < count; ++k)
        if (!wp_memcpy_d2d(nullptr, to[k], from[k], bytes[k], stream)) return false;
    return true;
}

// ---------------------------------------------------------------- fills

WARP_API bool wp_memset_device(void*, void* to, int value, std::size_t bytes, void* stream) {
    Locked lock(interface_lock);
    ++counters.fills;
    if (!check_range(to, bytes, "memset")) return false;
    return submit(stream_argument(stream), "memset", [=] { fill(to, value, bytes); });
}

WARP_API void wp_memtile_device(void*, void* to, const void* tile, std::size_t tile_bytes, std::size_t count) {
    Locked lock(interface_lock);
    ++counters.fills;
    if (!check_range(to, tile_bytes * count, "memtile")) return;
    const Kept numbers = keep(tile, tile_bytes);
    submit(current_stream(), "memtile", [=] {
        if (!check_usable(to, tile_bytes * count, "memtile")) return;
        for (std::size_t k = 0; k < count; ++k)
            std::memcpy(static_cast<u8*>(to) + k * tile_bytes, numbers->data(), tile_bytes);
    });
}
