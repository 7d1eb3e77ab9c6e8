/// Numbers of tables at rows and columns, the nearest ones beyond it, for a NaN those of index 0: see
/// `look` of algebra/scalar.py. `table` are the fields of an array (arguments.py).

/// [lanes] Members of Lanes. Lanes are loaded one by one, which is no slower than a processor's own
/// gathers: a quadruped's step on a height map took 18 % more than on the flat with these, 13 % without,
/// and 11 % where the corners of a cell are loaded together (AVX-512, one core).
  static inline VI nearest(V x, I64 count) {
    const V last = V{} + (T)(count - 1);
    x = x > 0 ? x : V{};
    return __builtin_convertvector(x < last ? x : last, VI);
  }
  static inline V look_at(const I64* table, VI i, VI j) {
    const VI at = i * (I)table[3] + j * (I)table[4];
    const T* const p = (const T*)table[0];
    V x;
    for (int l = 0; l < N; ++l) x[l] = p[at[l]];
    return x;
  }
  static inline V look(const I64* table, V row, V column) {
    return look_at(table, nearest(row, table[1]), nearest(column, table[2]));
  }
  // Of rows row and row + 1, columns column and column + 1: neighbours are loaded together, four numbers a lane, which
  // are transposed. At the last column it is the pair before, of which the second is taken twice.
  static WARPDYN_APART void cell(const I64* table, V row, V column, V* corner) {
    const VI i[2] = {nearest(row, table[1]), nearest(row + 1, table[1])};
    const VI j[2] = {nearest(column, table[2]), nearest(column + 1, table[2])};
    if (table[4] != 1 || table[2] < 2) {
      for (int k = 0; k < 4; ++k) corner[k] = look_at(table, i[k / 2], j[k % 2]);
      return;
    }
    const VI pair = __builtin_elementwise_min(j[0], VI{} + (I)(table[2] - 2));
    const VI one = i[0] * (I)table[3] + pair, other = i[1] * (I)table[3] + pair;
    const T* const p = (const T*)table[0];
    V r[4];
#if WARPDYN_FLOAT
    typedef T V2 __attribute__((vector_size(8), aligned(4), may_alias));
    const auto four_of = [&](int l) {
      return __builtin_shufflevector(*(const V2*)(p + one[l]), *(const V2*)(p + other[l]), 0, 1, 2, 3);
    };
    WARPDYN_UNROLL for (int l = 0; l < Q; ++l) {
      VQ q[N / Q];
      WARPDYN_UNROLL for (int k = 0; k < N / Q; ++k) q[k] = four_of(l + k * Q);
      r[l] = join(q);
    }
    transpose_quarters(r);
#else
    const auto two_of = [&](VI at, int l) { return *(const VQ*)(p + at[l]); };
    WARPDYN_UNROLL for (int l = 0; l < Q; ++l) {
      VQ q[N / Q], w[N / Q];
      WARPDYN_UNROLL for (int k = 0; k < N / Q; ++k) {
        q[k] = two_of(one, l + k * Q);
        w[k] = two_of(other, l + k * Q);
      }
      r[l] = join(q);
      r[l + Q] = join(w);
    }
    transpose_quarters(r);
    transpose_quarters(r + Q);
#endif
    for (int k = 0; k < 4; ++k) corner[k] = j[k % 2] == pair ? r[k / 2 * 2] : r[k / 2 * 2 + 1];
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
