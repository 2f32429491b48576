// take and put, whose indices count elements in row-major order, and take_along_dim.
#include "ops/binding.h"
#include "ops/composed_out.h"
#include "ops/gather.h"
#include "ops/index.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// Computes f(), which uses `index` as positions among `numel` elements; throws PyTorch's error
/// for an index out of range.
template <class F>
Tensor at_positions(const Tensor& index, int64_t numel, F f) {
  return with_index_error(index, -numel, numel, f, [&](int64_t bad) {
    detail::fail<IndexError>("out of range: tried to access index ", bad, " on a tensor of ", numel,
                             " elements.");
  });
}

Tensor take_of(const Tensor& self, const Tensor& index) {
  HEARTH_CHECK(index.scalar_type() == kLong, "take(): Expected a long tensor for index, but got ",
               name_of(index.scalar_type()));
  HEARTH_CHECK_AS(IndexError, self.numel() > 0 || index.numel() == 0,
                  "take(): tried to take from an empty tensor");
  check_same_device("take", "index", self.device(), index.device());
  return at_positions(index, self.numel(), [&] { return index_by(self.reshape({-1}), {index}); });
}

Tensor take_along(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  HEARTH_CHECK(indices.scalar_type() == kLong,
               "torch.take_along_dim(): dtype of indices should be Long but got ",
               name_of(indices.scalar_type()));
  if (!dim)
    return self.reshape({-1}).gather(0, indices.reshape({-1}));  // negative indices are errors
  HEARTH_CHECK(self.dim() == indices.dim(),
               "torch.take_along_dim(): input and indices should have the same number of "
               "dimensions, but got ",
               self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t d = wrap_dim(*dim, self.dim());
  Dims self_sizes(self.sizes()), index_sizes(indices.sizes());
  if (self.dim() > 0) self_sizes[size_t(d)] = index_sizes[size_t(d)] = 1;
  self_sizes = index_sizes = broadcast_sizes(self_sizes, index_sizes);
  if (self.dim() > 0) {
    self_sizes[size_t(d)] = self.size(d);
    index_sizes[size_t(d)] = indices.size(d);
  }
  const int64_t size = self.dim() == 0 ? 1 : self.size(d);
  const Tensor wrapped = size == 0 ? indices : indices.remainder(size);
  return self.expand(self_sizes).gather(d, wrapped.expand(index_sizes));
}

Tensor with_put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  HEARTH_CHECK(index.scalar_type() == kLong, "put_(): Expected a long tensor for index, but got ",
               name_of(index.scalar_type()));
  HEARTH_CHECK(self.scalar_type() == source.scalar_type(),
               "put_(): self and source expected to have the same dtype, but got self.dtype = ",
               name_of(self.scalar_type()), " and source.dtype = ", name_of(source.scalar_type()));
  HEARTH_CHECK_AS(IndexError, source.numel() == index.numel(),
                  "put_(): Expected source and index to have the same number of elements, but got "
                  "source.numel() = ",
                  source.numel(), ", index.numel() = ", index.numel());
  const Tensor flat = self.reshape({-1}), indices = index.reshape({-1});
  const Tensor wrapped = where(indices.lt(0), indices.add(self.numel()), indices);
  const Tensor values = source.reshape({-1});
  const auto put = [&] {
    return accumulate ? flat.index_add(0, wrapped, values) : flat.index_copy(0, wrapped, values);
  };
  return at_positions(index, self.numel(), put).view(self.sizes());
}

Tensor& put_into(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  const Tensor result = with_put(self, index, source, accumulate);
  for (const Tensor* input : {&index, &source})
    check_not_overlapping(impl_of(self), impl_of(*input));
  return self.copy_(result);
}

}  // namespace

HEARTH_DEFINE_METHOD(Tensor, put, (const Tensor& index, const Tensor& source, bool accumulate),
                     with_put(self, index, source, accumulate))
HEARTH_DEFINE_METHOD_ONLY(Tensor&, put_,
                          (const Tensor& index, const Tensor& source, bool accumulate),
                          put_into(const_cast<Tensor&>(self), index, source, accumulate))
HEARTH_DEFINE_COMPOSED_OUT(take, (const Tensor& index), take_of(self, index))
HEARTH_DEFINE_COMPOSED_OUT(take_along_dim, (const Tensor& indices, std::optional<int64_t> dim),
                           take_along(self, indices, dim))

}  // namespace hearth
