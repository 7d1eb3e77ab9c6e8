/// Calls from Python that are launched without Python code in between. See execution/native/native_call.py.

/// [call] Body of a function that writes the addresses of METH_FASTCALL functions to the places that args[0] tells:
/// of a call, and of the two passes of one that Torch differentiates (execution/native/torch_native.py).
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
  enum { WRITEABLE = 0x400, MOST = 16, TENSOR = 1 };

  struct Python {
    I64 (*PyTuple_Size)(Object*);
    Object* (*PyTuple_GetItem)(Object*, I64);
    I64 (*PyDict_Size)(Object*);
    I32 (*PyDict_Next)(Object*, I64* at, Object** key, Object** value);
    void (*Py_IncRef)(Object*);
    void (*Py_DecRef)(Object*);
    Object* (*PyObject_CallObject)(Object*, Object* arguments);
    Object* (*PyTuple_New)(I64);
    I32 (*PyTuple_SetItem)(Object*, I64, Object*);
    Object* (*PyObject_GetAttr)(Object*, Object* name);
    I32 (*PyObject_SetAttr)(Object*, Object* name, Object*);
    Object* (*PyObject_CallOneArg)(Object*, Object* argument);
    I64 (*PyLong_AsLongLong)(Object*);
    Object* (*PyErr_Occurred)();
    void (*PyErr_Clear)();
    Object* (*PyEval_SaveThread)();
    void (*PyEval_RestoreThread)(Object*);
  };

  // Torch, by the functions of its stable C interface, and by objects of Python's.
  struct Torch {
    I32 (*dtype)(void*, I32*);
    I32 (*device)(void*, I32*);
    I32 (*layout)(void*, I32*);
    I32 (*dimensions)(void*, I64*);
    I32 (*sizes)(void*, const I64**);
    I32 (*strides)(void*, const I64**);
    I32 (*data)(void*, I64*);
    bool (*follows)();  // whether gradients are asked for
    void* const* (*tracing)();  // where torch.jit.trace has its state, which is null while nothing is traced
    I64 cpu, strided;
    // Where a tensor has its dispatch keys, in words of 64 bits, and those that a tensor of plain numbers may have:
    // not those of lazy negation, lazy zeros or functionalisation.
    I64 keys_at, plain_keys;
    Object *tensor, *parameter, *yes, *address, *followers, *transforms, *forward_mode;
    // Names of attributes, and what takes a backward pass that is not known.
    Object *requires_grad, *level, *to_save, *saved, *known, *backward;
  };

  // What `self` holds, an array of integers.
  struct Table {
    Python python;
    Object *miss, *array_type, *runtime, *capture, *none;
    const Torch* torch;  // may be null
    I64 number;
    const I64* plans[];
  };

  // A kernel on arrays elsewhere. Behind it: results that are new, each what makes it, and its place among the
  // arguments; the kernel's bounds, and its arguments.
  struct Launch {
    void (*kernel)(void* bounds, I64* arguments);
    I64 unaligned, bounds, length, leaves_lock, tensors, results;
  };

  // What is known of a call. Behind it: operands, each a name or null, and an object, or null and an array's dtype,
  // place of its address among the arguments, number of dimensions, shape and strides, or TENSOR and the same with
  // whether it asks for a gradient; pairs that must lie apart.
  struct Plan {
    const Launch* launch;
    I64 positional, named, out, pairs;  // out: which operand the result is; -1: it is new
    Object* made_of;                    // what makes one of several results; may be null
    Object *apply, *node;               // null, or Torch's function that makes a node of a call, and what it is told
    I64 model;                          // which operand the model is
  };

  // A call that Torch differentiates. Behind it: places of its tensors among the arguments.
  enum { ADJOINTS = 8 };
  struct Adjoint;
  struct Node {
    const Launch* launch;
    I64 tensors, solves, number;
    const Adjoint* adjoints[ADJOINTS];
  };

  // Its backward pass. Behind it: cotangents and what is kept, as operands without names; for each tensor which of the
  // results is its cotangent, or -1.
  struct Adjoint {
    const Launch* launch;
    I64 cotangents, kept, tensors;
  };
  struct Pair {
    I64 one, other, low, high, other_low, other_high, may, between;
  };

  static bool same(const I64* a, const I64* b, I64 number) {
    for (I64 k = 0; k < number; ++k)
      if (a[k] != b[k]) return false;
    return true;
  }

  // The integer that a call gives; -1 where it gives none, which is not an error then.
  static I64 integer(const Python& python, Object* x) {
    const I64 found = x ? python.PyLong_AsLongLong(x) : -1;
    if (x) python.Py_DecRef(x);
    if (found == -1 && python.PyErr_Occurred()) python.PyErr_Clear();
    return found;
  }

  // Whether nothing follows what tensors are passed to.
  static bool at_rest(const Table& table) {
    const Python& python = table.python;
    const Torch& torch = *table.torch;
    return !*torch.tracing() && !integer(python, python.PyObject_CallObject(torch.followers, nullptr)) &&
           !integer(python, python.PyObject_CallObject(torch.transforms, nullptr)) &&
           integer(python, python.PyObject_GetAttr(torch.forward_mode, torch.level)) == -1;
  }

  // Python's way, which refuses what has no memory without a line on stderr; and of a tensor that has some.
  static I64 address_of(const Table& table, Object* tensor) {
    return integer(table.python, table.python.PyObject_CallOneArg(table.torch->address, tensor));
  }
  static I64 known_address(const Table& table, Object* tensor) {
    I64 found = 0;
    table.torch->data((I64*)tensor + 2, &found);
    return found;
  }

  // The same for a tensor, whose parts are asked of Torch.
  static bool fits_tensor(const Table& table, I64 unaligned, const I64*& at, Object* x, I64& address, I64& place) {
    const Torch& torch = *table.torch;
    const I64 dtype = *at++, followed = *at++;
    place = *at++;
    const I64 dimensions = *at++, *const sizes = at, *const strides = at + dimensions;
    at += 2 * dimensions;
    Object* const type = ((const NumpyArray*)x)->type;
    if (type != torch.tensor && type != torch.parameter) return false;
    void* const tensor = (I64*)x + 2;
    if ((*(const I64**)tensor)[torch.keys_at] & ~torch.plain_keys) return false;
    I32 kind, device, layout;
    I64 number;
    const I64 *found, *steps;
    if (torch.layout(tensor, &layout) || layout != torch.strided) return false;
    if (torch.device(tensor, &device) || device != torch.cpu) return false;
    if (torch.dtype(tensor, &kind) || kind != dtype) return false;
    if (torch.dimensions(tensor, &number) || number != dimensions) return false;
    if (torch.sizes(tensor, &found) || !same(found, sizes, dimensions)) return false;
    if (torch.strides(tensor, &steps) || !same(steps, strides, dimensions)) return false;
    if (torch.follows()) {
      Object* const asks = table.python.PyObject_GetAttr(x, torch.requires_grad);
      if (!asks) table.python.PyErr_Clear();
      else table.python.Py_DecRef(asks);
      if ((asks == torch.yes) != followed) return false;
    } else if (followed) {
      return false;
    }
    address = address_of(table, x);
    return address != -1 && address && !(address & unaligned);
  }

  // Whether an operand is of the same kind; an array's address and its place. `at` moves behind it.
  static bool fits(const Table& table, I64 unaligned, const I64*& at, Object* x, I64& address, I64& place) {
    place = -1;
    const I64 wanted = *at++;
    if (wanted == TENSOR) return fits_tensor(table, unaligned, at, x, address, place);
    if (wanted) return (I64)x == wanted;
    const NumpyArray& array = *(const NumpyArray*)x;
    const I64 dtype = *at++, dimensions = at[1];
    if (array.type != table.array_type || (I64)array.dtype != dtype || array.dimensions != dimensions) return false;
    place = *at++;
    ++at;
    for (I64 k = 0; k < dimensions; ++k)
      if (array.shape[k] != at[k] || array.strides[k] != at[dimensions + k]) return false;
    at += 2 * dimensions;
    address = (I64)array.data;
    return !(address & unaligned);
  }

  static bool apart(const Pair& x, const I64* where) {
    const I64 a = where[x.one], b = where[x.other];
    return a + x.high <= b + x.other_low || b + x.other_high <= a + x.low || (x.may && b - a == x.between);
  }

  // Launch for operands at these addresses; whether the results could be made.
  static bool launch(const Table& table, const Launch& it, I64 number, const I64* where, const I64* place,
                     Object** made) {
    const Python& python = table.python;
    const I64* maker = (const I64*)(&it + 1);
    const I64* const kept = maker + 2 * it.results;
    I64* const bounds = (I64*)__builtin_alloca((it.bounds + it.length) * sizeof(I64));
    I64* const arguments = bounds + it.bounds;
    for (I64 k = 0; k < it.bounds + it.length; ++k) bounds[k] = kept[k];
    for (I64 k = 0; k < number; ++k)
      if (place[k] >= 0) arguments[place[k]] = where[k];
    // What makes results may be Python's, in which anything happens; the caller holds the plan meanwhile.
    for (I64 k = 0; k < it.results; ++k, maker += 2) {
      made[k] = python.PyObject_CallObject((Object*)maker[0], nullptr);
      if (!made[k]) {
        while (k) python.Py_DecRef(made[--k]);
        return false;
      }
      arguments[maker[1]] = it.tensors ? known_address(table, made[k]) : (I64)((const NumpyArray*)made[k])->data;
    }
    if (it.leaves_lock) {
      Object* const state = python.PyEval_SaveThread();
      it.kernel(bounds, arguments);
      python.PyEval_RestoreThread(state);
    } else {
      it.kernel(bounds, arguments);
    }
    return true;
  }

  // A tuple of what is held already, which it holds from now on.
  static Object* tuple_of(const Python& python, I64 number, Object** held) {
    Object* const all = python.PyTuple_New(number);
    for (I64 k = 0; k < number; ++k)
      if (all)
        python.PyTuple_SetItem(all, k, held[k]);
      else
        python.Py_DecRef(held[k]);
    return all;
  }

  static Object* held(const Python& python, Object* x) {
    python.Py_IncRef(x);
    return x;
  }

  static Object* called(const Python& python, Object* function, Object* arguments) {
    Object* const result = arguments ? python.PyObject_CallObject(function, arguments) : nullptr;
    if (arguments) python.Py_DecRef(arguments);
    return result;
  }

  // The result of a call by a plan; `fitted` says whether it is such a call.
  static Object* run(const Table& table, const Plan& plan, Object* args, Object* words, bool& fitted) {
    const Python& python = table.python;
    const Launch& it = *plan.launch;
    fitted = false;
    if (python.PyTuple_Size(args) != plan.positional || python.PyDict_Size(words) != plan.named) return nullptr;
    I64 where[MOST], place[MOST], next = 0;
    const I64 operands = plan.positional + plan.named;
    const I64* at = (const I64*)(&plan + 1);
    Object *key = nullptr, *x, *given[MOST];
    for (I64 k = 0; k < operands; ++k) {
      if (k < plan.positional)
        x = python.PyTuple_GetItem(args, k);
      else
        python.PyDict_Next(words, &next, &key, &x);
      if ((Object*)*at++ != key || !fits(table, it.unaligned, at, x, where[k], place[k])) return nullptr;
      given[k] = x;
    }
    Object* const out = plan.out < 0 ? nullptr : given[plan.out];
    if (out && !(((const NumpyArray*)out)->flags & WRITEABLE)) return nullptr;
    for (I64 k = 0; k < plan.pairs; ++k, at += sizeof(Pair) / sizeof(I64))
      if (!apart(*(const Pair*)at, where)) return nullptr;
    if (it.tensors && !at_rest(table)) return nullptr;
    fitted = true;

    Object *const made_of = plan.made_of, *made[MOST + 1], *result = nullptr;
    if (plan.apply) {
      Object* told[] = {held(python, plan.node), held(python, given[plan.model])};
      made[0] = tuple_of(python, 2, told);
      if (!made[0]) return nullptr;
      I64 number = 1;
      for (I64 k = 0; k < operands; ++k)
        if (place[k] >= 0) made[number++] = held(python, given[k]);
      result = called(python, plan.apply, tuple_of(python, number, made));
    } else {
      const I64 results = it.results;
      if (!launch(table, it, operands, where, place, made)) return nullptr;
      result = out ? held(python, out) : results == 1 ? made[0] : tuple_of(python, results, made);
    }
    return result && made_of ? called(python, made_of, result) : result;
  }

  // Arguments: the context of Torch's node, (node, model), and the tensors. What a backward pass reads is kept.
  static Object* forward(Object* self, Object* const* given, I64 number) {
    const Table& table = *(const Table*)((const NumpyArray*)self)->data;
    const Python& python = table.python;
    const Torch& torch = *table.torch;
    const Node& node = *(const Node*)((const NumpyArray*)python.PyTuple_GetItem(given[1], 0))->data;
    const Launch& it = *node.launch;
    const I64 tensors = number - 2;
    I64 where[MOST];
    for (I64 k = 0; k < tensors; ++k) where[k] = known_address(table, given[2 + k]);
    Object *made[MOST], *kept[MOST + 1];
    const I64 results = it.results;
    if (!launch(table, it, tensors, where, (const I64*)(&node + 1), made)) return nullptr;
    for (I64 k = 0; k < tensors; ++k) kept[k] = held(python, given[2 + k]);
    if (node.solves) kept[tensors] = held(python, made[0]);
    Object* const all = tuple_of(python, tensors + node.solves, kept);
    const bool done = all && !python.PyObject_SetAttr(given[0], torch.to_save, all) &&
                      !python.PyObject_SetAttr(given[0], torch.known, given[1]);
    if (all) python.Py_DecRef(all);
    if (done) return results == 1 ? made[0] : tuple_of(python, results, made);
    for (I64 k = 0; k < results; ++k) python.Py_DecRef(made[k]);
    return nullptr;
  }

  // The cotangents of a backward pass by what is known of one; `fitted` says whether it is such a pass.
  static Object* pass(const Table& table, const Adjoint& adjoint, Object* ctx, Object* const* given, bool& fitted) {
    const Python& python = table.python;
    const Launch& it = *adjoint.launch;
    I64 where[2 * MOST], place[2 * MOST], number = 0;
    const I64* at = (const I64*)(&adjoint + 1);
    fitted = false;
    for (; number < adjoint.cotangents; ++number)
      if (!fits(table, it.unaligned, at, given[number], where[number], place[number])) return nullptr;
    Object* const kept = python.PyObject_GetAttr(ctx, table.torch->saved);
    fitted = !kept;  // Torch refuses: numbers were changed, or a graph is used again
    if (!kept) return nullptr;
    bool fit = python.PyTuple_Size(kept) == adjoint.kept;
    for (I64 k = 0; fit && k < adjoint.kept; ++k, ++number)
      fit = fits(table, it.unaligned, at, python.PyTuple_GetItem(kept, k), where[number], place[number]);
    Object *made[MOST], *bars[MOST + 1], *result = nullptr;
    if (fit) {
      fitted = true;
      if (launch(table, it, number, where, place, made)) {
        bars[0] = held(python, table.none);
        for (I64 k = 0; k < adjoint.tensors; ++k)
          bars[1 + k] = held(python, at[k] < 0 ? table.none : made[at[k]]);
        result = tuple_of(python, 1 + adjoint.tensors, bars);
        for (I64 k = 0; k < it.results; ++k) python.Py_DecRef(made[k]);
      }
    }
    python.Py_DecRef(kept);
    return result;
  }

  // Arguments: the context of Torch's node, and the cotangents.
  static Object* backward(Object* self, Object* const* given, I64 number) {
    const Table& table = *(const Table*)((const NumpyArray*)self)->data;
    const Python& python = table.python;
    const Torch& torch = *table.torch;
    Object *known, *capture, *result = nullptr;
    if (!(known = python.PyObject_GetAttr(given[0], torch.known))) return nullptr;
    if ((capture = python.PyObject_GetAttr(table.runtime, table.capture))) python.Py_DecRef(capture);
    bool fitted = !capture;
    if (capture == table.none && !torch.follows() && at_rest(table)) {
      const Node& node = *(const Node*)((const NumpyArray*)python.PyTuple_GetItem(known, 0))->data;
      for (I64 k = 0; !fitted && k < node.number; ++k)
        if (node.adjoints[k]->cotangents == number - 1)
          result = pass(table, *node.adjoints[k], given[0], given + 1, fitted);
    }
    python.Py_DecRef(known);
    if (fitted) return result;
    Object* all[MOST + 1];
    for (I64 k = 0; k < number; ++k) all[k] = held(python, given[k]);
    return called(python, torch.backward, tuple_of(python, number, all));
  }

  static Object* call(Object* self, Object* const* given, I64) {
    const Table& table = *(const Table*)((const NumpyArray*)self)->data;
    const Python& python = table.python;
    Object* const capture = python.PyObject_GetAttr(table.runtime, table.capture);
    if (!capture) return nullptr;
    python.Py_DecRef(capture);
    if (capture == table.none)
      for (I64 k = 0; k < table.number; ++k) {
        bool fitted;
        Object* const result = run(table, *(const Plan*)table.plans[k], given[0], given[1], fitted);
        if (fitted) return result;
      }
    python.Py_IncRef(table.miss);
    return table.miss;
  }
};
((I64*)args[0])[0] = (I64)&Native::call;
((I64*)args[0])[1] = (I64)&Native::forward;
((I64*)args[0])[2] = (I64)&Native::backward;
