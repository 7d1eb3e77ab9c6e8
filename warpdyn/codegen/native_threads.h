/// Threads that take slices of launches without Python: see execution/native_threads.py.

/// [threads] Body of a function that writes the addresses of three functions to the places that args[0] tells.
typedef long long I64;
typedef int I32;  // Warp has a macro of the name before a parenthesis
struct Native {
  typedef void Kernel(void* bounds, I64* arguments);

#include "shared_launch.h"

  // The system's functions. A mutex and a condition are places in memory, of which only the system knows the size.
  struct System {
    I32 (*create)(void** thread, const void*, void* (*)(void*), void*);
    I32 (*join)(void* thread, void**);
    I32 (*lock)(void* mutex);
    I32 (*unlock)(void* mutex);
    I32 (*wait)(void* condition, void* mutex);
    I32 (*signal)(void* condition);
    void (*yield)();
  };

  // A thread. A launch is put into its box, in the place of one that it has not taken yet: that one's caller does it.
  struct Worker {
    const System* system;
    Shared* box;
    I64 asleep, stopped;
    I64 patience;  // how often it looks before it sleeps
    void* thread;
    void *mutex, *condition;
    const void* attributes;  // that the system starts it with
  };

  static void* serve(void* given) {
    Worker& own = *(Worker*)given;
    const System& system = *own.system;
    for (;;) {
      for (I64 k = 0; k < own.patience && !__atomic_load_n(&own.box, __ATOMIC_RELAXED); ++k) system.yield();
      Shared* at = __atomic_exchange_n(&own.box, (Shared*)nullptr, __ATOMIC_SEQ_CST);
      if (!at) {
        system.lock(own.mutex);
        __atomic_store_n(&own.asleep, 1, __ATOMIC_SEQ_CST);
        while (!__atomic_load_n(&own.box, __ATOMIC_SEQ_CST) && !own.stopped) system.wait(own.condition, own.mutex);
        __atomic_store_n(&own.asleep, 0, __ATOMIC_SEQ_CST);
        const bool stopped = own.stopped;
        system.unlock(own.mutex);
        if (stopped) return nullptr;
        continue;
      }
      work(at);
      leave(at);
    }
  }
  static I64 start(Worker* worker) {
    return worker->system->create(&worker->thread, worker->attributes, serve, worker);
  }
  static void wake(Worker& worker) {
    worker.system->lock(worker.mutex);
    worker.system->signal(worker.condition);
    worker.system->unlock(worker.mutex);
  }
  static void stop(Worker* worker) {
    worker->system->lock(worker->mutex);
    worker->stopped = 1;
    worker->system->unlock(worker->mutex);
    wake(*worker);
    worker->system->join(worker->thread, nullptr);
  }

  struct Launch {
    Kernel* kernel;
    I64 bounds, length, count, least, workers;
    Worker* const* threads;
    I64 words[];
  };
  static void share(const Launch* launch) {
    const Launch& given = *launch;
    Shared* const at =
        shared(given.kernel, given.bounds, given.length, given.words, given.count, given.least, given.workers + 1);
    __atomic_add_fetch(&at->users, given.workers, __ATOMIC_RELAXED);
    for (I64 k = 0; k < given.workers; ++k) {
      Worker& worker = *given.threads[k];
      Shared* const before = __atomic_exchange_n(&worker.box, at, __ATOMIC_SEQ_CST);
      if (before) leave(before);
      if (__atomic_load_n(&worker.asleep, __ATOMIC_SEQ_CST)) wake(worker);
    }
    finish(at, given.threads[0]->system->yield);
  }
};
I64* const places = (I64*)args[0];
places[0] = (I64)&Native::start;
places[1] = (I64)&Native::share;
places[2] = (I64)&Native::stop;
