#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/context.h"
#include "hearth/operators.h"
#include "hearth/stream.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

struct SamplerModes {
  int64_t interpolation;  // 0: linear, 1: nearest, 2: cubic
  int64_t padding;        // 0: zeros, 1: border, 2: reflection
  bool align_corners;
};

/// The coordinate x after padding: within [0, size - 1], or unchanged for zeros.
double padded(double x, double size, const SamplerModes& modes) {
  if (modes.padding == 0) return x;
  const double low = modes.align_corners ? 0 : -0.5,
               high = low + size - (modes.align_corners ? 1 : 0);
  if (modes.padding == 2) {
    if (high == low) return 0;
    while (x < low || x > high) x = x < low ? 2 * low - x : 2 * high - x;
  }
  return std::fmin(std::fmax(x, 0), size - 1);
}

/// The weight of an element at this distance in cubic interpolation.
double cubic(double distance) {
  constexpr double a = -0.75;
  const double x = std::fabs(distance);
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

/// The value at `coordinates`, interpolated in spatial dimension d and all later ones; `source`
/// holds the indices in the earlier ones.
double value_at(const Array& x, const std::vector<double>& coordinates, const SamplerModes& modes,
                Position& source, size_t d) {
  if (d == coordinates.size()) return at(x, source);
  const double size = double(x.sizes[d + 2]);
  const double coordinate =
      modes.interpolation == 2 ? coordinates[d] : padded(coordinates[d], size, modes);
  double sum = 0;
  for (double j = std::floor(coordinate) - 2; j <= std::floor(coordinate) + 3; ++j) {
    const double weight = modes.interpolation == 0   ? std::fmax(1 - std::fabs(j - coordinate), 0)
                          : modes.interpolation == 1 ? j == std::nearbyint(coordinate)
                                                     : cubic(j - coordinate);
    const double index = modes.interpolation == 2 ? padded(j, size, modes) : j;
    if (weight == 0 || index < 0 || index >= size) continue;
    source[d + 2] = int64_t(index);
    sum += weight * value_at(x, coordinates, modes, source, d + 1);
  }
  return sum;
}

Array reference(const Array& x, const Array& grid, const SamplerModes& modes) {
  const size_t dims = x.sizes.size() - 2;
  std::vector<int64_t> sizes = x.sizes;
  for (size_t d = 0; d < dims; ++d) sizes[d + 2] = grid.sizes[d + 1];
  return build(sizes, [&](const Position& to) {
    std::vector<double> coordinates(dims);
    Position in_grid{to[0]}, source = to;
    in_grid.insert(in_grid.end(), to.begin() + 2, to.end());
    for (size_t d = 0; d < dims; ++d) {
      in_grid.push_back(int64_t(dims - 1 - d));
      const double normalised = at(grid, in_grid), size = double(x.sizes[d + 2]);
      coordinates[d] = modes.align_corners ? (normalised + 1) / 2 * (size - 1)
                                           : ((normalised + 1) * size - 1) / 2;
      in_grid.pop_back();
    }
    return value_at(x, coordinates, modes, source, 0);
  });
}

Row grid_row(const char* op, std::vector<Case> cases, SamplerModes modes) {
  Row row;
  row.name = detail::str(op, "_", modes.interpolation, modes.padding,
                         modes.align_corners ? "_corners" : "");
  row.covers = {"grid_sampler", op, std::string(op) + "_backward"};
  row.cases = std::move(cases);
  row.slack = 60;
  row.gradient_slack = 30;
  row.call = [modes](const Tensors& in) {
    return Tensors{
        grid_sampler(in[0], in[1], modes.interpolation, modes.padding, modes.align_corners)};
  };
  row.reference = [modes](const Arrays& in) { return Arrays{reference(in[0], in[1], modes)}; };
  return row;
}

const Case kImages{{{2, 3, 5, 7}}, {{2, 3, 2, 2}}}, kPixel{{{1, 1, 1, 1}}, {{1, 2, 1, 2}}},
    kVolumes{{{2, 2, 3, 5, 4}}, {{2, 2, 1, 3, 3}}}, kEmptyGrid{{{1, 2, 3, 3}}, {{1, 0, 2, 2}}};

Row with_refusals(Row row) {
  const auto sample = [](std::vector<int64_t> in, std::vector<int64_t> grid, int64_t mode = 0,
                         int64_t padding = 0, ScalarType dtype = kFloat) {
    return [=] { grid_sampler(ones(in), ones(grid, dtype), mode, padding, false); };
  };
  row.refusals = {
      {sample({1, 1, 4, 4}, {2, 2, 2, 2}),
       "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
       "[1, 1, 4, 4] and grid with sizes [2, 2, 2, 2]"},
      {sample({1, 1, 4, 4}, {1, 2, 2, 3}),
       "grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes "
       "[1, "
       "2, 2, 3]"},
      {sample({1, 1, 4, 4}, {1, 2, 2}),
       "grid_sampler(): expected 4D input and grid with same number of dimensions, but got input "
       "with sizes [1, 1, 4, 4] and grid with sizes [1, 2, 2]"},
      {sample({1, 1, 0, 4}, {1, 2, 2, 2}),
       "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
       "[1, "
       "1, 0, 4] with dimension 2 being empty"},
      {sample({1, 1, 4, 4}, {1, 2, 2, 2}, 0, 0, kDouble),
       "expected scalar type Float but found Double"},
      {sample({1, 1, 4}, {1, 2, 1}), "grid_sampler(): expected 4D or 5D input"},
      {sample({1, 1, 4, 4}, {1, 2, 2, 2}, 3), "expected interpolation_mode to be 0, 1 or 2"},
      {sample({1, 1, 4, 4}, {1, 2, 2, 2}, 0, -1), "expected padding_mode to be 0, 1 or 2"},
      {[] {
         grid_sampler_2d(ones({1, 1, 4, 4, 4}), ones({1, 2, 2, 2, 3}), 0, 0, false);
       },
       "grid_sampler(): expected 4D input and grid"},
      {[] {
         grid_sampler_3d(ones({1, 1, 4, 4}), ones({1, 2, 2, 2}), 0, 0, false);
       },
       "grid_sampler(): expected 5D input and grid"}};
  return row;
}

/// The centres of the elements, with coordinates from -1 to 1, mapped by theta.
Array affine_reference(const Array& theta, const std::vector<int64_t>& size, bool align_corners) {
  const size_t dims = size.size() - 2;
  std::vector<int64_t> sizes{size[0]};
  sizes.insert(sizes.end(), size.begin() + 2, size.end());
  sizes.push_back(int64_t(dims));
  return build(sizes, [&](const Position& p) {
    double sum = at(theta, {p[0], p[dims + 1], int64_t(dims)});
    for (size_t d = 0; d < dims; ++d) {
      const double n = double(size[d + 2]), i = double(p[d + 1]);
      const double centre = n == 1 ? 0 : align_corners ? 2 * i / (n - 1) - 1 : (2 * i + 1) / n - 1;
      sum += at(theta, {p[0], p[dims + 1], int64_t(dims - 1 - d)}) * centre;
    }
    return sum;
  });
}

Row affine_row(std::vector<int64_t> size, bool align_corners) {
  const int64_t dims = int64_t(size.size()) - 2;
  Row row;
  row.name = detail::str("affine_grid_generator", dims, align_corners ? "_corners" : "");
  row.covers = {"affine_grid_generator"};
  row.cases = {{{{size[0], dims, dims + 1}}}};
  row.slack = 8;
  row.call = [=](const Tensors& in) {
    return Tensors{affine_grid_generator(in[0], size, align_corners)};
  };
  row.reference = [=](const Arrays& in) {
    return Arrays{affine_reference(in[0], size, align_corners)};
  };
  row.out = [=](Tensor& out, const Tensors& in) {
    affine_grid_generator_out(out, in[0], size, align_corners);
  };
  row.refusals = {{[] {
                     affine_grid_generator(ones({1, 2, 3}), {1, 1, 2}, false);
                   },
                   "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs."}};
  return row;
}

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (int64_t mode = 0; mode < 3; ++mode)
    for (int64_t padding = 0; padding < 3; ++padding) {
      const bool align = (mode + padding) % 2 == 1;
      rows.push_back(grid_row("grid_sampler_2d", {kImages, kPixel}, {mode, padding, align}));
    }
  rows.push_back(grid_row("grid_sampler_2d", {kImages, kEmptyGrid}, {0, 2, true}));
  rows.push_back(grid_row("grid_sampler_3d", {kVolumes}, {0, 0, false}));
  rows.push_back(grid_row("grid_sampler_3d", {kVolumes}, {1, 2, false}));
  rows.push_back(grid_row("grid_sampler_3d", {kVolumes}, {2, 1, true}));
  rows[0] = with_refusals(rows[0]);
  for (const bool align : {false, true}) {
    rows.push_back(affine_row({2, 1, 3, 1}, align));
    rows.push_back(affine_row({1, 2, 2, 3, 4}, align));
  }
  return rows;
}

const bool registered_grid_sampler = [] {
  for (Row& row : all_rows()) Register{std::move(row)};
  return true;
}();

TEST(GridSampler, TheIdentityCopiesLargeImages) {
  for (const Device device : devices()) {
    const Tensor theta = tensor({1.0, 0.0, 0.0, 0.0, 1.0, 0.0}).view({1, 2, 3}).to(device, kFloat);
    const Tensor x = arange(2 * 3 * 120 * 150, kFloat).remainder(97).view({2, 3, 120, 150});
    const Tensor in = x.to(device, kFloat).requires_grad_();
    const Tensor grid = affine_grid_generator(theta.expand({2, 2, 3}), {2, 3, 120, 150}, false);
    const Tensor y = grid_sampler(in, grid, 0, 1, false);
    EXPECT_LT(y.sub(in).abs().max().item<float>(), 0.01) << device;
    y.sum().backward();
    EXPECT_LT(in.grad().sub(1).abs().max().item<float>(), 1e-3) << device;
  }
}

TEST(GridSampler, GradientsAreSummedInFloat) {
  for (const Device device : devices())
    for (const ScalarType dtype : {kFloat, kBFloat16}) {
      const TensorOptions options(device);
      const Tensor centre = zeros({1, 300, 1, 2}, options.dtype(dtype));
      const Tensor pixel = ones({1, 1, 1, 1}, options.dtype(dtype)).requires_grad_();
      grid_sampler(pixel, centre, 1, 0, false).sum().backward();
      EXPECT_EQ(pixel.grad().item<float>(), 300) << dtype << " on " << device;
    }
}

struct DeterministicGridSampler : ::testing::Test {
  DeterministicGridSampler() { set_deterministic_algorithms(true); }
  ~DeterministicGridSampler() override { set_deterministic_algorithms(false); }
};

TEST_F(DeterministicGridSampler, HasNoGradientsOnGpus) {
  for (const Device device : devices()) {
    const Tensor image = ones({1, 1, 4, 4}, device).requires_grad_();
    const Tensor y = grid_sampler(image, zeros({1, 2, 2, 2}, device), 0, 0, false).sum();
    if (device.is_cpu())
      EXPECT_NO_THROW(y.backward());
    else
      EXPECT_ERROR(y.backward(), "grid_sampler_2d_backward_cuda does not have a deterministic");
  }
}

TEST(GridSampler, NonFiniteAndHugeCoordinates) {
  const double inf = INFINITY;
  for (const Device device : devices())
    for (int64_t mode = 0; mode < 3; ++mode)
      for (int64_t padding = 0; padding < 3; ++padding)
        for (const double number : {double(NAN), inf, -inf, 1e30, -1e30}) {
          const TensorOptions options(device);
          const Tensor image = ones({1, 1, 4, 4}, options).requires_grad_();
          const Tensor grid = full({1, 1, 1, 2}, number, options).requires_grad_();
          const Tensor y = grid_sampler(image, grid, mode, padding, false);
          y.sum().backward();
          const double value = y.item<double>();
          if (padding == 1 && mode == 1) {
            EXPECT_EQ(value, 1) << number;
          } else if (padding == 0 && (mode == 1 || std::fabs(number) == 1e30)) {
            EXPECT_EQ(value, 0) << number;
          } else if (padding == 0) {
            EXPECT_TRUE(std::isnan(value)) << number;  // as in PyTorch
          }
          const Tensor volume = ones({1, 1, 2, 3, 4}, options);
          grid_sampler(volume, full({1, 1, 1, 1, 3}, number, options), mode, padding, true);
        }
}

}  // namespace
}  // namespace hearth::testing
