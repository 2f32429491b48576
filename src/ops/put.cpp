// Writes by the number of the element, and along the diagonal.
#include <algorithm>

#include "ops/define.h"

namespace hearth {

namespace {

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
  const Tensor flat = self.reshape({-1}), places = index.reshape({-1});
  const Tensor wrapped = where(places.lt(0), places.add(self.numel()), places);
  const Tensor values = source.reshape({-1});
  return (accumulate ? flat.index_add(0, wrapped, values) : flat.index_copy(0, wrapped, values))
      .view(self.sizes());
}

Tensor& fill_diagonal(const Tensor& self, const Scalar& value, bool wrap) {
  const int64_t dims = self.dim();
  HEARTH_CHECK(dims >= 2, "dimensions must larger than 1");
  int64_t size = self.size(0), step = 0;
  for (int64_t d = 0; d < dims; ++d) {
    HEARTH_CHECK(dims == 2 || self.size(d) == self.size(0),
                 "all dimensions of input must be of equal length");
    size = std::min(size, self.size(d));
    step += self.stride(d);
  }
  self.as_strided({size}, {step}, self.storage_offset()).fill_(value);
  const int64_t width = self.size(1);
  if (wrap && dims == 2 && self.size(0) > width + 1) {
    const int64_t rest = (self.numel() + width) / (width + 1) - size;
    self.as_strided({rest}, {step}, self.storage_offset() + self.stride(0) * (width + 1))
        .fill_(value);
  }
  return const_cast<Tensor&>(self);
}

}  // namespace

HEARTH_DEFINE_METHOD(Tensor, put, (const Tensor& index, const Tensor& source, bool accumulate),
                     with_put(self, index, source, accumulate))
HEARTH_DEFINE_METHOD_ONLY(Tensor&, put_,
                          (const Tensor& index, const Tensor& source, bool accumulate),
                          self.copy_(with_put(self, index, source, accumulate)))
HEARTH_DEFINE_METHOD_ONLY(Tensor&, fill_diagonal_, (const Scalar& fill_value, bool wrap),
                          fill_diagonal(self, fill_value, wrap))

}  // namespace hearth
