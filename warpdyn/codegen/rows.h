/// Rows of arrays through shared memory (cuda_rows.py): the lanes of a warp read and write neighbouring
/// numbers, while each lane works on a row of its own. `lane` of `lanes`; `here` environments of this warp.

/// [thread]
// This lane's share of the warp's rows of n numbers, which follow each other from `from` on. Without `dense` they are
// one row for all environments.
auto take_rows = [&](T* share, const T* from, const int n, const bool dense) {
#pragma unroll
  for (int j = 0; j < n; ++j) {
    const int k = dense ? j * lanes + lane : j;
    share[j] = k < here * n ? from[k] : T(0);
  }
};
// The shares of all lanes into rows of shared memory.
auto put_rows = [&](const T* share, T* into, const int n, const int width, const bool dense) {
#pragma unroll
  for (int j = 0; j < n; ++j) {
    const int k = j * lanes + lane;
    const int place = dense ? k + k / n * (width - n) : lane * width + j;
    if (!dense | (k < here * n)) into[place] = share[j];
  }
};
// n numbers of each row in shared memory to rows that are `row` numbers apart, the first of them at `to`.
auto write_rows = [&](const T* from, T* to, const int n, const int width, const I64 row) {
  __syncwarp();
#pragma unroll 4
  for (int j = 0; j < n; ++j) {
    const int k = j * lanes + lane, r = k / n, i = k - r * n;
    if (r < here) to[r * row + i] = from[r * width + i];
  }
  __syncwarp();
};
