#pragma once

#include <cstdint>

namespace hearth::cpu {

/// The loops of softmax and attention over n contiguous elements of one type, which belong to one
/// line or to n lines side by side. m (a maximum), s (a sum) and factor point to one value for each
/// line.
struct SoftmaxLoops {
  /// m = max(m, x); a NaN in x is ignored.
  using Max = void (*)(const void* x, int64_t n, void* m);
  /// y = exp(x - m), s += y; y may be null.
  using ExpSum = void (*)(const void* x, void* y, int64_t n, const void* m, void* s);
  /// y += x.
  using Add = void (*)(const void* x, void* y, int64_t n);
  /// y = x * factor.
  using Scale = void (*)(const void* x, void* y, int64_t n, const void* factor);
  /// y = kept ? y * factor : y * 0, so that NaN and infinities stay visible.
  using Drop = void (*)(const bool* kept, void* y, int64_t n, const void* factor);
  /// y = x - m - s; here s is the logarithm of a sum.
  using Shift = void (*)(const void* x, void* y, int64_t n, const void* m, const void* s);
  /// s += g * y, or, for log_softmax, s += g.
  using Dot = void (*)(const void* g, const void* y, int64_t n, void* s);
  /// d = y * (g - s), or, for log_softmax, d = g - exp(y) * s.
  using Gradient = void (*)(const void* g, const void* y, void* d, int64_t n, const void* s);
  Max max[2];  // [side by side], as in the other arrays
  ExpSum exp_sum[2];
  Add add;
  Scale scale[2];
  Drop drop;
  Shift shift[2];
  Dot dot[2][2];            // [side by side][for log_softmax]
  Gradient gradient[2][2];  // as dot
};

struct SoftmaxTable {
  SoftmaxLoops f32, f64;
};

extern const SoftmaxTable softmax_table_avx2;
extern const SoftmaxTable softmax_table_avx512;
extern const SoftmaxTable softmax_table_generic;

}  // namespace hearth::cpu
