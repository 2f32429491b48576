#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/autograd.h"
#include "tests/ops/reduction_reference.h"

namespace hearth::testing {
namespace {

GroupFunction sum_with(double (*f)(double)) {
  return [f](const std::vector<double>& values) {
    double total = 0;
    for (double v : values) total += f(v);
    return total;
  };
}
double identity(double x) { return x; }
double mean_of(const std::vector<double>& values) {
  return sum_with(identity)(values) / double(values.size());
}
GroupFunction variance(double correction, bool is_std) {
  return [=](const std::vector<double>& values) {
    double total = 0;
    for (double v : values) total += (v - mean_of(values)) * (v - mean_of(values));
    total /= std::max(0.0, double(values.size()) - correction);
    return is_std ? std::sqrt(total) : total;
  };
}
double product(const std::vector<double>& values) {
  double total = 1;
  for (double v : values) total *= v;
  return total;
}
double log_sum_exp(const std::vector<double>& values) {
  return std::log(sum_with([](double x) { return std::exp(x); })(values));
}
GroupFunction norm_of(double p) {
  return [p](const std::vector<double>& values) {
    double total = p == -kInf ? kInf : 0;
    for (double v : values) {
      const double x = std::fabs(v);
      if (std::isinf(p))
        total = p > 0 ? std::max(total, x) : std::min(total, x);
      else
        total += p == 0 ? x != 0 : std::pow(x, p);
    }
    return p == 0 || std::isinf(p) ? total : std::pow(total, 1 / p);
  };
}

/// Cases without dimensions of size 1, whose variance is NaN.
std::vector<Case> wide_cases(Draw draw = Draw::kNormal) {
  return {{{{4, 5}, draw}}, {{{2, 3, 4}, draw}}, {{{17, 3, 2, 5}, draw}}, {{{300, 2}, draw}}};
}

Row variance_row(std::string name, std::string covers, std::function<Tensor(const Tensor&)> op,
                 ReductionArgs args, GroupFunction reference) {
  Row row = reduction_row(std::move(name), std::move(covers), std::move(op), std::move(args),
                          std::move(reference));
  row.cases = wide_cases();
  row.refusals = {
      {[] { ones({2}, kInt).var(); }, "std and var only support floating point and complex dtypes"},
      {[] { var_mean(ones({2}, kInt)); },
       "var_mean only support floating point and complex dtypes"}};
  return row;
}

Row var_mean_row(std::string name, bool is_std) {
  Row row = variance_row(name, name, {}, {}, variance(1, is_std));
  row.call = [is_std](const Tensors& in) {
    const auto [variation, mean] = is_std ? std_mean(in[0], IntArrayRef{1}, true, true)
                                          : var_mean(in[0], IntArrayRef{1}, true, true);
    return Tensors{variation, mean};
  };
  row.reference = [is_std](const Arrays& in) {
    return Arrays{reduce_groups(in[0], {{1}, true}, variance(1, is_std)),
                  reduce_groups(in[0], {{1}, true}, mean_of)};
  };
  row.gradient_slack = 16;  // x - mean cancels digits
  return row;
}

Row prod_row(std::string name, std::function<Tensor(const Tensor&)> op, ReductionArgs args,
             Draw draw) {
  Row row = reduction_row(std::move(name), "prod", std::move(op), std::move(args), product, draw);
  row.cases = {{{{3, 2}, draw}}, {{{2, 3}, draw}}, {{{1, 2}, draw}}};
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kSum};
  return row;
}

Row norm_row(std::string name, double p, ReductionArgs args) {
  Row row = reduction_row(
      std::move(name), "linalg_vector_norm",
      [=](const Tensor& x) {
        return args.dims.empty() ? x.norm(p) : x.norm(Scalar(p), args.dims, args.keepdim);
      },
      args, norm_of(p), std::isinf(p) ? Draw::kDistinct : Draw::kNormal);
  if (std::isinf(p)) row.cases = {{{{4, 1}, Draw::kPositive}}, {{{2, 3, 4}, Draw::kPositive}}};
  if (p == 0) row.orders = 0;
  row.slack = 8;
  row.refusals = {
      {[] { ones({2}, kInt).norm(); },
       "norm(): input dtype should be either floating point or complex. Got Int instead."},
      {[] {
         ones({0, 3}).norm(kInf);
       },
       "linalg.vector_norm cannot compute the inf norm on an empty tensor because the operation "
       "does not have an identity"},
      {[] { linalg_vector_norm(ones({2}, kDouble), 2, {}, false, kFloat); },
       "linalg.vector_norm: the dtype of the input (Double) should be convertible without "
       "narrowing to the specified dtype (Float)"}};
  return row;
}

Row count_row(std::string name, std::function<Tensor(const Tensor&)> op, ReductionArgs args) {
  Row row = reduction_row(std::move(name), "count_nonzero", std::move(op), std::move(args),
                          sum_with([](double x) { return double(x != 0); }), Draw::kSmall);
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kLong};
  row.orders = 0;
  return row;
}

Row nansum_row() {
  Row row = reduction_row(
      "nansum", "nansum", [](const Tensor& x) { return x.nansum(IntArrayRef{1}); }, {{1}},
      sum_with(identity));
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kSum};
  row.out = [](Tensor& out, const Tensors& in) { nansum_out(out, in[0], IntArrayRef{1}); };
  return row;
}

Row logsumexp_row() {
  Row row = reduction_row(
      "logsumexp", "logsumexp", [](const Tensor& x) { return x.logsumexp({1}); }, {{1}},
      log_sum_exp);
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kFloat};
  row.out = [](Tensor& out, const Tensors& in) { logsumexp_out(out, in[0], {1}); };
  return row;
}

Row bool_dim_row(std::string name, std::string covers, bool is_all) {
  Row row = reduction_row(
      std::move(name), std::move(covers),
      [is_all](const Tensor& x) {
        return is_all ? x.all(1) : x.any(IntArrayRef{0, -1}, true);
      },
      is_all ? ReductionArgs{{1}} : ReductionArgs{{0, -1}, true},
      [is_all](const std::vector<double>& values) {
        const double zeros = sum_with([](double x) { return double(x == 0); })(values);
        return double(is_all ? zeros == 0 : zeros < double(values.size()));
      },
      Draw::kSmall);
  row.dtypes = dtypes::kRealAndBool & ~(1u << unsigned(kByte));
  row.results = {Result::kBool};
  row.orders = 0;
  return row;
}

const Register registered_statistics[] = {
    Register(variance_row(
        "var", "var", [](const Tensor& x) { return x.var(); }, {}, variance(1, false))),
    Register(variance_row(
        "var_dim", "var", [](const Tensor& x) { return x.var(IntArrayRef{1}, false, true); },
        {{1}, true}, variance(0, false))),
    Register(variance_row(
        "std", "std", [](const Tensor& x) { return x.std(false); }, {}, variance(0, true))),
    Register(variance_row(
        "std_correction", "std",
        [](const Tensor& x) {
          return x.std(IntArrayRef{0, -1}, Scalar(1.5));
        },
        {{0, -1}}, variance(1.5, true))),
    Register(var_mean_row("var_mean", false)),
    Register(var_mean_row("std_mean", true)),
    Register(prod_row(
        "prod", [](const Tensor& x) { return x.prod(); }, {}, Draw::kNormal)),
    Register(prod_row(
        "prod_dim", [](const Tensor& x) { return x.prod(1); }, {{1}}, Draw::kSmall)),
    Register(logsumexp_row()),
    Register(norm_row("norm", 2, {})),
    Register(norm_row("norm_0", 0, {})),
    Register(norm_row("norm_1", 1, {{1}})),
    Register(norm_row("norm_3", 3, {{0, -1}, true})),
    Register(norm_row("norm_half", 0.5, {{1}})),
    Register(norm_row("norm_inf", kInf, {{0}})),
    Register(norm_row("norm_minus_inf", -kInf, {{1}, true})),
    Register(count_row("count_nonzero", [](const Tensor& x) { return x.count_nonzero(); }, {})),
    Register(count_row("count_nonzero_dim",
                       [](const Tensor& x) { return x.count_nonzero(IntArrayRef{1}); }, {{1}})),
    Register(nansum_row()),
    Register(reduction_row(
        "nanmean", "nanmean", [](const Tensor& x) { return x.nanmean(); }, {}, mean_of)),
    Register(bool_dim_row("all_dim", "all", true)),
    Register(bool_dim_row("any_dims", "any", false)),
};

Tensor double_tensor(std::initializer_list<double> values) {
  Tensor x = empty({int64_t(values.size())}, kDouble);
  std::copy(values.begin(), values.end(), x.data_ptr<double>());
  return x;
}

TEST(Statistics, VarianceOfSpecialInputs) {
  EXPECT_TRUE(std::isnan(ones({0, 3}).var().item<float>()));
  EXPECT_TRUE(std::isnan(ones({1}).var().item<float>()));
  EXPECT_EQ(arange(3, kFloat).var(OptionalIntArrayRef(), Scalar(5)).item<double>(), kInf);
  EXPECT_NEAR(arange(100000, kFloat).add(1e6).std().item<double>(), 28867.66, 0.2);
  const Tensor equal = full({2}, 2.0).requires_grad_();
  equal.std().backward();
  EXPECT_TRUE(equal.grad().equal(zeros({2})));
  EXPECT_EQ(std::get<1>(var_mean(double_tensor({1, kInf}))).item<double>(), kInf);
}

TEST(Statistics, LogSumExpOfSpecialInputs) {
  EXPECT_EQ(double_tensor({-kInf, -kInf}).logsumexp({0}).item<double>(), -kInf);
  EXPECT_EQ(double_tensor({kInf, 1}).logsumexp({0}).item<double>(), kInf);
  EXPECT_NEAR(double_tensor({1000, 1000}).logsumexp({0}).item<double>(), 1000 + std::log(2.0),
              1e-10);
  EXPECT_NEAR(full({5000}, -2000.0).logsumexp({0}).item<double>(), -2000 + std::log(5000.0), 1e-3);
  EXPECT_TRUE(ones({0, 3}).logsumexp({0}).equal(full({3}, -kInf)));
}

TEST(Statistics, NansumAndNanmeanSkipNaN) {
  for (const Device device : devices()) {
    const Tensor x = double_tensor({1, std::nan(""), 3}).to(device, kDouble).requires_grad_();
    EXPECT_EQ(x.nansum().item<double>(), 4);
    EXPECT_EQ(x.nanmean().item<double>(), 2);
    x.nanmean().backward();
    EXPECT_TRUE(x.grad().cpu().equal(double_tensor({0.5, 0, 0.5})));
  }
  EXPECT_TRUE(std::isnan(double_tensor({std::nan("")}).nanmean().item<double>()));
}

TEST(Statistics, NormsAtZeroHaveGradientZero) {
  for (const double p : {1.0, 2.0, 3.0}) {
    const Tensor x = zeros({2}).requires_grad_();
    x.norm(p).backward();
    EXPECT_TRUE(x.grad().equal(zeros({2}))) << p;
  }
}

TEST(Statistics, MaximumNormSharesItsGradientAndNormsHaveTheGivenDtype) {
  const Tensor x = double_tensor({2, -2, 1}).requires_grad_();
  x.norm(kInf).backward();
  EXPECT_TRUE(x.grad().equal(double_tensor({0.5, -0.5, 0})));
  EXPECT_EQ(ones({4}).norm(2, kDouble).scalar_type(), kDouble);
}

TEST(Statistics, GradientsOfProductsWithZeros) {
  const Tensor x = double_tensor({2, 0, 3}).requires_grad_();
  const Tensor first = autograd::grad({x.prod()}, {x}, {}, {}, true)[0];
  EXPECT_TRUE(first.equal(double_tensor({0, 6, 0})));
  EXPECT_TRUE(autograd::grad({first.sum()}, {x})[0].equal(double_tensor({3, 5, 2})));
  EXPECT_EQ(ones({0, 3}).prod().item<float>(), 1);
  EXPECT_FALSE(arange(3).prod(kBool).item<bool>());
}

TEST(Statistics, AnyOverNoDimensionsIsElementwise) {
  EXPECT_EQ(ones({2, 3}).any(IntArrayRef{}).sizes().vec(), (std::vector<int64_t>{2, 3}));
}

TEST(Statistics, AnyOfBytesAndAllOut) {
  EXPECT_EQ(ones({2, 3}, kByte).any(0).scalar_type(), kByte);
  Tensor out = empty({0}, kBool);
  EXPECT_TRUE(all_out(out, ones({3})).item<bool>());
}

TEST(Statistics, StdGradientOfManyHalfElements) {
  const Tensor x = arange(70000).remainder(2).add(1).to(kHalf).requires_grad_();
  x.std().backward();
  EXPECT_TRUE(x.grad().isfinite().all().item<bool>());
  EXPECT_NEAR(x.grad()[1].item<double>(), 1.43e-5, 1e-6);  // PyTorch's value
}

}  // namespace
}  // namespace hearth::testing
