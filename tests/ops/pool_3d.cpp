// Three-dimensional pooling, fractional pooling and unpooling.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/stream.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/pool.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

const std::vector<Case> kPoolVolumes = {
    {distinct({2, 2, 3, 4, 5})}, {distinct({2, 3, 4, 5})}, {distinct({0, 2, 3, 4, 5})}};

Row max_pool3d_row() {
  Row row = max_row("max_pool3d_with_indices",
                    {"max_pool3d_with_indices", "max_pool3d_with_indices_backward"}, kPoolVolumes,
                    [](const Tensor& x) {
                      return max_pool3d_with_indices(x, 2, {1, 2, 2});
                    },
                    {{2, 2, 1}, {2, 2, 2}, {2, 2, 2}});
  row.dtypes = dtypes::kReal;
  return row;
}

/// A refused call of max_pool3d on sizes [1, 3, 5, 5, 5].
Refusal refused(std::vector<int64_t> kernel, std::vector<int64_t> stride, int64_t padding,
                int64_t dilation, std::string message) {
  return {[=] {
            max_pool3d(ones({1, 3, 5, 5, 5}), kernel, stride, padding, dilation);
          },
          std::move(message)};
}
Refusal refused_input(std::vector<int64_t> sizes, std::string message) {
  return {[=] { max_pool3d(ones(sizes), 2); }, std::move(message)};
}

/// A row with padding, dilation and incomplete windows, and with invalid arguments.
Row max_pool3d_values_row() {
  Row row = average_row("max_pool3d", {"max_pool3d"}, {{distinct({2, 1, 5, 5, 5})}},
                        [](const Tensor& x) {
                          return max_pool3d(x, 3, 2, 1, {1, 2, 1}, true);
                        },
                        {});
  row.reference = [](const Arrays& in) {
    return Arrays{max_reference(in[0], {{3, 3, 2, 1}, {2, 3, 2, 1, 2}, {3, 3, 2, 1}})[0]};
  };
  row.refusals = {
      refused({2, 2}, {2}, 0, 1,
              "max_pool3d: kernel_size must either be a single int, or a tuple of three ints"),
      refused({2}, {2, 2}, 0, 1,
              "max_pool3d: stride must either be omitted, a single int, or a tuple of three ints"),
      refused({2}, {0}, 0, 1, "stride should not be zero"),
      refused({0}, {1}, 0, 1, "kernel size should be greater than zero, but got kT: 0 kH: 0 kW: 0"),
      refused({2}, {-1}, 0, 1, "stride should be greater than zero, but got dT: -1 dH: -1 dW: -1"),
      refused({2}, {2}, 0, 0,
              "dilation should be greater than zero, but got dilationT: 0 dilationH: 0 "
              "dilationW: 0"),
      refused({2}, {2}, 2, 1,
              "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 "
              "and dilation=1"),
      refused({2}, {2}, 2, 4,
              "pad should be smaller than or equal to half of kernel size, but got kT: 2 kW: 2 "
              "kH: 2 padT: 2 padW: 2 padH: 2"),
      refused({6}, {6}, 0, 1,
              "Given input size: (3x5x5x5). Calculated output size: (3x0x0x0). Output size is too "
              "small"),
      refused_input({5, 5, 5}, "non-empty 4D or 5D (batch mode) tensor expected for input"),
      refused_input({1, 2, 0, 5, 5},
                    "Expected input to have non-zero size for non-batch dimensions, but input has "
                    "sizes [1, 2, 0, 5, 5] with dimension 2 being empty")};
  return row;
}

Row avg_pool3d_row() {
  Row row = average_row("avg_pool3d", {"avg_pool3d", "avg_pool3d_backward"}, kPoolVolumes,
                        [](const Tensor& x) {
                          return avg_pool3d(x, {2, 2, 3}, {1, 2, 1});
                        },
                        {{2, 2, 1}, {2, 2, 2}, {3, 3, 1}});
  row.out = [](Tensor& out, const Tensors& in) {
    avg_pool3d_out(out, in[0], {2, 2, 3}, {1, 2, 1});
  };
  row.refusals = {{[] {
                     avg_pool3d(ones({1, 3, 5, 5, 5}), 6);
                   },
                   "input image (T: 5 H: 5 W: 5) smaller than kernel size (kT: 6 kH: 6 kW: 6)"},
                  {[] {
                     avg_pool3d(ones({1, 3, 5, 5, 5}), {2, 2});
                   },
                   "avg_pool3d: kernel_size must be a single int, or a tuple of three ints"},
                  {[] {
                     avg_pool3d(ones({1, 3, 5, 5, 5}), 2, {}, 0, false, true, 0);
                   },
                   "divisor must be not zero"}};
  return row;
}

/// The windows of adaptive pooling to the sizes [2, 3, 2].
const Frame kAdaptive = {{2, 0, 0, 0, 1, true}, {3, 0, 0, 0, 1, true}, {2, 0, 0, 0, 1, true}};

Row adaptive_average_3d_row() {
  Row row = average_row(
      "adaptive_avg_pool3d",
      {"adaptive_avg_pool3d", "_adaptive_avg_pool3d", "_adaptive_avg_pool3d_backward"},
      kPoolVolumes,
      [](const Tensor& x) {
        return adaptive_avg_pool3d(x, {2, 3, 2});
      },
      kAdaptive);
  row.out = [](Tensor& out, const Tensors& in) { adaptive_avg_pool3d_out(out, in[0], {2, 3, 2}); };
  row.refusals = {
      {[] {
         adaptive_avg_pool3d(ones({1, 1, 5, 5, 5}), 2);
       },
       "adaptive_avg_pool3d: output_size must be 3"},
      {[] {
         adaptive_avg_pool3d(ones({1, 1, 5, 5, 5}), {-1, 2, 2});
       },
       "elements of output_size must be greater than or equal to 0 but received {-1, 2,2}"},
      {[] {
         adaptive_avg_pool3d(ones({5, 5, 5}), {2, 2, 2});
       },
       "adaptive_avg_pool3d(): Expected 4D or 5D tensor, but got [5, 5, 5]"}};
  return row;
}

Row adaptive_max_3d_row() {
  Row row = max_row(
      "adaptive_max_pool3d", {"adaptive_max_pool3d", "adaptive_max_pool3d_backward"}, kPoolVolumes,
      [](const Tensor& x) {
        return adaptive_max_pool3d(x, {2, 3, 2});
      },
      kAdaptive);
  row.refusals = {{[] {
                     adaptive_max_pool3d(ones({1, 3, 5, 5, 5}), {-1, 2, 2});
                   },
                   "Trying to create tensor with negative dimension -1: [1, 3, -1, 2, 2]"}};
  return row;
}

/// Fixed numbers in place of the random samples of fractional pooling, for a batch of 2 with 2
/// channels. They are equal in all dimensions.
Tensor samples_like(const Tensor& x, int64_t dims) {
  const Tensor channels = tensor({0.3, 0.55}).to(x.options());
  return channels.reshape({1, 2, 1}).expand({2, 2, dims});
}

/// The first index of a channel's window i. A dimension of size 7 has 3 windows of size 2, at
/// intervals of 2.5.
int64_t begin_of(int64_t channel, int64_t i) {
  static constexpr int64_t kBegins[2][3] = {{0, 3, 5}, {0, 2, 5}};
  return kBegins[channel][i];
}

/// Maxima and their indices. Each of the last `dims` dimensions has 7 elements and 3 windows of 2.
Arrays fractional_reference(const Array& x, size_t dims) {
  std::vector<int64_t> sizes = x.sizes;
  std::fill(sizes.end() - int64_t(dims), sizes.end(), 3);
  Array maxima{sizes, {}}, indices{sizes, {}};
  for (int64_t e = 0; e < count_of(sizes); ++e) {
    const Position p = position_of(e, sizes);
    double best = -std::numeric_limits<double>::infinity(), best_linear = 0;
    for (int64_t corner = 0; corner < 1 << dims; ++corner) {
      Position position = p;
      int64_t linear = 0;
      for (size_t d = 0; d < dims; ++d) {
        position[2 + d] = begin_of(p[1], p[2 + d]) + (corner >> d & 1);
        linear = linear * 7 + position[2 + d];
      }
      if (at(x, position) <= best) continue;
      best = at(x, position);
      best_linear = double(linear);
    }
    maxima.values.push_back(best);
    indices.values.push_back(best_linear);
  }
  return {maxima, indices};
}

Row fractional_row(std::string name, Case inputs, size_t dims,
                   TensorPair (*op)(const Tensor&, IntArrayRef, IntArrayRef, const Tensor&)) {
  Row row;
  row.name = name;
  row.covers = {name};
  row.cases = {std::move(inputs)};
  row.call = [=](const Tensors& in) {
    const std::vector<int64_t> kernel(dims, 2), out(dims, 3);
    const auto [values, indices] = op(in[0], kernel, out, samples_like(in[0], int64_t(dims)));
    return Tensors{values, indices};
  };
  row.reference = [=](const Arrays& in) { return fractional_reference(in[0], dims); };
  row.results = {Result::kSame, Result::kLong};
  return row;
}

Row fractional2d_row() {
  Row row =
      fractional_row("fractional_max_pool2d", {distinct({2, 2, 7, 7})}, 2, fractional_max_pool2d);
  const auto pool = [](std::vector<int64_t> kernel, std::vector<int64_t> out,
                       std::vector<int64_t> samples = {1, 3, 2}) {
    return [=] { fractional_max_pool2d(ones({1, 3, 7, 7}), kernel, out, ones(samples)); };
  };
  row.refusals = {
      {pool({2}, {3, 3}),
       "fractional_max_pool2d: kernel_size must either be a single Int or tuple of Ints"},
      {pool({0, 2}, {3, 3}),
       "fractional_max_pool2d(): kernel size should be greater than zero, but got 0x2"},
      {pool({3, 3}, {6, 3}),
       "fractional_max_pool2d(): pool height 3 too large relative to input height 7"},
      {pool({2, 2}, {3, 3}, {3, 2}), "Expect _random_samples to have 3 dimensions, got 2"},
      {pool({2, 2}, {3, 3}, {1, 2, 2}),
       "Expect _random_samples.size(1) equals to input channel size."},
      {pool({2, 2}, {3, 3}, {1, 3, 3}), "Expect _random_samples.size(2) equals to 2; got 3."}};
  return row;
}

/// A row for max_unpoolNd with the indices 0, 2, 4, …
Row unpool_row(std::string name, Case inputs, size_t dims, std::vector<int64_t> out,
               std::function<Tensor(const Tensor&, const Tensor&)> op) {
  Row row;
  row.name = name;
  row.covers = {name};
  row.cases = {std::move(inputs)};
  row.call = [=](const Tensors& in) {
    const int64_t first = in[0].dim() - int64_t(dims);
    const Tensor plane = in[0].detach().flatten(first).select(0, 0);
    const Tensor indices = (arange(plane.size(-1), in[0].options().dtype(kLong)) * 2)
                               .reshape(in[0].sizes().slice(size_t(first)))
                               .expand_as(in[0]);
    return Tensors{op(in[0], indices)};
  };
  row.reference = [=](const Arrays& in) {
    std::vector<int64_t> sizes = in[0].sizes;
    std::copy(out.begin(), out.end(), sizes.end() - int64_t(dims));
    const int64_t volume = count_of(out);
    const int64_t elements = int64_t(in[0].values.size()) / (count_of(sizes) / volume);
    return Arrays{build(sizes, [&](const Position& p) {
      const int64_t linear = linear_of(p, sizes), index = linear % volume;
      if (index % 2 != 0 || index / 2 >= elements) return 0.0;
      return in[0].values[size_t(linear / volume * elements + index / 2)];
    })};
  };
  return row;
}

const Register registered_pool_3d[] = {
    Register(max_pool3d_row()),
    Register(max_pool3d_values_row()),
    Register(avg_pool3d_row()),
    Register(average_row(
        "avg_pool3d_divisor", {"avg_pool3d"}, {{{{2, 1, 3, 4, 5}}}},
        [](const Tensor& x) { return avg_pool3d(x, 3, 2, 1, true, true, 5); },
        {{2, 3, 2, 1}, {3, 3, 2, 1}, {3, 3, 2, 1}}, 5)),
    Register(average_row("avg_pool3d_without_padding", {"avg_pool3d"}, {{{{2, 1, 3, 4, 5}}}},
                         [](const Tensor& x) { return avg_pool3d(x, 3, 2, 1, true, false); },
                         {{2, 3, 2, 1}, {3, 3, 2, 1}, {3, 3, 2, 1}})),
    Register(adaptive_average_3d_row()),
    Register(average_row(
        "adaptive_avg_pool3d_to_one", {"adaptive_avg_pool3d"}, kPoolVolumes,
        [](const Tensor& x) {
          return adaptive_avg_pool3d(x, {1, 1, 1});
        },
        Frame(3, {1, 0, 0, 0, 1, true}))),
    Register(adaptive_max_3d_row()),
    Register(fractional2d_row()),
    Register(fractional_row("fractional_max_pool3d", {distinct({2, 2, 7, 7, 7})}, 3,
                            fractional_max_pool3d)),
    Register(unpool_row("max_unpool2d", {{{2, 2, 2, 3}}}, 2, {3, 5},
                        [](const Tensor& x, const Tensor& indices) {
                          return max_unpool2d(x, indices, {3, 5});
                        })),
    Register(unpool_row("max_unpool3d", {{{2, 2, 2, 1, 3}}}, 3, {3, 2, 2},
                        [](const Tensor& x, const Tensor& indices) {
                          return max_unpool3d(x, indices, {3, 2, 2}, {2, 2, 2}, {0, 0, 0});
                        })),
};

TEST(Pool, UnpoolingChecksItsArguments) {
  const Tensor x = ones({1, 2, 2, 2}), indices = zeros({1, 2, 2, 2}, kLong);
  EXPECT_ERROR(max_unpool2d(x, indices, 4),
               "There should be exactly two elements (height, width) in output_size, but got 1 "
               "elements.");
  EXPECT_ERROR(max_unpool2d(x, indices.to(kInt), {4, 4}),
               "elements in indices should be type int64 but got: Int");
  EXPECT_ERROR(max_unpool2d(x, indices.slice(1, 0, 1), {4, 4}),
               "Expected shape of indices to be same as that of the input tensor ([1, 2, 2, 2]) "
               "but got indices tensor with shape: [1, 1, 2, 2]");
  EXPECT_ERROR(max_unpool2d(x, indices.add(11), {2, 2}),
               "Found an invalid max index: 11 (output volumes are of size 2x2)");
  EXPECT_ERROR(max_unpool2d(x, indices.sub(1), {2, 2}), "Found an invalid max index: -1");
  EXPECT_ERROR(max_unpool3d(x, indices, {2, 2, 2}, {2, 0, 2}, {0, 0, 0}),
               "strides should be greater than zero, but got stride: [2, 0, 2]");
}

// As in PyTorch, which does not look at the indices then.
TEST(Pool, UnpoolingIntoAnEmptyOutputDropsAllElements) {
  for (const Device device : devices()) {
    const Tensor x = ones({2, 4, 3, 3}, device).requires_grad_();
    const Tensor y = max_unpool2d(x, full({2, 4, 3, 3}, 7, x.options().dtype(kLong)), {1, 0});
    EXPECT_EQ(y.sizes(), IntArrayRef({2, 4, 1, 0}));
    y.sum().backward();
    EXPECT_TRUE(x.grad().equal(zeros_like(x)));
  }
}

TEST(Pool, AnySampleKeepsTheWindowsInsideOfTheInput) {
  for (const Device device : devices()) {
    const Tensor x = arange(49, TensorOptions(kFloat).device(device)).reshape({1, 1, 7, 7});
    for (const double sample : {-3.0, 1.0, 9.0}) {
      const Tensor samples = full({1, 1, 2}, sample, x.options());
      const Tensor indices = std::get<1>(fractional_max_pool2d(x, {3, 3}, {4, 4}, samples));
      EXPECT_TRUE(indices.ge(0).logical_and(indices.lt(49)).all().item<bool>()) << sample;
    }
  }
}

/// Slices of channels, of every second row, of every second column, and of a volume.
TEST(Pool, SlicesWithGaps) {
  for (const Device device : devices()) {
    const Tensor base = randn({2, 3, 7, 8}, TensorOptions(kFloat).device(device));
    for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast})
      for (const int64_t dim : {1, 2, 3}) {
        const Tensor slice = base.contiguous(format).slice(dim, 1, {}, dim == 1 ? 1 : 2);
        const auto [maxima, indices] = max_pool2d_with_indices(slice, 2, 1, 1);
        const auto [wanted, wanted_indices] = max_pool2d_with_indices(slice.contiguous(), 2, 1, 1);
        EXPECT_TRUE(maxima.equal(wanted) && indices.equal(wanted_indices)) << dim;
        EXPECT_TRUE(avg_pool2d(slice, 2, 1, 1).equal(avg_pool2d(slice.contiguous(), 2, 1, 1)));
      }
    const Tensor volume = randn({2, 3, 4, 5, 6}, TensorOptions(kFloat).device(device));
    const Tensor last = volume.contiguous(MemoryFormat::ChannelsLast3d).slice(3, 1);
    const Tensor maxima = max_pool3d(last, 2);
    EXPECT_TRUE(maxima.is_contiguous(MemoryFormat::ChannelsLast3d)) << device;
    EXPECT_TRUE(maxima.equal(max_pool3d(last.contiguous(), 2)));
    EXPECT_TRUE(avg_pool3d(last, 2).allclose(avg_pool3d(last.contiguous(), 2)));
  }
}

TEST(Pool, NaNOfRandomWindows) {
  for (const Device device : devices()) {
    Tensor x = arange(16, kFloat).reshape({1, 1, 4, 4});
    x.select(3, 1).fill_(NAN);
    const auto [value, index] = fractional_max_pool2d(x.to(device, kFloat), {4, 4}, {1, 1},
                                                      full({1, 1, 2}, 0.5).to(device, kFloat));
    EXPECT_TRUE(value.isnan().all().item<bool>());
    EXPECT_EQ(index.item<int64_t>(), 13) << "the index of the last NaN";
  }
}

}  // namespace
}  // namespace hearth::testing
