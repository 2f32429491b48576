// The new_ methods, meshgrid and cartesian_prod.
#include <algorithm>

#include "hearth/autograd.h"
#include "ops/create.h"
#include "ops/define.h"

namespace hearth {

namespace {

std::vector<Tensor> grids(TensorList tensors, std::string_view indexing) {
  HEARTH_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  for (const Tensor& t : tensors) {
    HEARTH_CHECK(t.scalar_type() == tensors[0].scalar_type(),
                 "meshgrid expects all tensors to have the same dtype");
    HEARTH_CHECK(t.device() == tensors[0].device(),
                 "meshgrid expects all tensors to have the same device");
    HEARTH_CHECK(t.dim() <= 1,
                 "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ", t);
  }
  HEARTH_CHECK(
      indexing == "ij" || indexing == "xy",
      "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  std::vector<Tensor> vectors = tensors.vec();
  const bool swaps_first_two = indexing == "xy" && vectors.size() >= 2;
  if (swaps_first_two) std::swap(vectors[0], vectors[1]);
  Dims sizes;
  for (const Tensor& t : vectors) sizes.push_back(t.numel());
  for (size_t i = 0; i < vectors.size(); ++i) {
    Dims vector_sizes(sizes.size(), 1);
    vector_sizes[i] = sizes[i];
    vectors[i] = vectors[i].view(vector_sizes).expand(sizes);
  }
  if (swaps_first_two) std::swap(vectors[0], vectors[1]);
  return vectors;
}

}  // namespace

std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing) {
  return grids(tensors, indexing);
}

Tensor cartesian_prod(TensorList tensors) {
  for (const Tensor& t : tensors)
    HEARTH_CHECK(t.dim() == 1, "Expect a 1D vector, but got shape ", t.sizes());
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = meshgrid(tensors);
  for (Tensor& t : columns) t = t.reshape({-1});
  return stack(columns, 1);
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  check_defined("combinations", 0, "self", self);
  HEARTH_CHECK(self.dim() == 1, "Expect a 1D vector, but got shape ", self.sizes());
  HEARTH_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) return empty({0}, self.options());
  const Tensor positions = arange(self.numel(), self.options().dtype(kLong));
  std::vector<Tensor> columns = meshgrid(std::vector<Tensor>(size_t(r), positions));
  Tensor ascending = ones_like(columns[0], kBool);
  for (size_t i = 1; i < columns.size(); ++i)
    ascending = ascending.logical_and(with_replacement ? columns[i - 1].le(columns[i])
                                                       : columns[i - 1].lt(columns[i]));
  for (Tensor& t : columns) t = self.index_select(0, t.masked_select(ascending));
  return stack(columns, 1);
}

HEARTH_DEFINE_METHOD_ONLY(Tensor, new_empty, (IntArrayRef size, const TensorOptions& options),
                          empty(size, like_options(self, options)))
HEARTH_DEFINE_METHOD_ONLY(Tensor, new_empty_strided,
                          (IntArrayRef size, IntArrayRef stride, const TensorOptions& options),
                          empty_strided(size, stride, like_options(self, options)))
HEARTH_DEFINE_METHOD_ONLY(Tensor, new_zeros, (IntArrayRef size, const TensorOptions& options),
                          zeros(size, like_options(self, options)))
HEARTH_DEFINE_METHOD_ONLY(Tensor, new_ones, (IntArrayRef size, const TensorOptions& options),
                          ones(size, like_options(self, options)))
HEARTH_DEFINE_METHOD_ONLY(Tensor, new_full,
                          (IntArrayRef size, const Scalar& fill_value,
                           const TensorOptions& options),
                          full(size, fill_value, like_options(self, options)))

}  // namespace hearth
