#include "kernels/cpu/index_loop.h"

#include <algorithm>
#include <atomic>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int kTable = 0, kValues = 1, kIndex = 2;  // operand numbers; further indices follow
constexpr int64_t kLineElements = 16;  // of a cache line, which only one thread should write

using Loop = StridedLoop<kMaxDims + kIndex>;

/// Returns the index counted from the start of the dimension; at least `size` if it is out of
/// range.
uint64_t resolve(int64_t index, int64_t size, bool allow_negative) {
  return static_cast<uint64_t>(index + (allow_negative && index < 0 ? size : 0));
}

/// The offsets first, first + step, first + 2 * step, …
struct Steps {
  int64_t first, step;
  int64_t operator()(int64_t i) const { return first + i * step; }
};

/// Some indices of one IndexedDim, `stride` elements apart.
struct IndexRow {
  const IndexedDim& dim;
  int64_t start, stride, count;
  bool allow_negative;

  bool in_range() const {
    bool all_valid = true;
    for_each([&all_valid, size = dim.size, negative = allow_negative](int64_t, int64_t index) {
      all_valid &= resolve(index, size, negative) < static_cast<uint64_t>(size);
    });
    return all_valid;
  }

  /// offsets[i] = base(i) + index i * dim.stride. Returns false if any index is out of range. The
  /// lambda captures copies, because to the compiler the offsets may alias everything else. The
  /// arithmetic is unsigned, because an index out of range may overflow.
  template <class Base>
  bool add_offsets(int64_t* offsets, const Base& base) const {
    bool all_valid = true;
    for_each([&all_valid, offsets, base, size = dim.size, step = static_cast<uint64_t>(dim.stride),
              negative = allow_negative](int64_t i, int64_t index) {
      const uint64_t resolved = resolve(index, size, negative);
      all_valid &= resolved < static_cast<uint64_t>(size);
      offsets[i] = static_cast<int64_t>(static_cast<uint64_t>(base(i)) + resolved * step);
    });
    return all_valid;
  }

  /// Reports every index out of range and calls mark(i).
  template <class Mark>
  void report(FaultSlot* faults, const Mark& mark) const {
    for_each([&](int64_t i, int64_t index) {
      if (resolve(index, dim.size, allow_negative) < static_cast<uint64_t>(dim.size)) return;
      faults->report(Fault::kIndexOutOfRange, index, dim.dim, dim.size);
      mark(i);
    });
  }

 private:
  template <class F>
  void for_each(const F& f) const {
    if (dim.index.dtype == kInt)
      for_each_of(dim.index.as<int32_t>() + start, f);
    else
      for_each_of(dim.index.as<int64_t>() + start, f);
  }

  template <class I, class F>
  void for_each_of(const I* data, F f) const {
    const int64_t end = count, step = stride;
    if (step == 1)
      for (int64_t i = 0; i < end; ++i) f(i, int64_t{data[i]});
    else
      for (int64_t i = 0; i < end; ++i) f(i, int64_t{data[i * step]});
  }
};

/// An IndexJob limited to some positions, and optionally to those with table offsets in a range.
class SubJob {
 public:
  explicit SubJob(const IndexJob& job);

  const Loop& loop() const { return loop_; }
  /// Returns the job limited to positions with coordinate d in [begin, end).
  SubJob narrow(int d, int64_t begin, int64_t end) const;
  /// Returns the job limited to positions with table offsets in [begin, end).
  SubJob within(int64_t begin, int64_t end) const;
  /// An upper bound of the table offsets of positions, without their runs.
  int64_t table_span() const;

  void run(MoveBlock move, FaultSlot* faults) const;

 private:
  bool is_indexed(int d) const;
  bool in_limits(int64_t table_offset) const {
    return !is_limited_ || (table_offset >= table_begin_ && table_offset < table_end_);
  }
  IndexRun split(Loop& positions, Loop& runs) const;
  void look_up(const Loop& positions, const int64_t* offsets, int64_t count, IndexBlock& block,
               FaultSlot* faults) const;

  const IndexJob& job_;
  size_t element_size_;
  Loop loop_;
  int64_t first_[kMaxDims + kIndex] = {};  // every operand's offset of the first position
  bool is_limited_ = false;
  int64_t table_begin_ = 0, table_end_ = 0;
};

SubJob::SubJob(const IndexJob& job) : job_(job), element_size_(element_size(job.values.dtype)) {
  loop_.dim = job.values.dim;
  std::copy_n(job.values.sizes, job.values.dim, loop_.sizes);
  loop_.add(job.origin.strides);
  loop_.add(job.values.strides);
  for (const IndexedDim& dim : job.indices) loop_.add(dim.index.strides);
  loop_.merge();
}

SubJob SubJob::narrow(int d, int64_t begin, int64_t end) const {
  SubJob result = *this;
  result.loop_.sizes[d] = end - begin;
  for (int o = 0; o < loop_.operands; ++o) result.first_[o] += begin * loop_.strides[o][d];
  return result;
}

SubJob SubJob::within(int64_t begin, int64_t end) const {
  SubJob result = *this;
  result.is_limited_ = true;
  result.table_begin_ = begin;
  result.table_end_ = end;
  return result;
}

int64_t SubJob::table_span() const {
  int64_t last = 0;
  for (int d = 0; d < loop_.dim; ++d)
    if (is_indexed(d)) last += (loop_.sizes[d] - 1) * loop_.strides[kTable][d];
  for (const IndexedDim& dim : job_.indices) last += (dim.size - 1) * dim.stride;
  return last + 1;
}

/// Whether any of the indices varies along d.
bool SubJob::is_indexed(int d) const {
  for (int o = kIndex; o < loop_.operands; ++o)
    if (loop_.strides[o][d] != 0) return true;
  return false;
}

/// Splits the dimensions into `positions`, along which indices vary, and `runs`, along which they
/// do not. If indices do not vary along the innermost dimension, that is returned instead of being
/// added to `runs`.
IndexRun SubJob::split(Loop& positions, Loop& runs) const {
  const int last = loop_.dim - 1;
  const bool has_run = last >= 0 && !is_indexed(last);
  positions.operands = loop_.operands;
  runs.operands = kIndex;
  for (int d = 0; d < (has_run ? last : loop_.dim); ++d) {
    if (is_indexed(d))
      positions.push_dim_of(loop_, d);
    else
      runs.push_dim_of(loop_, d);
  }
  if (!has_run) return {1, 1, 1};
  return {loop_.sizes[last], loop_.strides[kTable][last], loop_.strides[kValues][last]};
}

/// Appends `count` positions along the innermost dimension of `positions` to the block.
void SubJob::look_up(const Loop& positions, const int64_t* offsets, int64_t count,
                     IndexBlock& block, FaultSlot* faults) const {
  const auto steps = [&](int o) {
    return Steps{first_[o] + offsets[o], positions.inner_stride(o)};
  };
  int64_t* const table = block.table + block.count;
  int64_t* const values = block.values + block.count;
  const Steps table_steps = steps(kTable), value_steps = steps(kValues);
  for (int64_t i = 0; i < count; ++i) values[i] = value_steps(i);

  bool is_bad[IndexBlock::kCapacity];
  bool any_bad = false;
  for (size_t k = 0; k < job_.indices.size(); ++k) {
    const Steps index = steps(kIndex + static_cast<int>(k));
    const IndexRow row{job_.indices[k], index.first, index.step, count, job_.allow_negative};
    const bool all_valid = k == 0 ? row.add_offsets(table, table_steps)
                                  : row.add_offsets(table, [table](int64_t i) { return table[i]; });
    if (all_valid) [[likely]]
      continue;
    if (!any_bad) std::fill_n(is_bad, count, false);
    any_bad = true;
    row.report(faults, [&](int64_t i) { is_bad[i] = true; });
  }
  if (any_bad)
    block.keep(count, [&](int64_t i) { return !is_bad[i] && in_limits(table[i]); });
  else if (is_limited_)
    block.keep(count, [&](int64_t i) { return in_limits(table[i]); });
  else
    block.count += count;
}

void SubJob::run(MoveBlock move, FaultSlot* faults) const {
  Loop positions, runs;
  const IndexRun run = split(positions, runs);
  const int64_t position_count = positions.numel(), run_count = runs.numel();
  char* const table = static_cast<char*>(job_.origin.data);
  char* const values = job_.values.as<char>();
  const auto bytes = static_cast<int64_t>(element_size_);
  for (int64_t begin = 0; begin < position_count; begin += IndexBlock::kCapacity) {
    IndexBlock block;
    const int64_t end = std::min(position_count, begin + IndexBlock::kCapacity);
    positions.walk(begin, end, [&](const int64_t* offsets, int64_t count) {
      look_up(positions, offsets, count, block, faults);
    });
    runs.walk(0, run_count, [&](const int64_t* offsets, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        move(table + (offsets[kTable] + i * runs.inner_stride(kTable)) * bytes,
             values + (offsets[kValues] + i * runs.inner_stride(kValues)) * bytes, block, run);
    });
  }
}

/// A dimension that is divided among threads, in units of adjacent elements.
struct Division {
  int dim = -1;
  int64_t unit = 1;
  int64_t units = 0;
};

/// Chooses, of the dimensions in which `operand` has a nonzero stride, the outermost with at least
/// kMany units, else the one with the most.
Division divide(const Loop& loop, int operand) {
  constexpr int64_t kMany = 64;
  Division best;
  for (int d = 0; d < loop.dim && best.units < kMany; ++d) {
    if (loop.strides[operand][d] == 0) continue;
    const int64_t unit = loop.strides[operand][d] == 1 ? kLineElements : 1;
    const int64_t units = (loop.sizes[d] + unit - 1) / unit;
    if (units > best.units) best = {d, unit, units};
  }
  return best;
}

void run_divided(const SubJob& whole, const Division& division, MoveBlock move, int64_t numel,
                 FaultSlot* faults) {
  const int64_t size = whole.loop().sizes[division.dim];
  const int64_t grain = std::max<int64_t>(1, division.units * kMoveGrain / numel);
  parallel_ranges(division.units, grain, [&](int64_t begin, int64_t end) {
    whole.narrow(division.dim, begin * division.unit, std::min(size, end * division.unit))
        .run(move, faults);
  });
}

/// Whether all indices are in range; reports those that are not.
bool check_indices(const IndexJob& job, FaultSlot* faults) {
  std::atomic<bool> all_valid{true};
  for (const IndexedDim& dim : job.indices) {
    View index = dim.index;
    for (int d = 0; d < index.dim; ++d)
      if (index.strides[d] == 0) index.sizes[d] = 1;
    const StridedLoop<1> loop{&index};
    const auto check_run = [&](const int64_t* offsets, int64_t count) {
      const IndexRow row{dim, offsets[0], loop.inner_stride(0), count, job.allow_negative};
      if (!row.in_range()) row.report(faults, [&](int64_t) { all_valid = false; });
    };
    parallel_for(0, loop.numel(), kMoveGrain,
                 [&](int64_t begin, int64_t end) { loop.walk(begin, end, check_run); });
  }
  return all_valid;
}

}  // namespace

void read_indexed(const IndexJob& job, MoveBlock move, Ctx& ctx) {
  const int64_t numel = job.values.numel;
  if (numel == 0) return;
  const SubJob whole(job);
  const Division division = divide(whole.loop(), kValues);
  if (numel < kMoveGrain || division.units < 2) return whole.run(move, ctx.faults());
  run_divided(whole, division, move, numel, ctx.faults());
}

void write_indexed(const IndexJob& job, MoveBlock move, Ctx& ctx) {
  constexpr int64_t kEnoughUnits = 8;
  const int64_t numel = job.values.numel;
  if (numel == 0 || !check_indices(job, ctx.faults())) return;
  const SubJob whole(job);
  if (numel < kMoveGrain) return whole.run(move, ctx.faults());
  // Along a dimension in which the table has a nonzero stride, different coordinates write
  // different elements.
  const Division division = divide(whole.loop(), kTable);
  if (division.units >= kEnoughUnits)
    return run_divided(whole, division, move, numel, ctx.faults());
  const int64_t span = whole.table_span();
  const int64_t grain =
      std::max<int64_t>(1, static_cast<int64_t>(double(span) * kMoveGrain / double(numel)));
  parallel_ranges(span, grain, [&](int64_t begin, int64_t end) {
    const bool is_whole = begin == 0 && end == span;
    (is_whole ? whole : whole.within(begin, end)).run(move, ctx.faults());
  });
}

}  // namespace hearth::cpu
