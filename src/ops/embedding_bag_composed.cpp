// embedding_bag composed of other ops, and embedding_renorm_.
#include <limits>

#include "hearth/operators.h"
#include "ops/composed_out.h"
#include "ops/embedding_bag.h"
#include "ops/gather.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// The largest element of each column of each bag, and the index of its row. `kept` are the
/// positions of the indices that are neither padding nor after the last offset, `bag` their bags.
TensorPair maxima(const Tensor& rows, const Tensor& indices, const Tensor& bag, const Tensor& begin,
                  const Tensor& kept, int64_t bags) {
  if (bags == 0 || kept.numel() == 0) {
    const Tensor none = zeros({bags, rows.size(1)}, rows.options());
    return {none, none.to(kLong)};
  }
  // Bags are padded to the length of the longest.
  const Tensor position = kept.sub(begin.index_select(0, bag));
  const int64_t longest = position.max().item<int64_t>() + 1;
  const Tensor slot = bag.mul(longest).add(position);
  const double lowest = -std::numeric_limits<double>::infinity();
  const Tensor padded = full({bags * longest, rows.size(1)}, lowest, rows.options())
                            .index_copy(0, slot, rows.index_select(0, kept))
                            .view({bags, longest, rows.size(1)});
  const auto [largest, argmax] = padded.max(1);
  const Tensor sources = zeros({bags * longest}, indices.options())
                             .index_copy(0, slot, indices.index_select(0, kept))
                             .view({bags, longest});
  const Tensor has_rows = zeros({bags}, indices.options()).index_fill(0, bag, 1).gt(0).unsqueeze(1);
  return {largest.masked_fill(has_rows.logical_not(), 0), sources.gather(1, argmax)};
}

}  // namespace

TensorQuad embedding_bag_composed(const BagArgs& args, const Tensor& weight, const Tensor& indices,
                                  const Tensor& offsets, const Tensor& scale) {
  const int64_t bags = args.num_bags(offsets.numel()), num_indices = indices.numel();
  const Tensor index = indices.to(kLong), begin = offsets.to(kLong);
  const Tensor last =
      args.include_last_offset ? begin.select(0, bags) : full_like(begin.sum(), num_indices);
  // The bag of each index: the number of bags that begin at it or before it, less 1.
  const Tensor bag_of =
      zeros({num_indices + 1}, index.options())
          .index_add(0, begin.slice(0, 0, bags), ones_like(begin.slice(0, 0, bags)))
          .cumsum(0)
          .sub(1)
          .slice(0, 0, num_indices);
  const Tensor is_kept =
      index.ne(args.padding_idx).logical_and(arange(num_indices, index.options()).lt(last));
  const Tensor kept = is_kept.nonzero().flatten(), bag = bag_of.index_select(0, kept);
  const Tensor wide = weight.to(wide_type(weight.scalar_type()));
  Tensor rows = wide.index_select(0, index);
  if (scale.defined()) rows = rows.mul(scale.to(rows.scalar_type()).unsqueeze(1));
  const Tensor sizes = zeros({bags}, index.options()).index_add(0, bag, ones_like(bag));
  if (args.mode == BagMode::kMax) {
    const auto [largest, sources] = maxima(rows, index, bag, begin, kept, bags);
    return {largest.to(weight.scalar_type()), bag_of, sizes, sources};
  }
  Tensor sums =
      zeros({bags, rows.size(1)}, rows.options()).index_add(0, bag, rows.index_select(0, kept));
  if (args.mode == BagMode::kMean)
    sums = sums.div(sizes.clamp_min(1).to(sums.scalar_type()).unsqueeze(1));
  return {sums.to(weight.scalar_type()), bag_of, sizes, sizes};
}

Tensor& embedding_renorm_(Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  constexpr const char* kName = "embedding_renorm_";
  check_defined(kName, 0, "self", self);
  check_defined(kName, 1, "indices", indices);
  HEARTH_CHECK(self.dim() == 2, "Expected 2-dimensional tensor, but got ", self.dim(),
               "-dimensional tensor for argument #1 'self' (while checking arguments for ", kName,
               ")");
  HEARTH_CHECK(indices.scalar_type() == kLong || indices.scalar_type() == kInt,
               "Expected tensor for argument #2 'indices' to have one of the following scalar "
               "types: Long, Int; but got ",
               indices.toString(), " instead (while checking arguments for ", kName, ")");
  Tensor used = std::get<0>(_unique2(indices.reshape(-1).to(kLong)));
  if (used.is_cpu()) {  // as in PyTorch, where GPUs do not check indices
    if (const auto bad = first_outside(used, -self.size(0), self.size(0)))
      detail::fail<IndexError>("select(): index ", *bad, " out of range for tensor of size ",
                               self.sizes(), " at dimension 0");
    used = where(used.lt(0), used.add(self.size(0)), used);
  }
  const Tensor rows = self.index_select(0, used).to(wide_type(self.scalar_type()));
  const Tensor norms = rows.norm(Scalar(norm_type), IntArrayRef(1), /*keepdim=*/true);
  const Tensor scaled = rows * (max_norm / (norms + 1e-7));
  self.index_copy_(0, used, where(norms > max_norm, scaled, rows).to(self.scalar_type()));
  return self;
}

Tensor embedding_renorm(const Tensor& self, const Tensor& indices, double max_norm,
                        double norm_type) {
  check_defined("embedding_renorm", 0, "self", self);
  Tensor copy = self.clone();
  return embedding_renorm_(copy, indices, max_norm, norm_type);
}

}  // namespace hearth
