// What has been asked of the device, and what its kernels did. Tests read both as JSON (emulated_cuda_counters).
#pragma once
#include <string>

#include "numbers.h"

namespace emulated {

struct Counters {
    // calls from the host
    u64 launches = 0;
    u64 host_to_device = 0, device_to_host = 0, device_to_device = 0;  // copies
    u64 fills = 0;                                                      // memset, memtile, array_fill
    u64 strided_copies = 0, reductions = 0;  // reductions: scans and sums by Warp's library
    u64 allocations = 0, frees = 0, allocated_bytes = 0, live_bytes = 0;
    u64 pinned_allocations = 0;
    u64 waits = 0;  // the host waits for a stream, an event, the device, or a copy to pageable memory
    u64 streams = 0, events = 0, event_records = 0, stream_waits = 0;
    u64 captures = 0, graph_launches = 0;
    u64 modules = 0;
    u64 errors = 0;
    // kernels, while they are measured (emulated_cuda_measure)
    u64 kernels_run = 0, warps = 0, instructions = 0, lane_instructions = 0, divergent_branches = 0;
    u64 load_requests = 0, load_sectors = 0, load_bytes = 0;     // global memory; a request is of a warp
    u64 store_requests = 0, store_sectors = 0, store_bytes = 0;  // a sector holds 32 bytes
    u64 local_requests = 0;  // of PTX: ptxas may keep such values in registers
};

extern Counters counters;
extern bool measuring;

std::string counters_as_json();

}  // namespace emulated
