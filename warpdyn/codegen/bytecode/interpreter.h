/// The interpreter of bytecode: it computes a batch with a recorded program that is not compiled
/// (encode.py writes the instructions, instructions.py lists them).
///
/// Environments go through the program in tiles of M * sizeof(W) / sizeof(T). A slot holds one value
/// of all environments of a tile. An instruction is a function of its own; it computes its value for
/// the tile in the registers x0 to x7, stores it in slot d and calls the next instruction, which finds
/// the value in the registers ("accumulator", kind `a` of an operand). Its other operands are slots
/// (kind `s`) or constants (`k`). Each operation is the operation that a compiled kernel has for the
/// statement, so that both give the same bits.
///
/// A long program has more jumps than a processor predicts. So f, the function of the next instruction,
/// is loaded one instruction before its call, and the processor knows early where the jump goes.
///
/// The text of lanes.h precedes this file: it moves arrays to tiles and back, and has the sines.
/// Comments of three slashes are not part of what is compiled.

/// [interpreter]
#if defined(__AVX512F__)
enum { WIDTH = 64 };
#elif defined(__AVX__)
enum { WIDTH = 32 };
#else
enum { WIDTH = 16 };
#endif
typedef T W __attribute__((vector_size(WIDTH), aligned(sizeof(T)), may_alias));
typedef I WI __attribute__((vector_size(WIDTH)));
enum { PER = WIDTH / sizeof(T), WHOLE = 8, ONE = 64 / WIDTH };  // numbers in a W; Ws in a large tile and in a small one

struct Instruction { int operation; unsigned d, a, b, c; };

/// What Python hands over (execution/compile/interpreter.py), in words of 64 bits.
struct Array {
  I64 position, size, shape[3];
  const int* slots;   // of each entry; -1: the program does not read it
  const char* still;  // of a result: which runs of entries are constants; of an input: null
  I64 over;           // of a result that may be written over an input: where its address stands; else -1
};
struct Bytecode {
  // The kernel once it is compiled, and its bounds; until then null.
  void (*kernel)(I64* bounds, const I64* args);
  const I64* bounds;
  I64 bounds_length;
  const Instruction* code;
  const T* constants;
  I64 slots, counters, inputs, results, preloaded, tables, entries;
  const int* preload;  // pairs: a slot, and the constant in it
  const Array* arrays;
  const int* table_positions;
};

enum { DEPTH = $depth, LOOPS = $loops, TABLES = $tables, FIELDS = $fields, MOST_BOUNDS = $bounds };
struct Machine {
  const Instruction* code;
  const Instruction* back[DEPTH];
  int depth, counter[LOOPS];
  const I64* tables;
  const void* const* table;  // the function of each operation
};

#define STATE const Instruction *i, char *s, const T *k, Machine *m, const void *f, W x0, W x1, W x2, W x3, W x4, W x5, W x6, W x7
// Run instruction i.
#define GO(function) __attribute__((musttail)) return (function)(i, s, k, m, m->table[i[1].operation], x0, x1, x2, x3, x4, x5, x6, x7)
#define NEXT ++i; GO((Step*)f)
#define JUMP GO((Step*)m->table[i->operation])
#define SLOT(field) ((W*)(s + (size_t)i->field * (M * sizeof(W))))
#define ONE_OF(x, l) if (M > l) { x = value(x, l); d[l] = x; }
// The value of an instruction in every vector of the tile.
#define EACH(...) { W* const d = SLOT(d); const auto value = [&](W x, int l) __attribute__((always_inline)) -> W { return __VA_ARGS__; }; \
    ONE_OF(x0, 0) ONE_OF(x1, 1) ONE_OF(x2, 2) ONE_OF(x3, 3) ONE_OF(x4, 4) ONE_OF(x5, 5) ONE_OF(x6, 6) ONE_OF(x7, 7) }
#define A_S const W* const a = SLOT(a);
#define B_S const W* const b = SLOT(b);
#define C_S const W* const c = SLOT(c);
#define D_S const W* const o = (const W*)(s + (size_t)i[1].a * (M * sizeof(W)));
#define A_K const W ak = W{} + k[i->a];
#define B_K const W bk = W{} + k[i->b];
#define C_K const W ck = W{} + k[i->c];
#define OPERATION(name, operands, ...) static void name(STATE) { operands EACH(__VA_ARGS__) NEXT; }
#define UNARY(name, f) OPERATION(name##_s, A_S, f(a[l])) OPERATION(name##_a, , f(x))
#define SUM(name, sign) \
  OPERATION(name##_ss, A_S B_S, a[l] sign b[l]) OPERATION(name##_sk, A_S B_K, a[l] sign bk) \
  OPERATION(name##_as, B_S, x sign b[l]) OPERATION(name##_ak, B_K, x sign bk)
#define FUSED(name, f) \
  OPERATION(name##_sss, A_S B_S C_S, f(a[l], b[l], c[l])) OPERATION(name##_ssk, A_S B_S C_K, f(a[l], b[l], ck)) \
  OPERATION(name##_ssa, A_S B_S, f(a[l], b[l], x)) OPERATION(name##_sks, A_S B_K C_S, f(a[l], bk, c[l])) \
  OPERATION(name##_skk, A_S B_K C_K, f(a[l], bk, ck)) OPERATION(name##_ska, A_S B_K, f(a[l], bk, x)) \
  OPERATION(name##_ass, B_S C_S, f(x, b[l], c[l])) OPERATION(name##_ask, B_S C_K, f(x, b[l], ck)) \
  OPERATION(name##_aks, B_K C_S, f(x, bk, c[l])) OPERATION(name##_akk, B_K C_K, f(x, bk, ck))

template <int M> struct Run {
  typedef void Step(STATE);
  static Step* const table[];
  enum { BLOCKS = M / ONE };  // vectors of lanes in a slot

  static inline W negated(W x) { return -x; }
  static inline W reciprocal(W x) { return (T)1 / x; }
  static inline W root(W x) { return __builtin_elementwise_sqrt(x); }
  static inline W reciprocal_root(W x) { return (T)1 / __builtin_elementwise_sqrt(x); }
  static inline W magnitude(W x) { return __builtin_elementwise_abs(x); }
  static inline W rounded_down(W x) { return __builtin_elementwise_floor(x); }
  static inline W itself(W x) { return x; }
  static inline W sum_of(W a, W b, W c) { return __builtin_elementwise_fma(a, b, c); }
  static inline W less_c(W a, W b, W c) { return __builtin_elementwise_fma(a, b, -c); }
  static inline W from_c(W a, W b, W c) { return __builtin_elementwise_fma(-a, b, c); }
  static inline W least(W a, W b) { return b < a ? b : a; }
  static inline W most(W a, W b) { return a < b ? b : a; }

  UNARY(neg, negated) UNARY(rcp, reciprocal) UNARY(sqrt, root) UNARY(rsqrt, reciprocal_root)
  UNARY(abs, magnitude) UNARY(floor, rounded_down) UNARY(move, itself)
  OPERATION(constant, A_K, ak)
  SUM(add, +) SUM(mul, *) SUM(sub, -)
  OPERATION(sub_ks, A_K B_S, ak - b[l]) OPERATION(sub_sa, A_S, a[l] - x) OPERATION(sub_ka, A_K, ak - x)
  FUSED(fma, sum_of) FUSED(fms, less_c) FUSED(fnma, from_c)
  OPERATION(min, A_S B_S, least(a[l], b[l])) OPERATION(max, A_S B_S, most(a[l], b[l]))
  OPERATION(select, A_S B_S C_S D_S, a[l] < b[l] ? c[l] : o[l])
  OPERATION(select_equal, A_S B_S C_S D_S, a[l] <= b[l] ? c[l] : o[l])
  // The second word of the four operands is behind the instruction.
  static void behind(STATE) { NEXT; }

  // Operations on whole vectors of lanes. They leave nothing in the registers.
#define LANES(name, ...) static void name(STATE) { \
    const V *const a = (const V*)SLOT(a), *const b = (const V*)SLOT(b), *const c = (const V*)SLOT(c); V* const d = (V*)SLOT(d); \
    for (int g = 0; g < BLOCKS; ++g) { __VA_ARGS__ } NEXT; }
  LANES(sincos, V sine, cosine; Lanes::sincos(a[g], sine, cosine); d[g] = sine; ((V*)b)[g] = cosine;)
  LANES(exp, d[g] = Lanes::exp(a[g]);)
  LANES(log, d[g] = Lanes::log(a[g]);)
  LANES(atan2, d[g] = Lanes::atan2(a[g], b[g]);)
  LANES(uniform, d[g] = Lanes::uniform(a[g], b[g], c[g], ((const V*)(s + (size_t)i[1].a * (M * sizeof(W))))[g]);)
  LANES(look, d[g] = Lanes::look(m->tables + FIELDS * i->c, a[g], b[g]);)
  // The corners of a cell go to four neighbouring slots.
  LANES(cell, V corner[4]; Lanes::cell(m->tables + FIELDS * i->c, a[g], b[g], corner);
        for (int n = 0; n < 4; ++n) d[n * BLOCKS + g] = corner[n];)

  // Routines and loops. A counter holds the number of the step.
  static void call(STATE) { if (m->depth == DEPTH) return; m->back[m->depth++] = i + 1; i = m->code + i->d; JUMP; }
  static void back(STATE) { if (m->depth == 0) return; i = m->back[--m->depth]; JUMP; }
  static void begin(STATE) { m->counter[i->d] = 0; NEXT; }
  // To step a, as long as there are steps.
  static void again(STATE) { i = ++m->counter[i->d] < (int)i->b ? m->code + i->a : i + 1; JUMP; }
  // To a before the last step of b.
  static void skip_last(STATE) { i = m->counter[i->d] == (int)i->b - 1 ? m->code + i->a : i + 1; JUMP; }
  // To a if no environment needs this step: b is the number of steps that it needs.
  static void skip_idle(STATE) {
    const W* const b = SLOT(b);
    WI any = {};
    for (int l = 0; l < M; ++l) any |= b[l] > (T)m->counter[i->d];
    i = __builtin_reduce_or(any) ? i + 1 : m->code + i->a;
    JUMP;
  }
  // b slots from a on to those from d on.
  static void copy(STATE) { copied(SLOT(d), SLOT(a), i->b); NEXT; }
  // The same to the slots of the present step of loop c, which has i[1].a steps.
  static void keep(STATE) {
    const unsigned step = m->counter[i->c];
    if (step < i[1].a) copied(SLOT(d) + (size_t)step * i->b * M, SLOT(a), i->b);
    NEXT;
  }
  // The same from the slots of a step, in reverse order.
  static void kept(STATE) {
    const unsigned step = m->counter[i->c];
    if (step < i[1].a) copied(SLOT(d), SLOT(a) + (size_t)(i[1].a - 1 - step) * i->b * M, i->b);
    NEXT;
  }
  static inline void copied(W* to, const W* from, unsigned n) {
    for (size_t n_all = (size_t)n * M, j = 0; j < n_all; ++j) to[j] = from[j];
  }
  // All environments go; those of slot c do: b slots from a on to those from d on.
  static void all_go(STATE) { WI* const d = (WI*)SLOT(d); for (int l = 0; l < M; ++l) d[l] = ~WI{}; NEXT; }
  static void copy_going(STATE) {
    W* const d = SLOT(d); const W* const a = SLOT(a); const WI* const going = (const WI*)SLOT(c);
    for (unsigned n = 0; n < i->b; ++n)
      for (int l = 0; l < M; ++l) d[n * M + l] = going[l] ? a[n * M + l] : d[n * M + l];
    NEXT;
  }
  // Environments of slot d whose flag a is positive go no more. To b if none goes.
  static void end_some(STATE) {
    WI* const d = (WI*)SLOT(d); const W* const a = SLOT(a);
    WI any = {};
    for (int l = 0; l < M; ++l) { d[l] &= ~(a[l] > 0); any |= d[l]; }
    i = __builtin_reduce_or(any) ? i + 1 : m->code + i->b;
    JUMP;
  }
  // The number of the step of loop c.
  static void counter(STATE) { W* const d = SLOT(d); for (int l = 0; l < M; ++l) d[l] = W{} + (T)m->counter[i->c]; NEXT; }
  // Constant a to b slots from d on.
  static void fill(STATE) {
    W* const d = SLOT(d);
    for (size_t n_all = (size_t)i->b * M, j = 0; j < n_all; ++j) d[j] = W{} + k[i->a];
    NEXT;
  }
  // Rows of arrays at the index in slot b, with c entries in a row and i[1].a rows. In `read_row` and `write_row`
  // the index is equal for all environments.
  static inline size_t row_of(T x, unsigned rows) { return (size_t)(x > 0 ? (x < (T)(rows - 1) ? x : (T)(rows - 1)) : (T)0); }
#define ROW(l) (row_of(((const T*)SLOT(b))[l], i[1].a) * i->c * (M * PER) + l)
  static void read_row(STATE) { copied(SLOT(d), (const W*)((const T*)SLOT(a) + ROW(0)), 1); NEXT; }
  static void write_row(STATE) { copied((W*)((T*)SLOT(d) + ROW(0)), SLOT(a), 1); NEXT; }
  static void gather_row(STATE) {
    T* const d = (T*)SLOT(d); const T* const a = (const T*)SLOT(a);
    for (int l = 0; l < M * PER; ++l) d[l] = a[ROW(l)];
    NEXT;
  }
  static void scatter_row(STATE) {
    T* const d = (T*)SLOT(d); const T* const a = (const T*)SLOT(a);
    for (int l = 0; l < M * PER; ++l) d[ROW(l)] = a[l];
    NEXT;
  }
  static void end(STATE) {}

  // The environments from e on, at most as many as a tile has.
  static void tile(const Bytecode& p, const I64* args, const I64* offsets, V* moved, int* places, char* s, Machine& m, I64 e, I64 end) {
    const I64 keep_constants = args[2];
    for (I64 n = 0; n < p.inputs; ++n) {
      const Array& x = p.arrays[n];
      if (!x.size) continue;
      const T* const at = (const T*)args[x.position];
      const I64 env = args[x.position + 1];
      for (int g = 0; g < BLOCKS; ++g) {
        // Blocks beyond the last environment repeat it.
        const I64 from = e + g * N < end ? e + g * N : end - 1;
        const int here = end - from < N ? (int)(end - from) : (int)N;
        Lanes::gather(moved, at + from * env, env, offsets + 1, (int)x.size, here, offsets[0]);
        for (I64 j = 0; j < x.size; ++j)
          if (x.slots[j] >= 0) ((V*)s)[(size_t)x.slots[j] * BLOCKS + g] = moved[j];
      }
      offsets += x.size + 1;
    }
    const Instruction* i = p.code;
    m.depth = 0;
    m.table = (const void* const*)table;
    table[i->operation](i, s, p.constants, &m, m.table[i[1].operation], W{}, W{}, W{}, W{}, W{}, W{}, W{}, W{});
    for (I64 n = p.inputs; n < p.inputs + p.results; ++n) {
      const Array& x = p.arrays[n];
      if (!x.size) continue;
      T* const at = (T*)args[x.position];
      const I64 env = args[x.position + 1];
      const bool keep = keep_constants && !(x.over >= 0 && args[x.over] == (I64)at);
      for (I64 j = 0; j < x.size; ++j) places[j] = (int)(x.slots[j] * (I64)(BLOCKS * N));
      for (int g = 0; g < BLOCKS && e + g * N < end; ++g) {
        const I64 from = e + g * N;
        const int here = end - from < N ? (int)(end - from) : (int)N;
        const T* const tile = (const T*)s + g * N;
        if (here == N && env == 1)
          for (I64 j = 0; j < x.size; ++j) *(V*)(at + from + offsets[j + 1]) = *(const V*)(tile + places[j]);
        else
          Lanes::scatter(tile, at + from * env, env, offsets + 1, places, x.still, (int)x.size, here, offsets[0], false, keep, false, nullptr);
      }
      offsets += x.size + 1;
    }
  }

  static void batch(const Bytecode& p, const I64* args, const I64* offsets, V* moved, int* places, char* s, Machine& m, I64 e, I64 end) {
    for (I64 n = 0; n < p.preloaded; ++n)
      for (int l = 0; l < M; ++l) ((W*)s)[(size_t)p.preload[2 * n] * M + l] = W{} + p.constants[p.preload[2 * n + 1]];
    for (; e < end; e += BLOCKS * N) tile(p, args, offsets, moved, places, s, m, e, end);
  }
};
template <int M> typename Run<M>::Step* const Run<M>::table[] = {$table};

/// Memory for slots, kept for the next launch.
struct Workspaces {
  enum { NUMBER = 64 };
  struct Kept { I64 size; };
  static Kept* all[NUMBER];
  static Kept* take(I64 size) {
    for (int n = 0; n < NUMBER; ++n) {
      if (!__atomic_load_n(&all[n], __ATOMIC_RELAXED)) continue;
      Kept* const x = __atomic_exchange_n(&all[n], (Kept*)nullptr, __ATOMIC_ACQUIRE);
      if (x && x->size >= size) return x;
      if (x) { free(x); break; }
    }
    Kept* const x = (Kept*)malloc(size + 192);
    if (x) x->size = size;
    return x;
  }
  static void give(Kept* x) {
    for (int n = 0; n < NUMBER; ++n) {
      Kept* none = nullptr;
      if (__atomic_compare_exchange_n(&all[n], &none, x, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return;
    }
    free(x);
  }
  static char* begin(Kept* x) { return (char*)(((I64)(x + 1) + 63) & ~(I64)63); }
};
Workspaces::Kept* Workspaces::all[NUMBER];

/// The kernel: bounds[0] is the address of the bytecode, and `args` are the arguments of a compiled one.
extern "C" void $name(const I64* bounds, const I64* args) {
  const Bytecode& p = *(const Bytecode*)bounds[0];
  if (const auto kernel = __atomic_load_n(&p.kernel, __ATOMIC_ACQUIRE)) {
    I64 own[MOST_BOUNDS];
    for (I64 n = 0; n < p.bounds_length; ++n) own[n] = p.bounds[n];
    kernel(own, args);
    return;
  }
  const I64 first = args[0], end = first + args[1];
  if (first >= end) return;
  const bool large = args[1] > ONE * PER;
  // Slots, then one block's entries of an array, offsets of entries, and their places in the slots.
  const I64 slot_bytes = p.slots * (large ? WHOLE : ONE) * (I64)sizeof(W);
  I64 most = 1;
  for (I64 n = 0; n < p.inputs + p.results; ++n) most = p.arrays[n].size > most ? p.arrays[n].size : most;
  const I64 arrays = p.inputs + p.results;
  const I64 bytes = slot_bytes + most * (I64)(sizeof(V) + sizeof(int)) + (p.entries + arrays) * 8 + 64;
  Workspaces::Kept* const kept = Workspaces::take(bytes);
  if (!kept) __builtin_trap();
  char* const s = Workspaces::begin(kept);
  V* const moved = (V*)(s + slot_bytes);
  I64* const offsets = (I64*)(moved + most);
  int* const places = (int*)(offsets + p.entries + arrays);
  // Before the offsets of an array's entries: whether they are one after the other.
  I64* to = offsets;
  for (I64 n = 0; n < arrays; ++n) {
    const Array& x = p.arrays[n];
    if (!x.size) continue;
    const I64* const step = args + x.position + 2;
    bool dense = true;
    I64 j = 0;
    for (I64 u = 0; u < x.shape[0]; ++u)
      for (I64 v = 0; v < x.shape[1]; ++v)
        for (I64 w = 0; w < x.shape[2]; ++w, ++j) {
          to[j + 1] = u * step[0] + v * step[1] + w * step[2];
          dense &= to[j + 1] == j;
        }
    to[0] = dense;
    to += x.size + 1;
  }
  I64 tables[TABLES * FIELDS];
  for (I64 n = 0; n < p.tables; ++n)
    for (int f = 0; f < FIELDS; ++f) tables[n * FIELDS + f] = args[p.table_positions[n] + f];
  Machine m;
  m.code = p.code;
  m.tables = tables;
  for (I64 n = 0; n < p.counters; ++n) m.counter[n] = 0;
  if (large)
    Run<WHOLE>::batch(p, args, offsets, moved, places, s, m, first, end);
  else
    Run<ONE>::batch(p, args, offsets, moved, places, s, m, first, end);
  Workspaces::give(kept);
}
