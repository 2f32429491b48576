// Headers that custom operators and kernels include: element types for sums, constants, guards. The
// expected results are LibTorch's.
#include <ATen/AccumulateType.h>
#include <ATen/NumericUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/util/MathConstants.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/overloaded.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <variant>

namespace {

TEST(Extensions, ElementTypesOfSums) {
  static_assert(std::is_same_v<at::acc_type<float, false>, double>);
  static_assert(std::is_same_v<at::acc_type<float, true>, float>);
  static_assert(std::is_same_v<at::acc_type<double, true>, double>);
  static_assert(std::is_same_v<at::acc_type<at::Half, false>, float>);
  static_assert(std::is_same_v<at::acc_type<int32_t, true>, int64_t>);
  static_assert(std::is_same_v<at::acc_type<uint8_t, false>, int64_t>);
  static_assert(std::is_same_v<at::acc_type<bool, false>, bool>);
  static_assert(std::is_same_v<at::opmath_type<at::BFloat16>, float>);
  static_assert(std::is_same_v<at::opmath_type<int64_t>, int64_t>);
  EXPECT_EQ(at::toOpMathType(at::kHalf), at::kFloat);
  EXPECT_EQ(at::toOpMathType(at::kDouble), at::kDouble);
}

// As kernels are written for all floating types, also the half ones.
TEST(Extensions, SumsInTheElementsType) {
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const auto x = torch::arange(1, 5, type);
    double total = 0;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "sum", [&] {
      const auto values = x.accessor<const scalar_t, 1>();
      scalar_t sum = 0;
      for (int64_t i = 0; i < values.size(0); ++i) sum += values[i] * 2;
      sum = std::max(sum, -sum);
      total = static_cast<double>(sum);
    });
    EXPECT_EQ(total, 20);
  }
}

TEST(Extensions, Numbers) {
  EXPECT_EQ(at::ceil_div<int64_t>(7, 3), 3);
  EXPECT_EQ(at::round_up(7, 4), 8);
  EXPECT_TRUE(at::_isnan(NAN) && !at::_isnan(3) && at::_isinf(INFINITY));
  EXPECT_EQ(c10::pi<double>, std::acos(-1.0));
  EXPECT_FLOAT_EQ(c10::sqrt_2<float>, std::sqrt(2.0F));
}

TEST(Extensions, Helpers) {
  int calls = 0;
  {
    const auto exit = c10::make_scope_exit([&] { ++calls; });
    auto released = c10::make_scope_exit([&] { ++calls; });
    released.release();
  }
  EXPECT_EQ(calls, 1);
  const std::variant<int, std::string> value = std::string("text");
  EXPECT_EQ(std::visit(c10::overloaded([](int) { return 1; }, [](const std::string&) { return 2; }),
                       value),
            2);
  EXPECT_FALSE(torch::mps::is_available());
  EXPECT_FALSE(torch::xpu::is_available());
}

TEST(Extensions, GuardsAndBuilders) {
  const auto x = torch::ones({2}).requires_grad_();
  {
    const at::AutoDispatchBelowAutograd guard;
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
  float data[] = {1, 2, 3, 4};
  const auto t = at::for_blob(data, {2, 2}).strides({{1, 2}}).make_tensor();
  EXPECT_EQ(t[0][1].item<float>(), 3);
}

TEST(Extensions, NamesOfModules) {
  EXPECT_EQ(torch::nn::Linear(1, 2)->name(), "torch::nn::LinearImpl");
}

}  // namespace
