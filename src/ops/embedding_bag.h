#pragma once

#include "functors/hd.h"
#include "hearth/tensor.h"
#include "seam/embedding_bag.h"

namespace hearth {

/// The arguments of embedding_bag's kernels.
struct BagArgs {
  BagMode mode;
  int64_t padding_idx;  // -1: none
  bool include_last_offset;
  HEARTH_FIELDS(mode, padding_idx, include_last_offset)
  int64_t num_bags(int64_t num_offsets) const {
    return num_offsets - (include_last_offset ? 1 : 0);
  }
};

/// embedding_bag composed of other ops, for devices without its kernel. Allocates a copy of
/// the rows of all bags.
TensorQuad embedding_bag_composed(const BagArgs& args, const Tensor& weight, const Tensor& indices,
                                  const Tensor& offsets, const Tensor& scale);

}  // namespace hearth
