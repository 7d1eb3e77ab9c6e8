/// The CPU form of a straight-line program: environments in blocks of N, one a lane (cpu.py).

/// [block] What every part receives; a member of Lanes.
  // Where the arrays of N environments lie, `here` of them from the e-th on, and what is known of them.
  struct Block {
    I64 e;
    int here;
    const T* constants;
    V *turn, *work;
$fields
  };

/// [companion] The function of an extra unit that calls its parts (translation_units.py), a member of Lanes.
  static void run(const Block* blocks, int group) {
$calls
  }
/// [address] The body of an extra unit: it writes the address of its function to the place in args[0].
*(I64*)args[0] = (I64)&Lanes::run;

/// [companions] Before the body of a kernel with extra units: with a count below zero, args[0] holds their addresses.
static void (*companions[$number])(const Lanes::Block*, int);
if (args[1] < 0) {
  for (int k = 0; k < $number; ++k) companions[k] = ((void (**)(const Lanes::Block*, int))args[0])[k];
  return;
}
/// [run] The body of the kernel. A group of blocks goes through one part before the next part, so
/// that a part's code is fetched once for all of them; tiles are emptied when the last part is done.
$arguments
$constants
V turn[$blocks][2 * $turns + 1] __attribute__((aligned(64))), work[$blocks][$work] __attribute__((aligned(64)));
Lanes::Block blocks[$blocks];
const I64 end = first + count;
for (I64 e = first; e < end;) {
  int group = 0;
  for (; group < $blocks && e < end; ++group, e += N) {
    const int here = end - e < N ? (int)(end - e) : (int)N;
    Lanes::Block& at = blocks[group];
    at.e = e; at.here = here; at.constants = constants; at.turn = turn[group]; at.work = work[group];
$fill
    Lanes::turns(at);
  }
$calls
  for (int k = 0; k < group; ++k) {
    const Lanes::Block& at = blocks[k];
    const I64 e = at.e;
    const int here = at.here;
$empty
  }
}
$last
