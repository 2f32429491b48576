// The two passes of batch norm over whole tensors: sums of every channel, and y. For the sums, the
// threads divide chunks of a channel's planes or of rows, whose partial sums are added in order;
// for y, planes or rows. Elements of half types are converted in blocks of 1024. Bound by memory: a
// pass reads its inputs once, and y is written once.
#include "kernels/cpu/batch_norm_sweep.h"

#include <algorithm>

#include "core/parallel_for.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/reduce_convert.h"
#include "seam/ctx.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kLanes = 64;       // partial sums, to which a plane's elements go in turn
constexpr int64_t kBlock = 1024;     // elements of a block that is converted at once
constexpr int64_t kChunk = 1 << 16;  // elements of a chunk, which has a partial sum of its own
constexpr int64_t kMaxChunks = 64;   // of rows
constexpr int64_t kMinChunkRows = 16;
constexpr int64_t kFoldedWidth = 256;              // rows are folded up to this width
constexpr int64_t kBatchNormSweepGrain = 1 << 15;  // up to this many elements run on one thread

/// The number of tasks of `elements` elements each that run on one thread.
int64_t grain(int64_t elements) {
  return std::max<int64_t>(kBatchNormSweepGrain / std::max<int64_t>(elements, 1), 1);
}

const BatchNormTable& batch_norm_table() { return HEARTH_ISA_TABLE(batch_norm_table); }

/// Elements in the compute type: in place, or converted into a buffer.
class Source {
 public:
  Source(const BatchNormData& data, ScalarType compute)
      : data_(data),
        size_(int64_t(element_size(data.dtype))),
        direct_(!data.defined() || data.dtype == compute),
        convert_(direct_ ? compute : data.dtype, compute) {}
  bool direct() const { return direct_; }
  const void* get(int64_t first, int64_t n) {
    if (!data_.defined()) return nullptr;
    const char* from = data_.data + first * size_;
    if (direct_) return from;
    convert_(from, 1, buffer_, 1, n);
    return buffer_;
  }

 private:
  const BatchNormData& data_;
  const int64_t size_;
  const bool direct_;
  const StridedConvert convert_;
  alignas(64) char buffer_[kBlock * sizeof(float)];
};

/// Calls f(first element, first column, rows, width) for blocks of up to `max_elements` elements
/// that cover `rows` dense rows from element `first` on.
template <class F>
void for_blocks(int64_t first, int64_t rows, int64_t width, int64_t max_elements, const F& f) {
  const int64_t rows_at_once = std::max<int64_t>(max_elements / std::max<int64_t>(width, 1), 1);
  for (int64_t r = 0; r < rows; r += rows_at_once)
    for (int64_t j = 0; j < width; j += max_elements)
      f(first + r * width + j, j, std::min(rows_at_once, rows - r),
        std::min(max_elements, width - j));
}

const void* advanced(const void* values, int64_t bytes) {
  return values ? static_cast<const char*>(values) + bytes : nullptr;
}

}  // namespace

BatchNormSweep::BatchNormSweep(const BatchNormLayout& layout, Ctx& ctx)
    : layout_(layout),
      ctx_(ctx),
      loops_(layout.compute_type() == kDouble ? batch_norm_table().f64 : batch_norm_table().f32) {}

void BatchNormSweep::accumulate(const BatchNormData& x, const BatchNormData& g, const double* shift,
                                double* sums, double* dots) const {
  if (layout_.channels_last())
    accumulate_rows(x, g, shift, sums, dots);
  else
    accumulate_planes(x, g, shift, sums, dots);
}

double* BatchNormSweep::partial_sums(int64_t chunks, int64_t columns) const {
  return static_cast<double*>(ctx_.scratch(size_t(chunks * 2 * columns) * sizeof(double)));
}

void* BatchNormSweep::repeated(const double* values, ScalarType type, int64_t times) const {
  if (!values) return nullptr;
  const int64_t channels = layout_.channels(), size = int64_t(element_size(type));
  char* const result = static_cast<char*>(ctx_.scratch(size_t(channels * times * size)));
  for (int64_t i = 0; i < times; ++i)
    StridedConvert(kDouble, type)(values, 1, result + i * channels * size, 1, channels);
  return result;
}

void BatchNormSweep::accumulate_planes(const BatchNormData& x, const BatchNormData& g,
                                       const double* shift, double* sums, double* dots) const {
  const int64_t channels = layout_.channels(), plane = layout_.plane(), batch = layout_.batch();
  const int64_t images =
      std::clamp<int64_t>(kChunk / std::max<int64_t>(plane, 1), 1, std::max<int64_t>(batch, 1));
  const int64_t chunks = (batch + images - 1) / images;
  double* const partial = partial_sums(chunks, channels);
  parallel_for(0, chunks * channels, grain(images * plane), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t chunk = task / channels, c = task % channels;
      double lanes[2][kLanes] = {};
      for (int64_t n = chunk * images; n < std::min(batch, (chunk + 1) * images); ++n) {
        const int64_t first = (n * channels + c) * plane, whole = plane / kLanes;
        add(false, x, g, first, whole, kLanes, shift + c, lanes[0], lanes[1]);
        add(false, x, g, first + whole * kLanes, 1, plane % kLanes, shift + c, lanes[0], lanes[1]);
      }
      for (int64_t half = kLanes / 2; half >= 1; half /= 2)
        for (int64_t l = 0; l < half; ++l) {
          lanes[0][l] += lanes[0][l + half];
          lanes[1][l] += lanes[1][l + half];
        }
      partial[(2 * chunk) * channels + c] = lanes[0][0];
      partial[(2 * chunk + 1) * channels + c] = lanes[1][0];
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    sums[c] = dots[c] = 0;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      sums[c] += partial[(2 * chunk) * channels + c];
      dots[c] += partial[(2 * chunk + 1) * channels + c];
    }
  }
}

BatchNormSweep::Rows BatchNormSweep::rows() const {
  const int64_t channels = std::max<int64_t>(layout_.channels(), 1), count = layout_.count();
  const int64_t fold = std::clamp<int64_t>(kFoldedWidth / channels, 1, std::max<int64_t>(count, 1));
  return {fold, fold * channels, count / fold, count % fold * channels};
}

void BatchNormSweep::accumulate_rows(const BatchNormData& x, const BatchNormData& g,
                                     const double* shift, double* sums, double* dots) const {
  const auto [fold, width, count, rest] = rows();
  const int64_t chunk_rows =
      std::max({kChunk / width, (count + kMaxChunks - 1) / kMaxChunks, kMinChunkRows});
  const int64_t chunks = std::max<int64_t>((count + chunk_rows - 1) / chunk_rows, 1);
  double* const partial = partial_sums(chunks, width);
  const double* const shifts = static_cast<const double*>(repeated(shift, kDouble, fold));
  std::fill_n(partial, chunks * 2 * width, 0.0);
  parallel_for(0, chunks, grain(chunk_rows * width),
               [&, width = width, count = count](int64_t begin, int64_t end) {
                 for (int64_t chunk = begin; chunk < end; ++chunk) {
                   double* const to = partial + chunk * 2 * width;
                   const int64_t first = chunk * chunk_rows;
                   add(true, x, g, first * width, std::min(chunk_rows, count - first), width,
                       shifts, to, to + width);
                 }
               });
  add(true, x, g, count * width, 1, rest, shifts, partial, partial + width);
  const int64_t channels = layout_.channels();
  std::fill_n(sums, channels, 0.0);
  std::fill_n(dots, channels, 0.0);
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    for (int64_t j = 0; j < width; ++j) {
      sums[j % channels] += partial[chunk * 2 * width + j];
      dots[j % channels] += partial[(chunk * 2 + 1) * width + j];
    }
}

void BatchNormSweep::add(bool per_column, const BatchNormData& x, const BatchNormData& g,
                         int64_t first, int64_t rows, int64_t width, const double* shift,
                         double* sums, double* dots) const {
  const auto loop = loops_.accumulate[per_column][g.defined()];
  Source xs(x, layout_.compute_type()), gs(g, layout_.compute_type());
  if (xs.direct() && gs.direct())
    return loop(xs.get(first, 0), gs.get(first, 0), width, rows, width, shift, sums, dots);
  for_blocks(first, rows, width, kBlock, [&](int64_t block_first, int64_t j, int64_t r, int64_t w) {
    loop(xs.get(block_first, r * w), gs.get(block_first, r * w), w, r, w,
         per_column ? shift + j : shift, sums + j, dots + j);
  });
}

void BatchNormSweep::apply(const BatchNormData& x, const BatchNormData& g, const BatchNormData& y,
                           const double* center, const double* slope, const double* offset,
                           const double* gain) const {
  const ScalarType type = layout_.compute_type();
  const auto [fold, width, count, rest] = rows();
  const int64_t times = layout_.channels_last() ? fold : 1;
  const BatchNormLine line{repeated(center, type, times), repeated(slope, type, times),
                           repeated(offset, type, times), repeated(gain, type, times)};
  if (layout_.channels_last()) {
    parallel_for(0, count, grain(width), [&, width = width](int64_t begin, int64_t end) {
      compute(true, x, g, y, begin * width, end - begin, width, line);
    });
    compute(true, x, g, y, count * width, 1, rest, line);
    return;
  }
  const int64_t channels = layout_.channels(), plane = layout_.plane();
  const int64_t size = int64_t(element_size(type));
  parallel_for(0, layout_.batch() * channels, grain(plane), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t bytes = p % channels * size;
      compute(false, x, g, y, p * plane, 1, plane,
              {advanced(line.center, bytes), advanced(line.slope, bytes),
               advanced(line.offset, bytes), advanced(line.gain, bytes)});
    }
  });
}

void BatchNormSweep::compute(bool per_column, const BatchNormData& x, const BatchNormData& g,
                             const BatchNormData& y, int64_t first, int64_t rows, int64_t width,
                             const BatchNormLine& line) const {
  const ScalarType type = layout_.compute_type();
  const auto loop = loops_.apply[per_column][g.defined()];
  const int64_t y_size = int64_t(element_size(y.dtype));
  Source xs(x, type), gs(g, type);
  if (xs.direct() && gs.direct() && y.dtype == type)
    return loop(xs.get(first, 0), gs.get(first, 0), y.data + first * y_size, width, rows, width,
                line);
  const StridedConvert store(type, y.dtype);
  const int64_t size = int64_t(element_size(type));
  alignas(64) char result[kBlock * sizeof(double)];
  for_blocks(first, rows, width, kBlock, [&](int64_t block_first, int64_t j, int64_t r, int64_t w) {
    const int64_t bytes = per_column ? j * size : 0;
    const BatchNormLine line_at_j{advanced(line.center, bytes), advanced(line.slope, bytes),
                                  advanced(line.offset, bytes), advanced(line.gain, bytes)};
    loop(xs.get(block_first, r * w), gs.get(block_first, r * w), result, w, r, w, line_at_j);
    store(result, 1, y.data + block_first * y_size, 1, r * w);
  });
}

}  // namespace hearth::cpu
