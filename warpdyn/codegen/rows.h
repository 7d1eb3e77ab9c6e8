/// Rows of arrays through shared memory (cuda_rows.py): the lanes of a warp read and write neighbouring
/// numbers, while each lane works on a row of its own. `lane` of `lanes`, `warp` of `warps`; `here` environments of this
/// block.

/// [thread]
// This thread's share of the block's rows of n numbers, which follow each other from `from` on. Without `dense` they
// are one row for all environments. A block has `warps` warps, each with `lanes` lanes.
auto take_rows = [&](T* share, const T* from, const int n, const bool dense) {
#pragma unroll
  for (int j = 0; j < (n + warps - 1) / warps; ++j) {
    const int part = j * warps + warp;
    const int k = dense ? part * lanes + lane : part;
    share[j] = k < (dense ? here * n : n) ? from[k] : T(0);
  }
};
// The shares of all threads into rows of shared memory.
auto put_rows = [&](const T* share, T* into, const int n, const int width, const bool dense) {
#pragma unroll
  for (int j = 0; j < (n + warps - 1) / warps; ++j) {
    const int part = j * warps + warp;
    const int k = part * lanes + lane;
    const int place = dense ? k + k / n * (width - n) : lane * width + part;
    if (k < (dense ? here : lanes) * n) into[place] = share[j];
  }
};
// Rows of n numbers in shared memory to memory where they follow each other.
auto write_rows = [&](const T* from, T* to, const int n, const int width) {
  __syncwarp();
  if (here == 32) {
#pragma unroll
    for (int j = 0; j < n; ++j) {
      const int k = j * 32 + lane;
      to[k] = from[k + k / n * (width - n)];
    }
  } else {
#pragma unroll 1
    for (int k = lane; k < here * n; k += lanes) to[k] = from[k + k / n * (width - n)];
  }
  __syncwarp();
};
// n numbers of each row in shared memory to a part of rows that are `row` numbers apart.
auto write_parts = [&](const T* from, T* to, const int n, const int width, const int row) {
  __syncwarp();
  if (n <= lanes / 2) {  // a lane for each number of several rows
#pragma unroll 1
    for (int k = lane; k < here * n; k += lanes) to[k / n * row + k % n] = from[k / n * width + k % n];
  } else
#pragma unroll 1
  for (int i = lane; i < n; i += lanes) {
    if (here == 32) {
#pragma unroll
      for (int r = 0; r < 32; ++r) to[r * row + i] = from[r * width + i];
    } else {
#pragma unroll 1
      for (int r = 0; r < here; ++r) to[r * row + i] = from[r * width + i];
    }
  }
  __syncwarp();
};
