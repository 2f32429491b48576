#pragma once

#include <span>

#include "seam/index.h"

namespace hearth::cpu {

/// What index, index_put, gather and scatter_add have in common: a table (the indexed tensor), laid
/// over the positions of a list (the result, or the values) as IndexLayout says.
struct IndexJob {
  const View& kept;
  std::span<const IndexedDim> indices;
  const View& list;
  bool allow_negative;
};

/// Positions whose indices were looked up: where each lies in the table and in the list, in
/// elements.
struct IndexBlock {
  static constexpr int64_t kCapacity = 512;
  int64_t count = 0;
  int64_t table[kCapacity];
  int64_t list[kCapacity];

  /// Appends those of the next `candidates` entries, already in place, for which wanted(i) is true.
  template <class F>
  void keep(int64_t candidates, const F& wanted) {
    const int64_t first = count;
    for (int64_t i = 0; i < candidates; ++i) {
      const bool is_wanted = wanted(i);
      table[count] = table[first + i];
      list[count] = list[first + i];
      count += is_wanted;
    }
  }
};

/// A run of elements at every position of a block.
struct IndexRun {
  int64_t count;
  int64_t table_stride;
  int64_t list_stride;
};

/// Moves a run between table and list at every position of the block.
using MoveBlock = void (*)(void* table, void* list, const IndexBlock& block, const IndexRun& run);

/// Moves every element of the list out of the table; reports indices out of range and leaves them
/// out.
void read_indexed(const IndexJob& job, MoveBlock move, Ctx& ctx);

/// Moves every element of the list into the table. Two that meet in one place do so in row-major
/// order, on any number of threads. Does nothing but report if an index is out of range.
void write_indexed(const IndexJob& job, MoveBlock move, Ctx& ctx);

/// The MoveBlock that copies elements of so many bytes out of the table, or into it.
MoveBlock copy_from_table(size_t element_size);
MoveBlock copy_to_table(size_t element_size);
/// The MoveBlock that adds to the table.
MoveBlock add_to_table(ScalarType dtype);
/// The MoveBlock that multiplies what is in the table.
MoveBlock multiply_table(ScalarType dtype);

}  // namespace hearth::cpu
