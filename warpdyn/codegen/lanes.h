/// The lanes of a vector on the CPU: what a kernel's parts compute with, and what moves blocks of
/// environments between arrays and tiles.
///
/// A kernel of Warp is one function given as text, so Python (headers.py) puts this file's text into
/// it: everything is a static member of a struct, the only kind of function that a function may
/// hold. Precision is a switch: WARPDYN_FLOAT chooses sixteen floats instead of eight doubles. With WARPDYN_NARROW
/// (lanes.py) a vector has half as many. Names
/// with a dollar differ from program to program; a compiler that reads this file alone finds them
/// below, as macros. Comments of three slashes are not part of a kernel.
#include <math.h>
#define $ahead 4
#define $members
#define $parts
#define $body

/// [lanes] Types, struct Lanes with a program's functions in it, and the program's body.

#if WARPDYN_FLOAT
typedef float T; typedef int I; typedef unsigned U;
#else
typedef double T; typedef long long I; typedef unsigned long long U;
#endif
typedef long long I64;
/// Q numbers are a quarter of a cache line, 16 bytes; a vector has N of them: four quarters or, if it is narrow, two.
#ifdef WARPDYN_NARROW
enum { LINE = 32 };
#else
enum { LINE = 64 };
#endif
enum { Q = 16 / sizeof(T), N = LINE / sizeof(T), AHEAD = $ahead * N };
/// V may lie anywhere in memory; VA in whole vectors, which stores past the cache need. VQ is a quarter of a cache
/// line and VH half of one, VI and VU are the integers that comparisons give and bits are read as, VW words of 32 bits.
typedef T V __attribute__((vector_size(LINE), aligned(sizeof(T)), may_alias));
typedef T VA __attribute__((vector_size(LINE), may_alias));
typedef T VH __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
typedef T VQ __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
typedef I VI __attribute__((vector_size(LINE)));
typedef U VU __attribute__((vector_size(LINE)));
typedef unsigned VW __attribute__((vector_size(4 * N)));
/// Vectors that a function keeps on the stack are aligned to cache lines: a clang that finds only then that it
/// needs the stack does not align it, and each access would touch two lines. Only x86 has this attribute; clang for
/// other processors warns of it.
#pragma clang diagnostic ignored "-Wunknown-attributes"
#define WARPDYN_APART __attribute__((noinline, force_align_arg_pointer))
#define WARPDYN_UNROLL _Pragma("clang loop unroll(full)")
struct Lanes {
  /// Arithmetic. What clang has no vector form of asks the library lane by lane, apart: in line it
  /// would be a large part of a program's code.
  static inline V all(T x) { return x - V{}; }  // V{} + x would make 0 of -0
  static inline V fma(V a, V b, V c) { return __builtin_elementwise_fma(a, b, c); }
#if WARPDYN_FLOAT
  static WARPDYN_APART V exp(V x) { for (int l = 0; l < N; ++l) x[l] = ::expf(x[l]); return x; }
  static WARPDYN_APART V log(V x) { for (int l = 0; l < N; ++l) x[l] = ::logf(x[l]); return x; }
  static WARPDYN_APART V atan2(V y, V x) { for (int l = 0; l < N; ++l) y[l] = ::atan2f(y[l], x[l]); return y; }
#else
  static WARPDYN_APART V exp(V x) { for (int l = 0; l < N; ++l) x[l] = ::exp(x[l]); return x; }
  static WARPDYN_APART V log(V x) { for (int l = 0; l < N; ++l) x[l] = ::log(x[l]); return x; }
  static WARPDYN_APART V atan2(V y, V x) { for (int l = 0; l < N; ++l) y[l] = ::atan2(y[l], x[l]); return y; }
#endif
  /// A number of [0, 1) of four counters: PCG4D, see `uniform` of algebra/scalar.py.
  static WARPDYN_APART V uniform(V seed, V stream, V count, V draw) {
    VW a = __builtin_convertvector(seed, VW) * 1664525u + 1013904223u;
    VW b = __builtin_convertvector(stream, VW) * 1664525u + 1013904223u;
    VW c = __builtin_convertvector(count, VW) * 1664525u + 1013904223u;
    VW d = __builtin_convertvector(draw, VW) * 1664525u + 1013904223u;
    a += b * d; b += c * a; c += a * b; d += b * c;
    a ^= a >> 16; b ^= b >> 16; d ^= d >> 16;
    a += b * d;
    return __builtin_convertvector(a >> 8, V) * (T)5.9604644775390625e-8;
  }
  static inline V load(const T* p, I64 ahead) { __builtin_prefetch(p + ahead); return *(const V*)p; }
  static inline V& place(T* p, I64 ahead) { __builtin_prefetch(p + ahead, 1); return *(V*)p; }
  static inline void store(T* p, V value, bool stream) {
    if (stream) __builtin_nontemporal_store(value, (VA*)p); else *(V*)p = value;
  }

  // Bits of the numbers furthest from zero: as integers they grow as the numbers do, infinities and NaN above all.
  static inline VU furthest(VU far, V x) { return __builtin_elementwise_max(far, (VU)x & ~(U)0 >> 1); }
  /// Sine and cosine: Cody and Waite's reduction by pi/2 in two fused steps, then polynomials on
  /// [-pi/4, pi/4] (Cephes for float, fdlibm for double). The quadrant comes from adding 1.5 * 2^23
  /// (2^52), which rounds. Angles beyond what that is right for, or not finite, ask the library.
#if WARPDYN_FLOAT
  static inline VI is_far(VU bits) { return bits > (VU)(V{} + 65536.0f); }
  static inline void sincos_near(const V x, V& s, V& c) {
    const V t = fma(x, V{} + 0.636619747f, V{} + 12582912.0f);
    const VI k = (VI)t;
    const V n = t - 12582912.0f;
    V y = fma(n, V{} - 1.57079601287841796875f, x);
    y = fma(n, V{} - 3.1391647326017846e-07f, y);
    const V z = y * y;
    V sp = fma(z, V{} - 1.9515295891e-4f, V{} + 8.3321608736e-3f);
    sp = fma(z, sp, V{} - 1.6666654611e-1f);
    sp = fma(y * z, sp, y);
    V cp = fma(z, V{} + 2.443315711809948e-5f, V{} - 1.388731625493765e-3f);
    cp = fma(z, cp, V{} + 4.166664568298827e-2f);
    cp = fma(z * z, cp, fma(z, V{} - 0.5f, V{} + 1.0f));
    const VI odd = (k & 1) != 0;
    s = (V)((VI)(odd ? cp : sp) ^ ((k & 2) << 30));
    c = (V)((VI)(odd ? sp : cp) ^ (((k + 1) & 2) << 30));
  }
#else
  static inline VI is_far(VU bits) { return bits > (VU)(V{} + 1e5); }
  static inline void sincos_near(const V x, V& s, V& c) {
    const V t = fma(x, V{} + 0.63661977236758134308, V{} + 6755399441055744.0);
    const VI k = (VI)t;
    const V n = t - 6755399441055744.0;
    V y = fma(n, V{} - 1.57079632679489655800e+00, x);
    y = fma(n, V{} - 6.12323399573676603587e-17, y);
    const V z = y * y;
    V sp = fma(z, V{} + 1.58962301576546568060E-10, V{} - 2.50507477628578072866E-8);
    sp = fma(z, sp, V{} + 2.75573136213857245213E-6);
    sp = fma(z, sp, V{} - 1.98412698295895385996E-4);
    sp = fma(z, sp, V{} + 8.33333333332211858878E-3);
    sp = fma(z, sp, V{} - 1.66666666666666307295E-1);
    sp = fma(y * z, sp, y);
    V cp = fma(z, V{} - 1.13585353213876817300E-11, V{} + 2.08757008417747316778E-9);
    cp = fma(z, cp, V{} - 2.75573141792967388112E-7);
    cp = fma(z, cp, V{} + 2.48015872888517045348E-5);
    cp = fma(z, cp, V{} - 1.38888888888730564116E-3);
    cp = fma(z, cp, V{} + 4.16666666666665929218E-2);
    cp = fma(z * z, cp, fma(z, V{} - 0.5, V{} + 1.0));
    const VI odd = (k & 1) != 0;
    s = (V)((VI)(odd ? cp : sp) ^ ((k & 2) << 62));
    c = (V)((VI)(odd ? sp : cp) ^ (((k + 1) & 2) << 62));
  }
#endif
  static inline void sincos(const V x, V& s, V& c) {
    sincos_near(x, s, c);
    const VI far = is_far(furthest(VU{}, x));
    if (__builtin_expect(__builtin_reduce_or(far) != 0, 0))
#if WARPDYN_FLOAT
      for (int l = 0; l < N; ++l) if (far[l]) { s[l] = ::sinf(x[l]); c[l] = ::cosf(x[l]); }
#else
      for (int l = 0; l < N; ++l) if (far[l]) { s[l] = ::sin(x[l]); c[l] = ::cos(x[l]); }
#endif
  }

#include "transposes.h"

  // n entries of `here` environments from p on into a tile. Missing lanes repeat the last environment. Long rows are
  // transposed by whole cache lines: the gradient of all poses of panda takes 23 ns in rows, and 33 by quarters.
  static WARPDYN_APART void gather(V* tile, const T* p, I64 env, const I64* offset, int n, int here, bool dense) {
    if (here == N && env == 1) {
      for (int k = 0; k < n; ++k) tile[k] = *(const V*)(p + offset[k]);
    } else if (env == 0) {
      for (int k = 0; k < n; ++k) tile[k] = all(p[offset[k]]);
    } else if (here == N && dense && n >= N) {
      for (int k = 0; k < n; k += N) {
        const int first = k + N <= n ? k : n - N;
        V r[N];
        WARPDYN_UNROLL for (int l = 0; l < N; ++l) r[l] = *(const V*)(p + l * env + first);
        transpose(r);
        WARPDYN_UNROLL for (int j = 0; j < N; ++j) tile[first + j] = r[j];
      }
    } else if (here == N && dense && n >= Q) {
      for (int k = 0; k < n; k += Q) {
        const int first = k + Q <= n ? k : n - Q;
        const T* const row = p + first;
        V r[Q];
        WARPDYN_UNROLL for (int i = 0; i < Q; ++i) r[i] = from_quarters(row + i * env, Q * env);
        transpose_quarters(r);
        WARPDYN_UNROLL for (int j = 0; j < Q; ++j) tile[first + j] = r[j];
      }
    } else {
      // Robot by robot: for one of them this is half the time of a call of panda's rnea, entry by entry.
      const T* const last = p + (here - 1) * env;
      for (int k = 0; k < n; ++k) tile[k] = all(last[offset[k]]);
      for (int l = 0; l < here - 1; ++l)
        for (int k = 0; k < n; ++k) ((T*)(tile + k))[l] = p[l * env + offset[k]];
    }
  }

  // Rows of N environments put together in the cache. They leave it line by line, past the cache, while the next ones
  // are put together on the other half: at once, they would leave the processor to wait for memory, and then memory for it.
  struct Stage {
    V *lines, *ready;
    T* to;
    int left;
    // Lines of the rows that are ready, to where they belong, so that `n` of them have left.
    void leave(int n) { if (to) for (; left < n; ++left) store(to + left * N, ready[left], true); }
    void next(T* where) { V* const x = lines; lines = ready; ready = x; to = where; left = 0; }
  };

  // Of the N entries from the k-th on: whether all are constants (1), or even zeros (3), which need not be transposed.
  static inline int stillness(const char* still, int k) {
    return still[k / (2 * Q)] & still[(k + N / 2) / (2 * Q)] & still[(k + N - 1) / (2 * Q)];
  }

  // Rows that begin 4,096 bytes apart meet in one set of the first cache, which holds eight lines: Q rows at a time
  // leave room there for the tile. 1,024 mass matrices of 32 by 32 numbers: 142 ns each in place of 219 (AMD EPYC).
  // Of a humanoid's 128 half lines 62 are constants, mostly zeros: stored as such, a tenth less time for a call.
  static inline void scatter_few_rows(const T* tile, T* to, I64 env, const int* place, const char* still, int n,
                                      bool keep_constants) {
    for (int q = 0; q < N; q += Q)
      for (int k = 0; k < n; k += 2 * Q) {
        const int constant = still[k / (2 * Q)];
        if (keep_constants && constant) continue;
        if (constant & 2) {
          WARPDYN_UNROLL for (int i = 0; i < Q; ++i) *(VH*)(to + (q + i) * env + k) = VH{};
          continue;
        }
        VH r[Q];
        WARPDYN_UNROLL for (int j = 0; j < Q; ++j)
          r[j] = two(*(const VQ*)(tile + place[k + j] + q), *(const VQ*)(tile + place[k + j + Q] + q));
        transpose_halves(r);
        WARPDYN_UNROLL for (int i = 0; i < Q; ++i) *(VH*)(to + (q + i) * env + k) = r[i];
      }
  }

  // Entries from `from` on, Q at a time; the last ones may overlap.
  static inline void scatter_quarters(const T* tile, T* to, I64 env, const int* place, int from, int n) {
    for (int k = from; k < n; k += Q) {
      const int first = k + Q <= n ? k : n - Q;
      V r[Q];
      WARPDYN_UNROLL for (int j = 0; j < Q; ++j) r[j] = *(const V*)(tile + place[first + j]);
      transpose_quarters(r);
      WARPDYN_UNROLL for (int i = 0; i < Q; ++i) to_quarters(r[i], to + i * env + first, Q * env);
    }
  }

  // A line that already has these bits is not written, so that it does not have to go back to memory.
  static inline void store_change(T* to, V x) {
    if (__builtin_reduce_or((VI)x ^ (VI)*(const V*)to) != 0) *(V*)to = x;
  }

  // A tile to the result's entries of `here` environments from `to` on; `place` says where in the tile an entry lies,
  // and `still` which runs of 2 * Q entries are constants, to be left alone where they are kept. Rows that lie end to
  // end are put together on a `stage`, if there is one.
  static WARPDYN_APART void scatter(const T* tile, T* to, I64 env, const I64* offset, const int* place,
                                    const char* still, int n, int here, bool dense, bool stream,
                                    bool keep_constants, bool compare, Stage* stage) {
    T* const p = stage ? (T*)stage->lines : to;
    const bool meet = env * (I64)sizeof(T) % 4096 == 0 && n % (2 * Q) == 0;
    if (here == N && dense && meet && !stage && !stream) {
      scatter_few_rows(tile, to, env, place, still, n, keep_constants);
    } else if (here == N && dense && n >= N) {
      // Where all rows begin at the same place in a line, runs of entries after the first are whole lines: memory as
      // NumPy hands it out begins 16 bytes behind a line, and each store would touch two.
      const int to_line = env % N || n < 4 * N ? 0 : (int)(-(I64)to / (I64)sizeof(T) & (N - 1));
      for (int k = 0; k < n; k += !k && to_line ? to_line : N) {
        if (stage) stage->leave(k + N < n ? k + N : n);
        if (k && n - k <= 2 * Q) { scatter_quarters(tile, p, env, place, k, n); break; }
        const int first = k + N <= n ? k : n - N;
        const int constant = stillness(still, first);
        if (keep_constants && !stage && constant) continue;
        if (constant & 2) {
          WARPDYN_UNROLL for (int l = 0; l < N; ++l) store(p + l * env + first, V{}, stream && !stage && first % N == 0);
          continue;
        }
        V r[N];
        WARPDYN_UNROLL for (int j = 0; j < N; ++j) r[j] = *(const V*)(tile + place[first + j]);
        transpose(r);
        if (compare && !stage) {
          WARPDYN_UNROLL for (int l = 0; l < N; ++l) store_change(p + l * env + first, r[l]);
          continue;
        }
        WARPDYN_UNROLL for (int l = 0; l < N; ++l) store(p + l * env + first, r[l], stream && !stage && first % N == 0);
      }
      if (stage) stage->next(to);
    } else if (here == N && dense && n >= Q) {
      scatter_quarters(tile, to, env, place, 0, n);
    } else {
      for (int l = 0; l < here; ++l)
        for (int k = 0; k < n; ++k) to[l * env + offset[k]] = tile[place[k] + l];
    }
  }

  // The n entries listed, of a tile, to their rows, where environments lie side by side.
  static WARPDYN_APART void rows_out(const T* tile, T* p, const I64* offset, const int* entry, const int* place, int n,
                                     bool stream) {
    for (int i = 0; i < n; ++i) store(p + offset[entry[i]], *(const V*)(tile + place[entry[i]]), stream);
  }

$members

$parts
};
$body
#undef WARPDYN_APART
#undef WARPDYN_UNROLL
