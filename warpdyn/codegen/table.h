/// Numbers of tables at rows and columns, the nearest ones beyond it, for a NaN those of index 0: see
/// `look` of algebra/scalar.py. `table` are the fields of an array (arguments.py).
#if WARPDYN_FLOAT
typedef float T; typedef int I;
#else
typedef double T; typedef long long I;
#endif
typedef long long I64;
typedef T V __attribute__((vector_size(64)));
typedef I VI __attribute__((vector_size(64)));
enum { N = 64 / sizeof(T) };
struct Lanes {

/// [lanes] One number for each lane; members of Lanes.
  static inline VI nearest(V x, I64 count) {
    const V last = V{} + (T)(count - 1);
    x = x > 0 ? x : V{};
    return __builtin_convertvector(x < last ? x : last, VI);
  }
  static inline V look(const I64* table, V row, V column) {
    const VI i = nearest(row, table[1]), j = nearest(column, table[2]);
    const T* const p = (const T*)table[0];
    V x;
    for (int l = 0; l < N; ++l) x[l] = p[i[l] * table[3] + j[l] * table[4]];
    return x;
  }

/// [thread] One number, for CUDA.
#if WARPDYN_FLOAT
auto look = [](const I64* table, float row, float column) {
  const float *p = (const float*)table[0], last[2] = {(float)(table[1] - 1), (float)(table[2] - 1)};
#else
auto look = [](const I64* table, double row, double column) {
  const double *p = (const double*)table[0], last[2] = {(double)(table[1] - 1), (double)(table[2] - 1)};
#endif
  const I64 i = (I64)(row > 0 ? (row < last[0] ? row : last[0]) : 0);
  const I64 j = (I64)(column > 0 ? (column < last[1] ? column : last[1]) : 0);
  return p[i * table[3] + j * table[4]];
};
