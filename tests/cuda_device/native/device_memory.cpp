#include "device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "counters.h"

namespace emulated {

DeviceMemory device_memory;

namespace {

// Addresses without memory: the system gives pages when they are first used.
void* reserve_addresses(std::size_t bytes) {
    void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? nullptr : start;
}

u8* bytes_at(u64 address) { return reinterpret_cast<u8*>(address); }

}  // namespace

void DeviceMemory::reserve() {
    void* start = reserve_addresses(CAPACITY);
    void* usable = reserve_addresses(CAPACITY / BLOCK * sizeof(u16));
    if (!start || !usable) return;
    start_ = reinterpret_cast<u64>(start);
    usable_bytes_ = static_cast<u16*>(usable);
    free_[start_] = CAPACITY;
}

void* DeviceMemory::allocate(std::size_t bytes, bool usable) {
    if (!usable_bytes_) reserve();
    // One block stays unused behind each allocation, so that an access beyond the end is noticed.
    const u64 needed = (std::max<u64>(bytes, 1) + BLOCK - 1) / BLOCK * BLOCK + BLOCK;
    const auto found = std::find_if(free_.begin(), free_.end(), [=](const auto& gap) { return gap.second >= needed; });
    if (found == free_.end()) return nullptr;
    const auto [address, available] = *found;
    free_.erase(found);
    if (available > needed) free_[address + needed] = available - needed;
    used_[address] = {needed, bytes};
    std::memset(bytes_at(address), NEW_BYTE, bytes);
    if (usable) mark(address, bytes, true);
    ++counters.allocations;
    counters.allocated_bytes += bytes;
    counters.live_bytes += bytes;
    return bytes_at(address);
}

bool DeviceMemory::release(void* memory) {
    const auto found = used_.find(reinterpret_cast<u64>(memory));
    if (found == used_.end()) return false;
    u64 address = found->first;
    auto [reserved, bytes] = found->second;
    used_.erase(found);
    std::memset(bytes_at(address), FREED_BYTE, bytes);
    mark(address, bytes, false);
    ++counters.frees;
    counters.live_bytes -= bytes;
    // Join with the gaps on both sides.
    auto next = free_.lower_bound(address);
    if (next != free_.end() && next->first == address + reserved) {
        reserved += next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin()) {
        const auto previous = std::prev(next);
        if (previous->first + previous->second == address) {
            previous->second += reserved;
            return true;
        }
    }
    free_[address] = reserved;
    return true;
}

void DeviceMemory::set_usable(void* memory, bool usable) {
    const auto found = used_.find(reinterpret_cast<u64>(memory));
    if (found == used_.end()) return;
    std::memset(memory, usable ? NEW_BYTE : FREED_BYTE, found->second.second);
    mark(found->first, found->second.second, usable);
}

void DeviceMemory::mark(u64 address, std::size_t bytes, bool usable) {
    u16* block = usable_bytes_ + (address - start_) / BLOCK;
    for (std::size_t done = 0; done < bytes; done += BLOCK, ++block)
        *block = usable ? static_cast<u16>(std::min<std::size_t>(BLOCK, bytes - done)) : 0;
}

bool DeviceMemory::contains(const void* start, std::size_t bytes) const {
    const u64 address = reinterpret_cast<u64>(start);
    auto above = used_.upper_bound(address);
    if (above == used_.begin()) return false;
    const auto& [first, sizes] = *std::prev(above);
    return address + bytes <= first + sizes.second;
}

std::size_t DeviceMemory::size_of(const void* memory) const {
    const auto found = used_.find(reinterpret_cast<u64>(memory));
    return found == used_.end() ? 0 : found->second.second;
}

}  // namespace emulated
