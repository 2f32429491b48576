#pragma once

#include <cstdint>

#include "functors/reduction.h"
#include "hearth/dtype.h"

namespace hearth::cpu {

/// The bytes of one part of the states of a tile, which limit the number of its outputs.
inline constexpr int64_t kReduceTileBytes = 4096;
/// The maximum number of parts of a reduction's state.
inline constexpr int kMaxParts = 4;

/// States of up to kReduceTileBytes / size outputs, where an element has `size` bytes:
/// part p of output j is element p * kReduceTileBytes / size + j.
struct alignas(64) TileStates {
  unsigned char bytes[kMaxParts][kReduceTileBytes];
  unsigned char padding[64];  // a merge may read a whole vector past the last state
};

/// The inner loops of one reduction over contiguous elements of one type. States of outputs beyond
/// `width`, up to a whole vector, may be overwritten with any values.
struct ReduceLoops {
  int parts;
  /// Sets the states of `width` outputs to the start value.
  void (*start)(int64_t width, TileStates& states);
  /// Combines n elements into the state of output j.
  void (*block)(const void* functor, const void* data, int64_t n, int64_t j, TileStates& states);
  /// Combines each of `rows` rows, `stride` elements apart, into the states of `width` outputs.
  void (*rows)(const void* functor, const void* data, int64_t stride, int64_t rows, int64_t width,
               TileStates& states);
  /// Merges the states of outputs [first, first + width) of `from` into those of [0, width).
  void (*merge)(const void* functor, const TileStates& from, int64_t first, int64_t width,
                TileStates& states);
  /// Writes `width` results, and undefined values up to a vector past them.
  void (*finish)(const void* functor, const TileStates& states, int64_t width, void* out);
};

/// The loops of every reduction in every compute type; null where a reduction is not defined.
struct ReduceTable {
  const ReduceLoops* loops[fn::Reductions::size][kScalarTypeSlots] = {};
};

extern const ReduceTable reduce_table_avx2;
extern const ReduceTable reduce_table_avx512;
extern const ReduceTable reduce_table_generic;

/// The table for this processor.
const ReduceTable& reduce_table();

}  // namespace hearth::cpu
