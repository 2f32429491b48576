#pragma once

#include <cstdint>

namespace hearth::cpu {

/// The most lines that are transformed at once, one in each lane of a vector.
inline constexpr int kMaxFftLanes = 16;

/// One stage of a transform: `radix` transforms of `length` points become one.
template <class T>
struct FftStage {
  int radix;
  int64_t length;
  const T* twiddles;  // exp(-2 pi i c k / (radix * length)) for k < length, 0 < c < radix
  const T* roots;     // exp(-2 pi i j / radix) for j < radix
};

/// Lines in memory, at most as many as there are lanes. A line is a sequence of pairs of numbers:
/// real and imaginary parts, or two neighbours of a real line; without `pair`, of single numbers.
template <class T>
struct FftLines {
  T* data = nullptr;
  int64_t offsets[kMaxFftLanes];  // of each line; lanes without a line repeat the first
  int count = 0;
  /// From each line to the next if all distances are equal and no lane is empty, else 0.
  int64_t apart = 0;
  int64_t step = 2;  // from a pair to the next
  int64_t pair = 1;  // from a pair's first number to its second, or kNone

  static constexpr int64_t kNone = INT64_MIN;
  [[gnu::always_inline]] bool has_second() const { return pair != kNone; }
};

/// How pairs are read or written: `swap` exchanges both numbers (on both sides of a forward
/// transform, this makes it a backward one); `first` and `second` are factors of the numbers in
/// memory.
template <class T>
struct FftPairs {
  bool swap = false;
  T first = 1, second = 1;
};

/// The loops over lines in a buffer of complex numbers, one number of each line side by side: the
/// real parts of all lanes, then the imaginary parts.
template <class T>
struct FftLoops {
  int lanes;
  /// buffer[slots[i]] = pair i, for i < n.
  void (*load)(const FftLines<T>& lines, int64_t n, const int64_t* slots, const FftPairs<T>& pairs,
               T* buffer);
  /// pair i = buffer[i], for i < n.
  void (*store)(const T* buffer, int64_t n, const FftPairs<T>& pairs, const FftLines<T>& lines);
  /// Transforms a buffer in place, from the order of the plan's slots to the natural order.
  void (*transform)(const FftStage<T>* stages, int count, T* buffer);
  /// out[slots[i]] = in[i] * factors[i], for i < n; swap_in and swap_out exchange the real and
  /// imaginary parts of in and of out.
  void (*multiply)(const T* in, int64_t n, const T* factors, const int64_t* slots, bool swap_in,
                   bool swap_out, T* out);
  /// out[slots[i]] = 0, for i < n.
  void (*clear)(int64_t n, const int64_t* slots, T* out);
  /// buffer[k] *= the complex number at table[k * row + 2 * lane] in each lane, for k < n.
  void (*rotate)(const T* table, int64_t row, int64_t n, T* buffer);
  /// buffer[i] *= weight, for first <= i < end.
  void (*weigh)(T weight, int64_t first, int64_t end, T* buffer);
  /// The half spectrum (half + 1 numbers) of 2 * half real numbers, from the transform of their
  /// pairs; twiddles are exp(-2 pi i k / (2 * half)).
  void (*split_pairs)(const T* twiddles, int64_t half, T* buffer);
  /// Twice the inverse of split_pairs, with real and imaginary parts exchanged; number i goes to
  /// out[slots[i]].
  void (*join_pairs)(const T* in, const T* twiddles, int64_t half, const int64_t* slots, T* out);
  /// The whole spectrum from its half, for an odd n, exchanged and placed as by join_pairs.
  void (*unfold)(const T* in, int64_t n, const int64_t* slots, T* out);
};

struct FftTable {
  FftLoops<float> f32, f32_one_lane;
  FftLoops<double> f64, f64_one_lane;
};

extern const FftTable fft_table_avx2;
extern const FftTable fft_table_avx512;
extern const FftTable fft_table_generic;

}  // namespace hearth::cpu
