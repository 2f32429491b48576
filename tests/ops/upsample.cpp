#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/stream.h"
#include "tests/support/devices.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// Nearest (kFloor), nearest-exact (kRound), linear (kTriangle) and cubic interpolation.
enum class Filter { kFloor, kRound, kTriangle, kCubic, kAntialiasedTriangle, kAntialiasedCubic };

/// The arguments of a call, and the filter of the operator.
struct Upsampling {
  Filter filter;
  std::vector<int64_t> sizes;  // of the output
  bool align_corners = false;
  std::vector<double> scales = {};  // derived from the sizes if empty
};

double cubic(double distance, double a) {
  const double x = std::fabs(distance);
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

using Weights = std::map<int64_t, double>;

/// The weights of the input elements, by index, in output i of spatial dimension d.
Weights weights_of(const Upsampling& kind, size_t d, int64_t in, int64_t i) {
  const double out = double(kind.sizes[d]);
  double step = kind.scales.empty() ? double(in) / out : 1 / kind.scales[d];
  if (kind.align_corners) step = out > 1 ? double(in - 1) / (out - 1) : 0;
  const bool antialiases =
      kind.filter == Filter::kAntialiasedTriangle || kind.filter == Filter::kAntialiasedCubic;
  const bool aligns_corners = kind.align_corners && !antialiases;
  double center = aligns_corners ? step * double(i) : step * (double(i) + 0.5) - 0.5;
  if (kind.filter == Filter::kFloor) return {{std::min(int64_t(step * double(i)), in - 1), 1}};
  if (kind.filter == Filter::kRound)
    return {{std::min(int64_t(std::floor(std::fmax(center, 0) + 0.5)), in - 1), 1}};
  if (kind.filter == Filter::kTriangle) center = std::fmax(center, 0);
  const double stretch = antialiases ? std::fmax(step, 1) : 1;
  Weights weights;
  double total = 0;
  for (int64_t j = int64_t(std::floor(center - 3 * stretch)); double(j) < center + 3 * stretch;
       ++j) {
    if (antialiases && (j < 0 || j >= in)) continue;
    const double distance = (double(j) - center) / stretch;
    const double weight = kind.filter == Filter::kCubic ? cubic(distance, -0.75)
                          : kind.filter == Filter::kAntialiasedCubic
                              ? cubic(distance, -0.5)
                              : std::fmax(1 - std::fabs(distance), 0);
    weights[std::clamp<int64_t>(j, 0, in - 1)] += weight;
    total += weight;
  }
  for (auto& [j, weight] : weights) weight /= antialiases ? total : 1;
  return weights;
}

/// The value at output `to`, interpolated in spatial dimension d and all later ones; `from` holds
/// the input indices in the earlier ones.
double value_at(const Upsampling& kind, const Array& x, const Position& to, Position& from,
                size_t d) {
  if (d == kind.sizes.size()) return at(x, from);
  double sum = 0;
  for (const auto& [j, weight] : weights_of(kind, d, x.sizes[d + 2], to[d + 2])) {
    from[d + 2] = j;
    if (weight != 0) sum += weight * value_at(kind, x, to, from, d + 1);
  }
  return sum;
}

Array reference(const Upsampling& kind, const Array& x) {
  std::vector<int64_t> sizes{x.sizes[0], x.sizes[1]};
  sizes.insert(sizes.end(), kind.sizes.begin(), kind.sizes.end());
  return build(sizes, [&](const Position& to) {
    Position from = to;
    return value_at(kind, x, to, from, 0);
  });
}

using Call = std::function<Tensor(const Tensor& x, const Upsampling& kind)>;

Row upsample_row(const std::string& op, const std::string& suffix, Upsampling kind,
                 std::vector<Case> cases, Call call) {
  Row row;
  row.name = op + suffix;
  row.covers = {op, op + "_backward"};
  row.cases = std::move(cases);
  row.slack = 8;
  row.gradient_slack = 4;
  row.keeps_memory_format = kind.sizes.size() == 2;
  row.call = [=](const Tensors& in) { return Tensors{call(in[0], kind)}; };
  row.reference = [=](const Arrays& in) { return Arrays{reference(kind, in[0])}; };
  if (kind.filter == Filter::kFloor || kind.filter == Filter::kRound)
    row.dtypes = dtypes::kFloating | 1u << unsigned(kByte);
  return row;
}

/// A call of a function with output_size, align_corners and no scales.
#define SIZED(name) \
  [](const Tensor& x, const Upsampling& k) { return name(x, k.sizes, k.align_corners); }
#define SIZED_NEAREST(name) [](const Tensor& x, const Upsampling& k) { return name(x, k.sizes); }
/// A call of the overload with scale factors.
#define SCALED(name)                                                 \
  [](const Tensor& x, const Upsampling& k) {                         \
    return name(x, {}, k.align_corners, ArrayRef<double>(k.scales)); \
  }
#define SCALED_NEAREST(name) \
  [](const Tensor& x, const Upsampling& k) { return name(x, {}, ArrayRef<double>(k.scales)); }

const Case kSignal{{{2, 3, 5}}}, kImage{{{2, 3, 4, 5}}}, kVolume{{{2, 2, 3, 2, 4}}},
    kPixel{{{1, 2, 1, 1}}}, kNoBatch{{{0, 2, 3, 4}}}, kManyChannels{{{1, 17, 3, 2}}};

Row with_size_refusals(Row row, std::function<void(const Tensor&, IntArrayRef)> call) {
  row.refusals = {{[=] {
                     call(ones({1, 1, 4, 4}), {8});
                   },
                   "It is expected output_size equals to 2, but got size 1"},
                  {[=] {
                     call(ones({1, 4, 4}), {8, 8});
                   },
                   "It is expected input_size equals to 4, but got size 3"},
                  {[=] {
                     call(ones({1, 1, 0, 4}), {8, 7});
                   },
                   "Input and output sizes should be greater than 0, but got input (H: 0, W: 4) "
                   "output (H: 8, W: 7)"},
                  {[=] {
                     call(ones({1, 1, 4, 4}), {8, -1});
                   },
                   "but got input (H: 4, W: 4) output (H: 8, W: -1)"},
                  {[=] {
                     call(ones({1, 0, 4, 4}), {8, 8});
                   },
                   "Non-empty 4D data tensor expected but got a tensor with sizes [1, 0, 4, 4]"},
                  {[=] {
                     call(ones({1, 1, 4, 4}, kInt), {8, 8});
                   },
                   "not implemented for 'Int'"}};
  return row;
}

Row out_row(Row row, std::function<void(Tensor&, const Tensor&)> out) {
  row.out = [=](Tensor& to, const Tensors& in) { out(to, in[0]); };
  return row;
}

const Register registered_upsample[] = {
    Register(out_row(upsample_row("upsample_nearest1d", "", {Filter::kFloor, {8}}, {kSignal},
                                  SIZED_NEAREST(upsample_nearest1d)),
                     [](Tensor& out, const Tensor& x) { upsample_nearest1d_out(out, x, 8); })),
    Register(upsample_row("upsample_nearest1d", "_factor", {Filter::kFloor, {2}, false, {0.49}},
                          {kSignal}, SCALED_NEAREST(upsample_nearest1d))),
    Register(
        with_size_refusals(out_row(upsample_row("upsample_nearest2d", "", {Filter::kFloor, {7, 3}},
                                                {kImage, kPixel, kNoBatch, kManyChannels},
                                                SIZED_NEAREST(upsample_nearest2d)),
                                   [](Tensor& out, const Tensor& x) {
                                     upsample_nearest2d_out(out, x, {7, 3});
                                   }),
                           [](const Tensor& x, IntArrayRef size) { upsample_nearest2d(x, size); })),
    Register(upsample_row("upsample_nearest2d", "_factor",
                          {Filter::kFloor, {5, 2}, false, {1.3, 0.49}}, {kImage},
                          SCALED_NEAREST(upsample_nearest2d))),
    Register(upsample_row("upsample_nearest3d", "", {Filter::kFloor, {2, 5, 7}}, {kVolume},
                          SIZED_NEAREST(upsample_nearest3d))),
    Register(upsample_row("_upsample_nearest_exact1d", "", {Filter::kRound, {8}}, {kSignal},
                          SIZED_NEAREST(_upsample_nearest_exact1d))),
    Register(upsample_row("_upsample_nearest_exact2d", "", {Filter::kRound, {7, 3}},
                          {kImage, kPixel}, SIZED_NEAREST(_upsample_nearest_exact2d))),
    Register(upsample_row("_upsample_nearest_exact3d", "_factor",
                          {Filter::kRound, {4, 3, 5}, false, {1.4, 1.6, 1.4}}, {kVolume},
                          SCALED_NEAREST(_upsample_nearest_exact3d))),
    Register(upsample_row("upsample_linear1d", "", {Filter::kTriangle, {8}}, {kSignal},
                          SIZED(upsample_linear1d))),
    Register(upsample_row("upsample_linear1d", "_corners", {Filter::kTriangle, {3}, true},
                          {kSignal}, SIZED(upsample_linear1d))),
    Register(with_size_refusals(
        out_row(upsample_row("upsample_bilinear2d", "", {Filter::kTriangle, {7, 3}},
                             {kImage, kPixel, kNoBatch, kManyChannels}, SIZED(upsample_bilinear2d)),
                [](Tensor& out, const Tensor& x) {
                  upsample_bilinear2d_out(out, x, {7, 3}, false);
                }),
        [](const Tensor& x, IntArrayRef size) { upsample_bilinear2d(x, size, false); })),
    Register(upsample_row("upsample_bilinear2d", "_factor",
                          {Filter::kTriangle, {5, 2}, false, {1.3, 0.49}}, {kImage},
                          SCALED(upsample_bilinear2d))),
    Register(upsample_row("upsample_bilinear2d", "_corners", {Filter::kTriangle, {1, 9}, true},
                          {kImage}, SIZED(upsample_bilinear2d))),
    Register(upsample_row("upsample_trilinear3d", "", {Filter::kTriangle, {2, 5, 7}}, {kVolume},
                          SIZED(upsample_trilinear3d))),
    Register(upsample_row("upsample_trilinear3d", "_factor",
                          {Filter::kTriangle, {4, 3, 5}, false, {1.4, 1.6, 1.4}}, {kVolume},
                          SCALED(upsample_trilinear3d))),
    Register(upsample_row("upsample_bicubic2d", "", {Filter::kCubic, {7, 3}},
                          {kImage, kPixel, kManyChannels}, SIZED(upsample_bicubic2d))),
    Register(upsample_row("upsample_bicubic2d", "_corners", {Filter::kCubic, {6, 9}, true},
                          {kImage}, SIZED(upsample_bicubic2d))),
    Register(upsample_row("_upsample_bilinear2d_aa", "", {Filter::kAntialiasedTriangle, {2, 7}},
                          {kImage, kPixel}, SIZED(_upsample_bilinear2d_aa))),
    Register(upsample_row("_upsample_bilinear2d_aa", "_corners",
                          {Filter::kAntialiasedTriangle, {2, 3}, true}, {kImage},
                          SIZED(_upsample_bilinear2d_aa))),
    Register(upsample_row("_upsample_bicubic2d_aa", "", {Filter::kAntialiasedCubic, {2, 7}},
                          {kImage, kManyChannels}, SIZED(_upsample_bicubic2d_aa))),
};

/// The matrix of a one-dimensional interpolation.
Tensor interpolation_matrix(int64_t in, int64_t out, bool antialias) {
  const Tensor unit = eye(in, kDouble).view({1, in, in, 1}).expand({1, in, in, 2});
  const Tensor columns = antialias ? _upsample_bicubic2d_aa(unit, {out, 2}, false)
                                   : upsample_bilinear2d(unit, {out, 2}, false);
  return columns.select(3, 0).squeeze(0).t();
}

/// Images larger than the bands that kernels process, in both memory formats, against products with
/// the matrices of both dimensions.
TEST(Upsample, LargeImages) {
  for (const Device device : devices())
    for (const bool antialias : {false, true})
      for (const int64_t channels : {3, 20})
        for (const auto& [h, w] : {std::pair<int64_t, int64_t>{190, 301}, {61, 33}}) {
          manual_seed(1);
          const Tensor x = randn({2, channels, 90, 110}, kDouble);
          const Tensor wanted = interpolation_matrix(90, h, antialias)
                                    .matmul(x)
                                    .matmul(interpolation_matrix(110, w, antialias).t());
          for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast})
            for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
              const Tensor in = x.detach().to(device, dtype).contiguous(format).requires_grad_();
              const Tensor y = antialias ? _upsample_bicubic2d_aa(in, {h, w}, false)
                                         : upsample_bilinear2d(in, {h, w}, false);
              const double tolerance = dtype == kBFloat16 ? 0.05 : dtype == kFloat ? 1e-4 : 1e-12;
              const Tensor error = y.to(kCPU, kDouble).sub(wanted).abs().max();
              EXPECT_LT(error.item<double>(), tolerance) << dtype << " on " << device;
              // The gradient of the sum of g * y is the transpose applied to g.
              const Tensor g = y.detach() * 0.5;
              y.backward(g);
              const Tensor wanted_grad = interpolation_matrix(90, h, antialias)
                                             .t()
                                             .matmul(g.to(kCPU, kDouble))
                                             .matmul(interpolation_matrix(110, w, antialias));
              EXPECT_LT(in.grad().to(kCPU, kDouble).sub(wanted_grad).abs().max().item<double>(),
                        tolerance * 8)
                  << dtype << " on " << device;
            }
        }
}

/// The numbers that PyTorch computes in the test Bytes.
const std::vector<int64_t> kBilinear{216, 115, 51,  77, 72, 87, 108, 122, 143, 170, 196,
                                     131, 121, 142, 27, 48, 75, 101, 127, 154, 175},
    kBicubic{228, 74,  0,   46, 69, 99, 120, 122, 159, 207, 220,
             139, 104, 142, 15, 36, 66, 89,  112, 142, 163},
    kBilinearAa{146, 117, 90, 82, 132, 161},
    kBicubicAa{191, 139, 111, 143, 80, 74, 101, 54, 80, 116, 140, 143, 163, 186};

/// Volumes in both memory formats; the depth grows and shrinks.
TEST(Upsample, Volumes) {
  for (const Device device : devices())
    for (const int64_t depth : {2, 9}) {
      const Tensor x = arange(2 * 3 * 5 * 4 * 6, kDouble).mul(0.37).sin().view({2, 3, 5, 4, 6});
      const Tensor across = upsample_bilinear2d(x.flatten(0, 1), {7, 3}, true);
      const Tensor wanted = upsample_bilinear2d(across.view({6, 1, 5, 21}), {depth, 21}, true)
                                .view({2, 3, depth, 7, 3});
      for (const bool channels_last : {false, true})
        for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
          Tensor in = x.to(device, dtype);
          if (channels_last) in = in.permute({0, 2, 3, 4, 1}).contiguous().permute({0, 4, 1, 2, 3});
          const Tensor y = upsample_trilinear3d(in, {depth, 7, 3}, true);
          EXPECT_EQ(y.stride(1) == 1, channels_last);
          const Tensor error = y.to(kCPU, kDouble).sub(wanted).abs().max();
          EXPECT_LT(error.item<double>(), dtype == kHalf ? 2e-3 : 1e-6)
              << dtype << " on " << device;
          const Tensor nearest = upsample_nearest3d(in, {depth, 7, 3});
          EXPECT_TRUE(nearest.equal(upsample_nearest3d(x.to(device, dtype), {depth, 7, 3})));
          EXPECT_EQ(nearest.stride(1) == 1, channels_last);
        }
    }
}

/// PyTorch's bytes, which it computes with weights of 16 bits and rounds after each dimension.
TEST(Upsample, Bytes) {
  const Tensor x = arange(60, kLong).mul(37).remainder(256).to(kByte).view({1, 3, 4, 5});
  const auto list = [](const Tensor& t) {
    const Tensor flat = t.to(kCPU, kLong).contiguous().flatten();
    return std::vector<int64_t>(flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel());
  };
  const auto second_channel = [](const Tensor& t) { return t.select(1, 1); };
  for (const Device device : devices()) {
    if (is_real_gpu(device)) continue;  // CUDA kernels round once
    for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
      const Tensor in = x.to(device, kByte).contiguous(format);
      EXPECT_EQ(list(second_channel(upsample_bilinear2d(in, {3, 7}, false))), kBilinear);
      EXPECT_EQ(list(second_channel(upsample_bicubic2d(in, {3, 7}, true))), kBicubic);
      EXPECT_EQ(list(second_channel(_upsample_bilinear2d_aa(in, {2, 3}, false))), kBilinearAa);
      EXPECT_EQ(list(second_channel(_upsample_bicubic2d_aa(in, {2, 7}, false))), kBicubicAa);
    }
  }
}

TEST(Upsample, FactorsAndSizes) {
  const Tensor x = ones({1, 1, 4, 4});
  const std::vector<double> two{2, 2}, three{2, 2, 2};
  EXPECT_EQ(upsample_nearest2d(x, {}, ArrayRef<double>(two)).sizes().vec(),
            (std::vector<int64_t>{1, 1, 8, 8}));
  EXPECT_ERROR(upsample_nearest2d(x, std::nullopt, std::nullopt),
               "Must specify exactly one of output_size and scale_factors");
  EXPECT_ERROR(upsample_nearest2d(x, OptionalIntArrayRef({8, 8}), ArrayRef<double>(two)),
               "Must specify exactly one of output_size and scale_factors");
  EXPECT_ERROR(upsample_nearest2d(x, {}, ArrayRef<double>(three)),
               "Expected static_cast<int64_t>(scale_factors->size()) == spatial_dimensions to be "
               "true, but got false.");
  const std::vector<double> bad{NAN, 1};
  EXPECT_ERROR(upsample_nearest2d(x, {}, ArrayRef<double>(bad)),
               "value cannot be converted to type int64_t without overflow");
  EXPECT_ERROR(upsample_linear1d(ones({1, 1, 0}), 8, false),
               "Input and output sizes should be greater than 0, but got input (W: 0) and output "
               "(W: 8)");
  EXPECT_ERROR(upsample_trilinear3d(ones({1, 1, 2, 0, 2}), {8, 8, 8}, false),
               "but got input (D: 2, H: 0, W: 2) output (D: 8, H: 8, W: 8)");
  // Factors that do not fit the sizes are used as they are; no element outside is read.
  for (const double factor : {1e-300, 0.01, 50.0, 1e300, double(INFINITY), double(NAN), -1.0})
    for (const Device device : devices()) {
      const Tensor image = ones({1, 1, 4, 4}, TensorOptions(device));
      for (const Tensor& y : {upsample_nearest2d(image, {9, 9}, factor, factor),
                              upsample_bicubic2d(image, {9, 9}, false, factor, factor),
                              _upsample_nearest_exact2d(image, {9, 9}, factor, factor),
                              upsample_bilinear2d(image, {3, 3}, false, factor, factor)})
        EXPECT_TRUE(y.sub(1).abs().lt(1e-5).all().item<bool>()) << factor;
      EXPECT_TRUE(_upsample_bilinear2d_aa(image, {3, 3}, false, factor, factor)
                      .le(1.001)
                      .all()
                      .item<bool>());
    }
}

}  // namespace
}  // namespace hearth::testing
