/// The CPU form of a program with a loop: a lane whose environment is done takes the next one
/// (cpu_loop.py).

/// [moves] One lane of a tile, in and out; members of Lanes.
  // n entries of one environment, p its first, into a lane of a tile, and back.
  static WARPDYN_APART void enter(V* tile, int lane, const T* p, const I64* offset, int n) {
    for (int k = 0; k < n; ++k) tile[k][lane] = p[offset[k]];
  }
  static WARPDYN_APART void leave(const V* tile, int lane, T* p, const I64* offset, int n) {
    for (int k = 0; k < n; ++k) p[offset[k]] = tile[k][lane];
  }

/// [arrays] Where arrays lie, and the memory that the phases share.
$arguments
$constants
$tiles
V turn[2 * $turns + 1] __attribute__((aligned(64))), work[$work] __attribute__((aligned(64)));

/// [refilled] The loop: `at` says which environment is in a lane (-1: none), `over` which are done
/// and wait until a whole vector of them is finished together. What comes before the loop is
/// computed for a whole vector too, from which lanes take one environment after another. Two states
/// change places, so that a step reads one and writes the other; behind a state it says that it is
/// done.
V states[2][$size + 1] __attribute__((aligned(64))) = {};
V *state = states[0], *then = states[1];
const I64 end = first + count;
I64 next = first, ready = first, at[N], over[N];
int steps[N], busy = 0, waiting = 0, filled = 0, used = 0;
const auto enter = [&](int l) {
  at[l] = -1;
  if (used == filled) {
    used = 0;
    filled = end - next < N ? (int)(end - next) : (int)N;
    if (!filled) return false;
    ready = next;
    next += filled;
    for (int j = 0; j < filled; ++j) { $enter_ready }
$before
  }
  for (int k = 0; k < $carried; ++k) carried[k][l] = carried_ready[k][used];
  for (int k = 0; k < $size; ++k) state[k][l] = state_ready[k][used];
  at[l] = ready + used++;
  steps[l] = 0;
  return true;
};
for (int l = 0; l < N; ++l) busy += enter(l);
while (busy) {
$step
  V* const swapped = state; state = then; then = swapped;
  for (int l = 0; l < N; ++l) {
    if (at[l] < 0 || (!(state[$size][l] > 0) && ++steps[l] < $most_steps)) continue;
    for (int k = 0; k < $carried; ++k) carried_ended[k][waiting] = carried[k][l];
    for (int k = 0; k < $size; ++k) state_ended[k][waiting] = state[k][l];
    over[waiting++] = at[l];
    busy -= !enter(l);
    if (waiting == N || !busy) {
      for (int j = 0; j < waiting; ++j) { $enter_ended }
$finish
      for (int j = 0; j < waiting; ++j) { $leave }
      waiting = 0;
    }
  }
}
