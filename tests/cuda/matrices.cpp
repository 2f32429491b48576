// Kernels that run before and after cuSOLVER. Without cuSOLVER, no operator calls these kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/backends.h"
#include "kernels/cuda/linalg_kernels.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {
namespace {

/// A batch of 3 x 3 matrices, stored column by column, and a context for kernels.
struct Matrices {
  NativeStream stream;
  Ctx ctx{cpu_backend(), Device(DeviceType::CUDA, 0), &stream, nullptr};
  std::vector<float> values;
  View view;

  explicit Matrices(int64_t count) : values(size_t(count) * 9, 1.0F) {
    view.data = values.data();
    view.dtype = kFloat;
    view.dim = 3;
    view.numel = count * 9;
    const int64_t sizes[] = {count, 3, 3}, strides[] = {9, 1, 3};
    for (int d = 0; d < 3; ++d) {
      view.sizes[d] = sizes[d];
      view.strides[d] = strides[d];
    }
  }
  float& at(int matrix, int row, int column) {
    return values[size_t(matrix * 9 + column * 3 + row)];
  }
};

TEST(MatrixKernels, FindNonFiniteMatrices) {
  Matrices m(200);  // several blocks
  m.at(1, 0, 2) = HUGE_VALF;
  m.at(2, 2, 0) = -HUGE_VALF;
  m.at(3, 0, 0) = HUGE_VALF;
  m.at(3, 1, 1) = std::nanf("");
  m.at(199, 0, 1) = std::nanf("");
  const auto flags_of = [&](Part part) {
    std::vector<int> flags(200, 7);
    find_not_finite(m.view, part, flags.data(), m.ctx);
    for (int i = 4; i < 199; ++i) EXPECT_EQ(flags[size_t(i)], 0) << i;
    return std::vector<int>{flags[0], flags[1], flags[2], flags[3], flags[199]};
  };
  EXPECT_EQ(flags_of(Part::kAll), (std::vector<int>{0, kInfinite, kInfinite, kNan, kNan}));
  EXPECT_EQ(flags_of(Part::kUpper), (std::vector<int>{0, kInfinite, 0, kNan, kNan}));
  EXPECT_EQ(flags_of(Part::kLower), (std::vector<int>{0, 0, kInfinite, kNan, 0}));
}

TEST(MatrixKernels, FillAndReportFlaggedMatricesOnly) {
  Matrices m(3);
  const int flags[] = {0, kNan, kInfinite};
  fill_flagged(m.view, 9, flags, 0, m.ctx);
  for (size_t i = 0; i < 27; ++i) EXPECT_EQ(m.values[i], i < 9 ? 1 : 0) << i;
  int info[] = {5, 5, 5};
  set_info(info, 3, flags, -4, m.ctx);
  EXPECT_EQ((std::vector<int>(info, info + 3)), (std::vector<int>{5, -4, 0}));
}

TEST(MatrixKernels, CheckDiagonals) {
  Matrices m(4);
  m.at(1, 1, 1) = 0;
  m.at(2, 2, 2) = std::nanf("");
  m.at(3, 0, 0) = std::nanf("");
  int zeros[] = {0, 0, 0, 9}, nans[] = {0, 0, 0, 9};
  check_diagonal(m.view, true, zeros, m.ctx);
  check_diagonal(m.view, false, nans, m.ctx);
  EXPECT_EQ((std::vector<int>(zeros, zeros + 4)), (std::vector<int>{0, 2, 3, 9}));
  EXPECT_EQ((std::vector<int>(nans, nans + 4)), (std::vector<int>{0, 0, 3, 9}));
}

}  // namespace
}  // namespace hearth::cuda
