#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The reduction of a bag's rows, numbered as in PyTorch.
enum class BagMode : int8_t { kSum, kMean, kMax };

/// Bags of rows of a table: bag b consists of the rows indices[i] for i from offsets[b] to
/// offsets[b + 1] - 1 (after the last offset: to the last index), except indices equal to
/// padding_idx. Indices and offsets are 1-d, contiguous and both int64 or both int32. An index
/// outside the table is a kBadBagIndex fault. An offset that is outside the indices, or smaller
/// than the one before it, is a kBadBagOffset fault.
struct Bags {
  View indices, offsets;
  int64_t count = 0;         // the number of bags, at most that of offsets
  int64_t rows = 0;          // the number of rows of the table
  int64_t padding_idx = -1;  // -1: none
};

/// out[b] = the sum, mean or maximum of bag b's rows, each times scale[i] if that is defined (kSum
/// only); zeros for an empty bag. `weight` is [rows, width] with contiguous rows, `out` [bags,
/// width] and contiguous, `scale` 1-d of weight's dtype. offset2bag (the bag of each index),
/// bag_size (the number of rows of each bag) and max_indices (the index of the row that each
/// maximum is from) are int64 and contiguous; a result that is not wanted has no elements.
struct EmbeddingBagParams {
  View weight, scale, out, offset2bag, bag_size, max_indices;
  Bags bags;
  BagMode mode = BagMode::kSum;
};

/// grad_weight[indices[i]] += grad[the bag of i] * scale[i] (divided by the bag's number of rows if
/// `mode` is kMean); kMax: grad_weight[max_indices[b][d]][d] += grad[b][d] for bags that are not
/// empty. grad and grad_weight are contiguous and of one dtype, float or double; grad_weight holds
/// zeros on entry. The values added to one element of grad_weight are added in the order of the
/// indices.
struct EmbeddingBagBackwardParams {
  View grad, scale, bag_size, max_indices, grad_weight;
  Bags bags;
  BagMode mode = BagMode::kSum;
};

/// out[i] = the dot product of grad[the bag of i] and weight[indices[i]], 0 for padding: the
/// gradient of `scale`. All contiguous and of one dtype, float or double.
struct EmbeddingBagScaleBackwardParams {
  View grad, weight, out;
  Bags bags;
};

}  // namespace hearth
