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

/// [moves] Member of Lanes for inputs that are the first content of arrays (moved_rows.py).
  // Copies n entries of `here` environments from p to their places in the workspace, like `gather` to a tile.
  static WARPDYN_APART void move_in(V* work, const int* place, const T* p, I64 env, const I64* offset, int n, int here,
                                    bool dense) {
    if (here == N && env == 1) {
      for (int k = 0; k < n; ++k) work[place[k]] = *(const V*)(p + offset[k]);
    } else if (env == 0) {
      for (int k = 0; k < n; ++k) work[place[k]] = all(p[offset[k]]);
    } else if (here == N && dense && n >= N) {
      for (int k = 0; k < n; k += N) {
        const int first = k + N <= n ? k : n - N;
        V r[N];
        WARPDYN_UNROLL for (int l = 0; l < N; ++l) r[l] = *(const V*)(p + l * env + first);
        transpose(r);
        WARPDYN_UNROLL for (int j = 0; j < N; ++j) work[place[first + j]] = r[j];
      }
    } else {
      const T* const last = p + (here - 1) * env;
      for (int k = 0; k < n; ++k) work[place[k]] = all(last[offset[k]]);
      for (int l = 0; l < here - 1; ++l)
        for (int k = 0; k < n; ++k) ((T*)(work + place[k]))[l] = p[l * env + offset[k]];
    }
  }

/// [still_lines] Members of Lanes for inputs and results in one place. Most contacts of a scene with many pairs do not
/// exist before and after a step, so that runs of N entries have one value in all environments of a block.
  // True if all entries of all lines have the bits of the first one, which become `value`.
  static inline bool is_still(const V* r, I& value) {
    const VI first = (VI)r[0];
    value = first[0];
    VI differ = first ^ value;
    WARPDYN_UNROLL for (int l = 1; l < N; ++l) differ |= (VI)r[l] ^ value;
    return __builtin_reduce_or(differ) == 0;
  }
  // Like `move_in`, without runs that the workspace has already. A run of the workspace that is `known` has one
  // value, with the bits `held`.
  static WARPDYN_APART void move_lines_in(V* work, const int* place, const T* p, I64 env, const I64* offset, int n,
                                          int here, bool dense, I* held, bool* known) {
    if (here != N || !dense || env == 0 || env == 1) {
      for (int k = 0; k * N < n; ++k) known[k] = false;
      move_in(work, place, p, env, offset, n, here, dense);
      return;
    }
    for (int k = 0; k < n; k += N, ++held, ++known) {
      const int first = k + N <= n ? k : n - N;
      V r[N];
      WARPDYN_UNROLL for (int l = 0; l < N; ++l) r[l] = *(const V*)(p + l * env + first);
      I value;
      const bool still = is_still(r, value);
      if (still && *known && *held == value) continue;
      *known = still; *held = value;
      if (!still) transpose(r);
      WARPDYN_UNROLL for (int j = 0; j < N; ++j) work[place[first + j]] = r[j];
    }
  }
  // Copies the workspace back to the rows of a full block from which `move_lines_in` has filled it.
  static WARPDYN_APART void move_lines_out(const V* work, const int* place, T* p, I64 env, int n, I* held, bool* known) {
    for (int k = 0; k < n; k += N, ++held, ++known) {
      const int first = k + N <= n ? k : n - N;
      V r[N];
      WARPDYN_UNROLL for (int j = 0; j < N; ++j) r[j] = work[place[first + j]];
      I value;
      const bool still = is_still(r, value);
      if (still && *known && *held == value) continue;
      *known = still; *held = value;
      if (!still) transpose(r);
      WARPDYN_UNROLL for (int l = 0; l < N; ++l) store_change(p + l * env + first, r[l]);
    }
  }
