"""The CPU form of a program: sixteen floats or eight doubles in the lanes of a vector, one environment a lane.

Arrays whose environments lie side by side are read and written in place. Everything else (rows of one environment, other
strides, the last incomplete block) goes through a *tile*: one vector an entry, filled and emptied by transposing blocks in
registers where rows are dense, and element by element where they are not. Large results always go through a tile, whose
addresses are constants, and each of their entries that repeats (symmetry) or is constant is computed and stored once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from .emit import Dialect, emit, expression, literal
from .layout import FIELDS, HEADER, Layout, identifier
from .parts import split
from .program import Program, Statement

AHEAD = 4
"""Blocks of lanes between an access in place and the prefetch beside it. A robot of 32 joints reads and writes 128 rows, more
streams than a processor follows by itself: at 16,384 environments its RNEA took 109 ns each without, 63 with (one core)."""

PART = 250
"""Statements in one function."""

DIRECT = 64
"""Arrays of one trailing dimension up to this size are accessed in place."""

BYTES = 64
"""Width of a vector of lanes."""


def lanes(single: bool) -> int:
    return BYTES // (4 if single else 8)


def source(program: Program, single: bool) -> str:
    """Body of the native function `(args)` that does `count` environments from `first` on."""
    layout = Layout.of(program.inputs, program.shape)
    frames = [_Array(name, shape, program) for name, shape in layout.arrays]
    bodies, slots = _parts(program, frames, single)
    replace = {
        "TYPES": _TYPES[single],
        "TRANSPOSE": _transpose(lanes(single), lanes(single)),
        "TRANSPOSE_HALVES": _transpose(lanes(single), lanes(single) // 2),
        "ALL_LANES": ", ".join(map(str, range(lanes(single)))),
        "SINCOS": _SINCOS[single],
        "OUT_SIZE": str(frames[-1].size),
        "AHEAD": str(AHEAD),
        "N_LANES": str(lanes(single)),
        "CORE_PARAMETERS": ", ".join(a.parameter for a in frames),
        "ANGLES": "\n".join(_angles(program, frames, single)),
        "TURNS": str(len(program.angles)),
        "PARTS": "\n".join(_PART.replace("@BODY@", body).replace("@K@", str(k)) for k, body in enumerate(bodies)),
        "CALLS": " ".join(f"Lanes::part{k}(@CORE_ARGUMENTS@, turn, work);" for k in range(len(bodies))),
        "WORK": str(slots + 1),
        "HEADER": "\n".join(f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER)),
        "UNPACK": "\n".join(line for a in frames for line in a.unpack(layout.position(a.name))),
        "BEFORE": "\n".join(line for a in frames for line in a.before(single)),
        "FILL": "\n".join(line for a in frames for line in a.fill()),
        "CORE_ARGUMENTS": ", ".join(a.argument for a in frames),
        "EMPTY": "\n".join(line for a in frames for line in a.empty()),
    }
    text = _FRAME
    for key in ("PARTS", "CALLS", *replace):  # the first two name others
        value = replace[key]
        text = text.replace(f"@{key}@", value)
    return text


class _Array:
    """One array as the frame around the program sees it."""

    def __init__(self, name: str, shape: tuple[int, ...], program: Program):
        self.name, self.shape, self.program = name, shape, program
        self.id = identifier(name)
        self.size = prod(shape)
        self.is_output = name == "out"
        self.direct = len(shape) <= 1 and self.size <= DIRECT
        # The tile of a large result holds each computed value once, and after them its constants.
        self.slot: list[int] = list(range(self.size))
        self.constants: list[float] = []
        self.slots = self.size
        if self.is_output and not self.direct:
            values = {}
            for o in program.outputs:
                values.setdefault((o.node, o.negative, o.constant), None)
            computed = [v for v in values if v[0] is not None]
            self.constants = [v[2] for v in values if v[0] is None]
            place = {v: k for k, v in enumerate(computed + [v for v in values if v[0] is None])}
            self.slot = [place[o.node, o.negative, o.constant] for o in program.outputs]
            self.slots = len(place)

    @property
    def parameter(self) -> str:
        const = "" if self.is_output else "const "
        return f"{const}T* {self.id}, const I64 {self.id}_ld, const I64 {self.id}_ahead" if self.direct else f"{const}V* {self.id}"

    @property
    def argument(self) -> str:
        return f"{self.id}_here, {self.id}_ld, {self.id}_ahead" if self.direct else f"{self.id}_tile"

    def at(self, entry: int) -> str:
        """An entry inside the core, to read (an input) or to write (the result)."""
        if not self.direct:
            return f"{self.id}[{self.slot[entry]}]"
        return f"Lanes::{'place' if self.is_output else 'load'}({self.id} + {entry} * {self.id}_ld, {self.id}_ahead)"

    def unpack(self, position: int) -> Iterator[str]:
        fields = [f"args[{position + k}]" for k in range(FIELDS)]
        yield f"{'' if self.is_output else 'const '}T* const {self.id} = (T*){fields[0]};"
        yield f"const I64 {self.id}_env = {fields[1]};"
        if self.size == 0:
            return
        yield f"I64 {self.id}_offset[{self.size}];"
        yield f"bool {self.id}_dense = true;"
        counts = (*self.shape, 1, 1, 1)[:3]
        yield (
            f"{{ int k = 0; for (I64 x = 0; x < {counts[0]}; ++x) for (I64 y = 0; y < {counts[1]}; ++y) for (I64 z = 0; z < {counts[2]}; ++z, ++k) {{"
            f" {self.id}_offset[k] = x * {fields[2]} + y * {fields[3]} + z * {fields[4]}; {self.id}_dense &= {self.id}_offset[k] == k; }} }}"
        )
        if self.is_output:
            yield (
                f"bool {self.id}_stream = stream && (I64)({self.id} + first * {self.id}_env) % 64 == 0 && ({self.id}_env == 1 || {self.id}_env % N == 0);"
                f" for (int k = 0; k < {self.size}; ++k) {self.id}_stream &= {self.id}_dense || {self.id}_offset[k] % N == 0;"
            )
        if self.direct:
            yield f"const I64 {self.id}_stride = {fields[2]};"

    def before(self, single: bool) -> Iterator[str]:
        if self.size == 0:
            if self.direct:
                yield f"{'' if self.is_output else 'const '}T* {self.id}_here = nullptr; I64 {self.id}_ld = 0, {self.id}_ahead = 0;"
            return
        yield f"V {self.id}_tile[{max(self.slots, BYTES // 4)}] __attribute__((aligned(64)));"
        if self.is_output and not self.direct:
            first = self.slots - len(self.constants)
            for k, value in enumerate(self.constants):
                yield f"{self.id}_tile[{first + k}] = V{{}} + {literal(value, single)};"
            order = sorted(range(self.size), key=lambda k: self.slot[k] >= first)
            varying = sum(s < first for s in self.slot)
            yield f"static const int {self.id}_slot[] = {{{', '.join(map(str, self.slot))}}};"
            yield f"static const int {self.id}_order[] = {{{', '.join(map(str, order))}}};"
            yield f"const int {self.id}_written = keep_constants ? {varying} : {self.size};"

    def fill(self) -> Iterator[str]:
        """Before the core: point at the block, in place or in the tile.

        The core asks for memory ahead at the address of each access plus `ahead`: in place that is the same row further on; from
        a tile, whose entries are a cache line each, line by line what the tile will next be filled from.
        """
        later = f"{self.id} + (e + AHEAD) * {self.id}_env - (const T*){self.id}_tile"
        if self.size == 0:
            return
        if self.is_output:
            if self.direct:
                yield f"const bool {self.id}_in_place = whole && {self.id}_env == 1;"
                yield f"T* {self.id}_here = {self.id}_in_place ? {self.id} + e : (T*){self.id}_tile;"
                yield f"const I64 {self.id}_ld = {self.id}_in_place ? {self.id}_stride : N;"
                yield f"const I64 {self.id}_ahead = {self.id}_in_place ? AHEAD : {later};"
            return
        gather = f"Lanes::gather({self.id}_tile, {self.id} + e * {self.id}_env, {self.id}_env, {self.id}_offset, {self.size}, here, {self.id}_dense, total - e);"
        if self.direct:
            yield f"const T* {self.id}_here = {self.id} + e; I64 {self.id}_ld = {self.id}_stride, {self.id}_ahead = AHEAD;"
            yield f"if (!(whole && {self.id}_env == 1)) {{ {gather} {self.id}_here = (const T*){self.id}_tile; {self.id}_ld = N; {self.id}_ahead = {later}; }}"
        else:
            yield gather

    def empty(self) -> Iterator[str]:
        """After the core: the tile of the result to its place."""
        if not self.is_output or self.size == 0:
            return
        if self.direct:
            arguments = f"{self.id}_offset, nullptr, nullptr, {self.size}"
            condition = f"if (!{self.id}_in_place) "
        else:
            arguments = f"{self.id}_offset, {self.id}_slot, {self.id}_order, {self.id}_written"
            condition = ""
        yield f"{condition}Lanes::scatter({self.id}_tile, {self.id} + e * {self.id}_env, {self.id}_env, {arguments}, here, {self.id}_dense, {self.id}_stream);"


def _angles(program: Program, frames: list[_Array], single: bool) -> Iterator[str]:
    """Arguments of the sines and cosines, which a loop computes before the core."""
    dialect = _dialect({a.name: a for a in frames}, single, lambda entries, value: "")
    for statement in program.angle_statements:
        yield f"const V t{statement.target} = {expression(statement, dialect)};"
    for k, angle in enumerate(program.angles):
        yield f"turn[{2 * k}] = t{angle};"


def _parts(program: Program, frames: list[_Array], single: bool) -> tuple[list[str], int]:
    """The program's statements as the bodies of one function after the other, and the slots of their workspace."""
    arrays = {a.name: a for a in frames}
    out = arrays["out"]

    def store(entries: list[int], value: str) -> str:
        places = entries if out.direct else {out.slot[k]: k for k in entries}.values()
        return " ".join(f"{out.at(k)} = {value};" for k in places)

    turns = {angle: (f"turn[{2 * k}]", f"turn[{2 * k + 1}]") for k, angle in enumerate(program.angles)}

    def at_hand(statement: Statement) -> bool:
        return statement.operation == "input" or (statement.operation in ("sin", "cos") and statement.arguments[0] in turns)

    parts, slots = split(program, PART, at_hand)
    dialect, stored = _dialect(arrays, single, store), set[int]()
    bodies = [list(emit(program, part, dialect, stored, turns)) for part in parts]
    if out.direct:
        constants = [(k, o.constant) for k, o in enumerate(program.outputs) if o.node is None]
        bodies[-1] += [f"{out.at(k)} = V{{}} + {literal(value, single)};" for k, value in constants]
    return ["\n".join(body) for body in bodies], slots


def _dialect(arrays: dict[str, _Array], single: bool, store: Callable[[list[int], str], str]) -> Dialect:
    return Dialect(
        type="V",
        fma="Lanes::fma",
        sqrt="__builtin_elementwise_sqrt",
        constant=lambda x: f"(V{{}} + {literal(x, single)})",
        load=lambda array, entry: arrays[array].at(entry),
        store=store,
        sincos=lambda x, s, c: f"V {s}, {c}; Lanes::sincos({x}, {s}, {c});",
        select=lambda x, y, a, b: f"({x} < {y}) ? {a} : {b}",
    )


def _transpose(n: int, vectors: int) -> str:
    """In-place transpose of square blocks side by side in vectors of n lanes, one stage of shuffles for each power of two."""
    lines, distance = [], vectors // 2
    while distance:
        low = [lane if not lane & distance else n + lane - distance for lane in range(n)]
        high = [lane + distance if not lane & distance else n + lane for lane in range(n)]
        for i in range(vectors):
            if not i & distance:
                a, b = f"r[{i}]", f"r[{i + distance}]"
                lines.append(
                    f"{{ const V x = {a}, y = {b}; {a} = __builtin_shufflevector(x, y, {', '.join(map(str, low))}); "
                    f"{b} = __builtin_shufflevector(x, y, {', '.join(map(str, high))}); }}"
                )
        distance //= 2
    return "\n".join(lines)


_TYPES = {
    True: "typedef float T; typedef int I;",
    False: "typedef double T; typedef long long I;",
}

# Cody and Waite reduction by pi/2 in fused steps, then polynomials on [-pi/4, pi/4] (Cephes for float, fdlibm for double);
# the quadrant comes from adding 1.5 * 2^23 (2^52), which rounds. Lanes beyond that, or not finite, ask the library.
_SINCOS = {
    True: """
    const V t = x * 0.636619747f + 12582912.0f;
    const VI k = (VI)t;
    const V n = t - 12582912.0f;
    V y = fma(n, V{} - 1.57079601287841796875f, x);
    y = fma(n, V{} - 3.1391647326017846e-07f, y);
    y = fma(n, V{} - 5.390302529957764e-15f, y);
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
    const VI far = !(__builtin_elementwise_abs(x) <= 65536.0f);
    if (__builtin_expect(__builtin_reduce_or(far) != 0, 0))
      for (int l = 0; l < N; ++l) if (far[l]) { s[l] = ::sinf(x[l]); c[l] = ::cosf(x[l]); }
""",
    False: """
    const V t = x * 0.63661977236758134308 + 6755399441055744.0;
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
    V cp = fma(z, V{} - 1.13585365213876817300E-11, V{} + 2.08757008417747316778E-9);
    cp = fma(z, cp, V{} - 2.75573141792967388112E-7);
    cp = fma(z, cp, V{} + 2.48015872888517045348E-5);
    cp = fma(z, cp, V{} - 1.38888888888730564116E-3);
    cp = fma(z, cp, V{} + 4.16666666666665929218E-2);
    cp = fma(z * z, cp, fma(z, V{} - 0.5, V{} + 1.0));
    const VI odd = (k & 1) != 0;
    s = (V)((VI)(odd ? cp : sp) ^ ((k & 2) << 62));
    c = (V)((VI)(odd ? sp : cp) ^ (((k + 1) & 2) << 62));
    const VI far = !(__builtin_elementwise_abs(x) <= 1e5);
    if (__builtin_expect(__builtin_reduce_or(far) != 0, 0))
      for (int l = 0; l < N; ++l) if (far[l]) { s[l] = ::sin(x[l]); c[l] = ::cos(x[l]); }
""",
}

_PART = """
  static __attribute__((noinline)) void part@K@(@CORE_PARAMETERS@, const V* turn, V* work) {
@BODY@
  }
"""

_FRAME = """
@TYPES@
typedef long long I64;
typedef T V __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
typedef T VA __attribute__((vector_size(64), may_alias));
typedef T VH __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
typedef I VI __attribute__((vector_size(64)));
enum { N = @N_LANES@, H = N / 2, AHEAD = @AHEAD@ * N };
struct Lanes {
  static inline V load(const T* p, I64 ahead) { __builtin_prefetch(p + ahead); return *(const V*)p; }
  static inline V& place(T* p, I64 ahead) { __builtin_prefetch(p + ahead, 1); return *(V*)p; }

  static inline V fma(V a, V b, V c) { return __builtin_elementwise_fma(a, b, c); }

  static inline void sincos(const V x, V& s, V& c) {@SINCOS@  }

  static inline void transpose(V* r) {
@TRANSPOSE@
  }
  static inline void transpose_halves(V* r) {
@TRANSPOSE_HALVES@
  }
  static inline V pair(VH a, VH b) { return __builtin_shufflevector(a, b, @ALL_LANES@); }
  static inline int entry(const int* slot, int k) { return slot ? slot[k] : k; }

  // n entries of `here` environments from p on into a tile; missing lanes repeat the last environment.
  static __attribute__((noinline)) void gather(V* tile, const T* p, I64 env, const I64* offset, int n, int here, bool dense, I64 left) {
    if (here == N && env == 1) {
      for (int k = 0; k < n; ++k) tile[k] = *(const V*)(p + offset[k]);
    } else if (here == N && dense && n <= H && (left - N) * env >= H - n) {
      V r[H];  // two rows side by side
      _Pragma("clang loop unroll(full)") for (int l = 0; l < H; ++l) r[l] = pair(*(const VH*)(p + l * env), *(const VH*)(p + (l + H) * env));
      transpose_halves(r);
      _Pragma("clang loop unroll(full)") for (int j = 0; j < H; ++j) tile[j] = r[j];  // a tile has room for N
    } else if (here == N && dense && (n >= N || (left - N) * env >= N - n)) {
      for (int k = 0; k < n; k += N) {
        const int first = (n < N || k + N <= n) ? k : n - N;
        V r[N];
        _Pragma("clang loop unroll(full)") for (int l = 0; l < N; ++l) r[l] = *(const V*)(p + l * env + first);
        transpose(r);
        _Pragma("clang loop unroll(full)") for (int j = 0; j < N; ++j) tile[first + j] = r[j];
      }
    } else {
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < N; ++l) tile[k][l] = p[(l < here ? l : here - 1) * env + offset[k]];
    }
  }

  // A tile to the result's entries of `here` environments from p on; slot says where an entry lies in the tile.
  static __attribute__((noinline)) void scatter(
      const V* tile, T* p, I64 env, const I64* offset, const int* slot, const int* order, int written, int here, bool dense, bool stream) {
    enum { n = @OUT_SIZE@, W = n < N ? n : N };
    if (here == N && env == 1 && stream) {
      for (int i = 0; i < written; ++i) { const int k = order ? order[i] : i; __builtin_nontemporal_store(tile[slot ? slot[k] : k], (VA*)(p + offset[k])); }
    } else if (here == N && env == 1) {
      for (int i = 0; i < written; ++i) { const int k = order ? order[i] : i; *(V*)(p + offset[k]) = tile[slot ? slot[k] : k]; }
    } else if (here == N && dense && n <= H) {
      V r[H];
      _Pragma("clang loop unroll(full)") for (int j = 0; j < H; ++j) r[j] = tile[entry(slot, j < n ? j : 0)];
      transpose_halves(r);
      _Pragma("clang loop unroll(full)") for (int l = 0; l < N; ++l) __builtin_memcpy(p + l * env, (const T*)&r[l % H] + l / H * H, (n <= H ? n : 0) * sizeof(T));
    } else if (here == N && dense) {
      for (int k = 0; k < n; k += N) {
        const int first = (n < N || k + N <= n) ? k : n - N;
        V r[N];
        _Pragma("clang loop unroll(full)") for (int j = 0; j < N; ++j) r[j] = tile[entry(slot, first + j < n ? first + j : 0)];
        transpose(r);
        if (stream && W == N && first % N == 0) _Pragma("clang loop unroll(full)") for (int l = 0; l < N; ++l) __builtin_nontemporal_store(r[l], (VA*)(p + l * env + first));
        else _Pragma("clang loop unroll(full)") for (int l = 0; l < N; ++l) __builtin_memcpy(p + l * env + first, &r[l], W * sizeof(T));
      }
    } else {
      for (int i = 0; i < written; ++i) {
        const int k = order ? order[i] : i;
        for (int l = 0; l < here; ++l) p[l * env + offset[k]] = tile[slot ? slot[k] : k][l];
      }
    }
  }

  // Sines and cosines in a loop: inside the program they would be most of its code.
  static __attribute__((noinline)) void turns(@CORE_PARAMETERS@, V* turn) {
@ANGLES@
    for (int k = 0; k < @TURNS@; ++k) { V s, c; sincos(turn[2 * k], s, c); turn[2 * k] = s; turn[2 * k + 1] = c; }
  }

@PARTS@
};
@HEADER@
@UNPACK@
@BEFORE@
V turn[2 * @TURNS@ + 1] __attribute__((aligned(64))), work[@WORK@] __attribute__((aligned(64)));
for (I64 e = first; e < first + count; e += N) {
  const int here = first + count - e < N ? (int)(first + count - e) : N;
  const bool whole = here == N;
@FILL@
  Lanes::turns(@CORE_ARGUMENTS@, turn);
  @CALLS@
@EMPTY@
}
"""
