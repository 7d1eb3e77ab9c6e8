#include "graphs.h"

#include <map>

#include "device_memory.h"

namespace emulated {

namespace {

struct GraphMemory {
    Graph* graph;  // nullptr after the graph has been destroyed
    bool user_holds = true;
};
std::map<void*, GraphMemory>& graph_memory() {
    static std::map<void*, GraphMemory> all;
    return all;
}

std::vector<void*> kept;  // freed during a capture
std::map<void*, std::shared_ptr<Graph>>& handles() {
    static auto* all = new std::map<void*, std::shared_ptr<Graph>>;
    return *all;
}

bool is_being_recorded(const Graph* graph) {
    for (const std::shared_ptr<Capture>& capture : active_captures())
        if (capture->graph.get() == graph) return true;
    return false;
}

}  // namespace

std::shared_ptr<Graph> new_graph() {
    static u64 number = 0;
    auto graph = std::make_shared<Graph>();
    graph->number = ++number;
    return graph;
}

Graph::~Graph() {
    for (void* piece : memory) {
        const auto found = graph_memory().find(piece);
        if (found == graph_memory().end()) continue;
        found->second.graph = nullptr;
        if (found->second.user_holds) continue;
        graph_memory().erase(found);
        free_later(piece);
    }
}

void* allocate_for(const std::shared_ptr<Stream>& stream, std::size_t bytes) {
    if (!stream->capture) return device_memory.allocate(bytes);
    void* memory = device_memory.allocate(bytes, false);
    if (!memory) return nullptr;
    Graph* graph = stream->capture->graph.get();
    graph->memory.push_back(memory);
    graph_memory()[memory] = {graph};
    submit(stream, "allocate", [memory] { device_memory.set_usable(memory, true); });
    return memory;
}

bool free_memory(void* memory) {
    const auto found = graph_memory().find(memory);
    if (found != graph_memory().end()) {
        Graph* graph = found->second.graph;
        found->second.user_holds = false;
        if (!graph) {
            graph_memory().erase(found);
            free_later(memory);
        } else if (is_being_recorded(graph)) {
            graph->nodes.push_back({"free", [memory] { device_memory.set_usable(memory, false); }});
        }
        return true;
    }
    if (!device_memory.contains(memory, 0)) return false;
    if (is_capturing()) kept.push_back(memory);
    else free_later(memory);
    return true;
}

void free_kept_memory() {
    if (is_capturing()) return;
    std::vector<void*> now;
    now.swap(kept);
    for (void* memory : now) free_later(memory);
}

void* graph_handle(std::shared_ptr<Graph> graph) {
    void* handle = new char;
    handles()[handle] = std::move(graph);
    return handle;
}

std::shared_ptr<Graph> graph_of(void* handle) {
    const auto found = handles().find(handle);
    return found == handles().end() ? nullptr : found->second;
}

void drop_graph_handle(void* handle) {
    const auto found = handles().find(handle);
    if (found == handles().end()) return;
    const std::shared_ptr<Graph> last = std::move(found->second);
    handles().erase(found);
    delete static_cast<char*>(handle);
}

}  // namespace emulated
