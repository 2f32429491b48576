// out = formula(inputs) for every element, of any dtypes and strides. Contiguous operands of one
// dtype are read and written where they are; others are gathered, converted, computed and scattered
// in tiles of up to 1024 elements, which stay in the L1 cache. Above 32,768 elements, the threads
// divide elements or tiles. Bound by memory, for formulas with exp, log or pow by their arithmetic.
#include <algorithm>
#include <cstring>

#include "core/parallel_for.h"
#include "functors/arithmetic.h"
#include "kernels/cpu/copy_transposed.h"
#include "kernels/cpu/pointwise_table.h"
#include "kernels/cpu/pointwise_tile.h"

namespace hearth::cpu {

namespace {

template <IsaLevel level>
const PointwiseTable* table_at() {
#define HEARTH_BLOCKS_OF(Family) blocks_of_##Family(AtLevel<level>{}),
#define HEARTH_COMPLEX_OF(Family) complex_##Family(),
  static const PointwiseTable table{{HEARTH_FUNCTOR_FAMILIES(HEARTH_BLOCKS_OF)},
                                    {HEARTH_FUNCTOR_FAMILIES(HEARTH_COMPLEX_OF)},
                                    conversions(AtLevel<level>{})};
#undef HEARTH_BLOCKS_OF
#undef HEARTH_COMPLEX_OF
  return &table;
}

}  // namespace

const PointwiseTable* pointwise_table(IsaLevel level) {
#if defined(HEARTH_CPU_AVX512)
  if (level == IsaLevel::kAvx512) return table_at<IsaLevel::kAvx512>();
#endif
#if defined(HEARTH_CPU_AVX2)
  return level == IsaLevel::kAvx2 ? table_at<IsaLevel::kAvx2>() : nullptr;
#else
  return level == IsaLevel::kGeneric ? table_at<IsaLevel::kGeneric>() : nullptr;
#endif
}

const PointwiseTable& pointwise_table() {
  static const PointwiseTable& table = *pointwise_table(isa_level());
  return table;
}

namespace {

/// Up to this many elements run on one thread.
constexpr int64_t kPointwiseGrain = 32768;

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

/// A pointwise kernel, prepared from its parameters.
struct Job {
  const PointwiseTable& table;
  const PointwiseParams& params;
  BlockFn block = nullptr;  // null for a copy
  ScalarType lanes;         // the dtype the block reads
  ScalarType computed;      // the dtype the block writes
  bool is_test = false;
  int64_t lane_size;
  bool constant[kMaxOperands];  // whether operand k is a number or one broadcast element

  Job(const PointwiseTable& t, const PointwiseParams& p)
      : table(t), params(p), lanes(p.in[0].dtype), computed(lanes) {
    const bool is_value = p.formula == Formula::kValue;
    if (!(is_value && p.functor == fn::number_of<fn::Copy>)) {
      lanes = lane_dtype(p.compute);
      is_test = is_value && t.functor(p.functor).is_test;
      computed = is_test ? kBool : lanes;
      block = t.block(p.functor, p.formula, lanes);
      HEARTH_CHECK(block, "pointwise: functor ", int(p.functor), " has no kernel of formula ",
                   int(p.formula), " for ", by_name::name_of(p.compute));
    }
    lane_size = static_cast<int64_t>(element_size(lanes));
    for (int k = 0; k < p.inputs; ++k) constant[k] = is_constant(p, p.in[k]);
  }

  /// The most elements of a tile, which fit into a buffer.
  int64_t tile_elements() const { return std::min(kTileElements, kTileBytes / lane_size); }
  /// Whether operand k is first rounded to the half type in which the formula is computed. A number
  /// has been rounded already, unless it stays exact.
  bool rounds(int k) const {
    return block && is_reduced_float(params.compute) && params.in[k].dtype != params.compute &&
           !params.in[k].is_number;
  }
  /// Whether blocks can read operand k without a conversion.
  bool has_lanes(int k) const { return params.in[k].dtype == lanes && !rounds(k); }

  /// Computes n elements; inputs and output are dense and of dtypes `lanes` and `computed`.
  void compute(const void* const* in, void* out, int64_t n) const {
    if (block)
      block(params.parameters, in, out, n);
    else if (out != in[0])
      std::memcpy(out, in[0], static_cast<size_t>(n * lane_size));
  }
  void convert(ScalarType from, ScalarType to, const void* source, void* result, int64_t n) const {
    table.convert(from, to)(source, result, n);
  }
  /// Converts n elements of operand k, at most a tile's, to the dtype of the lanes.
  void to_lanes(int k, const void* from, void* to, int64_t n) const {
    if (!rounds(k)) return convert(params.in[k].dtype, lanes, from, to, n);
    uint16_t halves[kTileElements];
    convert(params.in[k].dtype, params.compute, from, halves, n);
    convert(params.compute, lanes, halves, to, n);
  }
  /// Fills a buffer with n lanes of the constant operand k.
  void fill_constant(int k, void* buffer, int64_t n) const {
    alignas(16) unsigned char lane[16];
    const void* value = params.in[k].address();
    if (!has_lanes(k)) {
      to_lanes(k, value, lane, 1);
      value = lane;
    }
    fill(buffer, value, lane_size, n);
  }
};

/// Whether blocks can read and write all operands but constants in place.
bool is_plain(const Job& job) {
  const PointwiseParams& p = job.params;
  if (p.out.dtype != job.computed || !is_contiguous(p, p.out)) return false;
  for (int k = 0; k < p.inputs; ++k)
    if (!job.constant[k] && !(job.has_lanes(k) && is_contiguous(p, p.in[k]))) return false;
  return true;
}

/// Runs blocks over elements [begin, end) of plain operands.
void run_plain_range(const Job& job, int64_t begin, int64_t end) {
  const PointwiseParams& p = job.params;
  const auto out_size = static_cast<int64_t>(element_size(job.computed));
  if (!job.block && job.constant[0] && job.has_lanes(0))
    return fill(static_cast<char*>(p.out.data) + begin * out_size, p.in[0].address(), out_size,
                end - begin);
  alignas(64) unsigned char constants[kMaxOperands][kTileBytes];
  const char* in[kMaxOperands];
  int64_t steps[kMaxOperands];
  int64_t block_elements = end - begin;
  for (int k = 0; k < p.inputs; ++k) {
    steps[k] = job.lane_size;
    in[k] = static_cast<const char*>(p.in[k].address()) + begin * job.lane_size;
    if (!job.constant[k] || (p.numel == 1 && job.has_lanes(k))) continue;
    block_elements = std::min(end - begin, job.tile_elements());
    job.fill_constant(k, constants[k], block_elements);
    in[k] = reinterpret_cast<const char*>(constants[k]);
    steps[k] = 0;
  }
  for (int64_t i = 0; i < end - begin; i += block_elements) {
    const void* at[kMaxOperands];
    for (int k = 0; k < p.inputs; ++k) at[k] = in[k] + i * steps[k];
    job.compute(at, static_cast<char*>(p.out.data) + (begin + i) * out_size,
                std::min(block_elements, end - begin - i));
  }
}

void run_plain(const Job& job) {
  if (job.params.numel <= kPointwiseGrain) return run_plain_range(job, 0, job.params.numel);
  parallel_for(0, job.params.numel, kPointwiseGrain,
               [&](int64_t begin, int64_t end) { run_plain_range(job, begin, end); });
}

int64_t size_of(ScalarType type) { return static_cast<int64_t>(element_size(type)); }

/// Evaluates tiles of any operands. Each thread needs its own TileRunner, because of the buffers.
class TileRunner {
 public:
  TileRunner(const Job& job, const Tiling& tiling) : job_(job), tiling_(tiling) {
    for (int k = 0; k < job.params.inputs; ++k)
      if (job.constant[k]) job.fill_constant(k, lanes_[k], tiling.rows * tiling.cols);
  }

  void run(int64_t index) {
    const PointwiseParams& p = job_.params;
    const Tile tile(tiling_, index);
    const void* in[kMaxOperands];
    for (int k = 0; k < p.inputs; ++k) in[k] = job_.constant[k] ? lanes_[k] : fetch(k, tile);
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
    store(tile, result, out, dense);
  }

 private:
  /// Operand k's elements of a tile, dense and in the dtype of the lanes.
  const void* fetch(int k, const Tile& tile) {
    const Operand& operand = job_.params.in[k];
    const TileView view(operand, tiling_, tile);
    const int64_t size = size_of(operand.dtype);
    const bool has_lanes = job_.has_lanes(k);
    const void* source = view.data;
    if (!view.dense(tile, size)) {
      void* buffer = has_lanes ? static_cast<void*>(lanes_[k]) : raw_;
      gather(tile, view, size, buffer);
      source = buffer;
    }
    if (has_lanes) return source;
    job_.to_lanes(k, source, lanes_[k], tile.elements());
    return lanes_[k];
  }

  /// Converts a tile's dense result to the dtype of the output and writes it there.
  void store(const Tile& tile, const void* result, const TileView& out, bool dense) {
    const ScalarType dtype = job_.params.out.dtype, compute = job_.params.compute;
    const int64_t n = tile.elements();
    ScalarType from = job_.computed;
    uint16_t halves[kTileElements];
    if (job_.block && !job_.is_test && is_reduced_float(compute) && dtype != compute) {
      job_.convert(from, compute, result, halves, n);
      result = halves;
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
  alignas(64) unsigned char lanes_[kMaxOperands][kTileBytes];
  alignas(64) unsigned char result_[kTileBytes];
  alignas(64) unsigned char raw_[kTileElements * 16];
};

void run_tiles(const Job& job) {
  const Tiling tiling(job.params, job.tile_elements());
  const auto run_range = [&](int64_t begin, int64_t end) {
    TileRunner runner(job, tiling);
    for (int64_t tile = begin; tile < end; ++tile) runner.run(tile);
  };
  if (job.params.numel <= kPointwiseGrain)
    run_range(0, tiling.count);
  else
    parallel_for(0, tiling.count,
                 std::max<int64_t>(kPointwiseGrain / (tiling.rows * tiling.cols), 1), run_range);
}

/// A short path for few contiguous elements of one dtype. Returns false, without an effect, for
/// other operands.
bool run_small(const PointwiseTable& table, const PointwiseParams& p) {
  if (p.numel > kPointwiseGrain || p.dim > 1) return false;
  const auto usable = [&](const Operand& operand, ScalarType dtype) {
    return operand.dtype == dtype && !operand.is_number && (p.dim == 0 || operand.strides[0] == 1);
  };
  const void* in[kMaxOperands];
  for (int k = 0; k < p.inputs; ++k) {
    if (!usable(p.in[k], p.compute)) return false;
    in[k] = p.in[k].data;
  }
  const bool is_test = p.formula == Formula::kValue && table.functor(p.functor).is_test;
  const BlockFn block = table.block(p.functor, p.formula, p.compute);
  if (!block || !usable(p.out, is_test ? kBool : p.compute)) return false;
  block(p.parameters, in, p.out.data, p.numel);
  return true;
}

/// Whether a number of another dtype is copied.
bool copies_other_number(const PointwiseParams& p) {
  return p.functor == fn::number_of<fn::Copy> && p.formula == Formula::kValue &&
         p.in[0].is_number && p.in[0].dtype != p.out.dtype;
}

PointwiseParams with_converted_number(const PointwiseTable& table, const PointwiseParams& params) {
  PointwiseParams result = params;
  Operand& in = result.in[0];
  in.dtype = params.out.dtype;
  table.convert(params.in[0].dtype, in.dtype)(params.in[0].number, in.number, 1);
  return result;
}

}  // namespace

bool pointwise_supported(int functor, Formula formula, ScalarType compute) {
  return pointwise_table().block(functor, formula, lane_dtype(compute)) != nullptr;
}

void run_with(const PointwiseTable& table, const PointwiseParams& params) {
  if (params.numel == 0 || run_small(table, params)) return;
  if (copies_other_number(params)) return run_with(table, with_converted_number(table, params));
  const Job job(table, params);
  if (is_plain(job))
    run_plain(job);
  else
    run_tiles(job);
}

void run(const PointwiseParams& params, Ctx&) {
  if (copy_transposed(params)) return;
  run_with(pointwise_table(), params);
}

}  // namespace hearth::cpu
