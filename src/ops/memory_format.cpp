#include "ops/memory_format.h"

namespace hearth {

bool is_channels_last(const TensorImpl& tensor) {
  if ((tensor.dim != 4 && tensor.dim != 5) || tensor.contiguous()) return false;
  const Dims wanted = channels_last_strides(tensor.sizes());
  for (size_t d = 0; d < size_t(tensor.dim); ++d)
    if (tensor.sizes()[d] != 1 && tensor.strides()[d] != wanted[d]) return false;
  return true;
}

void set_in_format(InferContext& context, int i, IntArrayRef sizes, ScalarType dtype,
                   bool channels_last) {
  context.set(i, sizes, dtype);
  if (!channels_last) return;
  context.out(i).strides = channels_last_strides(sizes);
  context.out(i).has_strides = true;
}

}  // namespace hearth
