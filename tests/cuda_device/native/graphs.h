// Graphs: the work of a capture, and the memory that was allocated in it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "streams.h"

namespace emulated {

struct GraphNode {
    std::string name;
    Operation run;
};

struct Graph {
    std::vector<GraphNode> nodes;
    std::vector<void*> memory;
    u64 number = 0;  // stays the same when a capture is paused and goes on
    ~Graph();
};

std::shared_ptr<Graph> new_graph();

// Memory for the work of a stream. In a capture it belongs to the graph, which makes it usable when it is launched.
void* allocate_for(const std::shared_ptr<Stream>& stream, std::size_t bytes);

// Free memory of either kind. While any stream is captured, memory that is not a graph's is kept until the capture ends,
// as Warp's native library does. False if it is not device memory.
bool free_memory(void* memory);
void free_kept_memory();

// Handles of graphs and of launchable graphs
void* graph_handle(std::shared_ptr<Graph> graph);
std::shared_ptr<Graph> graph_of(void* handle);
void drop_graph_handle(void* handle);

}  // namespace emulated
