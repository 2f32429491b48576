// Values, dtypes, errors and names of nodes that do not follow from an operator's mathematical
// definition. The expected ones are LibTorch 2.15's or derived here.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/indexing.h"
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/near.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

TEST(LibtorchValues, LogcumsumexpHasGradientsFarFromZero) {
  const Tensor x = leaf({1e3, -1e3, 1e3, 1e3 + 1});
  x.logcumsumexp(0).backward(doubles({-2.5, -1.5, -0.5, 0.5}));
  expect_near(x.grad(), {-4.14402922, 0, -0.144029221, 0.288058442}, 1e-7);
  const Tensor infinite = leaf({INFINITY, -INFINITY, 0});
  infinite.logcumsumexp(0).sum().backward();
  expect_near(infinite.grad(), {NAN, 0, 0});
}

TEST(LibtorchValues, IndexFillValueGradientCountsEveryElementOnce) {
  const Tensor self = zeros({3, 2}, kDouble);
  const Tensor weights = doubles({1, 2, 4, 8, 16, 32}).view({3, 2});
  for (const bool inplace : {false, true}) {
    const Tensor value = full({}, 5.0, kDouble).requires_grad_();
    const Tensor index = tensor({1, 1, -1});
    const Tensor out =
        inplace ? self.clone().index_fill_(0, index, value) : self.index_fill(0, index, value);
    out.mul(weights).sum().backward();
    EXPECT_EQ(value.grad().item<double>(), 4 + 8 + 16 + 32);
  }
}

TEST(LibtorchValues, TakeAlongDimAcceptsNegativeIndices) {
  const Tensor x = arange(12, kDouble).view({3, 4}).requires_grad_();
  const Tensor taken = x.take_along_dim(tensor({2, -1, 0}).view({3, 1}), 1);
  expect_near(taken, {2, 7, 8});
  taken.sum().backward();
  expect_near(x.grad(), {0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0});
  expect_near(x.take_along_dim(tensor({-5, 9}).view({1, 2}), 1), {3, 1, 7, 5, 11, 9});
  EXPECT_ERROR(x.take_along_dim(tensor({-1})), "index -1 is out of bounds");
}

TEST(LibtorchValues, UniqueDimAlwaysHasInverseAndCounts) {
  const auto [values, inverse, counts] = unique_dim(tensor({3, 1, 3}), 0);
  expect_near(values, {1, 3});
  expect_near(inverse, {1, 0, 1});
  expect_near(counts, {1, 2});
  EXPECT_ERROR(unique_consecutive(zeros({3, 0}), true, true, 0),
               "There are 0 sized dimensions, and they aren't selected");
}

TEST(LibtorchValues, PowersOfOneHalfAreSquareRoots) {
  for (const ScalarType type : {kFloat, kDouble}) {
    const Tensor x = doubles({-INFINITY, -0.0, 0.0, 4.0, INFINITY}).to(type);
    const Tensor root = x.pow(0.5), inverse = x.pow(-0.5);
    expect_near(root, {NAN, 0, 0, 2, INFINITY});
    EXPECT_TRUE(root.signbit().select(0, 1).item<bool>());
    expect_near(inverse, {NAN, -INFINITY, INFINITY, 0.5, 0});
  }
  const Tensor x = leaf({4, 9});
  x.pow(0.5).sum().backward();
  expect_near(x.grad(), {0.25, 1.0 / 6});
  x.mutable_grad() = Tensor();
  x.pow(-0.5).sum().backward();
  expect_near(x.grad(), {-0.5 / 8, -0.5 / 27});
  EXPECT_EQ(x.pow(0.5).grad_fn()->name(), "PowBackward0");
}

TEST(LibtorchValues, GradientsAtNan) {
  const auto gradient = [](Tensor (*f)(const Tensor&)) {
    const Tensor x = leaf({NAN});
    f(x).backward(doubles({1}));
    return x.grad();
  };
  expect_near(gradient([](const Tensor& x) { return elu(x); }), {NAN});
  expect_near(gradient([](const Tensor& x) { return selu(x); }), {NAN});
  expect_near(gradient([](const Tensor& x) { return celu(x); }), {NAN});
  expect_near(gradient([](const Tensor& x) { return hardswish(x); }), {NAN});
  expect_near(gradient([](const Tensor& x) { return hardtanh(x); }), {0});
  expect_near(gradient([](const Tensor& x) { return relu6(x); }), {0});
}

TEST(LibtorchValues, Atan2HasGradientZeroAtTheOrigin) {
  const Tensor a = leaf({0, 3}), b = leaf({0, 4});
  a.atan2(b).sum().backward();
  expect_near(a.grad(), {0, 4.0 / 25});
  expect_near(b.grad(), {0, -3.0 / 25});
}

TEST(LibtorchValues, BoundsOutsideTheDtypesRange) {
  const Tensor bytes = tensor({0, 1, 200}, kByte);
  EXPECT_ERROR(bytes.clamp_min(300),
               "Clamp min value 300 is outside the representable range of "
               "Byte");
  EXPECT_ERROR(bytes.clamp_max(-1),
               "Clamp max value -1 is outside the representable range of Byte");
  expect_near(bytes.clamp(-5, 300), {0, 1, 200});
  EXPECT_ERROR(ones({2}, kHalf).clamp(-70000, 1), "value cannot be converted to type c10::Half");
  EXPECT_ERROR(ones({2}).clamp_min(1e40), "value cannot be converted to type float");
  expect_near(ones({1}).clamp_max(INFINITY), {1});
  expect_near(hardtanh(bytes, -1, 1), {0, 1, 1});
  const Tensor a = tensor({0, 1, 0, 1}, kBool), b = tensor({0, 0, 1, 1}, kBool);
  expect_near(a.clamp_min(b), {0, 1, 1, 1});
  expect_near(a.clamp_max(b), {0, 0, 0, 1});
}

TEST(LibtorchValues, UnsupportedDtypesThrow) {
  const Tensor bools = ones({2}, kBool);
  EXPECT_THROW(bools.neg(), NotImplementedError);
  EXPECT_THROW(bools.remainder(zeros({2}, kBool)), NotImplementedError);
  EXPECT_THROW(bools.fmod(zeros({2}, kBool)), NotImplementedError);
  EXPECT_THROW(bools.div(zeros({2}, kBool), "floor"), NotImplementedError);
  EXPECT_THROW(ones({2}, kLong).mean(), NotImplementedError);
}

TEST(LibtorchValues, HalfSumsRoundTheNumberFirst) {
  const Tensor x = tensor({-37.0, 1.0, 0.3, 100.0}).to(kBFloat16);
  expect_near(x + 33.62, {-3.5, 34.5, 33.75, 134});  // in bfloat16, 33.62 is 33.5
  expect_near(x - 1.0 / 3, {-37.25, 0.6640625, -0.033203125, 99.5});
  expect_near(x + full({}, 33.62, kDouble), {-3.5, 34.5, 33.75, 134});
  expect_near(33.62 - x, {70.5, 32.5, 33.25, -66.5});
  expect_near(x * 33.62, {-1240, 33.5, 10.125, 3360});
  const Tensor tenths = tensor({0.1, 0.7, 1.3, -2.1, 100.0}).to(kHalf);
  expect_near(tenths.floor_divide(0.1), {0, 7, 12, -21, 999});
}

TEST(LibtorchValues, NumbersAreRoundedToHalfTypesInTheOrderOfTheOperands) {
  // Each op rounds numbers to half types, but products and quotients only a number that comes
  // first.
  const double third = 1. / 3;
  const Tensor n = full({}, third, kDouble), x = tensor({0.3, 100.0, 5.5}).to(kHalf);
  const Tensor y = tensor({0.3, 100.0, 5.5, 0.05}).to(kBFloat16);
  expect_near(x * third, {0.10003662109375, 33.34375, 1.8330078125}, 0);
  expect_near(n * x, {0.0999755859375, 33.3125, 1.8330078125}, 0);
  expect_near(x.clone().mul_(third), {0.0999755859375, 33.3125, 1.8330078125}, 0);
  expect_near(n / x.slice(0, 1, 3), {0.0033321380615234375, 0.060577392578125}, 0);
  expect_near(n / y.slice(0, 1), {0.0033416748046875, 0.060791015625, 6.6875}, 0);
  expect_near(atan2(y, n).slice(0, 3), {0.1484375}, 0);
  expect_near(pow(x, third).slice(0, 2, 3), {1.7646484375}, 0);
  expect_near(remainder(third, x).slice(0, 0, 1), {0.033203125}, 0);
  expect_near(igamma(y, n).slice(0, 2, 3), {6.288290023803711e-06}, 0);
  expect_near(lerp(x, x * x, third).slice(0, 0, 1), {0.22998046875}, 0);
}

TEST(LibtorchValues, AlphaIsRoundedToHalfTypesExceptInGradients) {
  const double third = 1. / 3;
  const Tensor x = tensor({1.0, 2.7, 100.0, 5.5, 0.3}).to(kHalf);
  expect_near(x.sub(x * x, third).slice(0, 0, 3), {0.6669921875, 0.271484375, -3232}, 0);
  expect_near(x.add(x * x, third).slice(0, 2, 4), {3432, 15.578125}, 0);
  const Tensor y = x.detach().clone().requires_grad_();
  x.add(y, third).backward(x);
  expect_near(y.grad().slice(0, 4), {0.10003662109375}, 0);
}

TEST(LibtorchValues, StdOfNumbersWhoseSquaresLeaveTheRange) {
  EXPECT_FLOAT_EQ(tensor({0.0, 1e20, 2e20}).to(kFloat).std().item<float>(), 1e20F);
  EXPECT_FLOAT_EQ(tensor({1e-25, 3e-25, 5e-25}).to(kFloat).std().item<float>(), 2e-25F);
  const Tensor rows = (arange(6000, kFloat).view({2, 3000}) * 1e25).std(1);
  expect_near(rows / 1e25, {866.169729, 866.169729}, 1e-3);
}

TEST(LibtorchValues, QuantilesAreRankedInDouble) {
  const Tensor x = arange(11, kFloat);
  const auto at = [&](double q, const char* mode) {
    return quantile(x, q, std::nullopt, false, mode).item<double>();
  };
  EXPECT_EQ(at(0.9, "lower"), 8);  // float32 has 0.899999976
  EXPECT_EQ(at(0.7, "lower"), 6);
  EXPECT_EQ(at(0.3, "higher"), 4);
  EXPECT_EQ(at(0.9, "midpoint"), 8.5);
  EXPECT_EQ(quantile(arange(256, kFloat), 0.9, std::nullopt, false, "nearest").item<double>(), 229);
}

TEST(LibtorchValues, BatchNormOfConstantChannels) {
  const Tensor x = full({2, 1, 2}, 3.0).requires_grad_();
  const Tensor y = batch_norm(x, {}, {}, {}, {}, true, 0.1, /*eps=*/0, false);
  expect_near(y, {0, 0, 0, 0});
  y.sum().backward();
  expect_near(x.grad(), {0, 0, 0, 0});
  expect_near(batch_norm(ones({1, 3}), {}, {}, {}, {}, true, 0.1, 1e-5, false), {0, 0, 0});
  const Tensor mean = zeros({1}), dead = zeros({1});  // in evaluation, a dead channel shows
  expect_near(batch_norm(ones({1, 1}), {}, {}, mean, dead, false, 0.1, 0, false), {INFINITY});
}

TEST(LibtorchValues, InstanceNormOfOneChannelAveragesTheSamples) {
  const Tensor mean = zeros({1}), var = ones({1});
  const Tensor x = tensor({0.0, 0.0, 10.0, 10.0, 20.0, 20.0}).to(kFloat).view({3, 1, 2});
  instance_norm(x, {}, {}, mean, var, true, 0.5, 1e-5, false);
  expect_near(mean, {5});
  expect_near(var, {0.5});
}

TEST(LibtorchValues, TransposedConvolutionOfOneElementWithOutputPadding) {
  const Tensor weight = ones({1, 1, 1, 1}, kDouble);
  const Tensor y = conv_transpose2d(arange(1, 4, kDouble).view({1, 1, 3, 1}), weight, {}, 1, 0,
                                    {0, 1}, 1, {1, 2});
  EXPECT_EQ(y.sizes(), IntArrayRef({1, 1, 3, 2}));
  expect_near(y, {1, 0, 2, 0, 3, 0});
}

TEST(LibtorchValues, HalfRemainderRoundsTheDivisorFirst) {
  // In half, 0.1 is 0.0999756.
  const double tenth = float(Half(0.1f));
  const Tensor x = full({1}, 0.732, kHalf);
  const double value = x.item<double>();
  expect_near(x.remainder(0.1), {value - 7 * tenth}, 1e-5);
  expect_near(x.fmod(0.1), {value - 7 * tenth}, 1e-5);
}

TEST(LibtorchValues, AddrOfBoolsIsLogical) {
  const Tensor self = tensor({1, 0, 0, 0}, kBool).view({2, 2});
  const Tensor a = tensor({0, 1}, kBool), b = tensor({1, 1}, kBool);
  expect_near(self.addr(a, b, 2, 3), {1, 0, 1, 1});
  expect_near(self.addr(a, b, 1, 0), {1, 0, 0, 0});
  expect_near(self.addr(a, b, 0, 1), {0, 0, 1, 1});
  EXPECT_EQ(self.addr(a, b, 2, 3).scalar_type(), kBool);
  const Tensor x = ones({2}), longs = ones({2, 2}, kLong);
  EXPECT_ERROR(x.expand({2, 2}).addr(x, x, true, 1), "Boolean beta only supported for Boolean");
  EXPECT_ERROR(longs.addr_(x, x),
               "result type Float can't be cast to the desired output type Long");
}

TEST(LibtorchValues, IntegerLogspaceTruncatesItsBounds) {
  expect_near(logspace(0.5, 3.5, 4, 2, kLong), {1, 2, 4, 8});
  expect_near(logspace(0.5, 2.5, 3, 4), {2, 8, 32}, 1e-4);
  EXPECT_THROW(logspace(0, 1, 2, 10, kBool), NotImplementedError);
}

TEST(LibtorchValues, OutMayOverlapATensorIfTheOtherOperandIsANumber) {
  const Tensor x = arange(8.0);
  Tensor front = x.slice(0, 0, 6);
  add_out(front, x.slice(0, 1, 7), 1);
  expect_near(x, {2, 3, 4, 5, 6, 7, 6, 7});
  EXPECT_ERROR(add_out(front, x.slice(0, 1, 7), x.slice(0, 1, 7)), "unsupported operation");
  const Tensor shifted = x.slice(0, 1, 4), strided = x.slice(0, 0, 6, 2);
  Tensor start = x.slice(0, 0, 3);
  EXPECT_ERROR(mul_out(start, shifted, strided), "unsupported operation");
  EXPECT_ERROR(mul_out(start, strided, shifted), "unsupported operation");
}

TEST(LibtorchValues, GradFnNamesHaveTheNumbersOfTheOverloads) {
  const Tensor x = leaf({1, 2}), m = ones({2, 2}, kDouble).requires_grad_();
  const auto name = [](const Tensor& t) { return t.grad_fn()->name(); };
  EXPECT_EQ(name(x * x), "MulBackward0");
  EXPECT_EQ(name(x * 2), "MulBackward1");
  EXPECT_EQ(name(x + 2), "AddBackward1");
  EXPECT_EQ(name(x - 2), "SubBackward1");
  EXPECT_EQ(name(x / 2), "DivBackward1");
  EXPECT_EQ(name(2 - x), "SubBackward0");
  EXPECT_EQ(name(x.div(x, "floor")), "DivBackward2");
  EXPECT_EQ(name(x.div(2, "trunc")), "DivBackward3");
  EXPECT_EQ(name(x.pow(2)), "PowBackward0");
  EXPECT_EQ(name(x.pow(x)), "PowBackward1");
  EXPECT_EQ(name(hearth::pow(2, x)), "PowBackward2");
  EXPECT_EQ(name(x.fmod(2)), "FmodBackward0");
  EXPECT_EQ(name(x.fmod(x)), "FmodBackward1");
  EXPECT_EQ(name(x.remainder(x)), "RemainderBackward1");
  EXPECT_EQ(name(x.clamp(0, 1)), "ClampBackward1");
  EXPECT_EQ(name(x.clamp_min(0)), "ClampMinBackward0");
  EXPECT_EQ(name(x.clamp_min(x)), "ClampMinBackward1");
  EXPECT_EQ(name(x.lerp(x, 0.5)), "LerpBackward0");
  EXPECT_EQ(name(x.lerp(x, x)), "LerpBackward1");
  EXPECT_EQ(name(x.xlogy(2)), "XlogyBackward2");
  EXPECT_EQ(name(x.log1p()), "Log1PBackward0");
  EXPECT_EQ(name(celu(x)), "CeluBackward0");
  EXPECT_EQ(name(x.sum()), "SumBackward0");
  EXPECT_EQ(name(m.sum(0)), "SumBackward1");
  EXPECT_EQ(name(m.mean(0)), "MeanBackward1");
  EXPECT_EQ(name(m.prod(0)), "ProdBackward1");
  EXPECT_EQ(name(m.max()), "MaxBackward1");
  EXPECT_EQ(name(m.norm()), "NormBackward0");
  EXPECT_EQ(name(m.norm(2, IntArrayRef{0})), "NormBackward1");
  EXPECT_EQ(name(linalg_vector_norm(m)), "LinalgVectorNormBackward0");
  EXPECT_EQ(name(std::get<0>(m.median(0))), "MedianBackward1");
  EXPECT_EQ(name(x.scatter(0, tensor({0}), 2)), "ScatterBackward1");
  EXPECT_EQ(name(x.index_fill(0, tensor({0}), x.select(0, 0))), "IndexFillBackward1");
  EXPECT_EQ(name(x.masked_fill(x.gt(1), x.select(0, 0))), "MaskedFillBackward1");
}

}  // namespace
}  // namespace hearth::testing
