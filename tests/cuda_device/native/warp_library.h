// What the files of Warp's C interface share.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "streams.h"

// A function that Warp's Python calls. Its declaration in Warp's warp.h is the reference.
#define WARP_API extern "C" __attribute__((visibility("default")))

namespace emulated {

// Warp's constant for "the stream that is current in the context"
inline void* const CURRENT_STREAM = reinterpret_cast<void*>(~std::uintptr_t(0));

// Python calls without its lock, so that calls can come from several threads.
inline std::recursive_mutex interface_lock;
using Locked = std::lock_guard<std::recursive_mutex>;

// A copy of what the caller may change or free after the call.
using Kept = std::shared_ptr<std::vector<u8>>;
inline Kept keep(const void* memory, std::size_t bytes) {
    const u8* first = static_cast<const u8*>(memory);
    return std::make_shared<std::vector<u8>>(first, first + bytes);
}

constexpr int MULTIPROCESSORS = 132;
constexpr u32 THREADS_OF_A_BLOCK = 1024;
constexpr u32 STATIC_SHARED_MEMORY = 48 * 1024;   // and dynamic memory that no kernel is configured for
constexpr u32 SHARED_MEMORY_OF_A_BLOCK = 227 * 1024;

std::shared_ptr<Stream> current_stream();
std::shared_ptr<Stream> stream_argument(void* stream);

}  // namespace emulated
