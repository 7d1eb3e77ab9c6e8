/// Sine and cosine of a CUDA thread, as lanes.h has them: no branch stands between the loads of a program.

/// [thread] Of an angle x and a number of quarter turns.
#if WARPDYN_FLOAT
auto sincos_near = [](const float x, const int quarters, float& s, float& c) {
  union { float number; int bits; } t;
  t.number = fmaf(x, 0.636619747f, 12582912.0f);
  const int k = t.bits + quarters;
  const float n = t.number - 12582912.0f;
  const float y = fmaf(n, -3.1391647326017846e-07f, fmaf(n, -1.57079601287841796875f, x)), z = y * y;
  const float sp = fmaf(y * z, fmaf(z, fmaf(z, -1.9515295891e-4f, 8.3321608736e-3f), -1.6666654611e-1f), y);
  const float cp = fmaf(z * z, fmaf(z, fmaf(z, 2.443315711809948e-5f, -1.388731625493765e-3f), 4.166664568298827e-2f),
                        fmaf(z, -0.5f, 1.0f));
#else
auto sincos_near = [](const double x, const int quarters, double& s, double& c) {
  union { double number; long long bits; } t;
  t.number = fma(x, 0.63661977236758134308, 6755399441055744.0);
  const int k = (int)t.bits + quarters;
  const double n = t.number - 6755399441055744.0;
  const double y = fma(n, -6.12323399573676603587e-17, fma(n, -1.57079632679489655800e+00, x)), z = y * y;
  double sp = fma(z, 1.58962301576546568060E-10, -2.50507477628578072866E-8);
  sp = fma(z, sp, 2.75573136213857245213E-6);
  sp = fma(z, sp, -1.98412698295895385996E-4);
  sp = fma(z, sp, 8.33333333332211858878E-3);
  sp = fma(z, sp, -1.66666666666666307295E-1);
  sp = fma(y * z, sp, y);
  double cp = fma(z, -1.13585353213876817300E-11, 2.08757008417747316778E-9);
  cp = fma(z, cp, -2.75573141792967388112E-7);
  cp = fma(z, cp, 2.48015872888517045348E-5);
  cp = fma(z, cp, -1.38888888888730564116E-3);
  cp = fma(z, cp, 4.16666666666665929218E-2);
  cp = fma(z * z, cp, fma(z, -0.5, 1.0));
#endif
  s = k & 1 ? cp : sp;
  c = k & 1 ? sp : cp;
  s = k & 2 ? -s : s;
  c = (k + 1) & 2 ? -c : c;
};
/// [far] Angles for which `sincos_near` is not exact, as quarter turns and the rest. They are in arrays, so that the
/// library's long functions are there once.
#pragma unroll 1
for (int k = 0; k < $count; ++k)
  if ($is_far) {
    const double s = sin((double)far[k]), c = cos((double)far[k]);
    const bool across = fabs(s) > fabs(c);
    const double x = across ? s : c, y = across ? -c : s;
    far[k] = (T)atan2(x < 0 ? -y : y, fabs(x));
    quarters[k] = across + (x < 0 ? 2 : 0);
  }
/// [far_function] The same as a function, for a program in several parts.
struct Far {
  static __device__ __noinline__ void reduce(T* far, int* quarters, const int count) {
    $body
  }
};
