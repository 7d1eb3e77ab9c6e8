/// Entry `j` of rows of arrays in loops at an index (array_statements.py): `p` is the address of the array.
/// An index beyond the array is that of the nearest row, and for NaN it is 0. The row is added to the address
/// first: the entries of one row then have one address, and constant distances from it.

/// [lanes] Members of Lanes. In `read_row` and `write_row` the index is equal in all lanes. A few rows are
/// chosen from, which takes less time than the loads and stores of single lanes.
  enum { FEW = 16 };
  static inline I64 row_of(T x, int rows) { return (I64)(x > 0 ? (x < (T)(rows - 1) ? x : (T)(rows - 1)) : (T)0); }
  static inline VI rows_of(V x, int rows) {
    const V last = V{} + (T)(rows - 1);
    x = x > 0 ? x : V{};
    return __builtin_convertvector(x < last ? x : last, VI);
  }
  static inline V read_row(const V* p, int j, V index, int rows, int width) { return (p + width * row_of(index[0], rows))[j]; }
  static inline void write_row(V* p, int j, V index, int rows, int width, V value) { (p + width * row_of(index[0], rows))[j] = value; }
  static inline V gather_row(const V* p, int j, V index, int rows, int width) {
    p += j;
    if (rows <= FEW) {
      V x = p[0];
      WARPDYN_UNROLL for (int k = 1; k < rows; ++k) x = index >= (T)k ? p[width * k] : x;
      return x;
    }
    const VI at = rows_of(index, rows) * (I)(width * N);
    V x;
    WARPDYN_UNROLL for (int l = 0; l < N; ++l) x[l] = ((const T*)p)[at[l] + l];
    return x;
  }
  static inline void scatter_row(V* p, int j, V index, int rows, int width, V value) {
    p += j;
    if (rows <= FEW) {
      WARPDYN_UNROLL for (int k = 0; k < rows; ++k) {
        V x = value;
        const V before = p[width * k];
        if (k > 0) x = index >= (T)k ? x : before;
        if (k + 1 < rows) x = index >= (T)(k + 1) ? before : x;
        p[width * k] = x;
      }
      return;
    }
    const VI at = rows_of(index, rows) * (I)(width * N);
    WARPDYN_UNROLL for (int l = 0; l < N; ++l) ((T*)p)[at[l] + l] = value[l];
  }
