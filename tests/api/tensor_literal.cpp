#include "hearth/tensor_literal.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/support/throws.h"

namespace {

using namespace hearth;
using hearth::testing::error_of;

std::string text(const Tensor& t) { return to_string(t); }
std::vector<int64_t> shape(const Tensor& t) { return t.sizes().vec(); }
using Shape = std::vector<int64_t>;

TEST(TensorLiteral, DtypeMatchesPython) {
  EXPECT_EQ(tensor(1).dtype(), kLong);
  EXPECT_EQ(tensor(1.5).dtype(), kFloat);
  EXPECT_EQ(tensor(1.5f).dtype(), kFloat);
  EXPECT_EQ(tensor(true).dtype(), kBool);
  EXPECT_EQ(tensor(Half(1.5f)).dtype(), kHalf);
  EXPECT_EQ(tensor(complex<double>(1, 2)).dtype(), kComplexDouble);
  EXPECT_EQ(tensor(std::vector<int16_t>{1, 2}).dtype(), kShort);
  EXPECT_EQ(tensor(std::vector<int>{1, 2}).dtype(), kLong);
  EXPECT_EQ(tensor({uint8_t{1}}).dtype(), kByte);
  set_default_dtype(kDouble);
  const ScalarType as_default = tensor({1.5f}).scalar_type();
  set_default_dtype(kFloat);
  EXPECT_EQ(as_default, kDouble);
}

TEST(TensorLiteral, DtypeCanMatchCpp) {
  const auto exact = [](const detail::TensorLiteral& values) {
    return detail::tensor_of(values, {}, detail::LiteralDtype::kAsInCpp).scalar_type();
  };
  EXPECT_EQ(exact({1, 2}), kInt);
  EXPECT_EQ(exact({int64_t{1}}), kLong);
  EXPECT_EQ(exact({1.5f}), kFloat);
  EXPECT_EQ(exact({1.5}), kDouble);
  EXPECT_EQ(exact({true}), kBool);
}

TEST(TensorLiteral, HoldsTheValues) {
  EXPECT_EQ(text(tensor(3)), "tensor(3)");
  EXPECT_EQ(text(tensor(0.5)), "tensor(0.5000)");
  EXPECT_EQ(text(tensor({1, 2})), "tensor([1, 2])");
  EXPECT_EQ(text(tensor({{1.5, 2.5}, {3., 4.}})),
            "tensor([[1.5000, 2.5000],\n        [3.0000, 4.0000]])");
  EXPECT_EQ(text(tensor({true, false})), "tensor([ True, False])");
  EXPECT_EQ(text(tensor({complex<float>(1, -2)})), "tensor([1.-2.j])");
  EXPECT_EQ(text(tensor({{1}, {2}})), "tensor([[1],\n        [2]])");
  EXPECT_EQ(text(tensor({{std::nan("")}})), "tensor([[nan]])");
  const std::vector<double> values = {1, 2, 0.25};
  EXPECT_EQ(text(tensor(values)), "tensor([1.0000, 2.0000, 0.2500])");
  EXPECT_EQ(text(tensor(ArrayRef<bool>({true, false}))), "tensor([ True, False])");
  const std::array<int64_t, 2> two = {7, 8};
  EXPECT_EQ(text(tensor(ArrayRef<int64_t>(two))), "tensor([7, 8])");
  EXPECT_EQ(text(tensor({values, values}, kLong)), "tensor([[1, 2, 0],\n        [1, 2, 0]])");
}

TEST(TensorLiteral, CopiesVectors) {
  std::vector<float> values = {1, 2};
  const Tensor t = tensor(values);
  values[0] = 5;
  EXPECT_EQ(text(t), "tensor([1., 2.])");
}

TEST(TensorLiteral, HasTheShapeOfTheNestedLists) {
  EXPECT_EQ(shape(tensor({})), Shape({0}));
  EXPECT_EQ(tensor({}).dtype(), kFloat);
  EXPECT_EQ(shape(tensor({{}, {}})), Shape({2, 0}));
  EXPECT_EQ(shape(tensor(std::vector<int>())), Shape({0}));
  EXPECT_EQ(shape(tensor({{{1, 2, 3}}, {{4, 5, 6}}})), Shape({2, 1, 3}));
  EXPECT_EQ(shape(tensor({{{{{{{{{{1, 2}}}}}}}}}})), Shape({1, 1, 1, 1, 1, 1, 1, 1, 1, 2}));
}

TEST(TensorLiteral, AppliesOptions) {
  EXPECT_EQ(text(tensor({1.7, -2.2}, kInt)), "tensor([ 1, -2], dtype=torch.int32)");
  EXPECT_EQ(text(tensor({1, 0}, kBool)), "tensor([ True, False])");
  EXPECT_EQ(text(tensor({1, 2}, dtype(kDouble).requires_grad(true))),
            "tensor([1., 2.], dtype=torch.float64, requires_grad=True)");
  EXPECT_TRUE(tensor({1., 2.}, requires_grad()).is_leaf());
  EXPECT_TRUE(tensor({1, 2}, device(kMeta)).is_meta());
}

TEST(TensorLiteral, ReportsErrors) {
  EXPECT_EQ(error_of([] {
              tensor({{{2, 3, 4}}, {{5, 6}}});
            }),
            "Expected all sub-lists to have sizes: 1 3 (e.g. {{2, 3, 4}}), but got sub-list {{5, "
            "6}} with sizes: 1 2");
  EXPECT_EQ(error_of([] {
              tensor({{{2.5, 3.}}, {{5., 6.}, {7., 8.}}});
            }),
            "Expected all sub-lists to have sizes: 1 2 (e.g. {{2.5, 3}}), but got sub-list {{5, "
            "6}, {7, 8}} with "
            "sizes: 2 2");
  EXPECT_EQ(
      error_of([] {
        tensor({{true, false}, {true}});
      }),
      "Expected all sub-lists to have sizes: 2 (e.g. {1, 0}), but got sub-list {1} with sizes: 1");
  EXPECT_EQ(error_of([] {
              tensor({{1, 2}, {3, 2}, {1.5f, 2.f}});
            }),
            "Expected all elements of the tensor to have the same scalar type: Int, but got "
            "element of scalar type: "
            "Float");
  EXPECT_NE(error_of([] {
              tensor({complex<float>(1, 2)}, kFloat);
            }).find("complex can not be casted to real"),
            std::string::npos);
}

}  // namespace
