// Layer norm, group norm and rms norm of rows, [rows, channels * inner], and the gradients. The
// threads divide the rows, backward in up to 64 chunks, each with sums for weight and bias. A row
// is read twice, backward up to three times, after the first time from the cache if it fits; half
// types are converted 1024 elements at a time. Bound by memory.
#include "seam/row_norm.h"

#include <algorithm>
#include <cmath>

#include "core/parallel_for.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/reduce_convert.h"
#include "kernels/cpu/row_norm_kernels.h"
#include "seam/ctx.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kRowNormBlock = 1024;     // elements that are converted at once
constexpr int64_t kRowNormGrain = 1 << 14;  // up to this many elements run on one thread
constexpr int64_t kMaxRowNormChunks = 64;   // of rows, each with partial sums of its own

const RowNormTable& row_norm_table() { return HEARTH_ISA_TABLE(row_norm_table); }

/// Contiguous elements, read and written in the compute type, a block at a time.
class Elements {
 public:
  Elements(const View& view, ScalarType compute)
      : data_(view.as<char>()),
        size_(int64_t(element_size(view.dtype))),
        direct_(view.dtype == compute),
        load_(view.dtype, compute),
        store_(compute, view.dtype) {}
  bool direct() const { return direct_; }
  const void* read(int64_t first, int64_t n, void* buffer) const {
    if (direct_) return data_ + first * size_;
    load_(data_ + first * size_, 1, buffer, 1, n);
    return buffer;
  }
  void* target(int64_t first, void* buffer) const {
    return direct_ ? data_ + first * size_ : buffer;
  }
  void write_back(int64_t first, int64_t n, const void* buffer) const {
    if (!direct_) store_(buffer, 1, data_ + first * size_, 1, n);
  }

 private:
  char* data_;
  int64_t size_;
  bool direct_;
  StridedConvert load_, store_;
};

struct Buffer {
  alignas(64) char bytes[kRowNormBlock * sizeof(double)];
};

/// Returns the elements of a small view as `type`; if it is undefined, `count` times `missing`.
void* read_values(const View& view, int64_t count, ScalarType type, double missing, Ctx& ctx) {
  const int64_t size = int64_t(element_size(type));
  char* const values = static_cast<char*>(ctx.scratch(size_t(std::max<int64_t>(count * size, 1))));
  const StridedConvert convert(view.defined() ? view.dtype : kDouble, type);
  if (view.defined()) convert(view.data, 1, values, 1, count);
  for (int64_t i = 0; !view.defined() && i < count; ++i)
    convert(&missing, 1, values + i * size, 1, 1);
  return values;
}

void write_values(const double* values, const View& view) {
  if (view.defined()) StridedConvert(kDouble, view.dtype)(values, 1, view.data, 1, view.numel);
}

/// The common part of both passes: the shape, the loops and the weights in the compute type.
struct RowNorm {
  RowNorm(const RowNormShape& shape_, const View& in, const View& weight, Ctx& ctx)
      : shape(shape_),
        compute(in.dtype == kDouble ? kDouble : kFloat),
        loops(compute == kDouble ? row_norm_table().f64 : row_norm_table().f32),
        per_element(shape.inner == 1),
        block(in.dtype == compute ? std::max<int64_t>(shape.length(), 1) : kRowNormBlock),
        weights(values_of(weight, 1, ctx)) {}

  void* values_of(const View& view, double missing, Ctx& ctx) const {
    return read_values(view, shape.all_channels(), compute, missing, ctx);
  }
  const void* channel_value(const void* values, int64_t channel) const {
    return static_cast<const char*>(values) + channel * int64_t(element_size(compute));
  }
  /// Calls f(first element in the row, number of elements, first channel) for blocks of a row,
  /// whose elements have one channel or, if per_element, one channel each.
  template <class F>
  void for_blocks(int64_t row, const F& f) const {
    const int64_t channel = row % shape.groups * shape.channels;
    if (per_element) {
      for (int64_t j = 0; j < shape.channels; j += block)
        f(j, std::min(block, shape.channels - j), channel + j);
      return;
    }
    for (int64_t c = 0; c < shape.channels; ++c)
      for (int64_t j = 0; j < shape.inner; j += block)
        f(c * shape.inner + j, std::min(block, shape.inner - j), channel + c);
  }

  const RowNormShape shape;
  const ScalarType compute;
  const RowNormLoops& loops;
  const bool per_element;
  const int64_t block;  // elements that are read at once
  const void* const weights;
};

/// Computes the mean of a row, or 0 if the norm is not centered, and 1 / sqrt(var + eps). A
/// centered row's first element is subtracted from all, so that a large mean does not make the
/// variance inaccurate.
void measure(const RowNorm& norm, const Elements& in, int64_t row, double eps, double& mean,
             double& rstd) {
  Buffer buffer;
  const int64_t length = norm.shape.length(), begin = row * length;
  const double n = double(length);
  double shift = 0, sums[2] = {0, 0};
  if (norm.shape.centered) {
    const void* first = in.read(begin, 1, buffer.bytes);
    shift = norm.compute == kDouble ? *static_cast<const double*>(first)
                                    : double(*static_cast<const float*>(first));
  }
  for (int64_t j = 0; j < length; j += norm.block) {
    const int64_t count = std::min(norm.block, length - j);
    norm.loops.moments(in.read(begin + j, count, buffer.bytes), count, shift, sums);
  }
  const double shifted_mean = norm.shape.centered ? sums[0] / n : 0;
  mean = shift + shifted_mean;
  const double var = sums[1] / n - shifted_mean * shifted_mean;
  rstd = 1 / std::sqrt((var < 0 ? 0 : var) + eps);
}

double* scratch_doubles(int64_t count, Ctx& ctx) {
  return static_cast<double*>(ctx.scratch(size_t(std::max<int64_t>(count, 1)) * sizeof(double)));
}

/// The backward pass, row by row: writes grad_in and adds to the gradients of weight and bias.
class RowNormBackward {
 public:
  RowNormBackward(const RowNormBackwardParams& params, Ctx& ctx)
      : norm_(params.shape, params.in, params.weight, ctx),
        grad_(params.grad, norm_.compute),
        in_(params.in, norm_.compute),
        grad_in_(params.grad_in.defined() ? params.grad_in : params.in, norm_.compute),
        one_(read_values({}, 1, norm_.compute, 1, ctx)),
        mean_(static_cast<double*>(read_values(params.mean, params.shape.rows, kDouble, 0, ctx))),
        rstd_(static_cast<double*>(read_values(params.rstd, params.shape.rows, kDouble, 0, ctx))),
        needs_grad_in_(params.grad_in.defined()),
        needs_sums_(params.grad_weight.defined() || params.grad_bias.defined()) {}

  bool needs_sums() const { return needs_sums_; }
  void run(int64_t row, double* weight_sums, double* bias_sums) const {
    if (needs_grad_in_) differentiate(row);
    if (needs_sums_) add_sums(row, weight_sums, bias_sums);
  }

 private:
  void differentiate(int64_t row) const {
    Buffer g, x, result;
    const int64_t begin = row * norm_.shape.length();
    const double n = double(norm_.shape.length()), mean = mean_[row], rstd = rstd_[row];
    double sums[2] = {0, 0};
    norm_.for_blocks(row, [&](int64_t j, int64_t count, int64_t channel) {
      norm_.loops.dots[norm_.per_element](grad_.read(begin + j, count, g.bytes),
                                          in_.read(begin + j, count, x.bytes), count, mean,
                                          norm_.channel_value(norm_.weights, channel), sums);
    });
    const RowNormLoops::Line line{mean, rstd, -rstd * rstd * rstd * sums[1] / n,
                                  norm_.shape.centered ? -rstd * sums[0] / n : 0};
    norm_.for_blocks(row, [&](int64_t j, int64_t count, int64_t channel) {
      norm_.loops.gradient[norm_.per_element](grad_.read(begin + j, count, g.bytes),
                                              in_.read(begin + j, count, x.bytes),
                                              grad_in_.target(begin + j, result.bytes), count, line,
                                              norm_.channel_value(norm_.weights, channel));
      grad_in_.write_back(begin + j, count, result.bytes);
    });
  }

  void add_sums(int64_t row, double* weight_sums, double* bias_sums) const {
    Buffer g_buffer, x_buffer;
    const int64_t begin = row * norm_.shape.length();
    const double mean = mean_[row], rstd = rstd_[row];
    norm_.for_blocks(row, [&](int64_t j, int64_t count, int64_t channel) {
      const void* g = grad_.read(begin + j, count, g_buffer.bytes);
      const void* x = in_.read(begin + j, count, x_buffer.bytes);
      if (norm_.per_element)
        return norm_.loops.columns(g, x, count, mean, rstd, weight_sums + channel,
                                   bias_sums + channel);
      double sums[2] = {0, 0};
      norm_.loops.dots[false](g, x, count, mean, one_, sums);
      bias_sums[channel] += sums[0];
      weight_sums[channel] += sums[1] * rstd;
    });
  }

  const RowNorm norm_;
  const Elements grad_, in_, grad_in_;
  const void* const one_;  // the weight of sums without weights
  const double *const mean_, *const rstd_;
  const bool needs_grad_in_, needs_sums_;
};

}  // namespace

void run(const RowNormParams& params, Ctx& ctx) {
  const RowNorm norm(params.shape, params.in, params.weight, ctx);
  const Elements in(params.in, norm.compute), out(params.out, norm.compute);
  const void* const bias = norm.values_of(params.bias, 0, ctx);
  const int64_t rows = params.shape.rows, length = params.shape.length();
  double *const mean = scratch_doubles(rows, ctx), *const rstd = scratch_doubles(rows, ctx);
  const int64_t grain = std::max<int64_t>(kRowNormGrain / std::max<int64_t>(length, 1), 1);
  parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    Buffer x, y;
    for (int64_t r = begin; r < end; ++r) {
      measure(norm, in, r, params.eps, mean[r], rstd[r]);
      norm.for_blocks(r, [&](int64_t j, int64_t count, int64_t channel) {
        const int64_t first = r * length + j;
        norm.loops.normalize[norm.per_element](
            in.read(first, count, x.bytes), out.target(first, y.bytes), count, mean[r], rstd[r],
            norm.channel_value(norm.weights, channel), norm.channel_value(bias, channel));
        out.write_back(first, count, y.bytes);
      });
    }
  });
  write_values(mean, params.mean);
  write_values(rstd, params.rstd);
}

void run(const RowNormBackwardParams& params, Ctx& ctx) {
  const RowNormBackward pass(params, ctx);
  const int64_t rows = params.shape.rows, channels = params.shape.all_channels();
  const int64_t chunks = std::clamp<int64_t>(params.in.numel / kRowNormGrain, 1,
                                             std::clamp<int64_t>(rows, 1, kMaxRowNormChunks));
  double* const sums = scratch_doubles(pass.needs_sums() ? chunks * 2 * channels : 0, ctx);
  parallel_blocks(chunks, [&](int64_t chunk) {
    double* const partial = sums + (pass.needs_sums() ? chunk * 2 * channels : 0);
    if (pass.needs_sums()) std::fill_n(partial, 2 * channels, 0.0);
    for (int64_t r = chunk * rows / chunks; r < (chunk + 1) * rows / chunks; ++r)
      pass.run(r, partial, partial + channels);
  });
  if (!pass.needs_sums()) return;
  for (int64_t chunk = 1; chunk < chunks; ++chunk)
    for (int64_t c = 0; c < 2 * channels; ++c) sums[c] += sums[chunk * 2 * channels + c];
  write_values(sums, params.grad_weight);
  write_values(sums + channels, params.grad_bias);
}

}  // namespace hearth::cpu
