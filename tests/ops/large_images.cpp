// Large calls of the ops that interpolate images, with gradients.
#include "hearth/autograd.h"
#include "tests/ops/large.h"

namespace hearth::testing {
namespace {

/// An element and its weight.
struct Tap {
  int64_t index;
  double weight;
};

/// The two elements nearest to a position. If `clamps` is set, elements outside are replaced by the
/// nearest element inside; otherwise they are left out.
std::vector<Tap> taps_of(double position, int64_t size, bool clamps) {
  std::vector<Tap> taps;
  const double before = std::floor(position);
  for (const double index : {before, before + 1}) {
    const double weight = 1 - std::fabs(position - index);
    if (clamps || (index >= 0 && index < double(size)))
      taps.push_back({std::clamp<int64_t>(int64_t(index), 0, size - 1), weight});
  }
  return taps;
}

/// Images enlarged to twice their height and width.
LargeCase enlarged(ScalarType dtype) {
  constexpr int64_t planes = 6, h = 63, w = 81;
  const Large x = large({2, 3, h, w}, 41, false), g = large({2, 3, 2 * h, 2 * w}, 42, false);
  Array y = zeros_of(g.sizes), dx = zeros_of(x.sizes);
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t i = 0; i < 2 * h; ++i)
      for (int64_t j = 0; j < 2 * w; ++j)
        for (const Tap& row : taps_of((double(i) - 0.5) / 2, h, true))
          for (const Tap& column : taps_of((double(j) - 0.5) / 2, w, true)) {
            const int64_t source = (p * h + row.index) * w + column.index;
            const int64_t target = (p * 2 * h + i) * 2 * w + j;
            y.values[size_t(target)] += row.weight * column.weight * x[source];
            dx.values[size_t(source)] += row.weight * column.weight * g[target];
          }
  const Tensors in{x.tensor(dtype)};
  const Tensor gradient = g.tensor(dtype);
  const auto call = [](const Tensors& t) {
    return upsample_bilinear2d(t[0], {2 * h, 2 * w}, false);
  };
  return {[=] { return with_gradients(call, in, gradient); }, {y, dx}};
}

/// Images sampled at random positions, some of them outside.
LargeCase sampled(ScalarType dtype) {
  constexpr int64_t batch = 2, channels = 3, side = 65, points = 4001;
  const Large x = large({batch, channels, side, side}, 43, false);
  const Large g = large({batch, channels, 1, points}, 44, false);
  Large grid = large({batch, 1, points, 2}, 45);
  // Coordinates are odd multiples of 1 / 16, so they are exact.
  for (double& v : grid.values) v = (std::floor(v * 272) + 0.5) / 256;
  Array y = zeros_of(g.sizes), dx = zeros_of(x.sizes), dgrid = zeros_of(grid.sizes);
  const auto coordinate = [&](int64_t n, int64_t p, int d) {
    return (grid[(n * points + p) * 2 + d] + 1) * 32;
  };
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t p = 0; p < points; ++p)
      for (const Tap& row : taps_of(coordinate(n, p, 1), side, false))
        for (const Tap& column : taps_of(coordinate(n, p, 0), side, false))
          for (int64_t c = 0; c < channels; ++c) {
            const int64_t source = ((n * channels + c) * side + row.index) * side + column.index;
            const int64_t target = (n * channels + c) * points + p;
            y.values[size_t(target)] += row.weight * column.weight * x[source];
            dx.values[size_t(source)] += row.weight * column.weight * g[target];
            const double product = 32 * x[source] * g[target];
            const size_t grid_index = size_t((n * points + p) * 2);
            dgrid.values[grid_index] +=
                product * row.weight * (double(column.index) > coordinate(n, p, 0) ? 1 : -1);
            dgrid.values[grid_index + 1] +=
                product * column.weight * (double(row.index) > coordinate(n, p, 1) ? 1 : -1);
          }
  const Tensors in{x.tensor(dtype), grid.tensor(dtype)};
  const Tensor gradient = g.tensor(dtype);
  const auto call = [](const Tensors& t) { return grid_sampler(t[0], t[1], 0, 0, true); };
  return {[=] { return with_gradients(call, in, gradient); }, {y, dx, dgrid}};
}

const RegisterLarge registered_large_images[] = {
    RegisterLarge({"enlarged", {"Upsample"}, enlarged, 16}),
    RegisterLarge({"sampled", {"GridSampler", "GridSamplerBackward"}, sampled, 16}),
};

}  // namespace
}  // namespace hearth::testing
