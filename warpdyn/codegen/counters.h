/// Random numbers of a thread: a hash of counters, for CUDA; lanes.h has the form for lanes.
#if WARPDYN_FLOAT
typedef float T;
#else
typedef double T;
#endif

/// [thread] PCG4D, see `uniform` of algebra/scalar.py.

#if WARPDYN_FLOAT
auto uniform = [](float seed, float stream, float count, float draw) {
#else
auto uniform = [](double seed, double stream, double count, double draw) {
#endif
  unsigned a = (unsigned)seed * 1664525u + 1013904223u, b = (unsigned)stream * 1664525u + 1013904223u;
  unsigned c = (unsigned)count * 1664525u + 1013904223u, d = (unsigned)draw * 1664525u + 1013904223u;
  a += b * d; b += c * a; c += a * b; d += b * c;
  a ^= a >> 16; b ^= b >> 16; d ^= d >> 16;
  a += b * d;
#if WARPDYN_FLOAT
  return (a >> 8) * 5.9604644775390625e-8f;
#else
  return (a >> 8) * 5.9604644775390625e-8;
#endif
};
