/// A kernel called by a program that XLA compiled: see execution/foreign_call.py. The structures are those of XLA's C
/// interface (xla/ffi/api/c_api.h, major version 0, minor 1 and later), by whose promise their fields stay in place.

/// [handler] Body of a function that writes the handler's address to the place that args[0] tells.
typedef long long I64;
struct Foreign {
  struct Buffer { size_t size; void* next; int dtype; void* data; I64 rank; const I64* shape; };
  struct List { size_t size; void* next; I64 number; const int* kinds; Buffer** items; };
  struct Integers { int dtype; size_t number; const I64* data; };
  struct Attributes { size_t size; void* next; I64 number; const int* kinds; void** names; Integers** items; };
  struct Version { size_t size; void* next; int major, minor; };
  struct Metadata { size_t size; Version version; };
  struct Extension { size_t size; int kind; Extension* next; Metadata* metadata; };
  struct NewError { size_t size; void* next; const char* message; int code; };
  struct OldError { size_t size; void* next; void* error; };
  struct NewTask { size_t size; void* next; void* context; void (*task)(void*); void* data; };
  struct Threads { size_t size; void* next; void* context; I64* number; };
  struct Api {
    size_t size; void* next; Version version; void* internal;
    void* (*error_create)(NewError*);
    void* error_message;
    void (*error_destroy)(OldError*);
    void* others[8];
    void* (*schedule)(NewTask*);
    void* (*count_threads)(Threads*);
  };
  struct Frame {
    size_t size; Extension* next; const Api* api; void* context; int stage;
    List inputs, results; Attributes attributes;
  };
  typedef void Kernel(void* bounds, I64* arguments);

  // What the attribute holds, in this order; behind it the places of addresses among the arguments, the kernel's
  // bounds, and its arguments.
  struct Plan {
    const I64* kernel;   // address of the kernel, and whether it could not be compiled
    const I64* threads;  // how many to use; 0: as many as XLA has
    void (*yield)();     // lets another thread run; may be null
    I64 least;           // environments of a slice; 0: not to be shared out
    I64 bounds, length;  // words of both
  };

#include "shared_launch.h"

  static void help(void* at) {
    work((Shared*)at);
    leave((Shared*)at);
  }
  static I64 available(const Frame* frame) {
    I64 number = 1;
    Threads ask = {sizeof(Threads), nullptr, frame->context, &number};
    return succeeded(frame, frame->api->count_threads(&ask)) ? number : 1;
  }
  static bool succeeded(const Frame* frame, void* error) {
    OldError old = {sizeof(OldError), nullptr, error};
    if (error) frame->api->error_destroy(&old);
    return !error;
  }
  // Nobody waits for a thread that is slow to wake: it finds nothing left.
  static void share(const Frame* frame, const Plan& plan, I64 threads, const I64* words, I64 count) {
    Shared* const at = shared((Kernel*)plan.kernel[0], plan.bounds, plan.length, words, count, plan.least, threads);
    for (I64 k = 1; k < threads && k * plan.least < count; ++k) {
      __atomic_add_fetch(&at->users, 1, __ATOMIC_RELAXED);
      NewTask task = {sizeof(NewTask), nullptr, frame->context, help, at};
      if (!succeeded(frame, frame->api->schedule(&task))) leave(at);
    }
    finish(at, plan.yield);
  }

  static void* handle(Frame* frame) {
    for (Extension* each = frame->next; each; each = each->next)
      if (each->kind == 1) {  // XLA asks what the handler was written for
        each->metadata->version.major = 0;
        each->metadata->version.minor = 1;
        return nullptr;
      }
    const I64* const numbers = frame->attributes.items[0]->data;
    const Plan& plan = *(const Plan*)numbers;
    const I64* place = numbers + sizeof(Plan) / sizeof(I64);
    const I64 inputs = frame->inputs.number, results = frame->results.number;
    const I64* const kept = place + inputs + results;
    I64* const words = (I64*)__builtin_alloca((plan.bounds + plan.length) * sizeof(I64));
    for (I64 k = 0; k < plan.bounds + plan.length; ++k) words[k] = kept[k];
    I64* const arguments = words + plan.bounds;
    for (I64 k = 0; k < inputs; ++k) arguments[*place++] = (I64)frame->inputs.items[k]->data;
    for (I64 k = 0; k < results; ++k) arguments[*place++] = (I64)frame->results.items[k]->data;
    const I64 count = arguments[$count];
    if (count == 0) return nullptr;
    I64 threads = plan.least ? *plan.threads : 1;
    if (threads == 0) threads = available(frame);
    if (threads > 1)
      share(frame, plan, threads, words, count);
    else
      ((Kernel*)plan.kernel[0])(words, arguments);
    if (!plan.kernel[1]) return nullptr;
    NewError error = {sizeof(NewError), nullptr, "a kernel of warpdyn could not be compiled: see stderr", 13};
    return frame->api->error_create(&error);
  }
};
*(I64*)args[0] = (I64)&Foreign::handle;
