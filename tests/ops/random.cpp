// Operators that fill tensors: random numbers, dropout, arange, linspace and randperm.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// A row for an op that fills a tensor with random numbers. The row has no reference; the op is
/// seeded before each call, so it is deterministic.
Row filler_row(std::string name, DtypeSet types, std::function<void(const Tensor&)> fill) {
  Row row;
  row.name = name;
  row.covers = {std::move(name)};
  row.cases = {{{{3, 5}}}, {{{2, 3, 4}}}, {{{}}}, {{{0, 2}}}};
  row.dtypes = types;
  row.call = [fill](const Tensors& in) {
    manual_seed(11);
    Tensor copy = in[0].clone();
    fill(copy);
    return Tensors{copy};
  };
  row.inplace = [fill](Tensor& self, const Tensors&) {
    manual_seed(11);
    fill(self);
  };
  return row;
}

Row uniform_row() {
  Row row = filler_row("uniform_", dtypes::kFloating, [](const Tensor& x) { x.uniform_(-1, 3); });
  row.refusals = {
      {[] { ones({2}).uniform_(2, 1); },
       "uniform_ expects to return a [from, to) range, but found from=2 > to=1"},
      {[] { ones({2}, kLong).uniform_(); }, "not implemented for 'Long'"},
      {[] { ones({1}).expand({3}).uniform_(); }, "more than one element of the written-to tensor"}};
  return row;
}

Row normal_row() {
  Row row = filler_row("normal_", dtypes::kFloating, [](const Tensor& x) { x.normal_(1, 2); });
  row.refusals = {
      {[] { ones({2}).normal_(0, -1); }, "normal expects std >= 0.0, but found std -1"}};
  return row;
}

Row random_row() {
  Row row = filler_row("random_", dtypes::kRealAndBool, [](const Tensor& x) { x.random_(0, 2); });
  row.refusals = {{[] { ones({2}).random_(3, 3); },
                   "random_ expects 'from' to be less than 'to', but got from=3 >= to=3"}};
  return row;
}

Row bernoulli_row() {
  Row row =
      filler_row("bernoulli_", dtypes::kRealAndBool, [](const Tensor& x) { x.bernoulli_(0.3); });
  row.refusals = {
      {[] { ones({2}).bernoulli_(1.5); }, "bernoulli_ expects p to be in [0, 1], but got p=1.5"},
      {[] { ones({2}).bernoulli_(ones({2}, kLong)); },
       "expected a floating-point tensor of probabilities"}};
  return row;
}

Row exponential_row() {
  Row row =
      filler_row("exponential_", dtypes::kFloating, [](const Tensor& x) { x.exponential_(2); });
  row.refusals = {
      {[] { ones({2}).exponential_(0); }, "exponential_ expects lambda > 0.0, but found lambda=0"},
      {[] { ones({2}, kLong).exponential_(); },
       "Exponential distribution is a continuous probability distribution. dtype must "
       "be a floating point but you specified Long"}};
  return row;
}

Row dropout_row() {
  Row row = filler_row("native_dropout", dtypes::kFloating, {});
  row.call = [](const Tensors& in) {
    manual_seed(11);
    return Tensors{dropout(in[0], 0.4, true)};
  };
  row.inplace = [](Tensor& self, const Tensors&) {
    manual_seed(11);
    dropout_(self, 0.4, true);
  };
  row.cases.push_back({{{2, 3, 2, 2}}});
  row.keeps_memory_format = true;
  row.refusals = {{[] { dropout(ones({2}), 1.5, true); },
                   "dropout probability has to be between 0 and 1, but got 1.5"}};
  return row;
}

Row arange_row() {
  Row row;
  row.name = "arange";
  row.covers = {"arange"};
  row.cases = {{{{7}}}, {{{0}}}, {{{3}}}};
  row.dtypes = dtypes::kReal;
  row.orders = 0;
  row.call = [](const Tensors& in) {
    return Tensors{arange(2, 2 + 3 * in[0].size(0), 3, in[0].options())};
  };
  row.reference = [](const Arrays& in) {
    return Arrays{build(in[0].sizes, [](const Position& p) { return double(2 + 3 * p[0]); })};
  };
  row.refusals = {
      {[] { arange(0, 3, 0.0); }, "step must be nonzero"},
      {[] { arange(0, 3, -1); }, "upper bound and lower bound inconsistent with step sign"},
      {[] { arange(0, INFINITY, 1); }, "unsupported range: 0 -> inf"},
      {[] { arange(0, 3, 1, kBool); }, "\"arange\" not implemented for 'Bool'"}};
  return row;
}

Row linspace_row() {
  Row row = arange_row();
  row.name = "linspace";
  row.covers = {"linspace"};
  row.dtypes = dtypes::kFloating;
  row.cases = {{{{7}}}, {{{1}}}, {{{0}}}};
  row.call = [](const Tensors& in) {
    return Tensors{linspace(-1, 2, in[0].size(0), in[0].options())};
  };
  row.reference = [](const Arrays& in) {
    return Arrays{build(in[0].sizes, [&](const Position& p) {
      return in[0].sizes[0] == 1 ? -1 : -1 + 3 * double(p[0]) / double(in[0].sizes[0] - 1);
    })};
  };
  row.refusals = {{[] { linspace(0, 1, -1); }, "number of steps must be non-negative"},
                  {[] { linspace(0, 1, 3, kBool); }, "\"linspace\" not implemented for 'Bool'"}};
  return row;
}

Row randperm_row() {
  Row row = arange_row();
  row.name = "randperm";
  row.covers = {"randperm"};
  row.dtypes = dtypes::kIntegers;
  row.call = [](const Tensors& in) {
    manual_seed(3);
    return Tensors{randperm(in[0].size(0), in[0].options())};
  };
  row.reference = nullptr;
  row.refusals = {
      {[] { randperm(-1); }, "Trying to create tensor with negative dimension -1: [-1]"}};
  return row;
}

const Register registered_random[] = {
    Register(uniform_row()),   Register(normal_row()),      Register(random_row()),
    Register(bernoulli_row()), Register(exponential_row()), Register(dropout_row()),
    Register(arange_row()),    Register(linspace_row()),    Register(randperm_row())};

class RandomTest : public ::testing::TestWithParam<Device> {
 protected:
  static constexpr int64_t kCount = 40000;
  Tensor numbers(ScalarType type = kFloat) const {
    manual_seed(5);
    return empty({kCount}, TensorOptions(type).device(GetParam()));
  }
};

double sample_mean(const Tensor& x) { return x.to(kDouble).mean().item<double>(); }
double variance_of(const Tensor& x) {
  const Tensor centred = x.to(kDouble).sub(x.to(kDouble).mean());
  return centred.mul(centred).mean().item<double>();
}

TEST_P(RandomTest, UniformMomentsAndBounds) {
  for (const ScalarType type : dtypes_in(dtypes::kFloating)) {
    const Tensor x = numbers(type).uniform_(-1, 3);
    EXPECT_NEAR(sample_mean(x), 1, 0.03) << name_of(type);
    EXPECT_NEAR(variance_of(x), 16.0 / 12, 0.05) << name_of(type);
    EXPECT_GE(x.min().item<double>(), -1);
    EXPECT_LE(x.max().item<double>(), 3);
  }
}

TEST_P(RandomTest, NormalMoments) {
  for (const ScalarType type : dtypes_in(dtypes::kFloating)) {
    const Tensor x = numbers(type).normal_(1, 2);
    EXPECT_NEAR(sample_mean(x), 1, 0.05) << name_of(type);
    EXPECT_NEAR(variance_of(x), 4, 0.12) << name_of(type);
  }
}

TEST_P(RandomTest, IntegersCoverTheirRange) {
  for (const ScalarType type : dtypes_in(dtypes::kReal)) {
    const Tensor x = numbers(type).random_(3, 9);
    EXPECT_EQ(x.min().item<double>(), 3) << name_of(type);
    EXPECT_EQ(x.max().item<double>(), 8) << name_of(type);
    EXPECT_NEAR(sample_mean(x), 5.5, 0.05) << name_of(type);
  }
}

TEST_P(RandomTest, BernoulliFrequencies) {
  EXPECT_NEAR(sample_mean(numbers().bernoulli_(0.3)), 0.3, 0.01);
  Tensor p = zeros({2}, TensorOptions(GetParam()));
  p.select(0, 1).fill_(0.8);
  const Tensor x = numbers().reshape({kCount / 2, 2});
  x.bernoulli_(p);
  EXPECT_EQ(x.select(1, 0).sum().item<float>(), 0);
  EXPECT_NEAR(sample_mean(x.select(1, 1)), 0.8, 0.015);
}

TEST_P(RandomTest, PermutationsHaveEveryNumberOnce) {
  const Tensor order = randperm(1000, TensorOptions(kLong).device(GetParam()));
  EXPECT_TRUE(zeros({1000}, order.options())
                  .scatter_add(0, order, ones({1000}, order.options()))
                  .eq(1)
                  .all()
                  .item<bool>());
  EXPECT_FALSE(order.equal(arange(1000, order.options())));
}

TEST_P(RandomTest, EqualSeedsDrawEqualNumbers) {
  const Tensor a = numbers().normal_(), b = numbers().normal_();
  EXPECT_TRUE(a.equal(b));
  EXPECT_FALSE(empty_like(a).normal_().equal(a));
}

TEST_P(RandomTest, DropoutZeroesAndScales) {
  const Tensor x = numbers().fill_(1);
  const Tensor y = dropout(x, 0.25, true);
  EXPECT_NEAR(sample_mean(y), 1, 0.02);
  EXPECT_TRUE(y.eq(0).logical_or(y.sub(4.0 / 3).abs().lt(1e-6)).all().item<bool>());
  EXPECT_TRUE(dropout(x, 0.25, false).is_same(x));
  EXPECT_EQ(dropout(x, 1, true).sum().item<float>(), 0);
}

TEST_P(RandomTest, NormalAndBernoulliWithTensorParameters) {
  const TensorOptions options(GetParam());
  const Tensor mean = full({kCount}, 3.0, options), deviation = full({kCount}, 2.0, options);
  manual_seed(5);
  for (const Tensor& x : {normal(mean, 2), normal(3, deviation), normal(mean, deviation),
                          normal(3, 2, {kCount}, {}, options)}) {
    EXPECT_NEAR(sample_mean(x), 3, 0.05);
    EXPECT_NEAR(variance_of(x), 4, 0.12);
  }
  EXPECT_THROW(normal(2, full({2}, -1.0, options)), Error);
  EXPECT_NEAR(sample_mean(full({kCount}, 0.3, options).bernoulli()), 0.3, 0.01);
  EXPECT_NEAR(sample_mean(full({kCount}, 0.25, options.dtype(kHalf)).bernoulli()), 0.25, 0.01);
  EXPECT_EQ(randint_like(mean, 3, 5).max().item<float>(), 4);
}

TEST(Random, GradientsThroughNormalAreZeroAsInPyTorch) {
  const auto number = [](ScalarType dtype) { return full({3}, 0.5, dtype).requires_grad_(); };
  const Tensor mean = number(kFloat), deviation = number(kDouble);
  for (const Tensor& x : {normal(mean, 1.0), normal(0.0, deviation), normal(mean, deviation)}) {
    ASSERT_TRUE(x.requires_grad());
    x.sum().backward();
  }
  EXPECT_TRUE(mean.grad().equal(zeros({3})) && deviation.grad().equal(zeros({3}, kDouble)));
}

TEST_P(RandomTest, MultinomialFrequencies) {
  manual_seed(5);
  Tensor weights = ones({2, 3}, TensorOptions(GetParam()));
  weights.select(0, 0).select(0, 1).fill_(2);
  weights.select(0, 1).select(0, 0).fill_(0);
  const Tensor drawn = weights.multinomial(kCount, true);
  EXPECT_NEAR(sample_mean(drawn.select(0, 0).eq(1)), 0.5, 0.01);
  EXPECT_EQ(drawn.select(0, 1).eq(0).sum().item<int64_t>(), 0);
  const Tensor without_replacement = ones({3}, TensorOptions(GetParam())).multinomial(3);
  EXPECT_EQ(without_replacement.sum().item<int64_t>(), 3);
  EXPECT_THROW(weights.multinomial(4), Error);
  EXPECT_THROW(weights.neg().multinomial(1), Error);
  EXPECT_THROW(zeros({2}, TensorOptions(GetParam())).multinomial(1, true), Error);
}

TEST_P(RandomTest, MultinomialRefusesAsPyTorch) {
  const auto draw = [](double weight, int64_t samples) {
    (void)tensor({1., weight}).to(GetParam()).multinomial(samples, true);
  };
  const std::string invalid = "probability tensor contains either `inf`, `nan` or element < 0",
                    negative = "(encountering probability entry < 0)",
                    zero_sum = "invalid multinomial distribution (sum of probabilities <= 0)";
  for (const double weight : {-1., double(NAN)}) {
    EXPECT_ERROR(draw(weight, 1), invalid);
    EXPECT_ERROR(draw(weight, 3), negative);
  }
  EXPECT_ERROR(draw(INFINITY, 1), invalid);
  EXPECT_ERROR(draw(INFINITY, 3), "(encountering probability entry = infinity or NaN)");
  const TensorOptions options(GetParam());
  EXPECT_ERROR(empty({0}, options).multinomial(3, true), zero_sum);
  EXPECT_ERROR(empty({2, 0}, options).multinomial(1, true), zero_sum);
  EXPECT_EQ(empty({0, 3}, options).multinomial(2, true).sizes(), IntArrayRef({0, 2}));
}

/// The expected numbers are PyTorch's after manual_seed(1).
TEST(Random, DrawsPyTorchsNumbers) {
  manual_seed(1);
  EXPECT_TRUE(ones({4}).exponential_(2).allclose(
      tensor({0.031498268246650696, 0.12715879082679749, 0.1334514021873474, 0.0974598303437233})
          .to(kFloat)));
  const Tensor weights = tensor({0.1, 0.2, 0.7, 0.3}).to(kFloat);
  manual_seed(1);
  EXPECT_TRUE(weights.multinomial(3).equal(tensor({2, 0, 3})));
  EXPECT_TRUE(weights.multinomial(1).equal(tensor({1})));
}

TEST(Random, BernoulliTakesItsProbabilitiesFromSelf) {
  const Tensor x = tensor({0.f, 1.f, 0.f, 1.f}), expected = x.clone();
  x.bernoulli_(x);
  EXPECT_TRUE(x.equal(expected));
  EXPECT_ERROR(x.narrow(0, 0, 2).bernoulli_(x.narrow(0, 1, 2)), "refer to a single memory");
}

INSTANTIATE_TEST_SUITE_P(Devices, RandomTest, ::testing::ValuesIn(devices()), [](const auto& test) {
  return std::string(test.param.is_cpu() ? "cpu" : "cuda");
});

}  // namespace
}  // namespace hearth::testing
