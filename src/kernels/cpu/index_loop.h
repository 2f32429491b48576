#pragma once

#include <span>

#include "kernels/cpu/index_row.h"
#include "seam/index.h"

namespace hearth::cpu {

/// The common form of index, index_put, gather and scatter: elements move between a table (the
/// indexed tensor, laid out as in IndexLayout) and `values` (the result of a read, the source of a
/// write).
struct IndexJob {
  const View& origin;
  std::span<const IndexedDim> indices;
  const View& values;
  bool allow_negative;
};

/// Positions whose indices were looked up: their offsets in the table and in `values`, in elements.
struct IndexBlock {
  static constexpr int64_t kCapacity = 512;
  int64_t count = 0;
  int64_t table[kCapacity];
  int64_t values[kCapacity];

  /// Of the `candidates` entries stored after the end, appends those for which wanted(i) is true.
  template <class F>
  void keep(int64_t candidates, const F& wanted) {
    const int64_t first = count;
    for (int64_t i = 0; i < candidates; ++i) {
      const bool is_wanted = wanted(i);
      table[count] = table[first + i];
      values[count] = values[first + i];
      count += is_wanted;
    }
  }
};

/// A run of elements at every position of a block.
struct IndexRun {
  int64_t count;
  int64_t table_stride;
  int64_t values_stride;
};

/// Offsets in the table from `begin` on.
struct TableRange {
  int64_t begin;
  uint64_t size;
};

/// How one kind of element moves between table and `values`.
struct Mover {
  /// Moves a run at every position of the block.
  void (*block)(void* table, void* values, const IndexBlock& block, const IndexRun& run);
  /// Moves one element for each index of a row, all in range; `run` has the strides from one index
  /// to the next.
  void (*row)(void* table, void* values, const IndexRow& row, const IndexRun& run);
  /// The same for the elements in a part of the table.
  void (*row_in_range)(void* table, void* values, const IndexRow& row, const IndexRun& run,
                       TableRange range);
};

/// Reads every element of `values` from the table; reports and skips indices out of range.
void read_indexed(const IndexJob& job, const Mover& move, Ctx& ctx);

/// Writes every element of `values` to the table. Writes to the same element happen in row-major
/// order, on any number of threads. If any index is out of range, reports it and writes nothing.
void write_indexed(const IndexJob& job, const Mover& move, Ctx& ctx);

/// write_indexed with the Mover of a sum or product. Half types are combined in float32 copies of
/// the table's elements, so that small values are not lost.
void combine_indexed(const IndexJob& job, const Mover& move, Ctx& ctx);

/// Return the Mover that copies elements of this size from the table, or to it.
Mover copy_from_table(size_t element_size);
Mover copy_to_table(size_t element_size);
/// Returns the Mover that stores the addresses of the table's elements in int64 values.
Mover address_in_table(size_t element_size);
/// Return the Mover that adds to the table's elements, or multiplies them. For values of a half
/// type the table must be float32: see combine_indexed.
Mover add_to_table(ScalarType dtype);
Mover multiply_table(ScalarType dtype);
/// Returns the Mover that keeps the larger (or smaller) element in the table.
Mover extreme_table(ScalarType dtype, bool largest);

}  // namespace hearth::cpu
