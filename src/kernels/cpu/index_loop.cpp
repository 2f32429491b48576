// Moves elements between a table and `values` at positions given by indices. The threads divide
// reads along a dimension of the values, and writes along a dimension of the table. Without a
// suitable dimension, each thread reads all indices and writes to one range of the table; if the
// table is small and the threads are few, one thread writes all. Bound by the cache misses of the
// table.
#include "kernels/cpu/index_loop.h"

#include <algorithm>
#include <atomic>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int kTable = 0, kValues = 1, kIndex = 2;  // operand numbers; further indices follow
constexpr int64_t kLineElements = 16;  // of a cache line; one thread should write a line

using Loop = StridedLoop<kMaxDims + kIndex>;

/// The offsets first, first + step, first + 2 * step, …
struct Steps {
  int64_t first, step;
  int64_t operator()(int64_t i) const { return first + i * step; }
};

/// The element at an offset.
void* at(const View& view, int64_t offset) {
  return view.as<char>() + offset * static_cast<int64_t>(element_size(view.dtype));
}

/// offsets[i] = base(i) + index i * its dimension's stride. The arithmetic is unsigned, because an
/// index out of range may overflow.
template <class Base>
void add_offsets(const IndexRow& row, int64_t* offsets, const Base& base) {
  row.for_each(
      [offsets, base, stride = static_cast<uint64_t>(row.dim.stride)](int64_t i, uint64_t index) {
        offsets[i] = static_cast<int64_t>(static_cast<uint64_t>(base(i)) + index * stride);
      });
}

/// Reports every index out of range and calls mark(i).
template <class Mark>
void report_bad(const IndexRow& row, FaultSlot* faults, const Mark& mark) {
  row.for_each_bad([&](int64_t i, int64_t index) {
    faults->report(Fault::kIndexOutOfRange, index, row.dim.dim, row.dim.size);
    mark(i);
  });
}

/// An IndexJob limited to some positions, and optionally to those with table offsets in a range.
class SubJob {
 public:
  /// is_checked: all indices are known to be in range.
  SubJob(const IndexJob& job, bool is_checked);

  const Loop& loop() const { return loop_; }
  /// Returns the job limited to positions with coordinate d in [begin, end).
  SubJob narrow(int d, int64_t begin, int64_t end) const;
  /// Returns the job limited to positions with table offsets in [begin, end); requires is_checked.
  SubJob within(int64_t begin, int64_t end) const;
  /// An upper bound of the table offsets of positions, without their runs.
  int64_t table_span() const;

  void run(const Mover& move, FaultSlot* faults) const;

 private:
  bool is_indexed(int d) const;
  bool in_limits(int64_t table_offset) const {
    return !is_limited_ || (table_offset >= table_begin_ && table_offset < table_end_);
  }
  IndexRun split(Loop& positions, Loop& runs) const;
  Steps steps(const Loop& positions, const int64_t* offsets, int operand) const {
    return {first_[operand] + offsets[operand], positions.inner_stride(operand)};
  }
  IndexRow row(size_t index, const Steps& of_index, int64_t count) const {
    return {job_.indices[index], of_index.first, of_index.step, count, job_.allow_negative};
  }
  void look_up(const Loop& positions, const int64_t* offsets, int64_t count, IndexBlock& block,
               FaultSlot* faults) const;
  bool move_row(const Loop& positions, const int64_t* offsets, int64_t count,
                const Mover& move) const;
  void move_block(const Loop& positions, const Loop& runs, const IndexRun& run, int64_t begin,
                  int64_t end, const Mover& move, FaultSlot* faults) const;

  const IndexJob& job_;
  bool is_checked_;
  Loop loop_;
  int64_t first_[kMaxDims + kIndex] = {};  // every operand's offset of the first position
  bool is_limited_ = false;
  int64_t table_begin_ = 0, table_end_ = 0;
};

SubJob::SubJob(const IndexJob& job, bool is_checked) : job_(job), is_checked_(is_checked) {
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
/// do not. If indices do not vary along the innermost dimension, that dimension is returned instead
/// of being added to `runs`.
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

/// Looks up `count` positions along the innermost dimension of `positions`; appends those in the
/// limits whose indices are in range to the block.
void SubJob::look_up(const Loop& positions, const int64_t* offsets, int64_t count,
                     IndexBlock& block, FaultSlot* faults) const {
  int64_t* const table = block.table + block.count;
  int64_t* const values = block.values + block.count;
  const Steps table_steps = steps(positions, offsets, kTable),
              value_steps = steps(positions, offsets, kValues);
  for (int64_t i = 0; i < count; ++i) values[i] = value_steps(i);

  bool is_bad[IndexBlock::kCapacity];
  bool any_bad = false;
  for (size_t k = 0; k < job_.indices.size(); ++k) {
    const IndexRow indices = row(k, steps(positions, offsets, kIndex + static_cast<int>(k)), count);
    if (k == 0)
      add_offsets(indices, table, table_steps);
    else
      add_offsets(indices, table, [table](int64_t i) { return table[i]; });
    if (indices.in_range()) [[likely]]
      continue;
    if (!any_bad) std::fill_n(is_bad, count, false);
    any_bad = true;
    report_bad(indices, faults, [&](int64_t i) { is_bad[i] = true; });
  }
  if (any_bad)
    block.keep(count, [&](int64_t i) { return !is_bad[i] && in_limits(table[i]); });
  else if (is_limited_)
    block.keep(count, [&](int64_t i) { return in_limits(table[i]); });
  else
    block.count += count;
}

/// Moves `count` elements without storing their offsets; returns false, without an effect, if an
/// index is out of range.
bool SubJob::move_row(const Loop& positions, const int64_t* offsets, int64_t count,
                      const Mover& move) const {
  const IndexRow indices = row(0, steps(positions, offsets, kIndex), count);
  if (!is_checked_ && !indices.in_range()) return false;
  const Steps table = steps(positions, offsets, kTable),
              values = steps(positions, offsets, kValues);
  const IndexRun run{count, table.step, values.step};
  void* const to = at(job_.origin, table.first);
  void* const from = at(job_.values, values.first);
  if (is_limited_)
    move.row_in_range(to, from, indices, run,
                      {table_begin_ - table.first, uint64_t(table_end_ - table_begin_)});
  else
    move.row(to, from, indices, run);
  return true;
}

void SubJob::move_block(const Loop& positions, const Loop& runs, const IndexRun& run, int64_t begin,
                        int64_t end, const Mover& move, FaultSlot* faults) const {
  IndexBlock block;
  positions.walk(begin, end, [&](const int64_t* offsets, int64_t count) {
    look_up(positions, offsets, count, block, faults);
  });
  runs.walk(0, runs.numel(), [&](const int64_t* offsets, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      move.block(at(job_.origin, offsets[kTable] + i * runs.inner_stride(kTable)),
                 at(job_.values, offsets[kValues] + i * runs.inner_stride(kValues)), block, run);
  });
}

void SubJob::run(const Mover& move, FaultSlot* faults) const {
  Loop positions, runs;
  const IndexRun run = split(positions, runs);
  const int64_t count = positions.numel();
  const bool has_rows = job_.indices.size() == 1 && run.count == 1 && runs.dim == 0;
  const int64_t step = has_rows && is_checked_ ? count : IndexBlock::kCapacity;
  for (int64_t begin = 0; begin < count; begin += step) {
    const int64_t end = std::min(count, begin + step);
    bool is_moved = has_rows;
    if (has_rows)
      positions.walk(begin, end, [&](const int64_t* offsets, int64_t row_count) {
        is_moved &= move_row(positions, offsets, row_count, move);
      });
    if (!is_moved) move_block(positions, runs, run, begin, end, move, faults);
  }
}

/// A dimension that is divided among threads, in units of adjacent elements.
struct Division {
  int dim = -1;
  int64_t unit = 1;
  int64_t units = 0;
};

/// Chooses a dimension in which `operand` has a nonzero stride: the outermost with at least kMany
/// units, else the one with the most units.
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

void run_divided(const SubJob& whole, const Division& division, const Mover& move, int64_t numel,
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
      if (!row.in_range()) report_bad(row, faults, [&](int64_t) { all_valid = false; });
    };
    parallel_for(0, loop.numel(), kMoveGrain,
                 [&](int64_t begin, int64_t end) { loop.walk(begin, end, check_run); });
  }
  return all_valid;
}

/// Whether a table is worth dividing into ranges: choosing a range's elements costs half as much as
/// writing them if the table is in the shared cache.
bool is_worth_dividing(int64_t table_bytes) {
  constexpr int kEnoughThreads = 4;
  constexpr int64_t kCachedBytes = 8 << 20;
  return get_num_threads() >= kEnoughThreads || table_bytes > kCachedBytes;
}

}  // namespace

void read_indexed(const IndexJob& job, const Mover& move, Ctx& ctx) {
  const int64_t numel = job.values.numel;
  if (numel == 0) return;
  const SubJob whole(job, /*is_checked=*/false);
  const Division division = divide(whole.loop(), kValues);
  if (numel < kMoveGrain || division.units < 2) return whole.run(move, ctx.faults());
  run_divided(whole, division, move, numel, ctx.faults());
}

void write_indexed(const IndexJob& job, const Mover& move, Ctx& ctx) {
  constexpr int64_t kEnoughUnits = 8;
  const int64_t numel = job.values.numel;
  if (numel == 0 || !check_indices(job, ctx.faults())) return;
  const SubJob whole(job, /*is_checked=*/true);
  if (numel < kMoveGrain) return whole.run(move, ctx.faults());
  // Along a dimension in which the table has a nonzero stride, different coordinates write
  // different elements.
  const Division division = divide(whole.loop(), kTable);
  if (division.units >= kEnoughUnits)
    return run_divided(whole, division, move, numel, ctx.faults());
  const int64_t span = whole.table_span();
  if (!is_worth_dividing(span * int64_t(element_size(job.origin.dtype))))
    return whole.run(move, ctx.faults());
  const int64_t grain =
      std::max<int64_t>(1, static_cast<int64_t>(double(span) * kMoveGrain / double(numel)));
  parallel_ranges(span, grain, [&](int64_t begin, int64_t end) {
    const bool is_whole = begin == 0 && end == span;
    (is_whole ? whole : whole.within(begin, end)).run(move, ctx.faults());
  });
}

}  // namespace hearth::cpu
