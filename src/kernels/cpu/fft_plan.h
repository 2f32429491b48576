#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/fft_kernels.h"

namespace hearth::cpu {

/// How a plan transforms lines.
enum class FftMethod : unsigned char {
  kStages,        // one stage per small factor of the length
  kConvolution,   // as a convolution with a chirp (Bluestein): lengths with a large prime factor
  kGrid,          // as a matrix: its columns, then its rows; for a line that all threads transform
  kRealTwiddles,  // no transform: the factors between a real line and the transform of its pairs
};

/// The tables for transforms of n numbers.
template <class T>
struct FftPlan {
  using Pointer = std::shared_ptr<const FftPlan>;

  int64_t n = 0;
  FftMethod method = FftMethod::kStages;
  std::vector<FftStage<T>> stages;
  std::vector<int64_t> slots;  // the position of number i in the buffer to transform
  /// Complex factors: of all stages, the chirp, the matrix's elements or a real line.
  std::vector<T> twiddles;
  std::vector<T> spectrum;  // the transform of the conjugate chirp
  /// Plans of inner transforms. kConvolution: `first` is that of its transforms; kGrid: `first` is
  /// that of the columns, `second` that of the rows. Else null.
  Pointer first, second;

  size_t bytes() const {
    return sizeof *this + sizeof(FftStage<T>) * stages.size() +
           sizeof(T) * (twiddles.size() + spectrum.size()) + sizeof(int64_t) * slots.size();
  }
};

/// The method for lines of n numbers; n > 0.
FftMethod fft_method(int64_t n);
/// The length of the transforms in the convolution for n numbers.
int64_t fft_convolution_size(int64_t n);
/// The number of rows of the matrix for n numbers, near the square root of n and at least
/// kMaxFftLanes; 0 if n has large prime factors or no such divisor.
int64_t fft_grid_rows(int64_t n);

/// The plan from a cache of bounded size, or a new one.
template <class T>
typename FftPlan<T>::Pointer fft_plan(int64_t n, FftMethod method);

}  // namespace hearth::cpu
