#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/context.h"
#include "hearth/stream.h"
#include "tests/support/devices.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// The parameters of a convolution; the lists have one number per spatial dimension.
struct ConvGeometry {
  std::vector<int64_t> stride, padding, dilation, output_padding;
  int64_t groups = 1;
  bool transposed = false;
};

/// Advances to the next position within `sizes`; returns false after the last.
bool advance(Position& position, const std::vector<int64_t>& sizes) {
  for (size_t d = sizes.size(); d-- > 0;) {
    if (++position[d] < sizes[d]) return true;
    position[d] = 0;
  }
  return false;
}

/// Calls f(input position, weight position, output position) for every product of a convolution
/// whose input position is not in the padding.
template <class F>
void for_each_product(const ConvGeometry& g, const std::vector<int64_t>& in,
                      const std::vector<int64_t>& weight, const std::vector<int64_t>& out, F f) {
  if (count_of(weight) == 0 || count_of(out) == 0 || count_of(in) == 0) return;
  Position o(out.size(), 0);
  do {
    Position k(weight.size(), 0);
    do {
      const int64_t group = o[1] / (out[1] / g.groups);
      if (k[0] != o[1]) continue;
      Position i{o[0], group * weight[1] + k[1]};
      bool is_inside = true;
      for (size_t d = 0; d + 2 < in.size(); ++d) {
        i.push_back(o[d + 2] * g.stride[d] - g.padding[d] + k[d + 2] * g.dilation[d]);
        is_inside &= i[d + 2] >= 0 && i[d + 2] < in[d + 2];
      }
      if (is_inside) f(i, k, o);
    } while (advance(k, weight));
  } while (advance(o, out));
}

/// A convolution by its definition; in = [batched input, weight, bias or an empty array].
Array conv_reference(const ConvGeometry& g, const Arrays& in) {
  const Array &x = in[0], &w = in[1];
  Array out;
  out.sizes = {x.sizes[0], g.transposed ? w.sizes[1] * g.groups : w.sizes[0]};
  for (size_t d = 0; d + 2 < x.sizes.size(); ++d) {
    const int64_t extent = g.dilation[d] * (w.sizes[d + 2] - 1);
    out.sizes.push_back(g.transposed
                            ? (x.sizes[d + 2] - 1) * g.stride[d] - 2 * g.padding[d] + extent +
                                  g.output_padding[d] + 1
                            : (x.sizes[d + 2] + 2 * g.padding[d] - extent - 1) / g.stride[d] + 1);
  }
  out = build(out.sizes, [&](const Position& p) {
    return in[2].values.empty() ? 0 : in[2].values[size_t(p[1])];
  });
  // A transposed convolution has the same products with input and output swapped.
  const Array& source = g.transposed ? out : x;
  const Array& target = g.transposed ? x : out;
  for_each_product(g, source.sizes, w.sizes, target.sizes,
                   [&](const Position& i, const Position& k, const Position& o) {
                     const Position& from = g.transposed ? o : i;
                     const Position& to = g.transposed ? i : o;
                     out.values[size_t(linear_of(to, out.sizes))] += at(x, from) * at(w, k);
                   });
  return out;
}

const Input kAbsent{{}, Draw::kNormal, 0, true};

Case conv_case(std::vector<int64_t> input, std::vector<int64_t> weight, int64_t bias = 0) {
  Case inputs{{std::move(input)}, {std::move(weight)}, kAbsent};
  if (bias) inputs[2] = {{bias}};
  return inputs;
}

Row conv_row(std::string name, const ConvGeometry& geometry, std::vector<Case> cases,
             std::function<Tensor(const Tensors&, const ConvGeometry&)> call) {
  Row row;
  const size_t d = name.find("d_");  // "conv2d_general" covers conv2d
  row.covers = {name.substr(0, d == std::string::npos ? d : d + 1), "convolution",
                "convolution_backward"};
  row.name = std::move(name);
  row.cases = std::move(cases);
  row.slack = 16;
  row.call = [=](const Tensors& in) { return Tensors{call(in, geometry)}; };
  row.reference = [=](const Arrays& in) {
    const size_t dim = in[1].sizes.size();
    Arrays batched = in;
    const bool is_unbatched = in[0].sizes.size() < dim;
    if (is_unbatched) batched[0].sizes.insert(batched[0].sizes.begin(), 1);
    Array out = conv_reference(geometry, batched);
    if (is_unbatched) out.sizes.erase(out.sizes.begin());
    return Arrays{out};
  };
  return row;
}

Tensor call_conv1d(const Tensors& in, const ConvGeometry& geometry) {
  return conv1d(in[0], in[1], in[2], geometry.stride, geometry.padding, geometry.dilation,
                geometry.groups);
}
Tensor call_conv2d(const Tensors& in, const ConvGeometry& geometry) {
  return conv2d(in[0], in[1], in[2], geometry.stride, geometry.padding, geometry.dilation,
                geometry.groups);
}
Tensor call_conv3d(const Tensors& in, const ConvGeometry& geometry) {
  return conv3d(in[0], in[1], in[2], geometry.stride, geometry.padding, geometry.dilation,
                geometry.groups);
}
Tensor call_transpose1d(const Tensors& in, const ConvGeometry& geometry) {
  return conv_transpose1d(in[0], in[1], in[2], geometry.stride, geometry.padding,
                          geometry.output_padding, geometry.groups, geometry.dilation);
}
Tensor call_transpose2d(const Tensors& in, const ConvGeometry& geometry) {
  return conv_transpose2d(in[0], in[1], in[2], geometry.stride, geometry.padding,
                          geometry.output_padding, geometry.groups, geometry.dilation);
}
Tensor call_transpose3d(const Tensors& in, const ConvGeometry& geometry) {
  return conv_transpose3d(in[0], in[1], in[2], geometry.stride, geometry.padding,
                          geometry.output_padding, geometry.groups, geometry.dilation);
}
template <int dims>
Tensor call_same(const Tensors& in, const ConvGeometry& geometry) {
  constexpr auto call = [](auto... args) {
    if constexpr (dims == 1) return conv1d(args...);
    if constexpr (dims == 2) return conv2d(args...);
    if constexpr (dims == 3) return conv3d(args...);
  };
  return call(in[0], in[1], in[2], geometry.stride, "same", geometry.dilation, geometry.groups);
}
Tensor call_convolution(const Tensors& in, const ConvGeometry& geometry) {
  return convolution(in[0], in[1], in[2], geometry.stride, geometry.padding, geometry.dilation,
                     geometry.transposed, geometry.output_padding, geometry.groups);
}

Row conv2d_row() {
  Row row =
      conv_row("conv2d", {{1, 1}, {0, 0}, {1, 1}, {0, 0}},
               {conv_case({2, 2, 4, 5}, {3, 2, 2, 3}, 3), conv_case({1, 4, 3}, {2, 1, 3, 2}),
                conv_case({0, 2, 3, 3}, {2, 2, 3, 3}, 2), conv_case({2, 3, 3, 2}, {2, 3, 1, 1}, 2)},
               call_conv2d);
  row.keeps_memory_format = true;
  const auto conv = [](std::vector<int64_t> input, std::vector<int64_t> weight, int64_t groups = 1,
                       const Tensor& bias = {}) {
    return [=] { conv2d(ones(input), ones(weight), bias, 1, {0, 0}, 1, groups); };
  };
  row.refusals = {
      {conv({1, 4, 5, 5}, {2, 3, 3, 3}),
       "Given groups=1, weight of size [2, 3, 3, 3], expected input[1, 4, 5, 5] to have 3 "
       "channels, but got 4 channels instead"},
      {conv({1, 3, 2, 2}, {2, 3, 3, 3}),
       "Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't "
       "be greater than actual input size"},
      {conv({3, 3}, {2, 3, 3, 3}),
       "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [3, 3]"},
      {conv({1, 4, 5, 5}, {3, 2, 3, 3}, 2),
       "Given groups=2, expected weight to be divisible by 2 at dimension 0, but got weight of "
       "size [[3, 2, 3, 3]] instead"},
      {conv({1, 4, 5, 5}, {1, 2, 3, 3}, 2),
       "Given groups=2, expected weight to be at least 2 at dimension 0, but got weight of size "
       "[1, 2, 3, 3] instead"},
      {conv({1, 3, 5, 5}, {2, 3, 3, 3}, 0), "non-positive groups is not supported"},
      {conv({1, 3, 5, 5}, {2, 3, 3, 3}, 1, ones({3})),
       "Given weight of size [2, 3, 3, 3], expected bias to be 1-dimensional with 2 elements, but "
       "got bias of size [3] instead"},
      {conv({1, 3, 5, 5}, {2, 3, 0, 3}),
       "kernel size should be greater than zero, but got kernel_height: 0 kernel_width: 3"},
      {[] {
         conv2d(ones({1, 3, 5, 5}), ones({2, 3, 3, 3}), {}, 0);
       },
       "non-positive stride is not supported"},
      {[] {
         conv2d(ones({1, 3, 5, 5}), ones({2, 3, 3, 3}), {}, 1, -1);
       },
       "negative padding is not supported"},
      {[] {
         conv2d(ones({1, 3, 5, 5}), ones({2, 3, 3, 3}), {}, 1, 1, 0);
       },
       "dilation should be greater than zero, but got [0, 0]"},
      {[] {
         conv2d(ones({1, 3, 5, 5}), ones({2, 3, 3, 3}), {}, {1, 1, 1});
       },
       "expected stride to be a single integer value or a list of 2 values to match the "
       "convolution dimensions, but got stride=[1, 1, 1]"},
      {[] {
         conv2d(ones({1, 3, 5, 5}), ones({2, 3, 3, 3}), {}, 1, "foo");
       },
       "Invalid padding string: 'foo'"},
      {[] {
         conv2d(ones({1, 3, 5, 5}), ones({2, 3, 3, 3}), {}, 2, "same");
       },
       "padding='same' is not supported for strided convolutions"},
      {[] {
         conv2d(ones({1, 3, 5, 5}), ones({2, 3, 3, 3}, kDouble));
       },
       "expected scalar type Float but found Double"},
      {[] {
         conv2d(ones({1, 3, 5, 5}), ones({2, 3, 3, 3}), ones({2}, kDouble));
       },
       "Input type (float) and bias type (double) should be the same"}};
  return row;
}

/// padding="same" with kernel size 3, in the last dimension 2 with dilation 3. This pads by 1 on
/// all sides, and by one more element at the end of the last dimension.
Row same_row(const std::string& op, std::function<Tensor(const Tensors&, const ConvGeometry&)> call,
             size_t dims) {
  ConvGeometry geometry{Position(dims, 1), Position(dims, 1), Position(dims, 1), {}};
  geometry.dilation.back() = 3;
  Position input(dims + 2, 3), weight(dims + 2, 3);
  input[0] = 1;
  input[1] = weight[0] = weight[1] = 2;
  weight.back() = 2;
  Row row = conv_row(op + "_same", geometry, {conv_case(input, weight, 2)}, std::move(call));
  row.covers = {op + ".padding"};
  row.reference = [geometry](const Arrays& in) {
    Arrays padded = in;
    const Array& x = in[0];
    padded[0].sizes.back() += 1;
    padded[0] = build(padded[0].sizes,
                      [&](const Position& p) { return p.back() == x.sizes.back() ? 0 : at(x, p); });
    return Arrays{conv_reference(geometry, padded)};
  };
  return row;
}

Row transpose2d_row() {
  Row row = conv_row("conv_transpose2d", {{2, 1}, {1, 0}, {1, 1}, {1, 0}, 1, true},
                     {conv_case({2, 2, 3, 2}, {2, 3, 3, 2}, 3), conv_case({2, 3, 2}, {2, 1, 2, 2}),
                      conv_case({0, 2, 3, 2}, {2, 1, 3, 2}, 1)},
                     call_transpose2d);
  row.keeps_memory_format = true;
  row.refusals = {
      {[] {
         conv_transpose2d(ones({1, 4, 5, 5}), ones({3, 2, 3, 3}));
       },
       "Given transposed=1, weight of size [3, 2, 3, 3], expected input[1, 4, 5, 5] to have 3 "
       "channels, but got 4 channels instead"},
      {[] {
         conv_transpose2d(ones({1, 3, 5, 5}), ones({3, 2, 3, 3}), {}, 1, 0, 1);
       },
       "output padding must be smaller than either stride or dilation, but got "
       "output_padding_height: 1 output_padding_width: 1 stride_height: 1 stride_width: 1 "
       "dilation_height: 1 dilation_width: 1"},
      {[] {
         conv_transpose2d(ones({1, 3, 1, 1}), ones({3, 2, 1, 1}), {}, 1, 1);
       },
       "Given input size per channel: (1 x 1). Calculated output size per channel: (-1 x -1). "
       "Output size is too small"},
      {[] {
         conv_transpose2d(ones({1, 3, 5, 5}), ones({3, 2, 3, 3}), ones({3}));
       },
       "Given transposed=1, weight of size [3, 2, 3, 3], expected bias to be 1-dimensional with 2 "
       "elements, but got bias of size [3] instead"}};
  return row;
}

const Register registered_conv[] = {
    Register(conv2d_row()),
    Register(conv_row(
        "conv2d_general", {{2, 1}, {1, 2}, {1, 2}, {0, 0}},
        {conv_case({2, 2, 4, 3}, {2, 2, 2, 3}, 2), conv_case({1, 1, 1, 3}, {1, 1, 3, 1}, 1)},
        call_conv2d)),
    Register(
        conv_row("conv2d_grouped", {{1, 1}, {1, 0}, {1, 1}, {0, 0}, 2},
                 {conv_case({2, 4, 3, 2}, {4, 2, 2, 2}, 4), conv_case({2, 3, 3}, {2, 1, 3, 2})},
                 call_conv2d)),
    Register(same_row("conv1d", call_same<1>, 1)),
    Register(same_row("conv2d", call_same<2>, 2)),
    Register(same_row("conv3d", call_same<3>, 3)),
    Register(conv_row("conv1d", {{1}, {1}, {1}, {0}},
                      {conv_case({2, 3, 5}, {2, 3, 3}, 2), conv_case({2, 4}, {3, 2, 2})},
                      call_conv1d)),
    Register(conv_row("conv3d", {{1, 2, 1}, {0, 1, 1}, {1, 1, 2}, {0, 0, 0}},
                      {conv_case({1, 2, 2, 3, 4}, {2, 2, 2, 2, 2}, 2)}, call_conv3d)),
    Register(transpose2d_row()),
    Register(conv_row("conv_transpose2d_general", {{2, 3}, {1, 2}, {3, 1}, {2, 1}, 2, true},
                      {conv_case({1, 4, 2, 3}, {4, 1, 2, 2}, 2)}, call_transpose2d)),
    Register(conv_row("conv_transpose1d", {{2}, {1}, {1}, {1}, 1, true},
                      {conv_case({2, 2, 3}, {2, 3, 3}, 3), conv_case({2, 3}, {2, 1, 2})},
                      call_transpose1d)),
    Register(conv_row("conv_transpose3d", {{1, 2, 1}, {0, 1, 0}, {1, 1, 1}, {0, 1, 0}, 1, true},
                      {conv_case({1, 2, 2, 2, 2}, {2, 1, 2, 2, 2}, 1)}, call_transpose3d)),
    Register(conv_row("convolution", {{1, 1}, {0, 1}, {1, 1}, {0, 0}},
                      {conv_case({2, 2, 3, 3}, {2, 2, 2, 2}, 2)}, call_convolution)),
};

/// Compares result and gradients in `dtype` with float64, for shapes large enough for the
/// libraries' algorithms.
void expect_same_as_double(const ConvGeometry& geometry, std::vector<int64_t> input,
                           std::vector<int64_t> weight, int64_t channels, bool channels_last,
                           ScalarType dtype, double tolerance, Device device) {
  Case inputs = conv_case(std::move(input), std::move(weight), channels);
  Tensors wide = make_inputs(inputs, kDouble, device, MemoryLayout::kContiguous, 7), narrow;
  for (Tensor& t : wide) t = t.to(dtype).to(kDouble);
  for (const Tensor& t : wide) narrow.push_back(t.to(dtype));
  if (channels_last) narrow[0] = narrow[0].contiguous(MemoryFormat::ChannelsLast);
  Tensors results[2];
  for (int i = 0; i < 2; ++i) {
    Tensors leaves;
    for (const Tensor& t : i ? narrow : wide) leaves.push_back(t.detach().requires_grad_());
    const Tensor out = call_convolution(leaves, geometry);
    results[i] = autograd::grad({out}, leaves, {out.detach().mul(0.01)});
    results[i].push_back(out.detach());
    EXPECT_EQ(out.is_contiguous(MemoryFormat::ChannelsLast), i && channels_last);
  }
  for (size_t k = 0; k < results[0].size(); ++k) {
    const Tensor& wanted = results[0][k];
    const double scale = wanted.abs().max().item<double>();
    const double error = results[1][k].to(kDouble).sub(wanted).abs().max().item<double>();
    EXPECT_LT(error, tolerance * scale)
        << "result " << k << " of " << name_of(dtype) << " on " << device;
  }
}

/// cuDNN may choose Winograd's algorithm, which loses a digit.
double tolerance_of(ScalarType dtype, Device device) {
  if (dtype != kFloat) return 2e-2;
  return is_real_gpu(device) ? 1e-4 : 1e-5;
}

TEST(Convolution, LargeConvolutionsMatchDouble) {
  const struct {
    ConvGeometry geometry;
    std::vector<int64_t> input, weight;
    int64_t channels;
  } shapes[] = {
      {{{1, 1}, {1, 1}, {1, 1}, {0, 0}}, {4, 16, 14, 14}, {32, 16, 3, 3}, 32},
      {{{2, 2}, {3, 3}, {1, 1}, {0, 0}}, {2, 3, 40, 40}, {16, 3, 7, 7}, 16},
      {{{1, 1}, {0, 0}, {1, 1}, {0, 0}}, {16, 1, 20, 20}, {6, 1, 5, 5}, 6},
      {{{1, 1}, {0, 0}, {1, 1}, {0, 0}}, {4, 32, 8, 8}, {48, 32, 1, 1}, 48},
      {{{1, 1}, {1, 1}, {1, 1}, {0, 0}, 16}, {4, 16, 20, 20}, {16, 1, 3, 3}, 16},
      {{{2, 1}, {1, 2}, {1, 2}, {0, 0}, 2}, {4, 16, 16, 16}, {16, 8, 3, 3}, 16},
      {{{2, 2}, {1, 1}, {1, 1}, {1, 1}, 1, true}, {2, 16, 12, 12}, {16, 12, 3, 3}, 12},
  };
  for (const Device device : devices())
    for (const auto& shape : shapes)
      for (const bool channels_last : {false, true}) {
        if (channels_last && shape.input[1] == 1) continue;
        for (const ScalarType dtype : {kFloat, kBFloat16, kHalf})
          expect_same_as_double(shape.geometry, shape.input, shape.weight, shape.channels,
                                channels_last, dtype, tolerance_of(dtype, device), device);
      }
}

TEST(Convolution, OnlyWantedGradientsAreComputed) {
  const Tensor x = ones({1, 1, 3, 3}), w = ones({1, 1, 2, 2}).requires_grad_();
  conv2d(x, w).sum().backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(w.grad().equal(full({1, 1, 2, 2}, 4.0)));
}

TEST(Convolution, EmptyBatchHasZeroWeightGradients) {
  const Tensor w = ones({2, 3, 2, 2}).requires_grad_(), b = ones({2}).requires_grad_();
  conv2d(ones({0, 3, 4, 4}), w, b).sum().backward();
  EXPECT_TRUE(w.grad().equal(zeros({2, 3, 2, 2})));
  EXPECT_TRUE(b.grad().equal(zeros({2})));
}

TEST(Context, KeepsSettings) {
  const ExactConvolutions restores;
  Context& context = globalContext();
  EXPECT_FALSE(context.deterministicCuDNN());
  EXPECT_FALSE(context.benchmarkCuDNN());
  EXPECT_FALSE(context.allowTF32CuDNN()) << "tests/support/exact_convolutions.cpp";
  context.setDeterministicCuDNN(true);
  context.setAllowTF32CuDNN(true);
  EXPECT_TRUE(context.deterministicCuDNN());
  EXPECT_TRUE(context.allowTF32CuDNN());
  context.setDeterministicCuDNN(false);
}

}  // namespace
}  // namespace hearth::testing
