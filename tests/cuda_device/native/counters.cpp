#include "counters.h"

#include <utility>

namespace emulated {

Counters counters;
bool measuring = false;

std::string counters_as_json() {
    const Counters& c = counters;
    const std::pair<const char*, u64> rows[] = {
        {"launches", c.launches},
        {"host_to_device", c.host_to_device},
        {"device_to_host", c.device_to_host},
        {"device_to_device", c.device_to_device},
        {"fills", c.fills},
        {"strided_copies", c.strided_copies},
        {"reductions", c.reductions},
        {"allocations", c.allocations},
        {"frees", c.frees},
        {"allocated_bytes", c.allocated_bytes},
        {"live_bytes", c.live_bytes},
        {"pinned_allocations", c.pinned_allocations},
        {"waits", c.waits},
        {"streams", c.streams},
        {"events", c.events},
        {"event_records", c.event_records},
        {"stream_waits", c.stream_waits},
        {"captures", c.captures},
        {"graph_launches", c.graph_launches},
        {"modules", c.modules},
        {"errors", c.errors},
        {"kernels_run", c.kernels_run},
        {"warps", c.warps},
        {"instructions", c.instructions},
        {"lane_instructions", c.lane_instructions},
        {"divergent_branches", c.divergent_branches},
        {"load_requests", c.load_requests},
        {"load_sectors", c.load_sectors},
        {"load_bytes", c.load_bytes},
        {"store_requests", c.store_requests},
        {"store_sectors", c.store_sectors},
        {"store_bytes", c.store_bytes},
        {"local_requests", c.local_requests},
    };
    std::string text = "{";
    for (const auto& [name, value] : rows) {
        if (text.size() > 1) text += ", ";
        text += '"' + std::string(name) + "\": " + std::to_string(value);
    }
    return text + "}";
}

}  // namespace emulated
