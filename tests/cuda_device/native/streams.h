// Streams and events. Work runs when it is given, or (EMULATED_CUDA_LATE=1) as late as CUDA allows: when somebody
// waits for it. All streams are blocking ones, as Warp makes them: each waits for the default stream, and it for them.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "errors.h"
#include "numbers.h"

namespace emulated {

using Operation = std::function<void()>;

struct Graph;

struct Capture {
    std::shared_ptr<Graph> graph;
    Error broken = Error::none;  // a call that is not allowed has ended the capture
    u64 number = 0;
};

struct Stream {
    struct Pending {
        u64 number;  // in the order in which the host gave the work, over all streams
        Operation run;
    };
    std::deque<Pending> pending;
    std::shared_ptr<Capture> capture;
    u64 last_number = 0;  // of the work that was given last
};

struct Event {
    std::shared_ptr<Stream> stream;
    u64 number = 0;
    double time = 0;  // seconds
    std::shared_ptr<Capture> capture;  // the event was recorded in this capture
};

bool runs_late();
void run_late(bool late);

std::shared_ptr<Stream> default_stream();
std::shared_ptr<Stream> new_stream();
// The stream of a handle: nullptr is the default stream.
std::shared_ptr<Stream> stream_of(void* handle);
void destroy_stream(void* handle);

// Give work to a stream. While the stream is captured, the work becomes a node of the graph. False if CUDA refuses.
bool submit(const std::shared_ptr<Stream>& stream, const char* name, Operation run);

// Let the memory be freed when all the work that was given before has run.
void free_later(void* memory);

// The host waits. False if CUDA refuses or the device has failed.
bool wait_for(const std::shared_ptr<Stream>& stream, const char* what);
bool wait_for(const Event& event, const char* what);
bool wait_for_device(const char* what);
// Whether all has run. If not, it runs after this answer: who asks until it is done must find an end.
bool is_done(const std::shared_ptr<Stream>& stream);
bool is_done(const Event& event);

void record(Event& event, const std::shared_ptr<Stream>& stream);
// Later work of the stream waits for the event. A stream that waits for an event of a capture joins the capture.
bool wait_in_stream(const std::shared_ptr<Stream>& stream, const Event& event);

// Captures
std::shared_ptr<Capture> begin_capture(const std::shared_ptr<Stream>& stream, std::shared_ptr<Graph> graph);
void end_capture(const std::shared_ptr<Capture>& capture);
bool is_capturing();
const std::vector<std::shared_ptr<Capture>>& active_captures();

}  // namespace emulated
