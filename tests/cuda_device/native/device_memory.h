// Memory of the device: one range of host addresses, in which every byte knows whether a kernel may use it.
#pragma once
#include <map>

#include "numbers.h"

namespace emulated {

constexpr u8 NEW_BYTE = 0xff;    // new memory: NaN as float32 and float64, -1 as an integer
constexpr u8 FREED_BYTE = 0x7f;  // freed memory: 3.4e38 as float32, 1.4e306 as float64

class DeviceMemory {
public:
    static constexpr u64 CAPACITY = u64(32) << 30;

    // Poisoned memory, aligned to 256 bytes, or nullptr. Memory that is not `usable` belongs to a graph that has
    // not run yet: a kernel that touches it fails.
    void* allocate(std::size_t bytes, bool usable = true);

    // Give memory back. It is poisoned, and kernels must not touch it any more. False if it is not allocated.
    bool release(void* memory);

    // Poison memory and let kernels use it (true), or forbid them to (false): nodes of a graph do both.
    void set_usable(void* memory, bool usable);

    // Whether these bytes lie in one allocation.
    bool contains(const void* start, std::size_t bytes) const;
    std::size_t size_of(const void* memory) const;

    // Whether a kernel may touch these bytes. They must not cross a multiple of 256: aligned accesses do not.
    bool accessible(u64 address, u32 bytes) const {
        const u64 offset = address - start_;
        if (offset >= CAPACITY) return false;
        return (offset % BLOCK) + bytes <= usable_bytes_[offset / BLOCK];
    }

private:
    static constexpr u64 BLOCK = 256;

    void reserve();
    void mark(u64 address, std::size_t bytes, bool usable);

    u64 start_ = ~u64(0);
    u16* usable_bytes_ = nullptr;               // for each block of 256 bytes, how many may be used
    std::map<u64, u64> free_;                   // address -> bytes
    std::map<u64, std::pair<u64, std::size_t>> used_;  // address -> bytes reserved, bytes asked for
};

extern DeviceMemory device_memory;

}  // namespace emulated
