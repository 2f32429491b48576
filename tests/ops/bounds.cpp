#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/pointwise_rows.h"

namespace hearth::testing {
namespace {

double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : a > b ? a : b;
}
double smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : a < b ? a : b;
}

Row clamp_row() {
  Row row = ternary_row(
      "clamp", [](const Tensors& in) { return in[0].clamp(in[1], in[2]); },
      [](const double* x) { return smaller(larger(x[0], x[1]), x[2]); });
  row.dtypes = dtypes::kReal;
  row.out = [](Tensor& out, const Tensors& in) { clamp_out(out, in[0], in[1], in[2]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.clamp_(in[1], in[2]); };
  row.refusals = {{[] { ones({2}).clamp(std::optional<Scalar>(), std::nullopt); },
                   "torch.clamp: At least one of 'min' or 'max' must not be None"},
                  {[] { ones({2}, kLong).clamp_(0.5); },
                   "result type Float can't be cast to the desired output type Long"}};
  return row;
}

const Register registered_bounds[] = {
    Register(POINTWISE_ROW2(maximum, Draw::kNormal, dtypes::kRealAndBool, larger(a, b))),
    Register(POINTWISE_ROW2(minimum, Draw::kNormal, dtypes::kRealAndBool, smaller(a, b))),
    Register(POINTWISE_ROW2(fmax, Draw::kNormal, dtypes::kRealAndBool, std::fmax(a, b))),
    Register(POINTWISE_ROW2(fmin, Draw::kNormal, dtypes::kRealAndBool, std::fmin(a, b))),
    Register(clamp_row()),
    Register(covering(with_integers(POINTWISE_ROW("clamp_numbers", clamp, Draw::kNormal,
                                                  smaller(larger(x, 0), 1), 0, 1)),
                      "clamp.number")),
    Register(covering(with_integers(POINTWISE_ROW("clamp_above", clamp, Draw::kNormal,
                                                  smaller(x, 1), std::nullopt, 1)),
                      "clamp.number")),
    Register(covering(
        with_integers(POINTWISE_ROW("clamp_min_number", clamp_min, Draw::kNormal, larger(x, 0), 0)),
        "clamp_min.number")),
    Register(covering(with_integers(POINTWISE_ROW("clamp_max_number", clamp_max, Draw::kNormal,
                                                  smaller(x, 1), 1)),
                      "clamp_max.number")),
    Register(with_inplace(
        POINTWISE_ROW2(clamp_min, Draw::kNormal, dtypes::kReal, larger(a, b)),
        [](Tensor& self, const Tensor& min) -> Tensor& { return self.clamp_min_(min); })),
    Register(with_inplace(
        POINTWISE_ROW2(clamp_max, Draw::kNormal, dtypes::kReal, smaller(a, b)),
        [](Tensor& self, const Tensor& max) -> Tensor& { return self.clamp_max_(max); })),
};

Tensor doubles(const std::vector<double>& values) { return tensor(values, TensorOptions(kDouble)); }

std::vector<double> gradient(const std::function<Tensor(const Tensor&)>& f, Tensor x) {
  x.requires_grad_();
  return to_array(autograd::grad({f(x).sum()}, {x})[0]).values;
}

TEST(Bounds, TheGradientAtANumberBoundIsZero) {
  using Values = std::vector<double>;
  const Tensor x = doubles({-2, -1, 0, 1, 2});
  EXPECT_EQ(gradient([](const Tensor& t) { return t.clamp(-1, 1); }, x), (Values{0, 0, 1, 0, 0}));
  EXPECT_EQ(gradient([](const Tensor& t) { return t.clip(1, -1); }, x), (Values{0, 0, 0, 0, 0}));
  EXPECT_EQ(gradient([](const Tensor& t) { return t.clamp_min(-1); }, x), (Values{0, 0, 1, 1, 1}));
  EXPECT_EQ(gradient([](const Tensor& t) { return t.clamp_max(-1); }, x), (Values{1, 0, 0, 0, 0}));
}

TEST(Bounds, TensorBoundsShareTheGradientOfEqualElements) {
  using Values = std::vector<double>;
  const Tensor x = doubles({-2, -1, 0, 1, 2, NAN}), low = full({6}, -1., kDouble),
               high = full({6}, 1., kDouble);
  EXPECT_EQ(gradient([&](const Tensor& t) { return t.clamp(low, high); }, x),
            (Values{0, 0.5, 1, 0.5, 0, 1}));
  EXPECT_EQ(gradient([&](const Tensor& t) { return x.clamp(t, high); }, low),
            (Values{1, 0.5, 0, 0, 0, 0}));
  EXPECT_EQ(gradient([&](const Tensor& t) { return x.clamp(high, t); }, low),
            (Values{1, 1, 1, 1, 1, 1}));
}

TEST(Bounds, NanBoundsGiveNanExceptInFmax) {
  EXPECT_TRUE(std::isnan(zeros({1}).clamp(NAN).item<float>()));
  EXPECT_EQ(full({1}, NAN).fmax(ones({1})).item<float>(), 1);
}

TEST(Bounds, NumberBoundsSaturateAndPromote) {
  const Tensor bytes = tensor({1, 2}, TensorOptions(kByte));
  EXPECT_TRUE(bytes.clamp(-1, 300).equal(bytes));
  EXPECT_EQ(bytes.clamp(0.5).scalar_type(), kFloat);
  EXPECT_EQ(ones({2}, kBool).clamp(0, 1).scalar_type(), kLong);
}

}  // namespace
}  // namespace hearth::testing
