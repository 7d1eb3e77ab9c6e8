// Warp's C interface: streams, events and graphs.
#include "counters.h"
#include "graphs.h"
#include "warp_library.h"

using namespace emulated;

// ---------------------------------------------------------------- streams

WARP_API void* wp_cuda_stream_create(void*, int) {
    Locked lock(interface_lock);
    return new_stream().get();
}

WARP_API void wp_cuda_stream_destroy(void*, void* stream) {
    Locked lock(interface_lock);
    destroy_stream(stream);
}

WARP_API int wp_cuda_stream_query(void* stream) {
    Locked lock(interface_lock);
    return static_cast<int>(is_done(stream_argument(stream)) ? device_error() : Error::not_ready);
}

// Warp's library makes an event for each stream that it is told of.
WARP_API void wp_cuda_stream_register(void*, void*) { ++counters.events; }
WARP_API void wp_cuda_stream_unregister(void*, void*) {}
WARP_API void* wp_cuda_stream_get_current() {
    const std::shared_ptr<Stream> stream = current_stream();
    return stream == default_stream() ? nullptr : stream.get();
}

WARP_API bool wp_cuda_stream_synchronize(void* stream) {
    Locked lock(interface_lock);
    return wait_for(stream_argument(stream), "cuStreamSynchronize");
}

WARP_API int wp_cuda_stream_is_capturing(void* stream) {
    Locked lock(interface_lock);
    return stream_argument(stream)->capture != nullptr;
}

WARP_API std::uint64_t wp_cuda_stream_get_capture_id(void* stream) {
    Locked lock(interface_lock);
    const auto capture = stream_argument(stream)->capture;
    return capture ? capture->graph->number : 0;
}

WARP_API int wp_cuda_stream_is_blocking(void*) { return 1; }
WARP_API int wp_cuda_stream_get_priority(void*) { return 0; }
WARP_API int wp_cuda_thread_exchange_capture_mode(int) { return 1; }

// ---------------------------------------------------------------- events

WARP_API void* wp_cuda_event_create(void*, unsigned) {
    ++counters.events;
    return new Event;
}

WARP_API void wp_cuda_event_destroy(void* event) {
    Locked lock(interface_lock);
    delete static_cast<Event*>(event);
}

WARP_API void wp_cuda_event_record(void* event, void* stream, bool) {
    Locked lock(interface_lock);
    record(*static_cast<Event*>(event), stream_argument(stream));
}

WARP_API int wp_cuda_event_query(void* event) {
    Locked lock(interface_lock);
    const Event& asked = *static_cast<Event*>(event);
    if (asked.capture) return static_cast<int>(Error::captured_event);
    return static_cast<int>(is_done(asked) ? device_error() : Error::not_ready);
}

WARP_API bool wp_cuda_event_synchronize(void* event) {
    Locked lock(interface_lock);
    return wait_for(*static_cast<Event*>(event), "cuEventSynchronize");
}

WARP_API float wp_cuda_event_elapsed_time(void* start, void* end) {
    return static_cast<float>(1e3 * (static_cast<Event*>(end)->time - static_cast<Event*>(start)->time));
}

WARP_API void wp_cuda_stream_wait_event(void* stream, void* event, bool) {
    Locked lock(interface_lock);
    wait_in_stream(stream_argument(stream), *static_cast<Event*>(event));
}

WARP_API void wp_cuda_stream_wait_stream(void* stream, void* other, void* event, bool) {
    Locked lock(interface_lock);
    record(*static_cast<Event*>(event), stream_argument(other));
    wait_in_stream(stream_argument(stream), *static_cast<Event*>(event));
}

// ---------------------------------------------------------------- graphs

WARP_API bool wp_cuda_graph_begin_capture(void*, void* stream, int external, int) {
    Locked lock(interface_lock);
    const std::shared_ptr<Stream> captured = stream_argument(stream);
    if (captured == default_stream()) return fail(Error::capture_unsupported, "the default stream cannot be captured");
    if (external) return captured->capture || fail(Error::invalid_value, "the stream is not captured");
    if (captured->capture) return fail(Error::invalid_value, "the stream is captured already");
    ++counters.captures;
    begin_capture(captured, new_graph());
    return true;
}

namespace {

// A graph of its own for the caller, or false after an error in the capture.
bool stop_capture(void* stream, void** graph) {
    const std::shared_ptr<Capture> capture = stream_argument(stream)->capture;
    if (!capture) return fail(Error::invalid_value, "the stream is not captured");
    end_capture(capture);
    if (capture->broken != Error::none) return fail(Error::capture_invalidated, "cudaStreamEndCapture");
    if (graph) *graph = graph_handle(capture->graph);
    return true;
}

}  // namespace

WARP_API bool wp_cuda_graph_end_capture(void*, void* stream, void** graph) {
    Locked lock(interface_lock);
    const bool made = stop_capture(stream, graph);
    free_kept_memory();
    return made;
}

WARP_API bool wp_cuda_graph_pause_capture(void*, void* stream, void** graph) {
    Locked lock(interface_lock);
    return stop_capture(stream, graph);
}

WARP_API bool wp_cuda_graph_resume_capture(void*, void* stream, void* graph) {
    Locked lock(interface_lock);
    begin_capture(stream_argument(stream), graph_of(graph));
    drop_graph_handle(graph);
    return true;
}

WARP_API bool wp_cuda_graph_insert_child_graph(void*, void* stream, void* child) {
    Locked lock(interface_lock);
    const std::shared_ptr<Capture> capture = stream_argument(stream)->capture;
    const std::shared_ptr<Graph> inner = graph_of(child);
    if (!capture || !inner) return fail(Error::invalid_value, "a child graph outside of a capture");
    capture->graph->nodes.insert(capture->graph->nodes.end(), inner->nodes.begin(), inner->nodes.end());
    return true;
}

WARP_API bool wp_cuda_graph_create_exec(void*, void*, void* graph, void** made) {
    Locked lock(interface_lock);
    *made = graph_handle(graph_of(graph));
    return true;
}

WARP_API bool wp_cuda_graph_launch(void* graph, void* stream) {
    Locked lock(interface_lock);
    ++counters.graph_launches;
    const std::shared_ptr<Graph> launched = graph_of(graph);
    if (!launched) return fail(Error::invalid_value, "cudaGraphLaunch");
    return submit(stream_argument(stream), "graph", [launched] {
        for (const GraphNode& node : launched->nodes)
            if (device_error() == Error::none) node.run();
    });
}

WARP_API bool wp_cuda_graph_destroy(void*, void* graph) {
    Locked lock(interface_lock);
    drop_graph_handle(graph);
    return true;
}

WARP_API bool wp_cuda_graph_exec_destroy(void*, void* graph) {
    Locked lock(interface_lock);
    drop_graph_handle(graph);
    return true;
}

// Names of a graph's nodes, separated by commas, for tests.
WARP_API const char* emulated_cuda_graph_nodes(void* graph) {
    Locked lock(interface_lock);
    static std::string text;
    text.clear();
    if (const std::shared_ptr<Graph> asked = graph_of(graph))
        for (const GraphNode& node : asked->nodes) text += (text.empty() ? "" : ",") + node.name;
    return text.c_str();
}
