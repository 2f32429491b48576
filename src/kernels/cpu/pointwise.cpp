#include <algorithm>
#include <cstring>

#include "core/parallel_for.h"
#include "kernels/cpu/pointwise_table.h"
#include "kernels/cpu/pointwise_tile.h"

namespace hearth::cpu {

extern const PointwiseTable kAvx2Pointwise, kAvx512Pointwise, kGenericPointwise;

const PointwiseTable* pointwise_table(IsaLevel level) {
#if defined(HEARTH_CPU_AVX512)
  if (level == IsaLevel::kAvx512) return &kAvx512Pointwise;
#endif
#if defined(HEARTH_CPU_AVX2)
  return level == IsaLevel::kAvx2 ? &kAvx2Pointwise : nullptr;
#else
  return level == IsaLevel::kGeneric ? &kGenericPointwise : nullptr;
#endif
}

const PointwiseTable& pointwise_table() {
  static const PointwiseTable& table = *pointwise_table(isa_level());
  return table;
}

namespace {

/// Elements a thread should at least have.
constexpr int64_t kGrain = 32768;

/// What follows from the parameters alone.
struct Job {
  const PointwiseTable& table;
  const PointwiseParams& params;
  BlockFn block;        // null for a copy
  ScalarType lanes;     // the dtype the block reads
  ScalarType computed;  // the dtype the block writes

  Job(const PointwiseTable& t, const PointwiseParams& p)
      : table(t), params(p), block(nullptr), lanes(p.in[0].dtype), computed(lanes) {
    const bool is_copy = p.functor == fn::index_of<fn::Copy, fn::All> && p.formula == Formula::kValue;
    if (is_copy) return;
    lanes = lane_dtype(p.compute);
    computed = is_test() ? kBool : lanes;
    block = t.blocks[p.functor][static_cast<int>(p.formula)][static_cast<int>(lanes)];
  }
  bool is_test() const { return params.formula == Formula::kValue && table.is_test[params.functor]; }

  /// Computes n elements from dense memory of the right dtypes to such memory.
  void compute(const void* const* in, void* out, int64_t n) const {
    if (block)
      block(params.parameters, in, out, n);
    else if (out != in[0])
      std::memcpy(out, in[0], static_cast<size_t>(n) * element_size(lanes));
  }
  void convert(ScalarType from, ScalarType to, const void* source, void* result, int64_t n) const {
    table.convert[static_cast<int>(from)][static_cast<int>(to)](source, result, n);
  }
};

bool is_contiguous(const PointwiseParams& params, const Operand& operand) {
  if (operand.is_number) return params.numel == 1;
  int64_t expected = 1;
  for (int d = params.dim - 1; d >= 0; --d) {
    if (params.sizes[d] != 1 && operand.strides[d] != expected) return false;
    expected *= params.sizes[d];
  }
  return true;
}

bool is_constant(const PointwiseParams& params, const Operand& operand) {
  if (operand.is_number) return true;
  for (int d = 0; d < params.dim; ++d)
    if (params.sizes[d] != 1 && operand.strides[d] != 0) return false;
  return true;
}

bool is_plain(const Job& job) {
  const PointwiseParams& p = job.params;
  if (p.out.dtype != job.computed || !is_contiguous(p, p.out)) return false;
  for (int k = 0; k < p.inputs; ++k)
    if (p.in[k].dtype != job.lanes || !is_contiguous(p, p.in[k])) return false;
  return true;
}

/// Contiguous operands of the right dtypes: blocks read and write them where they are.
void run_plain(const Job& job) {
  const PointwiseParams& p = job.params;
  const auto in_size = static_cast<int64_t>(element_size(job.lanes));
  const auto out_size = static_cast<int64_t>(element_size(job.computed));
  const auto part = [&](int64_t begin, int64_t end) {
    const void* in[kMaxOperands];
    for (int k = 0; k < p.inputs; ++k)
      in[k] = static_cast<const char*>(p.in[k].address()) + begin * in_size;
    job.compute(in, static_cast<char*>(p.out.data) + begin * out_size, end - begin);
  };
  if (p.numel <= kGrain)
    part(0, p.numel);
  else
    parallel_for(0, p.numel, kGrain, part);
}

/// Evaluates tiles of any operands with buffers of its own: one per thread.
class TileRunner {
 public:
  TileRunner(const Job& job, const Tiling& tiling) : job_(job), tiling_(tiling) {
    const PointwiseParams& p = job.params;
    for (int k = 0; k < p.inputs; ++k) {
      constant_[k] = is_constant(p, p.in[k]);
      if (constant_[k]) fill_constant(k);
    }
  }

  void run(int64_t index) {
    const PointwiseParams& p = job_.params;
    const Tile tile(tiling_, index);
    const void* in[kMaxOperands];
    for (int k = 0; k < p.inputs; ++k) in[k] = constant_[k] ? lanes_[k] : fetch(k, tile);
    const TileView out(p.out, tiling_, tile);
    const bool dense = out.dense(tile, size_of(p.out.dtype));
    if (dense && p.out.dtype == job_.computed) {
      job_.compute(in, out.data, tile.elements());
      return;
    }
    const void* result = in[0];
    if (job_.block) {
      job_.compute(in, result_, tile.elements());
      result = result_;
    }
    put(tile, result, out, dense);
  }

 private:
  static int64_t size_of(ScalarType type) { return static_cast<int64_t>(element_size(type)); }

  /// Whether operand k is rounded to the half type first in which the formula is computed. Numbers are not,
  /// as in PyTorch, except in comparisons, where x == 0.1 must hold for the half nearest to 0.1.
  bool rounds(int k) const {
    const ScalarType compute = job_.params.compute;
    return job_.block && is_reduced_float(compute) && job_.params.in[k].dtype != compute &&
           (!constant_[k] || job_.is_test());
  }

  /// Converts n elements of operand k to the dtype of the lanes.
  void to_lanes(int k, const void* from, void* to, int64_t n) {
    const ScalarType dtype = job_.params.in[k].dtype;
    if (dtype == job_.lanes) {
      if (!rounds(k)) {
        std::memcpy(to, from, static_cast<size_t>(n) * element_size(dtype));
        return;
      }
    }
    if (rounds(k)) {
      job_.convert(dtype, job_.params.compute, from, halves_, n);
      job_.convert(job_.params.compute, job_.lanes, halves_, to, n);
    } else {
      job_.convert(dtype, job_.lanes, from, to, n);
    }
  }

  void fill_constant(int k) {
    alignas(16) unsigned char element[16];
    to_lanes(k, job_.params.in[k].address(), element, 1);
    fill(lanes_[k], element, size_of(job_.lanes), tiling_.rows * tiling_.cols);
  }

  /// Operand k's elements of a tile, dense and in the dtype of the lanes.
  const void* fetch(int k, const Tile& tile) {
    const Operand& operand = job_.params.in[k];
    const TileView view(operand, tiling_, tile);
    const int64_t size = size_of(operand.dtype);
    const bool right_dtype = operand.dtype == job_.lanes && !rounds(k);
    const void* source = view.data;
    if (!view.dense(tile, size)) {
      void* buffer = right_dtype ? static_cast<void*>(lanes_[k]) : raw_;
      gather(tile, view, size, buffer);
      source = buffer;
    }
    if (right_dtype) return source;
    to_lanes(k, source, lanes_[k], tile.elements());
    return lanes_[k];
  }

  /// Converts a tile's dense result to the dtype of the output and moves it there.
  void put(const Tile& tile, const void* result, const TileView& out, bool dense) {
    const ScalarType dtype = job_.params.out.dtype, compute = job_.params.compute;
    const int64_t n = tile.elements();
    ScalarType from = job_.computed;
    if (job_.block && !job_.is_test() && is_reduced_float(compute) && dtype != compute) {
      job_.convert(from, compute, result, halves_, n);
      result = halves_;
      from = compute;
    }
    if (from != dtype) {
      void* converted = dense ? static_cast<void*>(out.data) : raw_;
      job_.convert(from, dtype, result, converted, n);
      result = converted;
    }
    if (result != out.data) scatter(tile, result, size_of(dtype), out);
  }

  const Job& job_;
  const Tiling& tiling_;
  bool constant_[kMaxOperands];
  alignas(64) unsigned char lanes_[kMaxOperands][kTileBytes];
  alignas(64) unsigned char result_[kTileBytes];
  alignas(64) unsigned char raw_[kTileElements * 16];
  alignas(64) unsigned char halves_[kTileElements * 2];
};

void run_tiles(const Job& job) {
  const auto lane_size = static_cast<int64_t>(element_size(job.lanes));
  const Tiling tiling(job.params, std::min(kTileElements, kTileBytes / lane_size));
  const auto part = [&](int64_t begin, int64_t end) {
    TileRunner runner(job, tiling);
    for (int64_t tile = begin; tile < end; ++tile) runner.run(tile);
  };
  if (job.params.numel <= kGrain)
    part(0, tiling.count);
  else
    parallel_for(0, tiling.count, std::max<int64_t>(kGrain / (tiling.rows * tiling.cols), 1), part);
}

}  // namespace

bool pointwise_supported(int functor, Formula formula, ScalarType compute) {
  const PointwiseTable& table = pointwise_table();
  return table.blocks[functor][static_cast<int>(formula)][static_cast<int>(lane_dtype(compute))] != nullptr;
}

void run_with(const PointwiseTable& table, const PointwiseParams& params) {
  if (params.numel == 0) return;
  const Job job(table, params);
  if (is_plain(job))
    run_plain(job);
  else
    run_tiles(job);
}

void run(const PointwiseParams& params, Ctx&) { run_with(pointwise_table(), params); }

}  // namespace hearth::cpu
