  /// In-place transposes, in registers, of vectors of N lanes (shuffle: lanes of x, then of y).
  ///
  /// transpose: N vectors as a square. One stage for each power of two d, from N / 2 down to 1: of
  /// rows i and i + d, the lanes with bit d of the upper change places with those without of the lower.
  /// transpose_quarters: the four squares of Q by Q, side by side in Q vectors, 16 bytes a row each.
  /// transpose_halves: the two squares of Q by Q in Q half vectors.
#if WARPDYN_FLOAT
  static inline void transpose(V* r) {
{ const V x = r[0], y = r[8]; r[0] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23); r[8] = __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
{ const V x = r[1], y = r[9]; r[1] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23); r[9] = __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
{ const V x = r[2], y = r[10]; r[2] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23); r[10] = __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
{ const V x = r[3], y = r[11]; r[3] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23); r[11] = __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
{ const V x = r[4], y = r[12]; r[4] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23); r[12] = __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
{ const V x = r[5], y = r[13]; r[5] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23); r[13] = __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
{ const V x = r[6], y = r[14]; r[6] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23); r[14] = __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
{ const V x = r[7], y = r[15]; r[7] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23); r[15] = __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
{ const V x = r[0], y = r[4]; r[0] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27); r[4] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
{ const V x = r[1], y = r[5]; r[1] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27); r[5] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
{ const V x = r[2], y = r[6]; r[2] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27); r[6] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
{ const V x = r[3], y = r[7]; r[3] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27); r[7] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
{ const V x = r[8], y = r[12]; r[8] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27); r[12] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
{ const V x = r[9], y = r[13]; r[9] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27); r[13] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
{ const V x = r[10], y = r[14]; r[10] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27); r[14] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
{ const V x = r[11], y = r[15]; r[11] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27); r[15] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
{ const V x = r[0], y = r[2]; r[0] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[2] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[1], y = r[3]; r[1] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[3] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[4], y = r[6]; r[4] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[6] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[5], y = r[7]; r[5] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[7] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[8], y = r[10]; r[8] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[10] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[9], y = r[11]; r[9] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[11] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[12], y = r[14]; r[12] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[14] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[13], y = r[15]; r[13] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[15] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[0], y = r[1]; r[0] = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30); r[1] = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
{ const V x = r[2], y = r[3]; r[2] = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30); r[3] = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
{ const V x = r[4], y = r[5]; r[4] = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30); r[5] = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
{ const V x = r[6], y = r[7]; r[6] = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30); r[7] = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
{ const V x = r[8], y = r[9]; r[8] = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30); r[9] = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
{ const V x = r[10], y = r[11]; r[10] = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30); r[11] = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
{ const V x = r[12], y = r[13]; r[12] = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30); r[13] = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
{ const V x = r[14], y = r[15]; r[14] = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30); r[15] = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
  }
  static inline void transpose_quarters(V* r) {
{ const V x = r[0], y = r[1]; r[0] = __builtin_shufflevector(x, y, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29); r[1] = __builtin_shufflevector(x, y, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31); }
{ const V x = r[2], y = r[3]; r[2] = __builtin_shufflevector(x, y, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29); r[3] = __builtin_shufflevector(x, y, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31); }
{ const V x = r[0], y = r[2]; r[0] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[2] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[1], y = r[3]; r[1] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29); r[3] = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
{ const V x = r[1]; r[1] = r[2]; r[2] = x; }
  }
  static inline void transpose_halves(VH* r) {
{ const VH x = r[0], y = r[1]; r[0] = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13); r[1] = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15); }
{ const VH x = r[2], y = r[3]; r[2] = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13); r[3] = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15); }
{ const VH x = r[0], y = r[2]; r[0] = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13); r[2] = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15); }
{ const VH x = r[1], y = r[3]; r[1] = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13); r[3] = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15); }
{ const VH x = r[1]; r[1] = r[2]; r[2] = x; }
  }
#else
  static inline void transpose(V* r) {
{ const V x = r[0], y = r[4]; r[0] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11); r[4] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15); }
{ const V x = r[1], y = r[5]; r[1] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11); r[5] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15); }
{ const V x = r[2], y = r[6]; r[2] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11); r[6] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15); }
{ const V x = r[3], y = r[7]; r[3] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11); r[7] = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15); }
{ const V x = r[0], y = r[2]; r[0] = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13); r[2] = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15); }
{ const V x = r[1], y = r[3]; r[1] = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13); r[3] = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15); }
{ const V x = r[4], y = r[6]; r[4] = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13); r[6] = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15); }
{ const V x = r[5], y = r[7]; r[5] = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13); r[7] = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15); }
{ const V x = r[0], y = r[1]; r[0] = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14); r[1] = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15); }
{ const V x = r[2], y = r[3]; r[2] = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14); r[3] = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15); }
{ const V x = r[4], y = r[5]; r[4] = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14); r[5] = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15); }
{ const V x = r[6], y = r[7]; r[6] = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14); r[7] = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15); }
  }
  static inline void transpose_quarters(V* r) {
{ const V x = r[0], y = r[1]; r[0] = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14); r[1] = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15); }
  }
  static inline void transpose_halves(VH* r) {
{ const VH x = r[0], y = r[1]; r[0] = __builtin_shufflevector(x, y, 0, 4, 2, 6); r[1] = __builtin_shufflevector(x, y, 1, 5, 3, 7); }
  }
#endif
