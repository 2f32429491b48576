// Large calls of the ops of network layers with their gradients, of a total norm, and of a step of
// SGD.
#include "hearth/reduction.h"
#include "tests/ops/large.h"

namespace hearth::testing {
namespace {

/// A convolution of [batch, channels, side, side] with a square kernel.
struct Shape {
  int64_t batch, channels, out_channels, side, kernel, stride, padding, groups;
  int64_t out_side() const { return (side + 2 * padding - kernel) / stride + 1; }
};

/// Calls f(index in x, index in w, index in y) for every product of a convolution.
template <class F>
void for_each_product(const Shape& s, F f) {
  const int64_t o = s.out_side(), in_per_group = s.channels / s.groups,
                out_per_group = s.out_channels / s.groups;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t k = 0; k < s.out_channels; ++k)
      for (int64_t c = 0; c < in_per_group; ++c)
        for (int64_t a = 0; a < s.kernel; ++a)
          for (int64_t b = 0; b < s.kernel; ++b)
            for (int64_t i = 0; i < o; ++i) {
              const int64_t row = i * s.stride + a - s.padding;
              if (row < 0 || row >= s.side) continue;
              const int64_t channel = n * s.channels + k / out_per_group * in_per_group + c;
              const int64_t x = (channel * s.side + row) * s.side + b - s.padding;
              const int64_t w = ((k * in_per_group + c) * s.kernel + a) * s.kernel + b;
              const int64_t y = ((n * s.out_channels + k) * o + i) * o;
              for (int64_t j = 0; j < o; ++j) {
                const int64_t column = j * s.stride + b - s.padding;
                if (column >= 0 && column < s.side) f(x + j * s.stride, w, y + j);
              }
            }
}

std::function<LargeCase(ScalarType)> convolution_of(Shape s) {
  return [s](ScalarType dtype) {
    const Large x = large({s.batch, s.channels, s.side, s.side}, 21, false);
    const Large w = large({s.out_channels, s.channels / s.groups, s.kernel, s.kernel}, 22, false);
    const Large g = large({s.batch, s.out_channels, s.out_side(), s.out_side()}, 23, false);
    Array y = zeros_of(g.sizes), dx = zeros_of(x.sizes), dw = zeros_of(w.sizes);
    for_each_product(s, [&](int64_t i, int64_t j, int64_t k) {
      y.values[size_t(k)] += x[i] * w[j];
      dx.values[size_t(i)] += g[k] * w[j];
      dw.values[size_t(j)] += g[k] * x[i];
    });
    const Tensors in{x.tensor(dtype), w.tensor(dtype)};
    const Tensor gradient = g.tensor(dtype);
    const auto call = [s](const Tensors& t) {
      return conv2d(t[0], t[1], {}, s.stride, s.padding, 1, s.groups);
    };
    return LargeCase{[=] { return with_gradients(call, in, gradient); }, {y, dx, dw}};
  };
}

/// Maxima and means of 3x3 windows with stride 2 and padding 1.
LargeCase pools(ScalarType dtype) {
  constexpr int64_t planes = 24, side = 65, out = 33;
  const Large x = large({3, 8, side, side}, 24), g = large({3, 8, out, out}, 25);
  Array maxima = zeros_of(g.sizes), mean = maxima, d_maxima = zeros_of(x.sizes), d_mean = d_maxima;
  for (int64_t p = 0; p < planes * out * out; ++p) {
    const int64_t plane = p / (out * out), i = p / out % out * 2 - 1, j = p % out * 2 - 1;
    int64_t best = -1;
    for (int64_t a = std::max<int64_t>(i, 0); a < std::min(i + 3, side); ++a)
      for (int64_t b = std::max<int64_t>(j, 0); b < std::min(j + 3, side); ++b) {
        const int64_t e = (plane * side + a) * side + b;
        if (best < 0 || x[e] > x[best]) best = e;
        mean.values[size_t(p)] += x[e] / 9;
        d_mean.values[size_t(e)] += g[p] / 9;
      }
    maxima.values[size_t(p)] = x[best];
    d_maxima.values[size_t(best)] += g[p];
  }
  const Tensor in = x.tensor(dtype), gradient = g.tensor(dtype);
  return {[=] {
            Tensors result = with_gradients(
                [](const Tensors& t) { return max_pool2d(t[0], 3, 2, 1); }, {in}, gradient);
            for (const Tensor& t : with_gradients(
                     [](const Tensors& t) { return avg_pool2d(t[0], 3, 2, 1); }, {in}, gradient))
              result.push_back(t);
            return result;
          },
          {maxima, d_maxima, mean, d_mean}};
}

/// Groups of elements of x that are normalised together, and the channel of each element.
struct Groups {
  int64_t groups, length;
  std::function<int64_t(int64_t group, int64_t k)> index;
  std::function<int64_t(int64_t index)> channel;
  int64_t channels;
};

/// y = (x - mean) / sqrt(var + eps) * w + b and its gradients.
Arrays normalised(const Groups& n, const Large& x, const Large& w, const Large& b, const Large& g,
                  double eps) {
  Array y = zeros_of(x.sizes), dx = y, dw = zeros_of({n.channels}), db = dw;
  const auto count = double(n.length);
  for (int64_t r = 0; r < n.groups; ++r) {
    double mean = 0, var = 0, sum = 0, dot = 0;
    for (int64_t k = 0; k < n.length; ++k) mean += x[n.index(r, k)] / count;
    for (int64_t k = 0; k < n.length; ++k) {
      const int64_t e = n.index(r, k), c = n.channel(e);
      const double d = x[e] - mean;
      var += d * d / count;
      sum += g[e] * w[c];
      dot += g[e] * w[c] * d;
    }
    const double scale = 1 / std::sqrt(var + eps);
    for (int64_t k = 0; k < n.length; ++k) {
      const int64_t e = n.index(r, k), c = n.channel(e);
      const double d = (x[e] - mean) * scale;
      y.values[size_t(e)] = d * w[c] + b[c];
      dx.values[size_t(e)] = scale * (g[e] * w[c] - sum / count - d * dot * scale / count);
      dw.values[size_t(c)] += g[e] * d;
      db.values[size_t(c)] += g[e];
    }
  }
  return {y, dx, dw, db};
}

LargeCase batch_norms(ScalarType dtype, MemoryFormat format) {
  constexpr int64_t batch = 33, channels = 3, height = 63, width = 65, plane = height * width;
  const Large x = large({batch, channels, height, width}, 26);
  const Large g = large({batch, channels, height, width}, 27);
  const Large w = large({channels}, 28), b = large({channels}, 29);
  const Groups groups{
      channels, batch * plane,
      [=](int64_t c, int64_t k) { return (k / plane * channels + c) * plane + k % plane; },
      [=](int64_t e) { return e / plane % channels; }, channels};
  const Tensors in{x.tensor(dtype).contiguous(format), w.tensor(dtype), b.tensor(dtype)};
  const Tensor gradient = g.tensor(dtype).contiguous(format);
  const auto call = [](const Tensors& t) {
    return batch_norm(t[0], t[1], t[2], {}, {}, true, 0.1, 1e-3);
  };
  return {[=] { return with_gradients(call, in, gradient); }, normalised(groups, x, w, b, g, 1e-3)};
}

/// Long rows, whose statistics are merged from parts, with a mean far from 0.
LargeCase layer_norms(ScalarType dtype) {
  constexpr int64_t rows = 5, length = 20011;
  Large x = large({rows, length}, 30);
  for (double& v : x.values) v = double(float(v + 3));
  const Large g = large({rows, length}, 31), w = large({length}, 32), b = large({length}, 33);
  const Groups groups{rows, length, [=](int64_t r, int64_t k) { return r * length + k; },
                      [=](int64_t e) { return e % length; }, length};
  const Tensors in{x.tensor(dtype), w.tensor(dtype), b.tensor(dtype)};
  const Tensor gradient = g.tensor(dtype);
  const auto call = [](const Tensors& t) { return layer_norm(t[0], {length}, t[1], t[2], 1e-3); };
  return {[=] { return with_gradients(call, in, gradient); }, normalised(groups, x, w, b, g, 1e-3)};
}

LargeCase group_norms(ScalarType dtype) {
  constexpr int64_t channels = 6, plane = 61 * 67, length = 3 * plane;
  const Large x = large({2, channels, 61, 67}, 34), g = large({2, channels, 61, 67}, 35);
  const Large w = large({channels}, 36), b = large({channels}, 37);
  const Groups groups{4, length, [=](int64_t r, int64_t k) { return r * length + k; },
                      [=](int64_t e) { return e / plane % channels; }, channels};
  const Tensors in{x.tensor(dtype), w.tensor(dtype), b.tensor(dtype)};
  const Tensor gradient = g.tensor(dtype);
  const auto call = [](const Tensors& t) { return group_norm(t[0], 2, t[1], t[2], 1e-3); };
  return {[=] { return with_gradients(call, in, gradient); }, normalised(groups, x, w, b, g, 1e-3)};
}

/// softmax and log_softmax along a dimension.
LargeCase softmaxes(ScalarType dtype, int64_t dim) {
  constexpr int64_t rows = 509, columns = 613;
  const int64_t length = dim == 1 ? columns : rows, lines = dim == 1 ? rows : columns;
  const int64_t step = dim == 1 ? 1 : columns, line_step = dim == 1 ? columns : 1;
  const Large x = large({rows, columns}, 38), g = large({rows, columns}, 39);
  Array y = zeros_of(x.sizes), dx = y, log_y = y, log_dx = y;
  for (int64_t l = 0; l < lines; ++l) {
    double sum = 0, dot = 0, total = 0;
    for (int64_t k = 0; k < length; ++k) sum += std::exp(x[l * line_step + k * step]);
    for (int64_t k = 0; k < length; ++k) {
      const int64_t e = l * line_step + k * step;
      log_y.values[size_t(e)] = x[e] - std::log(sum);
      y.values[size_t(e)] = std::exp(x[e]) / sum;
      dot += g[e] * y.values[size_t(e)];
      total += g[e];
    }
    for (int64_t k = 0; k < length; ++k) {
      const auto e = size_t(l * line_step + k * step);
      dx.values[e] = y.values[e] * (g.values[e] - dot);
      log_dx.values[e] = g.values[e] - y.values[e] * total;
    }
  }
  const Tensor in = x.tensor(dtype), gradient = g.tensor(dtype);
  return {[=] {
            Tensors result = with_gradients([dim](const Tensors& t) { return t[0].softmax(dim); },
                                            {in}, gradient);
            for (const Tensor& t : with_gradients(
                     [dim](const Tensors& t) { return t[0].log_softmax(dim); }, {in}, gradient))
              result.push_back(t);
            return result;
          },
          {y, dx, log_y, log_dx}};
}

LargeCase nll_losses(ScalarType dtype) {
  constexpr int64_t count = 30011, classes = 7, ignored = 2;
  const Large x = large({count, classes}, 40), w = large({classes}, 41);
  const Large target = large_indices({count}, classes, 42);
  double sum = 0, total = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto c = int64_t(target[i]);
    if (c == ignored) continue;
    sum -= (w[c] + 2) * x[i * classes + c];
    total += w[c] + 2;
  }
  Array dx = zeros_of(x.sizes);
  for (int64_t i = 0; i < count; ++i)
    if (const auto c = int64_t(target[i]); c != ignored)
      dx.values[size_t(i * classes + c)] = -(w[c] + 2) / total;
  const Tensor in = x.tensor(dtype), labels = target.tensor(kLong);
  const Tensor weight = w.tensor(dtype).add(2), one = ones({}, dtype);
  return {[=] {
            Tensors result = with_gradients(
                [&](const Tensors& t) {
                  return nll_loss(t[0], labels, weight, Reduction::Mean, ignored);
                },
                {in}, one);
            result.push_back(nll_loss(in, labels, weight, Reduction::Sum, ignored));
            return result;
          },
          {Array{{}, {sum / total}}, dx, Array{{}, {sum}}}};
}

/// glu: one half of each row times the sigmoid of the other half.
LargeCase gates(ScalarType dtype) {
  constexpr int64_t rows = 301, half = 403;
  const Large x = large({rows, 2 * half}, 43), g = large({rows, half}, 44);
  Array y = zeros_of(g.sizes), dx = zeros_of(x.sizes);
  for (int64_t e = 0; e < rows * half; ++e) {
    const int64_t a = e / half * 2 * half + e % half, b = a + half;
    const double gate = 1 / (1 + std::exp(-x[b]));
    y.values[size_t(e)] = x[a] * gate;
    dx.values[size_t(a)] = g[e] * gate;
    dx.values[size_t(b)] = g[e] * x[a] * gate * (1 - gate);
  }
  const Tensor in = x.tensor(dtype), gradient = g.tensor(dtype);
  const auto call = [](const Tensors& t) { return glu(t[0], 1); };
  return {[=] { return with_gradients(call, {in}, gradient); }, {y, dx}};
}

/// The norm of two large tensors together.
LargeCase total_norms(ScalarType dtype) {
  const Large x = large({301, 403}, 45), y = large({70'001}, 46);
  double squares = 0;
  for (int64_t e = 0; e < 301 * 403; ++e) squares += x[e] * x[e];
  for (int64_t e = 0; e < 70'001; ++e) squares += y[e] * y[e];
  Array norm = zeros_of({});
  norm.values = {std::sqrt(squares)};
  const Tensor a = x.tensor(dtype), b = y.tensor(dtype);
  return {[=] { return Tensors{_fused_total_norm({a, b}, 2)}; }, {norm}};
}

/// One step of gradient descent with momentum, dampening and weight decay.
LargeCase steps(ScalarType dtype) {
  constexpr int64_t count = 150001;
  const Large p = large({count}, 45), g = large({count}, 46), m = large({count}, 47);
  Array moved = zeros_of({count}), buffer = moved;
  for (int64_t i = 0; i < count; ++i) {
    buffer.values[size_t(i)] = 0.5 * m[i] + 0.75 * (g[i] + 0.25 * p[i]);
    moved.values[size_t(i)] = p[i] - 0.125 * buffer.values[size_t(i)];
  }
  return {[=] {
            const Tensors params{p.tensor(dtype)}, grads{g.tensor(dtype)}, buffers{m.tensor(dtype)};
            _fused_sgd_(params, grads, buffers, 0.25, 0.5, 0.125, 0.25, false, false, false);
            return Tensors{params[0], buffers[0]};
          },
          {moved, buffer}};
}

const RegisterLarge registered_large_layers[] = {
    RegisterLarge({"conv2d", {"Conv"}, convolution_of({3, 6, 8, 37, 3, 1, 1, 1}), 8}),
    RegisterLarge({"conv2d_strided", {"Conv"}, convolution_of({2, 8, 12, 41, 5, 2, 2, 1}), 16}),
    RegisterLarge({"conv2d_grouped", {"Conv"}, convolution_of({3, 8, 8, 45, 3, 1, 0, 4}), 8}),
    RegisterLarge({"conv2d_columns", {"Conv"}, convolution_of({1, 16, 8, 49, 3, 1, 1, 1}), 8}),
    RegisterLarge({"pools", {"Pool", "PoolBackward"}, pools}),
    RegisterLarge({"batch_norms",
                   {"BatchNorm", "BatchNormBackward"},
                   [](ScalarType dtype) { return batch_norms(dtype, MemoryFormat::Contiguous); },
                   16}),
    RegisterLarge({"batch_norms_last",
                   {"BatchNorm", "BatchNormBackward"},
                   [](ScalarType dtype) { return batch_norms(dtype, MemoryFormat::ChannelsLast); },
                   16}),
    RegisterLarge({"layer_norms", {"RowNorm", "RowNormBackward"}, layer_norms, 16}),
    RegisterLarge({"group_norms", {"RowNorm", "RowNormBackward"}, group_norms, 16}),
    RegisterLarge({"softmax_last",
                   {"Softmax", "SoftmaxBackward"},
                   [](ScalarType dtype) { return softmaxes(dtype, 1); }}),
    RegisterLarge({"softmax_first",
                   {"Softmax", "SoftmaxBackward"},
                   [](ScalarType dtype) { return softmaxes(dtype, 0); }}),
    RegisterLarge({"nll_losses", {"NllLoss", "NllLossBackward"}, nll_losses, 16}),
    RegisterLarge({"gates", {"Glu", "GluBackward"}, gates}),
    RegisterLarge({"total_norms", {"TotalNorm"}, total_norms, 16}),
    RegisterLarge({"steps", {"FusedStep"}, steps})};

}  // namespace
}  // namespace hearth::testing
