// Sums and products of half types, computed in float32 copies of the table's elements. For few
// indices, the selected rows are copied, each once; for many, the whole table. Only elements that
// an index reaches are written back, because another thread may change the others. The threads
// divide the copies; bound by memory, for short rows by the sort of the positions on one thread.
#include <algorithm>
#include <vector>

#include "core/parallel_for.h"
#include "kernels/cpu/index_loop.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

/// A contiguous view of uninitialised memory.
View scratch_view(View shape, ScalarType dtype, Ctx& ctx) {
  shape.dtype = dtype;
  shape.make_contiguous();
  shape.data = ctx.scratch(size_t(shape.numel) * element_size(dtype));
  return shape;
}

void push_dim(View& view, int64_t size, int64_t stride) {
  view.sizes[view.dim] = size;
  view.strides[view.dim++] = stride;
  view.numel *= size;
}

/// A view of one element of the job's table.
View first_element(const IndexJob& job) {
  View view;
  view.data = job.origin.data;
  view.dtype = job.origin.dtype;
  view.numel = 1;
  return view;
}

/// Whether dimension d of the values goes along a row. A row is the elements that one index
/// selects.
bool is_in_row(const IndexJob& job, int d) {
  return job.origin.strides[d] != 0 &&
         std::all_of(job.indices.begin(), job.indices.end(),
                     [d](const IndexedDim& dim) { return dim.index.strides[d] == 0; });
}

/// The elements of the table that a job can reach; the dimensions that are not indexed come first.
View reachable(const IndexJob& job) {
  View table = first_element(job);
  for (int d = 0; d < job.origin.dim; ++d)
    if (job.origin.strides[d] != 0) push_dim(table, job.origin.sizes[d], job.origin.strides[d]);
  for (const IndexedDim& dim : job.indices) push_dim(table, dim.size, dim.stride);
  return table;
}

/// The shape of the positions, each of which selects a row: 1 in the dimensions along rows.
View shape_of_positions(const IndexJob& job) {
  View shape = job.values;
  for (int d = 0; d < shape.dim; ++d) {
    if (!is_in_row(job, d)) continue;
    shape.numel /= shape.sizes[d];
    shape.sizes[d] = 1;
  }
  return shape;
}

/// A job on copies of the rows that the indices select.
class RowsJob {
 public:
  RowsJob(const IndexJob& job, const View& positions, Ctx& ctx) : job_(job), ctx_(ctx) {
    find_rows(positions);
    if (rows_.empty()) return;  // an index is out of range
    row_layout_ = first_element(job);
    copies_ = row_layout_;
    for (View* view : {&row_layout_, &copies_}) push_dim(*view, int64_t(rows_.size()), 0);
    for (int d = 0; d < job.values.dim; ++d) {
      if (!is_in_row(job, d)) continue;
      push_dim(row_layout_, job.values.sizes[d], job.origin.strides[d]);
      push_dim(copies_, job.values.sizes[d], 0);
    }
  }

  void combine(const Mover& move) {
    if (rows_.empty()) return;
    const View halves = scratch_view(copies_, job_.origin.dtype, ctx_),
               totals = scratch_view(copies_, kFloat, ctx_);
    IndexedDim all_rows;
    all_rows.index = index_view(rows_.data(), row_layout_);
    all_rows.index.strides[0] = 1;
    all_rows.size = rows_.back() + 1;
    all_rows.stride = 1;
    const IndexJob table{row_layout_, {&all_rows, 1}, halves, false};
    const size_t size = element_size(job_.origin.dtype);
    read_indexed(table, copy_from_table(size), ctx_);
    copy(halves, totals, ctx_);
    combine_copies(totals, move);
    copy(totals, halves, ctx_);
    write_indexed(table, copy_to_table(size), ctx_);
  }

 private:
  /// A view of int64 numbers as an index; the caller sets the strides, which are 0.
  static View index_view(int64_t* numbers, View shape) {
    shape.data = numbers;
    shape.dtype = kLong;
    std::fill_n(shape.strides, shape.dim, int64_t{0});
    return shape;
  }

  /// Sets rows_ to the offsets of the selected rows in the table, and row_numbers_ to each
  /// position's index in rows_. Reports an index out of range and then leaves rows_ empty.
  void find_rows(const View& positions) {
    row_numbers_.assign(size_t(positions.numel), 0);
    View addresses = positions;
    addresses.dtype = kLong;
    addresses.make_contiguous();
    addresses.data = row_numbers_.data();
    read_indexed({job_.origin, job_.indices, addresses, job_.allow_negative},
                 address_in_table(element_size(job_.origin.dtype)), ctx_);
    const auto origin = reinterpret_cast<intptr_t>(job_.origin.data);
    const auto size = int64_t(element_size(job_.origin.dtype));
    for (int64_t& number : row_numbers_) {
      if (number == 0) return;  // an index is out of range
      number = (number - origin) / size;
    }
    rows_ = row_numbers_;
    std::sort(rows_.begin(), rows_.end());
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
    for (int64_t& number : row_numbers_)
      number = std::lower_bound(rows_.begin(), rows_.end(), number) - rows_.begin();
  }

  void combine_copies(const View& totals, const Mover& move) {
    View origin = job_.origin;
    origin.data = totals.data;
    origin.dtype = kFloat;
    IndexedDim number;
    number.index = index_view(row_numbers_.data(), job_.values);
    number.size = int64_t(rows_.size());
    number.stride = totals.strides[0];
    int next = 1;
    int64_t step = int64_t(row_numbers_.size());
    for (int d = 0; d < origin.dim; ++d) {
      const bool in_row = is_in_row(job_, d);
      origin.strides[d] = in_row ? totals.strides[next++] : 0;
      if (!in_row) number.index.strides[d] = step /= job_.values.sizes[d];
    }
    write_indexed({origin, {&number, 1}, job_.values, false}, move, ctx_);
  }

  const IndexJob& job_;
  Ctx& ctx_;
  std::vector<int64_t> row_numbers_, rows_;
  View row_layout_, copies_;
};

/// Whether the bits of a half type are a NaN.
bool is_nan(uint16_t bits, ScalarType dtype) {
  constexpr uint16_t kNoSign = 0x7fff, kHalfInfinity = 0x7c00, kBFloat16Infinity = 0x7f80;
  return (bits & kNoSign) > (dtype == kHalf ? kHalfInfinity : kBFloat16Infinity);
}

/// Writes the elements of `now` that differ from `former` to the table; all have a half type. A NaN
/// that became another one, on its way to float32 and back, does not differ.
void write_changed(const View& now, const View& former, const View& table) {
  const StridedLoop<3> loop{&table, &now, &former};
  const auto element = [](const View& view, int64_t offset) {
    return view.as<uint16_t>() + offset;
  };
  parallel_for(0, loop.numel(), kMoveGrain, [&](int64_t begin, int64_t end) {
    loop.walk(begin, end, [&](const int64_t* offsets, int64_t count) {
      uint16_t* const to = element(table, offsets[0]);
      const uint16_t *const from = element(now, offsets[1]), *const before =
                                                                 element(former, offsets[2]);
      for (int64_t i = 0; i < count; ++i)
        if (const int64_t at = i * loop.inner_stride(1);
            from[at] != before[at] &&
            !(is_nan(from[at], table.dtype) && is_nan(before[at], table.dtype)))
          to[i * loop.inner_stride(0)] = from[at];
    });
  });
}

/// Combines in a copy of all elements that the job can reach.
void combine_in_copy(const IndexJob& job, const View& table, const Mover& move, Ctx& ctx) {
  const View former = scratch_view(table, table.dtype, ctx),
             now = scratch_view(table, table.dtype, ctx), totals = scratch_view(table, kFloat, ctx);
  View origin = job.origin;
  origin.dtype = kFloat;
  origin.data = totals.data;
  int next = 0;
  for (int d = 0; d < origin.dim; ++d)
    if (origin.strides[d] != 0) origin.strides[d] = totals.strides[next++];
  std::vector<IndexedDim> indices(job.indices.begin(), job.indices.end());
  for (IndexedDim& dim : indices) dim.stride = totals.strides[next++];
  copy(table, former, ctx);
  copy(former, totals, ctx);
  write_indexed({origin, indices, job.values, job.allow_negative}, move, ctx);
  copy(totals, now, ctx);
  write_changed(now, former, table);
}

}  // namespace

void combine_indexed(const IndexJob& job, const Mover& move, Ctx& ctx) {
  constexpr int64_t kSortCost = 16;  // of sorting a position, in copies of elements
  if (!is_reduced_float(job.origin.dtype)) return write_indexed(job, move, ctx);
  if (job.values.numel == 0) return;
  const View table = reachable(job), positions = shape_of_positions(job);
  const bool has_room = job.values.dim < kMaxDims;  // for the dimension of the rows
  if (!has_room || positions.numel * kSortCost > table.numel)
    return combine_in_copy(job, table, move, ctx);
  RowsJob(job, positions, ctx).combine(move);
}

}  // namespace hearth::cpu
