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

  // A launch whose slices several threads take; the last to leave frees it.
  struct Shared {
    Kernel* kernel;
    I64 bounds, length, least, threads, count;
    I64 next, done, users;
    I64 words[];
  };

  static void work(Shared* at) {
    I64* const own = (I64*)__builtin_alloca((at->bounds + at->length) * sizeof(I64));
    for (I64 k = 0; k < at->bounds + at->length; ++k) own[k] = at->words[k];
    I64* const arguments = own + at->bounds;
    I64 first = __atomic_load_n(&at->next, __ATOMIC_RELAXED);
    while (first < at->count) {
      // Half of a thread's share of what is left, as in execution/threads.py.
      const I64 share = (at->count - first) / (2 * at->threads), left = at->count - first;
      I64 number = (share / at->least + 1) * at->least;
      number = number < left ? number : left;
      if (!__atomic_compare_exchange_n(&at->next, &first, first + number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
      arguments[$first] = first;
      arguments[$count] = number;
      at->kernel(own, arguments);
      __atomic_add_fetch(&at->done, number, __ATOMIC_RELEASE);
      first = __atomic_load_n(&at->next, __ATOMIC_RELAXED);
    }
  }
  static void leave(Shared* at) {
    if (__atomic_sub_fetch(&at->users, 1, __ATOMIC_ACQ_REL) == 0) free(at);
  }
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
    const I64 length = plan.bounds + plan.length;
    Shared* const at = (Shared*)malloc(sizeof(Shared) + length * sizeof(I64));
    *at = Shared{(Kernel*)plan.kernel[0], plan.bounds, plan.length, plan.least, threads, count, 0, 0, 1};
    for (I64 k = 0; k < length; ++k) at->words[k] = words[k];
    for (I64 k = 1; k < threads && k * plan.least < count; ++k) {
      __atomic_add_fetch(&at->users, 1, __ATOMIC_RELAXED);
      NewTask task = {sizeof(NewTask), nullptr, frame->context, help, at};
      if (!succeeded(frame, frame->api->schedule(&task))) leave(at);
    }
    work(at);
    while (__atomic_load_n(&at->done, __ATOMIC_ACQUIRE) < count)
      if (plan.yield) plan.yield();
    leave(at);
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
