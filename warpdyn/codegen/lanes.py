"""The C++ around a program on the CPU: lanes of a vector, their sine and cosine, and moving blocks in and out of
tiles."""

from __future__ import annotations

from .emit import literal

BYTES = 64
"""Width of a vector of lanes: sixteen floats, eight doubles."""


TYPES = {
    True: "typedef float T; typedef int I; typedef unsigned U;",
    False: "typedef double T; typedef long long I; typedef unsigned long long U;",
}


def count(single: bool) -> int:
    """Lanes of a vector."""
    return BYTES // (4 if single else 8)


def frame(single: bool, replace: dict[str, str]) -> str:
    """Body of the native function, its @places@ filled in: first those given here, then what they name in turn."""
    n = count(single)
    text = FRAME
    for key, value in {
        **replace,
        "TYPES": TYPES[single],
        "LANES": str(n),
        "LANES_OF_TWO": ", ".join(map(str, range(n // 2))),
        "LANES_OF_FOUR": ", ".join(map(str, range(n))),
        "SINCOS": SINCOS[single],
        "ALL": ", ".join("x" * n),
        "FAR": FAR[single],
        **{
            f"F_{name.upper()}": f"::{name}{'f' if single else ''}"
            for name in ("exp", "log", "atan2", "sin", "cos")
        },
        "TRANSPOSE": transpose(n),
        "QUARTERS": "\n".join(_quarter(n, k) for k in range(4)),
        "TRANSPOSE_QUARTERS": transpose_quarters(n),
    }.items():
        text = text.replace(f"@{key}@", value)
    return text


class Constants:
    """The constants of a program, in a table that its functions are handed; called with one, how it is written.

    A literal takes an instruction of ten bytes for its address, which the lanes have to wait for: with the table a
    32-joint robot's aba takes 63 ns instead of 80, all derivatives of its rnea 219 instead of 256 (one core).
    """

    def __init__(self, single: bool):
        self.single, self.number = single, dict[float, int]()

    def __call__(self, value: float) -> str:
        return f"Lanes::all(constants[{self.number.setdefault(value, len(self.number))}])"

    @property
    def declaration(self) -> str:
        """The compiler is not to know what the table holds: it would make literals of it."""
        values = ", ".join(literal(value, self.single) for value in (*self.number, 0.0))
        return f'static const T table[] = {{{values}}};\nconst T* constants = table;\n__asm__("" : "+r"(constants));'


def transpose(n: int) -> str:
    """In-place transpose of n vectors of n lanes, one stage of shuffles for each power of two."""
    lines, distance = [], n // 2
    while distance:
        low = [lane if not lane & distance else n + lane - distance for lane in range(n)]
        high = [lane + distance if not lane & distance else n + lane for lane in range(n)]
        pairs = [(i, i + distance) for i in range(n) if not i & distance]
        lines += [_shuffle(f"r[{i}]", f"r[{j}]", low, high) for i, j in pairs]
        distance //= 2
    return "\n".join(lines)


def transpose_quarters(n: int) -> str:
    """In-place transpose of the four square blocks side by side in n / 4 vectors of n lanes, 16 bytes each."""
    q = n // 4
    blocks = range(0, n, q)
    if q == 2:
        return _shuffle(
            "r[0]", "r[1]", *([b + x for b in blocks for x in (k, n + k)] for k in (0, 1))
        )
    mixed = [[b + x for b in blocks for x in (k, n + k, k + 1, n + k + 1)] for k in (0, 2)]
    joined = [[b + x for b in blocks for x in (k, k + 1, n + k, n + k + 1)] for k in (0, 2)]
    lines = [_shuffle("r[0]", "r[1]", *mixed), _shuffle("r[2]", "r[3]", *mixed)]
    lines += [_shuffle("r[0]", "r[2]", *joined), _shuffle("r[1]", "r[3]", *joined)]
    return "\n".join([*lines, "{ const V x = r[1]; r[1] = r[2]; r[2] = x; }"])


def _quarter(n: int, k: int) -> str:
    lanes = ", ".join(str(k * n // 4 + i) for i in range(n // 4))
    return (
        f"  static inline VQ quarter{k}(V r) {{ return __builtin_shufflevector(r, r, {lanes}); }}"
    )


def _shuffle(a: str, b: str, low: list[int], high: list[int]) -> str:
    """Two vectors replaced by two choices of their lanes."""
    take = [f"__builtin_shufflevector(x, y, {', '.join(map(str, lanes))})" for lanes in (low, high)]
    return f"{{ const V x = {a}, y = {b}; {a} = {take[0]}; {b} = {take[1]}; }}"


# Cody and Waite reduction by pi/2 in two fused steps, then polynomials on [-pi/4, pi/4] (Cephes for float, fdlibm for
# double); the quadrant comes from adding 1.5 * 2^23 (2^52), which rounds. Right up to FAR.
SINCOS = {
    True: """
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
""",
    False: """
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
""",
}

FAR = {True: "65536.0f", False: "1e5"}
"""Angles beyond it, or not finite, ask the library."""

FRAME = """
@TYPES@
typedef long long I64;
typedef T V __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
typedef T VA __attribute__((vector_size(64), may_alias));
typedef T VH __attribute__((vector_size(32)));
typedef T VQ __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
typedef I VI __attribute__((vector_size(64)));
typedef U VU __attribute__((vector_size(64)));
enum { N = @LANES@, Q = N / 4, AHEAD = @AHEAD@ * N };
#define WARPDYN_APART __attribute__((noinline))
#define WARPDYN_UNROLL _Pragma("clang loop unroll(full)")
struct Lanes {
  static inline V all(T x) { return V{@ALL@}; }
  static inline V fma(V a, V b, V c) { return __builtin_elementwise_fma(a, b, c); }
  static WARPDYN_APART V exp(V x) { for (int l = 0; l < N; ++l) x[l] = @F_EXP@(x[l]); return x; }
  static WARPDYN_APART V log(V x) { for (int l = 0; l < N; ++l) x[l] = @F_LOG@(x[l]); return x; }
  static WARPDYN_APART V atan2(V y, V x) { for (int l = 0; l < N; ++l) y[l] = @F_ATAN2@(y[l], x[l]); return y; }
  static inline V load(const T* p, I64 ahead) { __builtin_prefetch(p + ahead); return *(const V*)p; }
  static inline V& place(T* p, I64 ahead) { __builtin_prefetch(p + ahead, 1); return *(V*)p; }
  static inline V four(VQ a, VQ b, VQ c, VQ d) {
    const VH x = __builtin_shufflevector(a, b, @LANES_OF_TWO@), y = __builtin_shufflevector(c, d, @LANES_OF_TWO@);
    return __builtin_shufflevector(x, y, @LANES_OF_FOUR@);
  }
@QUARTERS@
  static inline void store(T* p, V value, bool stream) {
    if (stream) __builtin_nontemporal_store(value, (VA*)p); else *(V*)p = value;
  }

  // Bits of the numbers furthest from zero: as integers they grow as the numbers do, infinities and NaN above all.
  static inline VU furthest(VU far, V x) { return __builtin_elementwise_max(far, (VU)x & ~(U)0 >> 1); }
  static inline VI is_far(VU bits) { return bits > (VU)(V{} + @FAR@); }
  static inline void sincos_near(const V x, V& s, V& c) {@SINCOS@  }
  static inline void sincos(const V x, V& s, V& c) {
    sincos_near(x, s, c);
    const VI far = is_far(furthest(VU{}, x));
    if (__builtin_expect(__builtin_reduce_or(far) != 0, 0))
      for (int l = 0; l < N; ++l) if (far[l]) { s[l] = @F_SIN@(x[l]); c[l] = @F_COS@(x[l]); }
  }

  static inline void transpose(V* r) {
@TRANSPOSE@
  }
  static inline void transpose_quarters(V* r) {
@TRANSPOSE_QUARTERS@
  }

  // n entries of `here` environments from p on into a tile. Missing lanes repeat the last environment. Long rows are
  // transposed by whole cache lines: the gradient of all poses of panda takes 23 ns in rows, and 33 by quarters.
  static WARPDYN_APART void gather(V* tile, const T* p, I64 env, const I64* offset, int n, int here, bool dense) {
    if (here == N && env == 1) {
      for (int k = 0; k < n; ++k) tile[k] = *(const V*)(p + offset[k]);
    } else if (env == 0) {
      for (int k = 0; k < n; ++k) tile[k] = V{} + p[offset[k]];
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
        WARPDYN_UNROLL for (int i = 0; i < Q; ++i)
          r[i] = four(*(const VQ*)(row + i * env), *(const VQ*)(row + (i + Q) * env),
                      *(const VQ*)(row + (i + 2 * Q) * env), *(const VQ*)(row + (i + 3 * Q) * env));
        transpose_quarters(r);
        WARPDYN_UNROLL for (int j = 0; j < Q; ++j) tile[first + j] = r[j];
      }
    } else {
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < N; ++l) tile[k][l] = p[(l < here ? l : here - 1) * env + offset[k]];
    }
  }

  // A tile to the result's entries of `here` environments from `to` on; `slot` says where in the tile an entry lies,
  // and `still` which runs of N entries are constants, to be left alone where they are kept. Rows that lie end to end
  // but are not whole cache lines are put together on the `stage`, if there is one, and leave it line by line.
  static WARPDYN_APART void scatter(const V* tile, T* to, I64 env, const I64* offset, const int* slot,
                                    const bool* still, int n, int here, bool dense, bool stream,
                                    bool keep_constants, V* stage) {
    T* const p = stage ? (T*)stage : to;
    if (here == N && dense && n >= N) {
      for (int k = 0; k < n; k += N) {
        if (keep_constants && !stage && still[k / N]) continue;
        const int first = k + N <= n ? k : n - N;
        V r[N];
        WARPDYN_UNROLL for (int j = 0; j < N; ++j) r[j] = tile[slot[first + j]];
        transpose(r);
        WARPDYN_UNROLL for (int l = 0; l < N; ++l) store(p + l * env + first, r[l], stream && first % N == 0);
      }
      if (stage) for (int k = 0; k < n; ++k) store(to + k * N, stage[k], true);
    } else if (here == N && dense && n >= Q) {
      for (int k = 0; k < n; k += Q) {
        const int first = k + Q <= n ? k : n - Q;
        V r[Q];
        WARPDYN_UNROLL for (int j = 0; j < Q; ++j) r[j] = tile[slot[first + j]];
        transpose_quarters(r);
        WARPDYN_UNROLL for (int i = 0; i < Q; ++i) {
          T* const row = to + i * env + first;
          *(VQ*)row = quarter0(r[i]);
          *(VQ*)(row + Q * env) = quarter1(r[i]);
          *(VQ*)(row + 2 * Q * env) = quarter2(r[i]);
          *(VQ*)(row + 3 * Q * env) = quarter3(r[i]);
        }
      }
    } else {
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < here; ++l) to[l * env + offset[k]] = tile[slot[k]][l];
    }
  }

  // The n entries listed, of a tile, to their rows, where environments lie side by side.
  static WARPDYN_APART void rows_out(const V* tile, T* p, const I64* offset, const int* entry, const int* slot, int n,
                                     bool stream) {
    for (int i = 0; i < n; ++i) store(p + offset[entry[i]], tile[slot[entry[i]]], stream);
  }
@TURNS_OF@
@PARTS@
};
@BODY@
#undef WARPDYN_APART
#undef WARPDYN_UNROLL
"""

TURNS_OF = """
  // Sines and cosines in a loop: inside the program they would be a large part of its code.
  static WARPDYN_APART void turns@K@(@PARAMETERS@) {
@OPEN@
    VU far = {};
    const auto angle = [&](int k, V x) { turn[2 * k] = x; far = furthest(far, x); };
@ANGLES@
    const bool any_far = __builtin_expect(__builtin_reduce_or(is_far(far)) != 0, 0);
    for (int k = 0; !any_far && k < @TURNS@; ++k) sincos_near(turn[2 * k], turn[2 * k], turn[2 * k + 1]);
    for (int k = 0; any_far && k < @TURNS@; ++k) sincos(turn[2 * k], turn[2 * k], turn[2 * k + 1]);
  }"""

BLOCK = """
  // Where the arrays of N environments lie, `here` of them from the e-th on, and what is known of them.
  struct Block {
    I64 e;
    int here;
    const T* constants;
    V *turn, *work;
@FIELDS@
  };"""

BLOCKS = """@ARGUMENTS@
@CONSTANTS@
V turn[@GROUP@][2 * @TURNS@ + 1] __attribute__((aligned(64))), work[@GROUP@][@WORK@] __attribute__((aligned(64)));
Lanes::Block blocks[@GROUP@];
const I64 end = first + count;
for (I64 e = first; e < end;) {
  int group = 0;
  for (; group < @GROUP@ && e < end; ++group, e += N) {
    const int here = end - e < N ? (int)(end - e) : (int)N;
    Lanes::Block& at = blocks[group];
    at.e = e; at.here = here; at.constants = constants; at.turn = turn[group]; at.work = work[group];
@FILL@
    Lanes::turns(at);
  }
@CALLS@
  for (int k = 0; k < group; ++k) {
    const Lanes::Block& at = blocks[k];
    const I64 e = at.e;
    const int here = at.here;
@EMPTY@
  }
}"""

PART = """
  static WARPDYN_APART void part@K@(@PARAMETERS@) {
@OPEN@
@BODY@
  }"""

MOVES = """
  // n entries of one environment, p its first, into a lane of a tile, and back.
  static WARPDYN_APART void enter(V* tile, int lane, const T* p, const I64* offset, int n) {
    for (int k = 0; k < n; ++k) tile[k][lane] = p[offset[k]];
  }
  static WARPDYN_APART void leave(const V* tile, int lane, T* p, const I64* offset, int n) {
    for (int k = 0; k < n; ++k) p[offset[k]] = tile[k][lane];
  }"""

LOOP = """@ARGUMENTS@
@CONSTANTS@
@TILES@
V turn[2 * @TURNS@ + 1] __attribute__((aligned(64))), work[@WORK@] __attribute__((aligned(64)));
V states[2][@SIZE@] __attribute__((aligned(64))) = {}, ended[@SIZE@] __attribute__((aligned(64))) = {};
V *state = states[0], *then = states[1];
const I64 end = first + count;
I64 next = first, at[N], over[N];
int steps[N], busy = 0, waiting = 0;
for (int l = 0; l < N; ++l) {
  at[l] = next < end ? next++ : -1;
  steps[l] = 0;
  if (at[l] < 0) continue;
  ++busy;
  @ENTER@
}
while (busy) {
@STEP@
  V* const swapped = state; state = then; then = swapped;
  for (int l = 0; l < N; ++l) {
    if (at[l] < 0 || (!(state[0][l] > 0) && ++steps[l] < @STEPS@)) continue;
    for (int k = 0; k < @SIZE@; ++k) ended[k][waiting] = state[k][l];
    over[waiting++] = at[l];
    at[l] = next < end ? next++ : -1;
    if (at[l] >= 0) {
      steps[l] = 0;
      for (int k = 0; k < @SIZE@; ++k) state[k][l] = 0;
      @ENTER@
    } else {
      --busy;
    }
    if (waiting == N || !busy) {
      for (int j = 0; j < waiting; ++j) { @ENTER_ENDED@ }
@FINISH@
      for (int j = 0; j < waiting; ++j) { @LEAVE@ }
      waiting = 0;
    }
  }
}"""

ROUTINE = """
  static WARPDYN_APART void @NAME@(const V* shared, const V* column, V* out, V* work, const T* constants) {
@BODY@
  }"""
