#include <gtest/gtest.h>

#include <cmath>

#include "hearth/operators.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

constexpr double kEps = 1e-3;

struct NormShape {
  int64_t length;    // elements of a row
  int64_t groups;    // rows per sample
  int64_t channels;  // channels of a row
  int64_t inner;     // elements of a channel
};

/// Normalises rows of `length` elements. Weight and bias are optional and per channel.
Array row_norm_reference(const Arrays& in, NormShape shape, bool centered) {
  Array out = in[0];
  const int64_t rows = shape.length ? int64_t(out.values.size()) / shape.length : 0;
  const double n = double(shape.length);
  for (int64_t r = 0; r < rows; ++r) {
    double* x = out.values.data() + r * shape.length;
    double mean = 0, var = 0;
    for (int64_t j = 0; centered && j < shape.length; ++j) mean += x[j] / n;
    for (int64_t j = 0; j < shape.length; ++j) var += (x[j] - mean) * (x[j] - mean) / n;
    for (int64_t j = 0; j < shape.length; ++j) {
      const size_t c = size_t(r % shape.groups * shape.channels + j / shape.inner);
      const double weight = in[1].values.empty() ? 1 : in[1].values[c];
      const double bias = in.size() < 3 || in[2].values.empty() ? 0 : in[2].values[c];
      x[j] = (x[j] - mean) / std::sqrt(var + kEps) * weight + bias;
    }
  }
  return out;
}

const Input kAbsent{{}, Draw::kNormal, 0, true};

Row layer_norm_row() {
  Row row;
  row.name = "layer_norm";
  row.covers = {"native_layer_norm", "row_norm_backward"};
  const Input parameter{{5}};
  row.cases = {{{{3, 5}}, parameter, parameter},
               {{{2, 3, 5}}, kAbsent, kAbsent},
               {{{4, 5}}, parameter, kAbsent},
               {{{0, 5}}, parameter, parameter}};
  row.call = [](const Tensors& in) { return Tensors{layer_norm(in[0], {5}, in[1], in[2], kEps)}; };
  row.reference = [](const Arrays& in) {
    return Arrays{row_norm_reference(in, {5, 1, 5, 1}, true)};
  };
  row.slack = 20;
  row.refusals = {
      {[] {
         layer_norm(ones({2, 3}), {4});
       },
       "Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]"},
      {[] {
         layer_norm(ones({2, 3}), {3}, ones({4}));
       },
       "Expected weight to be of same shape as normalized_shape, but got weight of shape [4] and "
       "normalized_shape = [3]"},
      {[] {
         layer_norm(ones({2, 3}), IntArrayRef());
       },
       "Expected normalized_shape to be at least 1-dimensional"},
      {[] {
         layer_norm(ones({2, 3}), {3}, ones({3}, kHalf));
       },
       "mixed dtype (CPU): expect parameter to have scalar type of Float"},
      {[] {
         layer_norm(ones({2, 3}, kLong), {3});
       },
       "not implemented for 'Long'"}};
  return row;
}

Row group_norm_row() {
  Row row;
  row.name = "group_norm";
  row.covers = {"group_norm", "native_group_norm", "row_norm_backward"};
  const Input channels{{6}, Draw::kNormal, 0, false, true};
  row.cases = {{{{2, 6, 5}}, channels, channels}, {{{3, 6, 5}}, kAbsent, channels}};
  row.call = [](const Tensors& in) { return Tensors{group_norm(in[0], 3, in[1], in[2], kEps)}; };
  row.reference = [](const Arrays& in) {
    return Arrays{row_norm_reference(in, {10, 3, 2, 5}, true)};
  };
  row.slack = 20;
  row.refusals = {{[] {
                     group_norm(ones({2, 6, 2}), 4);
                   },
                   "Expected number of channels in input to be divisible by num_groups, but got "
                   "input of shape [2, 6, 2] and num_groups=4"},
                  {[] { group_norm(ones({2}), 1); },
                   "Expected at least 2 dimensions for input tensor but received 1"},
                  {[] {
                     group_norm(ones({2, 0, 4}), 1);
                   },
                   "Expected number of channels to be greater than 0, got 0"},
                  {[] {
                     group_norm(ones({2, 6, 2}), 2, ones({5}));
                   },
                   "Expected weight to be a vector of size equal to the number of channels in "
                   "input, but got weight of shape [5] and input of shape [2, 6, 2]"}};
  return row;
}

Row rms_norm_row() {
  Row row;
  row.name = "rms_norm";
  row.covers = {"rms_norm", "row_norm_backward"};
  row.cases = {{{{3, 2, 4}}, {{2, 4}}}, {{{5, 2, 4}}, kAbsent}};
  row.call = [](const Tensors& in) { return Tensors{rms_norm(in[0], {2, 4}, in[1], kEps)}; };
  row.reference = [](const Arrays& in) {
    return Arrays{row_norm_reference(in, {8, 1, 8, 1}, false)};
  };
  row.slack = 20;
  row.refusals = {
      {[] {
         rms_norm(ones({2, 3}), {4});
       },
       "Given normalized_shape=[4], expected input with shape [*4], but got input of size[2, 3]"}};
  return row;
}

Row instance_norm_row() {
  Row row;
  row.name = "instance_norm";
  row.covers = {"instance_norm"};
  const Input channels{{3}, Draw::kNormal, 0, false, true};
  row.cases = {{{{2, 3, 5}}, channels, channels}, {{{4, 3, 5}}, kAbsent, kAbsent}};
  row.call = [](const Tensors& in) {
    return Tensors{instance_norm(in[0], in[1], in[2], {}, {}, true, 0.1, kEps)};
  };
  row.reference = [](const Arrays& in) {
    return Arrays{row_norm_reference(in, {5, 3, 1, 5}, true)};
  };
  row.slack = 20;
  row.refusals = {{[] {
                     instance_norm(ones({2, 3, 4}), {}, {}, {}, {}, false, 0.1, kEps);
                   },
                   "Expected running_mean and running_var to be defined when use_input_stats is "
                   "false"}};
  return row;
}

const Register registered_row_norm[] = {Register(layer_norm_row()), Register(group_norm_row()),
                                        Register(rms_norm_row()), Register(instance_norm_row())};

TEST(RowNorm, StatisticsAndLongRows) {
  for (const Device device : devices()) {
    const Tensor x = (randn({3, 5000}, kDouble) + 1e4).to(device, kDouble);
    const auto [out, mean, rstd] = native_layer_norm(x, {5000}, {}, {}, 0);
    EXPECT_EQ(mean.sizes(), IntArrayRef({3, 1}));
    EXPECT_TRUE(mean.allclose(x.mean(-1, true)));
    EXPECT_NEAR(out.mul(out).mean().item<double>(), 1, 1e-8);
    EXPECT_TRUE(out.allclose((x - mean) * rstd, 1e-5, 1e-7));
    const Tensor half = randn({2, 3000}).to(kHalf).to(device, kHalf);
    EXPECT_EQ(std::get<1>(native_layer_norm(half, {3000}, {}, {}, 0)).scalar_type(), kFloat);
    EXPECT_TRUE(layer_norm(half, {3000})
                    .to(kFloat)
                    .allclose(layer_norm(half.to(kFloat), {3000}), 2e-3, 2e-3));
  }
}

TEST(RowNorm, InstanceNormUpdatesTheRunningStatistics) {
  const Tensor mean = zeros({2}), var = ones({2});
  const Tensor x = arange(16, kFloat).reshape({2, 2, 4});
  instance_norm(x, {}, {}, mean, var, true, 1, 0);
  EXPECT_FLOAT_EQ(mean[0].item<float>(), 5.5F);
  EXPECT_FLOAT_EQ(var[1].item<float>(), 5.0F / 3);
}

}  // namespace
}  // namespace hearth::testing
