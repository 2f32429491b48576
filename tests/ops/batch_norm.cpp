#include <gtest/gtest.h>

#include <cmath>

#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

constexpr double kMomentum = 0.3, kEps = 1e-3;

int64_t channels_of(const Array& x) { return x.sizes[1]; }
int64_t channel_at(const Array& x, int64_t linear) { return position_of(linear, x.sizes)[1]; }

/// The mean of f(i) over the elements i of each channel.
template <class F>
std::vector<double> channel_means(const Array& x, F f) {
  std::vector<double> means(size_t(channels_of(x)), 0.0);
  const double count = double(x.values.size()) / double(channels_of(x));
  for (int64_t i = 0; i < int64_t(x.values.size()); ++i)
    means[size_t(channel_at(x, i))] += f(i) / count;
  return means;
}

/// The channel's value in an optional input, or the default if the input is absent.
double value_or(const Array& values, size_t channel, double default_value) {
  return values.values.empty() ? default_value : values.values[channel];
}

/// The result and the updated running statistics.
Arrays batch_norm_reference(const Arrays& in, bool training) {
  const Array& x = in[0];
  Array result = x, running_mean = in[3], running_var = in[4];
  std::vector<double> mean = in[3].values, var = in[4].values;
  if (training) {
    mean = channel_means(x, [&](int64_t i) { return x.values[size_t(i)]; });
    var = channel_means(x, [&](int64_t i) {
      return std::pow(x.values[size_t(i)] - mean[size_t(channel_at(x, i))], 2);
    });
    const double count = double(x.values.size()) / double(channels_of(x));
    for (size_t c = 0; c < running_mean.values.size(); ++c) {
      running_mean.values[c] += kMomentum * (mean[c] - running_mean.values[c]);
      running_var.values[c] += kMomentum * (var[c] * count / (count - 1) - running_var.values[c]);
    }
  }
  for (int64_t i = 0; i < int64_t(x.values.size()); ++i) {
    const size_t c = size_t(channel_at(x, i));
    result.values[size_t(i)] =
        (x.values[size_t(i)] - mean[c]) / std::sqrt(var[c] + kEps) * value_or(in[1], c, 1) +
        value_or(in[2], c, 0);
  }
  return {result, running_mean, running_var};
}

Input running_statistic(int64_t channels) {
  return {{channels}, Draw::kPositive, 0, false, true, true};
}
const Input kAbsent{{}, Draw::kNormal, 0, true};

Case batch_norm_case(std::vector<int64_t> sizes, bool affine, bool tracks_statistics) {
  const int64_t channels = sizes[1];
  Case inputs{{std::move(sizes)}, kAbsent, kAbsent, kAbsent, kAbsent};
  if (affine) inputs[1] = inputs[2] = {{channels}, Draw::kNormal, 0, false, true};
  if (tracks_statistics) inputs[3] = inputs[4] = running_statistic(channels);
  return inputs;
}

Row batch_norm_row(std::string name, bool training) {
  Row row;
  row.name = std::move(name);
  row.covers = {"native_batch_norm", "native_batch_norm_backward"};
  row.cases = {batch_norm_case({4, 3}, true, true), batch_norm_case({2, 3, 5}, false, true),
               batch_norm_case({2, 2, 3, 2}, true, true)};
  if (training) {
    row.cases.push_back(batch_norm_case({3, 2, 2}, true, false));
    row.cases.push_back(batch_norm_case({5, 2}, false, false));
  }
  row.call = [training](const Tensors& in) {
    const Tensor mean = in[3].defined() ? in[3].detach().clone() : in[3],
                 var = in[4].defined() ? in[4].detach().clone() : in[4];
    const Tensor out = batch_norm(in[0], in[1], in[2], mean, var, training, kMomentum, kEps);
    return mean.defined() ? Tensors{out, mean, var} : Tensors{out};
  };
  row.reference = [training](const Arrays& in) {
    Arrays out = batch_norm_reference(in, training);
    if (in[3].values.empty()) out.resize(1);
    return out;
  };
  row.results = {Result::kSame, Result::kStatistics};
  row.keeps_memory_format = true;
  row.slack = 20;  // differences of nearly equal numbers
  return row;
}

Row training_row() {
  Row row = batch_norm_row("batch_norm_training", true);
  row.refusals = {
      {[] {
         batch_norm(ones({2, 3}), ones({4}), {}, {}, {}, true, 0.1, 1e-5);
       },
       "weight should contain 3 elements not 4"},
      {[] {
         batch_norm(ones({2, 3}), {}, {}, ones({2}), ones({3}), true, 0.1, 1e-5);
       },
       "running_mean should contain 3 elements not 2"},
      {[] { batch_norm(ones({3}), {}, {}, {}, {}, true, 0.1, 1e-5); },
       "expected an input of at least 2 dimensions"},
      {[] { batch_norm(Tensor(), {}, {}, {}, {}, true, 0.1, 1e-5); }, "the input is undefined"},
      {[] {
         batch_norm(ones({2, 3}, kLong), {}, {}, {}, {}, true, 0.1, 1e-5);
       },
       "not implemented for 'Long'"}};
  return row;
}

Row evaluation_row() {
  Row row = batch_norm_row("batch_norm_evaluation", false);
  row.refusals = {{[] {
                     batch_norm(ones({2, 3}), {}, {}, {}, {}, false, 0.1, 1e-5);
                   },
                   "Expected running_mean and running_var to be defined when training=False"}};
  return row;
}

const Register registered_batch_norm[] = {Register(training_row()), Register(evaluation_row())};

TEST(BatchNorm, TrainingUpdatesRunningStatisticsAndTheirVersions) {
  for (const Device device : devices()) {
    const Tensor mean = zeros({2}).to(device, kFloat), var = ones({2}).to(device, kFloat);
    const Tensor x = arange(8, kFloat).reshape({4, 2}).to(device, kFloat);
    const int64_t version = mean._version();
    batch_norm(x, {}, {}, mean, var, true, 0.5, 1e-5);
    EXPECT_EQ(mean._version(), version + 1);
    EXPECT_FLOAT_EQ(mean.select(0, 0).item<float>(), 1.5F);
    EXPECT_FLOAT_EQ(var.select(0, 0).item<float>(), 0.5F + 0.5F * 20 / 3);
    batch_norm(x, {}, {}, mean, var, false, 0.5, 1e-5);
    EXPECT_EQ(mean._version(), version + 1);
  }
}

TEST(BatchNorm, EmptyBatchGradients) {
  const Tensor x = ones({0, 2}).requires_grad_(), weight = ones({2}).requires_grad_();
  batch_norm(x, weight, {}, {}, {}, true, 0.1, 1e-5).sum().backward();
  EXPECT_EQ(x.grad().numel(), 0);
  EXPECT_TRUE(weight.grad().equal(zeros({2})));
}

TEST(BatchNorm, EvaluationDoesNotModifySavedStatistics) {
  const Tensor x = arange(8, kFloat).reshape({4, 2}).requires_grad_(), mean = zeros({2}),
               var = ones({2});
  const Tensor first = batch_norm(x, {}, {}, mean, var, false, 0.5, 0);
  const Tensor second = batch_norm(x, {}, {}, mean, var, false, 0.5, 0);
  first.sum().backward();
  second.sum().backward();
  EXPECT_TRUE(x.grad().equal(full({4, 2}, 2.0)));
}

TEST(NativeBatchNorm, ReturnsTheStatisticsOfTheBatch) {
  const Tensor x = arange(12, kFloat).view({2, 3, 2});
  const auto [y, mean, invstd] = native_batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5);
  // Each channel has these deviations from its mean, hence the variance 9.25.
  const Tensor deviations = tensor({{-3.5f, -2.5f}, {2.5f, 3.5f}}).unsqueeze(1).expand({2, 3, 2});
  EXPECT_TRUE(y.allclose(deviations / std::sqrt(9.25 + 1e-5)));
  EXPECT_TRUE(mean.equal(tensor({3.5F, 5.5F, 7.5F})));
  EXPECT_NEAR(invstd[0].item<double>(), 1 / std::sqrt(9.25 + 1e-5), 1e-6);
  const Tensor zero = zeros({3}), one = ones({3});
  EXPECT_EQ(std::get<1>(native_batch_norm(x, one, one, zero, one, false, 0.1, 1e-5)).numel(), 0);
  EXPECT_ERROR(native_batch_norm(x, one, one, zero, {}, true, 0.1, 1e-5),
               "running_mean and running_var must either both be None or neither be None");
}

}  // namespace
}  // namespace hearth::testing
