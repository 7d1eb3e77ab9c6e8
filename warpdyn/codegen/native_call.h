/// Calls from Python that are launched without Python code on the way: see execution/native_call.py.

/// [call] Body of a function that writes the address of a METH_FASTCALL function to the place that args[0] tells.
typedef long long I64;
typedef int I32;
struct Native {
  typedef void Object;

  // An object that CPython keeps, and in it what NumPy keeps of an array.
  struct NumpyArray {
    I64 references;
    Object* type;
    I64* data;
    int dimensions;
    const I64 *shape, *strides;
    Object *base, *dtype;
    int flags;
  };
  enum { WRITEABLE = 0x400, MOST = 16 };

  struct Python {
    I64 (*tuple_size)(Object*);
    Object* (*tuple_item)(Object*, I64);
    I64 (*dict_size)(Object*);
    I32 (*dict_next)(Object*, I64* at, Object** key, Object** value);
    void (*hold)(Object*);
    void (*release)(Object*);
    Object* (*call)(Object*, Object* arguments);
    Object* (*tuple_new)(I64);
    I32 (*tuple_set)(Object*, I64, Object*);
    Object* (*attribute)(Object*, Object* name);
    Object* (*leave_lock)();
    void (*take_lock)(Object*);
  };

  // What `self` holds, an array of integers.
  struct Table {
    Python python;
    Object *miss, *array_type, *runtime, *capture, *none;
    I64 number;
    const I64* plans[];
  };

  // What is known of a call. Behind it: operands, each a name or null, and an object, or null and an array's dtype,
  // place of its address among the arguments, number of dimensions, shape and strides; pairs that must lie apart;
  // results that are new, each what makes it, and its place; the kernel's bounds, and its arguments.
  struct Plan {
    void (*kernel)(void* bounds, I64* arguments);
    I64 positional, named, out, pairs, results;  // out: which operand the result is; -1: it is new
    Object* made_of;                             // what makes one of several results; may be null
    I64 unaligned, bounds, length, leaves_lock;
  };
  struct Pair {
    I64 one, other, low, high, other_low, other_high, may, between;
  };

  // Whether an operand is of the same kind; an array's address and its place. `at` moves behind it.
  static bool fits(const Table& table, const Plan& plan, const I64*& at, Object* x, I64& address, I64& place) {
    place = -1;
    if (Object* const wanted = (Object*)*at++) return x == wanted;
    const NumpyArray& array = *(const NumpyArray*)x;
    const I64 dtype = *at++, dimensions = at[1];
    if (array.type != table.array_type || (I64)array.dtype != dtype || array.dimensions != dimensions) return false;
    place = *at++;
    ++at;
    for (I64 k = 0; k < dimensions; ++k)
      if (array.shape[k] != at[k] || array.strides[k] != at[dimensions + k]) return false;
    at += 2 * dimensions;
    address = (I64)array.data;
    return !(address & plan.unaligned);
  }

  static bool apart(const Pair& x, const I64* where) {
    const I64 a = where[x.one], b = where[x.other];
    return a + x.high <= b + x.other_low || b + x.other_high <= a + x.low || (x.may && b - a == x.between);
  }

  // The result of a call by a plan; `fitted` says whether it is such a call.
  static Object* run(const Table& table, const Plan& plan, Object* args, Object* words, bool& fitted) {
    const Python& python = table.python;
    fitted = false;
    if (python.tuple_size(args) != plan.positional || python.dict_size(words) != plan.named) return nullptr;
    I64 where[MOST], place[MOST], next = 0;
    const I64 operands = plan.positional + plan.named;
    const I64* at = (const I64*)(&plan + 1);
    Object *key = nullptr, *x, *out = nullptr;
    for (I64 k = 0; k < operands; ++k) {
      if (k < plan.positional)
        x = python.tuple_item(args, k);
      else
        python.dict_next(words, &next, &key, &x);
      if ((Object*)*at++ != key || !fits(table, plan, at, x, where[k], place[k])) return nullptr;
      if (k == plan.out) out = x;
    }
    if (out && !(((const NumpyArray*)out)->flags & WRITEABLE)) return nullptr;
    for (I64 k = 0; k < plan.pairs; ++k, at += sizeof(Pair) / sizeof(I64))
      if (!apart(*(const Pair*)at, where)) return nullptr;
    fitted = true;

    // What makes results may be Python's, in which anything happens; `self` holds the plan meanwhile.
    Object* const made_of = plan.made_of;
    const I64 results = plan.results;
    const I64* kept = at + 2 * results;
    I64* const bounds = (I64*)__builtin_alloca((plan.bounds + plan.length) * sizeof(I64));
    I64* const arguments = bounds + plan.bounds;
    for (I64 k = 0; k < plan.bounds + plan.length; ++k) bounds[k] = kept[k];
    for (I64 k = 0; k < operands; ++k)
      if (place[k] >= 0) arguments[place[k]] = where[k];
    Object* made[MOST];
    for (I64 k = 0; k < results; ++k, at += 2) {
      made[k] = python.call((Object*)at[0], nullptr);
      if (!made[k]) {
        while (k) python.release(made[--k]);
        return nullptr;
      }
      arguments[at[1]] = (I64)((const NumpyArray*)made[k])->data;
    }
    if (plan.leaves_lock) {
      Object* const state = python.leave_lock();
      plan.kernel(bounds, arguments);
      python.take_lock(state);
    } else {
      plan.kernel(bounds, arguments);
    }
    Object* result = out;
    if (out) python.hold(out);
    if (results == 1) result = made[0];
    if (results > 1) {
      result = python.tuple_new(results);
      for (I64 k = 0; k < results; ++k)
        if (result)
          python.tuple_set(result, k, made[k]);
        else
          python.release(made[k]);
    }
    if (result && made_of) {
      Object* const all = result;
      result = python.call(made_of, all);
      python.release(all);
    }
    return result;
  }

  static Object* call(Object* self, Object* const* given, I64) {
    const Table& table = *(const Table*)((const NumpyArray*)self)->data;
    const Python& python = table.python;
    Object* const capture = python.attribute(table.runtime, table.capture);
    if (!capture) return nullptr;
    python.release(capture);
    if (capture == table.none)
      for (I64 k = 0; k < table.number; ++k) {
        bool fitted;
        Object* const result = run(table, *(const Plan*)table.plans[k], given[0], given[1], fitted);
        if (fitted) return result;
      }
    python.hold(table.miss);
    return table.miss;
  }
};
*(I64*)args[0] = (I64)&Native::call;
