// Copies between memory orders, which move blocks of elements.
#include <gtest/gtest.h>

#include "hearth/operators.h"

namespace hearth::testing {
namespace {

constexpr int64_t kImages = 3, kRows = 131, kColumns = 77;

/// The value of an element by its position, exact in every dtype but bool.
int64_t value_at(int64_t image, int64_t row, int64_t column) {
  return (image * 37 + row * 5 + column * 3) % 127;
}

void expect_values(const Tensor& tensor) {
  const Tensor numbers = tensor.to(kLong).contiguous();
  const int64_t* data = numbers.const_data_ptr<int64_t>();
  int64_t different = 0;
  for (int64_t i = 0; i < kImages; ++i)
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t c = 0; c < kColumns; ++c) {
        const int64_t wanted = value_at(i, r, c);
        different += *data++ != (tensor.scalar_type() == kBool ? wanted != 0 : wanted);
      }
  EXPECT_EQ(different, 0);
}

Tensor numbered(ScalarType dtype) {
  const Tensor image = arange(kImages).view({kImages, 1, 1}) * 37,
               row = arange(kRows).view({kRows, 1}) * 5, column = arange(kColumns) * 3;
  return (image + row + column).remainder(127).to(dtype);
}

TEST(CopyTransposed, KeepsEveryElement) {
  for (const ScalarType dtype :
       {kBool, kByte, kShort, kBFloat16, kFloat, kDouble, kComplexDouble}) {
    SCOPED_TRACE(toString(dtype));
    const Tensor x = numbered(dtype);
    // A contiguous copy of a transposed tensor, and a copy into one.
    const Tensor transposed = x.transpose(1, 2).contiguous();
    ASSERT_TRUE(transposed.is_contiguous());
    const Tensor moved = empty({kColumns, kImages, kRows}, x.options()).permute({1, 2, 0});
    moved.copy_(x);
    if (x.is_complex()) {
      expect_values(real(transposed.transpose(1, 2)));
      expect_values(real(moved));
    } else {
      expect_values(transposed.transpose(1, 2));
      expect_values(moved);
    }
  }
}

TEST(CopyTransposed, LeavesGapsUntouched) {
  const Tensor x = numbered(kFloat)[0], all = full({kColumns, 2 * kRows}, -1.f);
  const Tensor part = all.slice(1, 0, kRows);
  part.copy_(x.t());
  EXPECT_TRUE(equal(part, x.t().clone(MemoryFormat::Contiguous)));
  EXPECT_TRUE(all.slice(1, kRows).eq(-1).all().item<bool>());
}

}  // namespace
}  // namespace hearth::testing
