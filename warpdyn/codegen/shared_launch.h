  // A launch whose slices several threads take, each the next one when it is free; the last to leave frees it. Nobody
  // waits for a thread that is slow to wake: it finds nothing left.
  struct Shared {
    Kernel* kernel;
    I64 bounds, length, least, threads, count;
    I64 next, done, users;
    I64 words[];
  };

  // `words`: the kernel's bounds, and its arguments. least: environments of a slice, at least.
  static Shared* shared(Kernel* kernel, I64 bounds, I64 length, const I64* words, I64 count, I64 least, I64 threads) {
    Shared* const at = (Shared*)malloc(sizeof(Shared) + (bounds + length) * sizeof(I64));
    *at = Shared{kernel, bounds, length, least, threads, count, 0, 0, 1};
    for (I64 k = 0; k < bounds + length; ++k) at->words[k] = words[k];
    return at;
  }
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
  // The caller's own part, until all is done. yield: lets another thread run; may be null.
  static void finish(Shared* at, void (*yield)()) {
    work(at);
    while (__atomic_load_n(&at->done, __ATOMIC_ACQUIRE) < at->count)
      if (yield) yield();
    leave(at);
  }
