/// What an exported program needs beside arithmetic, as C99 that is C++17 too (portable.py): functions
/// of numbers, and of lanes of numbers. In C++ a function of numbers and one of lanes become one
/// name, and `static` goes; in C the robot's name stands before all of them.
#include <math.h>
#include <stddef.h>
#include <string.h>
#define WARPDYN_LANE_BYTES 32
#define WARPDYN_IN_ORDER

/// [number] The type of all values, and the whole number of its size.
#if WARPDYN_FLOAT
typedef float number;
typedef int word;
#else
typedef double number;
typedef long long word;
#endif

/// [select] Choices: no branch where the processor has selects.
static inline number number_less(number x, number y, number a, number b) { return x < y ? a : b; }
static inline number number_less_equal(number x, number y, number a, number b) { return x <= y ? a : b; }

/// [sine_cosine]
static inline word number_bits(number x) { word k; memcpy(&k, &x, sizeof k); return k; }
static inline number number_of_bits(word k) { number x; memcpy(&x, &k, sizeof x); return x; }
static inline number number_choice(word all, number a, number b) {
  return number_of_bits((all & number_bits(a)) | (~all & number_bits(b)));
}
/* Sine and cosine: the angle less a multiple of pi/2 in three parts (Cody and Waite), then polynomials on
   [-pi/4, pi/4] (Cephes for float, fdlibm for double). Adding 1.5 * 2^23 (2^52) rounds: no -ffast-math.
   Beyond 2^22 (2^51) rad, where numbers are half a radian apart, all bits are set: NaN. */
#if WARPDYN_FLOAT
static inline void number_sine_cosine(number x, number *s, number *c) {
  WARPDYN_IN_ORDER
  const number t = x * 0.636619747f + 12582912.0f, n = t - 12582912.0f;
  const number y = ((x - n * 1.5703125f) - n * 4.837512969970703125e-4f) - n * 7.54978995489188216e-8f;
  const number z = y * y;
  const number sp = y + y * z * (-1.6666654611e-1f + z * (8.3321608736e-3f + z * -1.9515295891e-4f));
  const number cp = (1.0f - 0.5f * z) + z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
  const word k = number_bits(t), odd = -(k & 1), lost = -(word)(x > 4194304.0f) | -(word)(x < -4194304.0f);
  *s = number_of_bits((number_bits(number_choice(odd, cp, sp)) ^ (word)((unsigned)(k & 2) << 30)) | lost);
  *c = number_of_bits((number_bits(number_choice(odd, sp, cp)) ^ (word)((unsigned)((k + 1) & 2) << 30)) | lost);
}
#else
static inline void number_sine_cosine(number x, number *s, number *c) {
  WARPDYN_IN_ORDER
  const number t = x * 0.63661977236758134308 + 6755399441055744.0, n = t - 6755399441055744.0;
  const number y = ((x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
  const number z = y * y;
  const number sp = y + y * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04
    + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
  const number cp = (1.0 - 0.5 * z) + z * z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
    + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  const word k = number_bits(t), odd = -(k & 1), lost = -(word)(x > 2251799813685248.0) | -(word)(x < -2251799813685248.0);
  *s = number_of_bits((number_bits(number_choice(odd, cp, sp)) ^ (word)((unsigned long long)(k & 2) << 62)) | lost);
  *c = number_of_bits((number_bits(number_choice(odd, sp, cp)) ^ (word)((unsigned long long)((k + 1) & 2) << 62)) | lost);
}
#endif

/// [abs] The number without its sign bit: -0 is 0.
static inline number number_abs(number x) { return number_of_bits(number_bits(x) & ~number_bits(-(number)0)); }

/// [libm] The library's functions.
#if WARPDYN_FLOAT
static inline number number_sqrt(number x) { return sqrtf(x); }
static inline number number_floor(number x) { return floorf(x); }
static inline number number_exp(number x) { return expf(x); }
static inline number number_log(number x) { return logf(x); }
static inline number number_atan2(number y, number x) { return atan2f(y, x); }
#else
static inline number number_sqrt(number x) { return sqrt(x); }
static inline number number_floor(number x) { return floor(x); }
static inline number number_exp(number x) { return exp(x); }
static inline number number_log(number x) { return log(x); }
static inline number number_atan2(number y, number x) { return atan2(y, x); }
#endif

/// [own] The same without a library; exponentials, logarithms and arcs have none.
/* 1 / sqrt(x) by Newton's steps from a guess of the bits, then one step of sqrt(x): within a unit in the last place.
   0 and infinity are themselves, less than 0 is NaN; numbers below the smallest normal one count as 0. */
#if WARPDYN_FLOAT
static inline number number_sqrt(number x) {
  const number y = x > 1.0f ? 0.25f * x : x, h = 0.5f * y; /* the square of the root stays finite */
  number r = number_of_bits(0x5f3759df - (number_bits(number_abs(y)) >> 1));
  r = r * (1.5f - h * r * r);
  r = r * (1.5f - h * r * r);
  r = r * (1.5f - h * r * r);
  const number s = y * r, root = (s + 0.5f * r * (y - s * s)) * (x > 1.0f ? 2.0f : 1.0f);
  const word odd_one = -(word)(x < 1.17549435e-38f) | -(word)(x > 3.40282347e+38f) | -(word)(x != x);
  const number itself = x < 0.0f ? (x - x) / (x - x) : x < 1.17549435e-38f ? 0.0f * x : x;
  return number_choice(odd_one, itself, root);
}
static inline number number_floor(number x) {
  const word small = -(word)(number_abs(x) < 8388608.0f);
  const number whole = (number)(word)number_choice(small, x, 0.0f);
  const word itself = ~small | -(word)(whole == x); /* -0 among them */
  return number_choice(itself, x, whole > x ? whole - 1.0f : whole);
}
#else
static inline number number_sqrt(number x) {
  const number y = x > 1.0 ? 0.25 * x : x, h = 0.5 * y; /* the square of the root stays finite */
  number r = number_of_bits(0x5fe6eb50c7b537a9LL - (number_bits(number_abs(y)) >> 1));
  r = r * (1.5 - h * r * r);
  r = r * (1.5 - h * r * r);
  r = r * (1.5 - h * r * r);
  r = r * (1.5 - h * r * r);
  const number s = y * r, root = (s + 0.5 * r * (y - s * s)) * (x > 1.0 ? 2.0 : 1.0);
  const word odd_one = -(word)(x < 2.2250738585072014e-308) | -(word)(x > 1.7976931348623157e+308) | -(word)(x != x);
  const number itself = x < 0.0 ? (x - x) / (x - x) : x < 2.2250738585072014e-308 ? 0.0 * x : x;
  return number_choice(odd_one, itself, root);
}
static inline number number_floor(number x) {
  const word small = -(word)(number_abs(x) < 4503599627370496.0);
  const number whole = (number)(word)number_choice(small, x, 0.0);
  const word itself = ~small | -(word)(whole == x); /* -0 among them */
  return number_choice(itself, x, whole > x ? whole - 1.0 : whole);
}
#endif

/// [rest] c - a * b for a whole number b, rounded once: a remainder if b is the quotient.
/* Each factor is the sum of two halves, so that their four products are exact. c is close to the product or the
   product is small, so that the differences are exact as well. A product with 1 is exact. Quarters of large numbers
   have finite products. */
static inline number number_upper_half(number x) {
#if WARPDYN_FLOAT
  return number_of_bits((word)(((unsigned)number_bits(x) + 0x800u) & ~0xfffu));
#else
  return number_of_bits((word)(((unsigned long long)number_bits(x) + 0x4000000ULL) & ~0x7ffffffULL));
#endif
}
static inline number number_rest(number a, number b, number c) {
  WARPDYN_IN_ORDER
  const number scale = number_abs(c) > 1 ? (number)0.25 : (number)1, d = b * scale;
  const number ah = number_upper_half(a), al = a - ah, dh = number_upper_half(d), dl = d - dh;
  const number rest = (((c * scale - ah * dh) - ah * dl) - al * dh) - al * dl;
  return number_abs(b) > 1 && rest == rest ? rest / scale : c - a * b;
}

/// [lanes] Lanes of numbers, WARPDYN_LANE_BYTES wide.
typedef number lanes __attribute__((vector_size(WARPDYN_LANE_BYTES)));
typedef word lane_words __attribute__((vector_size(WARPDYN_LANE_BYTES)));
enum { lane_count = WARPDYN_LANE_BYTES / sizeof(number), lane_square = 16 / sizeof(number) };
static inline lanes lanes_all(number x) { const lanes zero = {0}; return x - zero; } /* zero + x would make 0 of -0 */
static inline lanes lanes_choice(lane_words all, lanes a, lanes b) { return (lanes)((all & (lane_words)a) | (~all & (lane_words)b)); }
static inline lanes lanes_less(lanes x, lanes y, lanes a, lanes b) { return lanes_choice((lane_words)(x < y), a, b); }
static inline lanes lanes_less_equal(lanes x, lanes y, lanes a, lanes b) { return lanes_choice((lane_words)(x <= y), a, b); }
static inline lanes lanes_abs(lanes x) { const lanes zero = {0}; return (lanes)((lane_words)x & ~(lane_words)(-zero)); }
static inline lanes lanes_sqrt(lanes x) { for (int l = 0; l < lane_count; ++l) x[l] = number_sqrt(x[l]); return x; }
static inline lanes lanes_floor(lanes x) { for (int l = 0; l < lane_count; ++l) x[l] = number_floor(x[l]); return x; }
#if WARPDYN_FLOAT
static inline void lanes_sine_cosine(lanes x, lanes *s, lanes *c) {
  WARPDYN_IN_ORDER
  const lanes t = x * 0.636619747f + 12582912.0f, n = t - 12582912.0f;
  const lanes y = ((x - n * 1.5703125f) - n * 4.837512969970703125e-4f) - n * 7.54978995489188216e-8f;
  const lanes z = y * y;
  const lanes sp = y + y * z * (-1.6666654611e-1f + z * (8.3321608736e-3f + z * -1.9515295891e-4f));
  const lanes cp = (1.0f - 0.5f * z) + z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
  const lane_words k = (lane_words)t, odd = -(k & 1), lost = (lane_words)(x > lanes_all(4194304.0f)) | (lane_words)(x < lanes_all(-4194304.0f));
  *s = (lanes)(((lane_words)lanes_choice(odd, cp, sp) ^ ((k & 2) << 30)) | lost);
  *c = (lanes)(((lane_words)lanes_choice(odd, sp, cp) ^ (((k + 1) & 2) << 30)) | lost);
}
#else
static inline void lanes_sine_cosine(lanes x, lanes *s, lanes *c) {
  WARPDYN_IN_ORDER
  const lanes t = x * 0.63661977236758134308 + 6755399441055744.0, n = t - 6755399441055744.0;
  const lanes y = ((x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
  const lanes z = y * y;
  const lanes sp = y + y * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04
    + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
  const lanes cp = (1.0 - 0.5 * z) + z * z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
    + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  const lane_words k = (lane_words)t, odd = -(k & 1), lost = (lane_words)(x > lanes_all(2251799813685248.0)) | (lane_words)(x < lanes_all(-2251799813685248.0));
  *s = (lanes)(((lane_words)lanes_choice(odd, cp, sp) ^ ((k & 2) << 62)) | lost);
  *c = (lanes)(((lane_words)lanes_choice(odd, sp, cp) ^ (((k + 1) & 2) << 62)) | lost);
}
#endif

/// [lanes_libm] Functions of lanes that ask the library, one by one.
static inline lanes lanes_exp(lanes x) { for (int l = 0; l < lane_count; ++l) x[l] = number_exp(x[l]); return x; }
static inline lanes lanes_log(lanes x) { for (int l = 0; l < lane_count; ++l) x[l] = number_log(x[l]); return x; }
static inline lanes lanes_atan2(lanes y, lanes x) { for (int l = 0; l < lane_count; ++l) y[l] = number_atan2(y[l], x[l]); return y; }

/// [lanes_rest] Rests of lanes, one by one.
static inline lanes lanes_rest(lanes a, lanes b, lanes c) {
  for (int l = 0; l < lane_count; ++l) c[l] = number_rest(a[l], b[l], c[l]);
  return c;
}

/// [shuffled] A square of numbers with rows of 16 bytes, transposed in registers. Left to themselves, compilers move number
/// by number: batches of crba took 1.8 to 3.3 times as long (panda, humanoid; AVX2, -O2, clang 14 and g++ 12).
typedef number lane_quarter __attribute__((vector_size(16), aligned(sizeof(number)), may_alias));
static inline void lanes_transpose(const number *from, size_t from_row, number *to, size_t to_row) {
  const lane_quarter a = *(const lane_quarter *)from, b = *(const lane_quarter *)(from + from_row);
#if WARPDYN_FLOAT
  const lane_quarter c = *(const lane_quarter *)(from + 2 * from_row), d = *(const lane_quarter *)(from + 3 * from_row);
  const lane_quarter x = __builtin_shufflevector(a, b, 0, 4, 1, 5), y = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const lane_quarter z = __builtin_shufflevector(a, b, 2, 6, 3, 7), w = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  *(lane_quarter *)to = __builtin_shufflevector(x, y, 0, 1, 4, 5);
  *(lane_quarter *)(to + to_row) = __builtin_shufflevector(x, y, 2, 3, 6, 7);
  *(lane_quarter *)(to + 2 * to_row) = __builtin_shufflevector(z, w, 0, 1, 4, 5);
  *(lane_quarter *)(to + 3 * to_row) = __builtin_shufflevector(z, w, 2, 3, 6, 7);
#else
  *(lane_quarter *)to = __builtin_shufflevector(a, b, 0, 2);
  *(lane_quarter *)(to + to_row) = __builtin_shufflevector(a, b, 1, 3);
#endif
}

/// [not_shuffled] The same for compilers without such shuffles: g++ before 12.
static inline void lanes_transpose(const number *from, size_t from_row, number *to, size_t to_row) {
  for (size_t i = 0; i < lane_square; ++i)
    for (size_t j = 0; j < lane_square; ++j) to[j * to_row + i] = from[i * from_row + j];
}

/// [lanes_moved] Entries of robots, rows of n, into lanes, and back.
/* Entries of `here` robots from p on, rows of n, into lanes, and back; lanes without a robot repeat the last. Full
   lanes move in squares, of which the last may overlap the one before it. */
static inline void lanes_gather(lanes *into, const number *p, size_t n, size_t here) {
  number *one = (number *)into;
  if (here == lane_count && n >= lane_square) {
    for (size_t next = 0; next < n; next += lane_square) {
      const size_t k = next + lane_square <= n ? next : n - lane_square;
      for (size_t l = 0; l < lane_count; l += lane_square) lanes_transpose(p + l * n + k, n, one + k * lane_count + l, lane_count);
    }
    return;
  }
  for (size_t k = 0; k < n; ++k)
    for (size_t l = 0; l < lane_count; ++l) one[k * lane_count + l] = p[(l < here ? l : here - 1) * n + k];
}
static inline void lanes_scatter(const lanes *from, number *p, size_t n, size_t here) {
  const number *one = (const number *)from;
  if (here == lane_count && n >= lane_square) {
    for (size_t next = 0; next < n; next += lane_square) {
      const size_t k = next + lane_square <= n ? next : n - lane_square;
      for (size_t l = 0; l < lane_count; l += lane_square) lanes_transpose(one + k * lane_count + l, lane_count, p + l * n + k, n);
    }
    return;
  }
  for (size_t k = 0; k < n; ++k)
    for (size_t l = 0; l < here; ++l) p[l * n + k] = one[k * lane_count + l];
}

/// [rows] Entry `j` of rows of arrays in loops at an index; `p` is the address of the array. A loop goes on
/// while a count of steps is beyond the number of the step.
static inline int number_row_of(number x, int rows) {
  const number last = (number)(rows - 1);
  return (int)(x > 0 ? (x < last ? x : last) : 0);
}
static inline int number_is_beyond(number x, int step) { return x > (number)step; } /* false for NaN */
static inline number number_read_row(const number *p, int j, number index, int rows, int width) { return p[j + width * number_row_of(index, rows)]; }
static inline number number_gather_row(const number *p, int j, number index, int rows, int width) { return p[j + width * number_row_of(index, rows)]; }
static inline void number_write_row(number *p, int j, number index, int rows, int width, number value) { p[j + width * number_row_of(index, rows)] = value; }
static inline void number_scatter_row(number *p, int j, number index, int rows, int width, number value) { p[j + width * number_row_of(index, rows)] = value; }

/// [rows_of_lanes] The same; a loop goes on while any lane needs it. The index of `read_row` and `write_row` is equal in all lanes.
static inline int lanes_is_beyond(lanes x, int step) {
  int any = 0;
  for (int l = 0; l < lane_count; ++l) any |= x[l] > (number)step;
  return any;
}
static inline lanes lanes_read_row(const lanes *p, int j, lanes index, int rows, int width) { return p[j + width * number_row_of(index[0], rows)]; }
static inline void lanes_write_row(lanes *p, int j, lanes index, int rows, int width, lanes value) { p[j + width * number_row_of(index[0], rows)] = value; }
static inline lanes lanes_gather_row(const lanes *p, int j, lanes index, int rows, int width) {
  lanes x = {0};
  for (int l = 0; l < lane_count; ++l) x[l] = p[j + width * number_row_of(index[l], rows)][l];
  return x;
}
static inline void lanes_scatter_row(lanes *p, int j, lanes index, int rows, int width, lanes value) {
  for (int l = 0; l < lane_count; ++l) p[j + width * number_row_of(index[l], rows)][l] = value[l];
}
