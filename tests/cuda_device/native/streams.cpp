#include "streams.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "counters.h"
#include "device_memory.h"
#include "graphs.h"

namespace emulated {

namespace {

constexpr u64 EVERYTHING = ~u64(0);

bool setting_is_late() {
    const char* setting = std::getenv("EMULATED_CUDA_LATE");
    return setting && *setting && std::string(setting) != "0";
}

bool is_late = setting_is_late();
u64 given = 0;  // pieces of work, over all streams
std::map<Stream*, std::shared_ptr<Stream>> streams;  // without the default stream
std::vector<std::shared_ptr<Capture>> captures;      // that have begun and not ended

struct Freed {
    u64 number;
    void* memory;
};
std::vector<Freed> freed;  // memory that waits for earlier work

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Memory whose users have all run is given back. CUDA may do it earlier, in the default stream: that would let
// other streams wait for each other by chance, and hide a wait that is missing.
void release_freed() {
    u64 first_pending = EVERYTHING;
    const auto look_at = [&](const Stream& stream) {
        if (!stream.pending.empty()) first_pending = std::min(first_pending, stream.pending.front().number);
    };
    look_at(*default_stream());
    for (const auto& [handle, stream] : streams) look_at(*stream);
    std::erase_if(freed, [&](const Freed& entry) {
        const bool is_over = entry.number < first_pending;
        if (is_over) device_memory.release(entry.memory);
        return is_over;
    });
}

void run_until(Stream& stream, u64 last);

// What has to run before work of a stream, by the rules of the default stream.
void run_before(Stream& stream, u64 number) {
    if (&stream != default_stream().get()) return run_until(*default_stream(), number - 1);
    for (const auto& [handle, other] : streams) run_until(*other, number - 1);
}

void run_until(Stream& stream, u64 last) {
    while (!stream.pending.empty() && stream.pending.front().number <= last) {
        run_before(stream, stream.pending.front().number);
        if (!freed.empty()) release_freed();  // while this work still counts as pending
        Stream::Pending work = std::move(stream.pending.front());
        stream.pending.pop_front();
        if (device_error() == Error::none) work.run();
    }
    if (!freed.empty()) release_freed();
}

bool no_device_error(const char* what) {
    return device_error() == Error::none || fail(device_error(), what);
}

bool refuse_in_capture(Error error, const char* what) {
    for (const std::shared_ptr<Capture>& capture : captures) capture->broken = error;
    return fail(error, what);
}

}  // namespace

bool runs_late() { return is_late; }

void run_late(bool late) {
    for (const auto& [handle, stream] : streams) run_until(*stream, EVERYTHING);
    run_until(*default_stream(), EVERYTHING);
    is_late = late;
}

std::shared_ptr<Stream> default_stream() {
    static const auto stream = std::make_shared<Stream>();
    return stream;
}

std::shared_ptr<Stream> new_stream() {
    auto stream = std::make_shared<Stream>();
    ++counters.streams;
    return streams[stream.get()] = stream;
}

std::shared_ptr<Stream> stream_of(void* handle) {
    if (!handle) return default_stream();
    const auto found = streams.find(static_cast<Stream*>(handle));
    if (found != streams.end()) return found->second;
    fail(Error::invalid_value, "a stream that does not exist; the default stream is used");
    return default_stream();
}

void destroy_stream(void* handle) {
    const auto found = streams.find(static_cast<Stream*>(handle));
    if (found == streams.end()) return;
    run_until(*found->second, EVERYTHING);
    streams.erase(found);
}

bool submit(const std::shared_ptr<Stream>& stream, const char* name, Operation run) {
    if (!no_device_error(name)) return false;
    if (stream->capture) {
        if (stream->capture->broken != Error::none) return fail(Error::capture_invalidated, name);
        stream->capture->graph->nodes.push_back({name, std::move(run)});
        return true;
    }
    if (stream == default_stream() && is_capturing())
        return refuse_in_capture(Error::capture_implicit, name);
    stream->last_number = ++given;
    stream->pending.push_back({given, std::move(run)});
    if (!runs_late()) run_until(*stream, given);
    return true;
}

void free_later(void* memory) {
    freed.push_back({given, memory});
    release_freed();
}

bool wait_for(const std::shared_ptr<Stream>& stream, const char* what) {
    ++counters.waits;
    if (stream->capture) return refuse_in_capture(Error::capture_unsupported, what);
    run_before(*stream, given + 1);
    run_until(*stream, EVERYTHING);
    return no_device_error(what);
}

bool wait_for(const Event& event, const char* what) {
    ++counters.waits;
    if (event.capture) return refuse_in_capture(Error::captured_event, what);
    if (event.stream) run_until(*event.stream, event.number);
    return no_device_error(what);
}

bool wait_for_device(const char* what) {
    ++counters.waits;
    if (is_capturing()) return refuse_in_capture(Error::capture_unsupported, what);
    for (const auto& [handle, stream] : streams) run_until(*stream, EVERYTHING);
    run_until(*default_stream(), EVERYTHING);
    return no_device_error(what);
}

bool is_done(const std::shared_ptr<Stream>& stream) {
    const bool done = stream->pending.empty();
    if (!done) run_until(*stream, EVERYTHING);
    return done;
}

bool is_done(const Event& event) {
    if (!event.stream) return true;
    const auto& pending = event.stream->pending;
    const bool done = pending.empty() || pending.front().number > event.number;
    if (!done) run_until(*event.stream, event.number);
    return done;
}

void record(Event& event, const std::shared_ptr<Stream>& stream) {
    ++counters.event_records;
    event.stream = stream;
    event.capture = stream->capture;
    if (event.capture) return;
    event.number = stream->last_number;
    // In late mode the time is that of the call: when work runs says nothing about a GPU.
    event.time = seconds();
}

bool wait_in_stream(const std::shared_ptr<Stream>& stream, const Event& event) {
    ++counters.stream_waits;
    if (event.capture && std::find(captures.begin(), captures.end(), event.capture) != captures.end()) {
        if (stream == default_stream()) return refuse_in_capture(Error::capture_implicit, "cuStreamWaitEvent");
        if (stream->capture && stream->capture != event.capture)
            return refuse_in_capture(Error::capture_isolation, "cuStreamWaitEvent");
        stream->capture = event.capture;
        return true;
    }
    if (!event.stream) return true;  // an event that was never recorded
    if (stream->capture) return refuse_in_capture(Error::capture_isolation, "cuStreamWaitEvent");
    if (event.stream == stream) return true;
    const std::shared_ptr<Stream> other = event.stream;
    const u64 number = event.number;
    return submit(stream, "wait for an event", [other, number] { run_until(*other, number); });
}

std::shared_ptr<Capture> begin_capture(const std::shared_ptr<Stream>& stream, std::shared_ptr<Graph> graph) {
    static u64 number = 0;
    auto capture = std::make_shared<Capture>();
    capture->graph = std::move(graph);
    capture->number = ++number;
    stream->capture = capture;
    captures.push_back(capture);
    return capture;
}

void end_capture(const std::shared_ptr<Capture>& capture) {
    for (const auto& [handle, stream] : streams)
        if (stream->capture == capture) stream->capture = nullptr;
    std::erase(captures, capture);
}

bool is_capturing() { return !captures.empty(); }

const std::vector<std::shared_ptr<Capture>>& active_captures() { return captures; }

}  // namespace emulated
