  /// Quarters of cache lines, 16 bytes each, and in-place transposes, in registers, of vectors of N lanes (shuffle:
  /// lanes of x, then of y).
  ///
  /// join: a vector of quarters. from_quarters, to_quarters: of quarters in memory, `step` numbers apart.
  /// transpose_halves: the two squares of Q by Q in Q half lines.
  /// transpose_quarters: the squares of Q by Q, side by side in Q vectors, 16 bytes a row each.
  /// transpose_by_quarters: four vectors of four quarters as a square.
  /// transpose: N vectors as a square; within quarters first. Those shuffles are 1.3 a cycle (AMD EPYC), and go beside
  /// fused multiply-adds, which shuffles by indices of any lanes do not.
#if WARPDYN_FLOAT
  static inline VH two(VQ a, VQ b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7); }
  static inline void transpose_halves(VH* r) {
{ const VH x = r[0], y = r[1]; r[0] = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13); r[1] = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15); }
{ const VH x = r[2], y = r[3]; r[2] = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13); r[3] = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15); }
{ const VH x = r[0], y = r[2]; r[0] = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13); r[2] = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15); }
{ const VH x = r[1], y = r[3]; r[1] = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13); r[3] = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15); }
{ const VH x = r[1]; r[1] = r[2]; r[2] = x; }
  }
#else
  static inline VH two(VQ a, VQ b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3); }
  static inline void transpose_halves(VH* r) {
{ const VH x = r[0], y = r[1]; r[0] = __builtin_shufflevector(x, y, 0, 4, 2, 6); r[1] = __builtin_shufflevector(x, y, 1, 5, 3, 7); }
  }
#endif
#ifdef WARPDYN_NARROW
  static inline V join(const VQ* q) { return two(q[0], q[1]); }
  static inline void to_quarters(V r, T* p, I64 step) {
    typedef double W __attribute__((vector_size(32)));
    *(VQ*)p = (VQ)__builtin_shufflevector((W)r, (W)r, 0, 1);
    *(VQ*)(p + step) = (VQ)__builtin_shufflevector((W)r, (W)r, 2, 3);
  }
  static inline void transpose_quarters(V* r) { transpose_halves(r); }
  static inline void transpose(V* r) {
    typedef double W __attribute__((vector_size(32)));
    WARPDYN_UNROLL for (int k = 0; k < N; k += Q) transpose_halves(r + k);
    WARPDYN_UNROLL for (int k = 0; k < Q; ++k) {
      const W x = (W)r[k], y = (W)r[k + Q];
      r[k] = (V)__builtin_shufflevector(x, y, 0, 1, 4, 5);
      r[k + Q] = (V)__builtin_shufflevector(x, y, 2, 3, 6, 7);
    }
  }
#else
  static inline V join(const VQ* q) {
    typedef double H __attribute__((vector_size(32)));
    return (V)__builtin_shufflevector((H)two(q[0], q[1]), (H)two(q[2], q[3]), 0, 1, 2, 3, 4, 5, 6, 7);
  }
  static inline void to_quarters(V r, T* p, I64 step) {
    typedef double W __attribute__((vector_size(64)));
    *(VQ*)p = (VQ)__builtin_shufflevector((W)r, (W)r, 0, 1);
    *(VQ*)(p + step) = (VQ)__builtin_shufflevector((W)r, (W)r, 2, 3);
    *(VQ*)(p + 2 * step) = (VQ)__builtin_shufflevector((W)r, (W)r, 4, 5);
    *(VQ*)(p + 3 * step) = (VQ)__builtin_shufflevector((W)r, (W)r, 6, 7);
  }
#if WARPDYN_FLOAT
  static inline void transpose_quarters(V* r) {
{ const V x = r[0], y = r[1]; r[0] = __builtin_shufflevector(x, y, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29); r[1] = __builtin_shufflevector(x, y, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31); }
{ const V x = r[2], y = r[3]; r[2] = __builtin_shufflevector(x, y, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29); r[3] = __builtin_shufflevector(x, y, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31); }
{ const V x = r[0], y = r[2]; r[0] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[2] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[1], y = r[3]; r[1] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[3] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[1]; r[1] = r[2]; r[2] = x; }
  }
#else
  static inline void transpose_quarters(V* r) {
{ const V x = r[0], y = r[1]; r[0] = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14); r[1] = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15); }
  }
#endif
  static inline void transpose_by_quarters(V& a, V& b, V& c, V& d) {
    typedef double W __attribute__((vector_size(64)));
#define WARPDYN_EVEN(x, y) __builtin_shufflevector(x, y, 0, 1, 4, 5, 8, 9, 12, 13)
#define WARPDYN_ODD(x, y) __builtin_shufflevector(x, y, 2, 3, 6, 7, 10, 11, 14, 15)
    const W x = WARPDYN_EVEN((W)a, (W)b), y = WARPDYN_EVEN((W)c, (W)d), z = WARPDYN_ODD((W)a, (W)b), w = WARPDYN_ODD((W)c, (W)d);
    a = (V)WARPDYN_EVEN(x, y); b = (V)WARPDYN_EVEN(z, w); c = (V)WARPDYN_ODD(x, y); d = (V)WARPDYN_ODD(z, w);
  }
  static inline void transpose(V* r) {
    WARPDYN_UNROLL for (int k = 0; k < N; k += Q) transpose_quarters(r + k);
    WARPDYN_UNROLL for (int k = 0; k < Q; ++k) transpose_by_quarters(r[k], r[k + Q], r[k + 2 * Q], r[k + 3 * Q]);
  }
#endif
  static inline V from_quarters(const T* p, I64 step) {
    VQ q[N / Q];
    WARPDYN_UNROLL for (int k = 0; k < N / Q; ++k) q[k] = *(const VQ*)(p + k * step);
    return join(q);
  }
