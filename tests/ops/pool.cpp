#include "tests/ops/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/autograd.h"
#include "hearth/stream.h"
#include "tests/support/throws.h"

namespace hearth::testing {

int64_t Windows::begin(int64_t i, int64_t size) const {
  return adaptive ? int64_t(std::floor(double(i * size) / double(out))) : i * stride - padding;
}
int64_t Windows::end(int64_t i, int64_t size) const {
  return adaptive ? int64_t(std::ceil(double((i + 1) * size) / double(out)))
                  : begin(i, size) + (kernel - 1) * dilation + 1;
}

namespace {

/// Calls f(value, linear index in the plane or volume) for every element in the window of output p,
/// recursively from dimension d of the frame on. `position` and its linear index `linear` are set
/// for the dimensions before.
template <class F>
void for_each_in_window(const Array& x, const Frame& frame, const Position& p, size_t d,
                        Position& position, int64_t linear, const F& f) {
  if (d == frame.size()) return f(at(x, position), linear);
  const size_t dim = x.sizes.size() - frame.size() + d;
  const int64_t size = x.sizes[dim];
  for (int64_t i = frame[d].begin(p[dim], size); i < frame[d].end(p[dim], size);
       i += frame[d].dilation) {
    if (i < 0 || i >= size) continue;
    position[dim] = i;
    for_each_in_window(x, frame, p, d + 1, position, linear * size + i, f);
  }
}

std::vector<int64_t> pooled_sizes(const Array& x, const Frame& frame) {
  std::vector<int64_t> sizes = x.sizes;
  for (size_t d = 0; d < frame.size(); ++d) sizes[sizes.size() - frame.size() + d] = frame[d].out;
  return sizes;
}

}  // namespace

Arrays max_reference(const Array& x, const Frame& frame) {
  const auto pick = [&](bool wants_index) {
    return build(pooled_sizes(x, frame), [&](const Position& p) {
      double best = -std::numeric_limits<double>::infinity(), best_index = 0;
      Position position = p;
      for_each_in_window(x, frame, p, 0, position, 0, [&](double value, int64_t linear) {
        if (value > best) best_index = double(linear);
        best = std::fmax(best, value);
      });
      return wants_index ? best_index : best;
    });
  };
  return {pick(false), pick(true)};
}

Array average_reference(const Array& x, const Frame& frame, double divisor) {
  return build(pooled_sizes(x, frame), [&](const Position& p) {
    double sum = 0, count = 0;
    Position position = p;
    for_each_in_window(x, frame, p, 0, position, 0, [&](double value, int64_t) {
      sum += value;
      ++count;
    });
    return sum / (divisor == 0 ? count : divisor);
  });
}

Input distinct(std::vector<int64_t> sizes) { return {std::move(sizes), Draw::kDistinct}; }

Row max_row(std::string name, std::vector<std::string> covers, std::vector<Case> cases,
            std::function<TensorPair(const Tensor&)> op, Frame frame) {
  Row row;
  row.name = std::move(name);
  row.covers = std::move(covers);
  row.cases = std::move(cases);
  row.call = [=](const Tensors& in) {
    const auto [values, indices] = op(in[0]);
    return Tensors{values, indices};
  };
  row.reference = [=](const Arrays& in) { return max_reference(in[0], frame); };
  row.results = {Result::kSame, Result::kLong};
  return row;
}

Row average_row(std::string name, std::vector<std::string> covers, std::vector<Case> cases,
                std::function<Tensor(const Tensor&)> op, Frame frame, double divisor) {
  Row row;
  row.name = std::move(name);
  row.covers = std::move(covers);
  row.cases = std::move(cases);
  row.slack = 4;
  row.call = [=](const Tensors& in) { return Tensors{op(in[0])}; };
  row.reference = [=](const Arrays& in) {
    return Arrays{average_reference(in[0], frame, divisor)};
  };
  return row;
}

namespace {

/// Lets a row of a 1-d op have the reference of a 2-d op, which computes with planes of height 1.
Row as_1d(Row row) {
  const auto reference = row.reference;
  row.reference = [reference](const Arrays& in) {
    Arrays planes = in;
    planes[0].sizes.insert(planes[0].sizes.end() - 1, 1);
    Arrays out = reference(planes);
    for (Array& array : out) array.sizes.erase(array.sizes.end() - 2);
    return out;
  };
  return row;
}

Row max_pool2d_row() {
  Row row = max_row(
      "max_pool2d_with_indices", {"max_pool2d_with_indices", "max_pool2d_with_indices_backward"},
      {{distinct({2, 3, 4, 5})}, {distinct({2, 4, 5})}, {distinct({0, 2, 4, 5})}},
      [](const Tensor& x) { return max_pool2d_with_indices(x, 2); }, {{2, 2, 2}, {2, 2, 2}});
  row.dtypes = dtypes::kReal;
  row.keeps_memory_format = true;
  return row;
}

/// A row with dilation 2 in the height and 1 in the width.
Row max_pool2d_dilated_row() {
  Row row = average_row("max_pool2d_dilated", {"max_pool2d"}, {{distinct({2, 2, 5, 5})}},
                        [](const Tensor& x) {
                          return max_pool2d(x, 3, 2, 1, {2, 1}, true);
                        },
                        {});
  row.reference = [](const Arrays& in) {
    return Arrays{max_reference(in[0], {{2, 3, 2, 1, 2}, {3, 3, 2, 1}})[0]};
  };
  row.keeps_memory_format = true;
  return row;
}

/// A row with dilation 1 in the height and 2 in the width, and with invalid arguments.
Row max_pool2d_values_row() {
  Row row = average_row("max_pool2d", {"max_pool2d"}, {{distinct({2, 2, 5, 5})}},
                        [](const Tensor& x) {
                          return max_pool2d(x, 3, 2, 1, {1, 2}, true);
                        },
                        {});
  row.reference = [](const Arrays& in) {
    return Arrays{max_reference(in[0], {{3, 3, 2, 1}, {2, 3, 2, 1, 2}})[0]};
  };
  row.keeps_memory_format = true;
  const auto pool = [](int64_t kernel, int64_t stride, int64_t padding = 0, int64_t dilation = 1) {
    return [=] { max_pool2d(ones({1, 3, 5, 5}), kernel, stride, padding, dilation); };
  };
  row.refusals = {
      {pool(2, 0), "stride should not be zero"},
      {pool(0, 1), "kernel size should be greater than zero"},
      {pool(2, -1), "stride should be greater than zero, but got dH: -1 dW: -1"},
      {pool(2, 2, 2),
       "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and "
       "dilation=1"},
      {pool(2, 2, -1), "pad must be non-negative, but got pad: -1"},
      {pool(2, 2, 0, 0), "dilation should be greater than zero, but got dilationH: 0 dilationW: 0"},
      {pool(6, 6),
       "Given input size: (3x5x5). Calculated output size: (3x0x0). Output size is too small"},
      {[] {
         max_pool2d(ones({5, 5}), 2);
       },
       "non-empty 3D or 4D (batch mode) tensor expected for input"},
      {[] {
         max_pool2d(ones({1, 0, 5, 5}), 2);
       },
       "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but "
       "got:[1, 0, 5, 5]"},
      {[] {
         max_pool2d(ones({0, 5, 5}), 2);
       },
       "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but "
       "got:[0, 5, 5]"},
      {[] {
         max_pool2d(ones({1, 3, 5, 5}), {2, 2, 2});
       },
       "max_pool2d: kernel_size must either be a single int, or a tuple of two ints"},
      {[] {
         max_pool2d(ones({1, 3, 5, 5}, kBool), 2);
       },
       "not implemented for 'Bool'"}};
  return row;
}

Row avg_pool2d_row() {
  const Windows rows{2, 2, 2}, columns{3, 3, 1};
  Row row = average_row("avg_pool2d", {"avg_pool2d", "avg_pool2d_backward"},
                        {{{{2, 3, 4, 5}}}, {{{2, 5, 5}}}, {{{0, 2, 4, 5}}}},
                        [](const Tensor& x) {
                          return avg_pool2d(x, {2, 3}, {2, 1});
                        },
                        {rows, columns});
  row.out = [](Tensor& out, const Tensors& in) { avg_pool2d_out(out, in[0], {2, 3}, {2, 1}); };
  row.keeps_memory_format = true;
  row.refusals = {
      {[] {
         avg_pool2d(ones({1, 3, 5, 5}), 6);
       },
       "Given input size: (3x5x5). Calculated output size: (3x0x0). Output size is too small"},
      {[] {
         avg_pool2d(ones({1, 3, 5, 5}), 2, {}, 0, false, true, 0);
       },
       "divisor must be not zero"},
      {[] {
         avg_pool2d(ones({1, 3, 5, 5}, kInt), 2);
       },
       "not implemented for 'Int'"}};
  return row;
}

Row adaptive_max_row() {
  Row row = max_row("adaptive_max_pool2d", {"adaptive_max_pool2d", "adaptive_max_pool2d_backward"},
                    {{distinct({2, 3, 4, 5})}, {distinct({2, 2, 7})}},
                    [](const Tensor& x) {
                      return adaptive_max_pool2d(x, {3, 2});
                    },
                    {{3, 0, 0, 0, 1, true}, {2, 0, 0, 0, 1, true}});
  row.keeps_memory_format = true;
  row.refusals = {{[] {
                     adaptive_max_pool2d(ones({5, 5}), {2, 2});
                   },
                   "adaptive_max_pool2d(): Expected 3D or 4D tensor, but got: [5, 5]"}};
  return row;
}

Row adaptive_average_row() {
  Row row =
      average_row("adaptive_avg_pool2d",
                  {"adaptive_avg_pool2d", "_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward"},
                  {{{{2, 3, 4, 5}}}, {{{2, 2, 7}}}, {{{0, 2, 4, 5}}}},
                  [](const Tensor& x) {
                    return adaptive_avg_pool2d(x, {3, 2});
                  },
                  {{3, 0, 0, 0, 1, true}, {2, 0, 0, 0, 1, true}});
  row.keeps_memory_format = true;
  row.refusals = {
      {[] {
         adaptive_avg_pool2d(ones({5, 5}), {2, 2});
       },
       "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got [5, 5]"},
      {[] {
         adaptive_avg_pool2d(ones({1, 3, 5, 5}), {2});
       },
       "adaptive_avg_pool2d: output_size must be 2"},
      {[] {
         adaptive_avg_pool2d(ones({1, 3, 5, 5}), {-1, 2});
       },
       "elements of output_size must be greater than or equal to 0 but received {-1, 2}"},
      {[] {
         adaptive_avg_pool2d(ones({1, 3, 0, 5}), {2, 2});
       },
       "adaptive_avg_pool2d(): Expected input to have non-zero size for non-batch dimensions, but "
       "input has sizes [1, 3, 0, 5] with dimension 2 being empty"}};
  return row;
}

const Windows kHeightOne{1, 1, 1};

Row max_pool1d_row() {
  Row row =
      as_1d(average_row("max_pool1d", {"max_pool1d"}, {{distinct({2, 3, 7})}, {distinct({3, 7})}},
                        [](const Tensor& x) { return max_pool1d(x, 3, 2, 1); }, {}));
  row.reference = [](const Arrays& in) {
    Array planes = in[0];
    planes.sizes.insert(planes.sizes.end() - 1, 1);
    Array out = max_reference(planes, {kHeightOne, {4, 3, 2, 1}})[0];
    out.sizes.erase(out.sizes.end() - 2);
    return Arrays{out};
  };
  row.refusals = {{[] { max_pool1d(ones({5}), 2); },
                   "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch "
                   "size for input, but got:[5]"},
                  {[] {
                     max_pool1d(ones({1, 3, 5}), 7);
                   },
                   "max_pool1d() Invalid computed output size: 0"},
                  {[] {
                     max_pool1d(ones({1, 3, 5}), {2, 2});
                   },
                   "max_pool1d() kernel_size must be an int, list of ints or tuple of ints of size "
                   "1 but got size 2"}};
  return row;
}

Row adaptive_avg_pool1d_row() {
  Row row = as_1d(average_row("adaptive_avg_pool1d", {"adaptive_avg_pool1d"}, {{{{2, 3, 7}}}},
                              [](const Tensor& x) { return adaptive_avg_pool1d(x, 3); },
                              {kHeightOne, {3, 0, 0, 0, 1, true}}));
  row.refusals = {{[] {
                     adaptive_avg_pool1d(ones({1, 2, 4}), {2, 2});
                   },
                   "adaptive_avg_pool1d() argument 'output_size' should contain one int (got 2)"},
                  {[] {
                     adaptive_avg_pool1d(ones({4}), {2, 2});
                   },
                   "Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #1 "
                   "'self' (while checking arguments for adaptive_avg_pool1d)"}};
  return row;
}

const Register registered_pool[] = {
    Register(max_pool2d_row()),
    Register(max_pool2d_values_row()),
    Register(max_pool2d_dilated_row()),
    Register(max_pool1d_row()),
    Register(as_1d(max_row(
        "max_pool1d_with_indices", {"max_pool1d_with_indices"}, {{distinct({2, 3, 7})}},
        [](const Tensor& x) { return max_pool1d_with_indices(x, 2); }, {kHeightOne, {3, 2, 2}}))),
    Register(avg_pool2d_row()),
    Register(average_row(
        "avg_pool2d_divisor", {"avg_pool2d"}, {{{{2, 1, 4, 5}}}},
        [](const Tensor& x) { return avg_pool2d(x, 3, 2, 1, true, true, 5); },
        {{3, 3, 2, 1}, {3, 3, 2, 1}}, 5)),
    Register(average_row("avg_pool2d_without_padding", {"avg_pool2d"}, {{{{2, 1, 4, 5}}}},
                         [](const Tensor& x) { return avg_pool2d(x, 3, 2, 1, true, false); },
                         {{3, 3, 2, 1}, {3, 3, 2, 1}})),
    Register(as_1d(average_row("avg_pool1d", {"avg_pool1d"}, {{{{2, 3, 7}}}, {{{3, 7}}}},
                               [](const Tensor& x) { return avg_pool1d(x, 3, 2); },
                               {kHeightOne, {3, 3, 2}}))),
    Register(adaptive_average_row()),
    Register(average_row("adaptive_avg_pool2d_to_one", {"adaptive_avg_pool2d"},
                         {{{{2, 3, 4, 5}}}, {{{2, 2, 7}}}},
                         [](const Tensor& x) {
                           return adaptive_avg_pool2d(x, {1, 1});
                         },
                         {{1, 0, 0, 0, 1, true}, {1, 0, 0, 0, 1, true}})),
    Register(adaptive_avg_pool1d_row()),
    Register(adaptive_max_row()),
    Register(as_1d(max_row("adaptive_max_pool1d", {"adaptive_max_pool1d"}, {{distinct({2, 3, 7})}},
                           [](const Tensor& x) { return adaptive_max_pool1d(x, 3); },
                           {kHeightOne, {3, 0, 0, 0, 1, true}}))),
};

TEST(Pool, IntegersAndBorders) {
  for (const Device device : devices()) {
    const Tensor x = arange(12, kInt).reshape({1, 3, 4}).to(device, kInt);
    EXPECT_EQ(max_pool2d(x, 2).sum().item<int64_t>(), 5 + 7);
    EXPECT_EQ(avg_pool2d(x.to(kLong), {3, 2}).sum().item<int64_t>(), 4 + 6);
    // The last window would start in the padding, so it is dropped.
    EXPECT_EQ(max_pool2d(x, 2, 2, 1, 1, true).sizes().vec(), (std::vector<int64_t>{1, 2, 3}));
    EXPECT_EQ(avg_pool2d(x.to(kFloat), 2, 2, 1).select(-1, 0).select(-1, 0).item<float>(), 0);
  }
}

TEST(Pool, NaNIsTheMaximum) {
  for (const Device device : devices()) {
    Tensor x = arange(4, kFloat);
    x.select(0, 1).fill_(NAN);
    x.select(0, 2).fill_(NAN);
    const auto [value, index] = max_pool2d_with_indices(x.reshape({1, 2, 2}).to(device, kFloat), 2);
    EXPECT_TRUE(std::isnan(value.item<float>()));
    const int64_t position = index.item<int64_t>();
    EXPECT_TRUE(position == 1 || position == 2);
    const Tensor low = full({1, 2, 2}, -INFINITY).to(device, kFloat);
    EXPECT_EQ(std::get<1>(max_pool2d_with_indices(low, 2)).item<int64_t>(), 0);
  }
}

TEST(Pool, WindowsWithoutElements) {
  for (const Device device : devices()) {
    // The only window's elements are at -1 and 3 in each dimension, outside of the input.
    const Tensor x = ones({1, 2, 3, 3}, TensorOptions(kDouble).device(device)).requires_grad_();
    const auto [largest, indices] = max_pool2d_with_indices(x, 2, 1, 1, 4);
    EXPECT_TRUE(largest.isneginf().all().item<bool>()) << device;
    EXPECT_TRUE(indices.lt(9).logical_and(indices.ge(0)).all().item<bool>()) << device;
    largest.sum().backward();
    EXPECT_EQ(x.grad().sizes().vec(), x.sizes().vec());
  }
  EXPECT_ERROR(max_pool2d(ones({1, 1, 3, 3}), 2, 1, 2, 4),
               "pad should be smaller than or equal to half of kernel size, but got padW = 2, "
               "padH = 2, kW = 2, kH = 2");
}

// The results and errors are PyTorch's.
TEST(AdaptiveAvgPool, OfEmptyInputs) {
  EXPECT_TRUE(adaptive_avg_pool2d(ones({2, 3, 0, 4}), {1, 1}).isnan().all().item<bool>());
  EXPECT_EQ(adaptive_avg_pool3d(ones({2, 0, 4, 4, 4}), {1, 1, 1}).numel(), 0);
  const Tensor x = ones({2, 0, 4, 4}).requires_grad_();
  const Tensor y = adaptive_avg_pool2d(x, {2, 2});
  EXPECT_EQ(y.numel(), 0);
  EXPECT_ERROR(y.sum().backward(),
               "adaptive_avg_pool2d_backward(): Expected grad_output to have non-zero size for "
               "non-batch dimensions, but grad_output has sizes [2, 0, 2, 2] with dimension 1 "
               "being empty");
}

}  // namespace
}  // namespace hearth::testing
