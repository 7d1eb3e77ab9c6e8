/// The functions that a program is cut into; members of Lanes.
///
/// Apart (noinline), because a compiler allots registers badly to thousands of statements at once.

/// [turns] Sines and cosines of a program's angles, in a table from which its parts read them: angle
/// k's at turn[2 * k] and turn[2 * k + 1]. One test for the whole block sends all to the long way.
  // Sines and cosines in a loop: inside the program they would be a large part of its code.
  static WARPDYN_APART void $name($parameters) {
$open
    VU far = {};
    const auto angle = [&](int k, V x) { turn[2 * k] = x; far = furthest(far, x); };
$angles
    const bool any_far = __builtin_expect(__builtin_reduce_or(is_far(far)) != 0, 0);
    for (int k = 0; !any_far && k < $turns; ++k) sincos_near(turn[2 * k], turn[2 * k], turn[2 * k + 1]);
    for (int k = 0; any_far && k < $turns; ++k) sincos(turn[2 * k], turn[2 * k], turn[2 * k + 1]);
  }
/// [part] One part of the program; values that later parts need are left in `work`.
  static WARPDYN_APART void $name($parameters) {
$open
$body
  }
/// [routine] A text that is written once and called for many columns.
  static WARPDYN_APART void $name(const V* shared, const V* column, V* out, V* work, const T* constants$tables) {
$body
  }

/// [copies] Values moved by tables of pairs: those of a workspace, by slots, to what a routine reads; a routine's
/// results to the places of outputs, past the cache or not.
  static WARPDYN_APART void copy(V* to, const V* work, const int* pair, int n) {
    for (int i = 0; i < n; ++i) to[pair[2 * i]] = work[pair[2 * i + 1]];
  }
  static WARPDYN_APART void put(T* p, const I64* place, bool stream, const V* from, const int* pair, int n, bool negative) {
    for (int i = 0; i < n; ++i) {
      const V x = from[pair[2 * i + 1]];
      store(p + place[pair[2 * i]], negative ? -x : x, stream);
    }
  }

/// [loop] A step that is repeated on its results: `out` holds the state from step to step, `then`
/// what a step makes of it. A loop's states may be kept behind its results, for one that goes back.
  static WARPDYN_APART void $name(const V* shared, const V* column, V* out, V* work, const T* constants$tables$more) {
    V* const then = work + $then;
    V* const turn = work + $turn;
    VI going = ~VI{};
    for (int k = 0; k < $size; ++k) out[k] = column[k];
    for (int step = 0; step < $times; ++step) {
$keep
$calls
$next
    }
  }
/// [next] The next state, in every lane.
      for (int k = 0; k < $size; ++k) out[k] = then[k];
/// [next_of_those_going] The next state in lanes that are not done; behind it stands which are now.
      for (int k = 0; k < $size; ++k) out[k] = going ? then[k] : out[k];
      going &= ~(then[$size] > 0);
      if (!__builtin_reduce_or(going)) break;
