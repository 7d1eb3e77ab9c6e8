/// Rows of arrays in loops at an index (array_statements.py): `p` is the address of an entry in row 0. An
/// index beyond the array is that of the nearest row, and for NaN it is 0.

/// [lanes] Members of Lanes. In `read_row` and `write_row` the index is equal in all lanes.
  static inline I64 row_of(T x, int rows) { return (I64)(x > 0 ? (x < (T)(rows - 1) ? x : (T)(rows - 1)) : (T)0); }
  static inline VI rows_of(V x, int rows) {
    const V last = V{} + (T)(rows - 1);
    x = x > 0 ? x : V{};
    return __builtin_convertvector(x < last ? x : last, VI);
  }
  static inline V read_row(const V* p, V index, int rows, int width) { return p[width * row_of(index[0], rows)]; }
  static inline void write_row(V* p, V index, int rows, int width, V value) { p[width * row_of(index[0], rows)] = value; }
  static inline V gather_row(const V* p, V index, int rows, int width) {
    const VI at = rows_of(index, rows) * (I)(width * N);
    V x;
    WARPDYN_UNROLL for (int l = 0; l < N; ++l) x[l] = ((const T*)p)[at[l] + l];
    return x;
  }
  static inline void scatter_row(V* p, V index, int rows, int width, V value) {
    const VI at = rows_of(index, rows) * (I)(width * N);
    WARPDYN_UNROLL for (int l = 0; l < N; ++l) ((T*)p)[at[l] + l] = value[l];
  }
