#pragma once

#include <span>

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

/// Moves a run between table and `values` at every position of the block.
using MoveBlock = void (*)(void* table, void* values, const IndexBlock& block, const IndexRun& run);

/// Reads every element of `values` from the table; reports and skips indices out of range.
void read_indexed(const IndexJob& job, MoveBlock move, Ctx& ctx);

/// Writes every element of `values` to the table. Writes to the same element happen in row-major
/// order, on any number of threads. If an index is out of range, only reports it.
void write_indexed(const IndexJob& job, MoveBlock move, Ctx& ctx);

/// Return the MoveBlock that copies elements of this size from the table, or to it.
MoveBlock copy_from_table(size_t element_size);
MoveBlock copy_to_table(size_t element_size);
/// Returns the MoveBlock that adds to the table.
MoveBlock add_to_table(ScalarType dtype);
/// Returns the MoveBlock that multiplies the table's elements.
MoveBlock multiply_table(ScalarType dtype);
/// Returns the MoveBlock that keeps the larger (or smaller) element in the table.
MoveBlock extreme_table(ScalarType dtype, bool largest);

}  // namespace hearth::cpu
