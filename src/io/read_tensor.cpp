#include "io/read_tensor.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/tensor_impl.h"
#include "hearth/operators.h"

namespace hearth::io {

namespace {

/// Makes all bools 0 or 1; other values would be undefined behaviour.
void normalize_bools(Tensor& tensor) {
  if (tensor.scalar_type() != kBool) return;
  auto* first = static_cast<uint8_t*>(tensor.data_ptr());
  std::transform(first, first + tensor.nbytes(), first,
                 [](uint8_t byte) { return uint8_t(byte != 0); });
}

}  // namespace

Tensor read_tensor(const Bytes& bytes, uint64_t begin, uint64_t end, IntArrayRef sizes,
                   ScalarType type, bool may_map) {
  const auto mapped = may_map && type != kBool ? bytes.writable(begin, end) : nullptr;
  if (mapped && reinterpret_cast<uintptr_t>(mapped.get()) % element_size(type) == 0)
    return from_blob(
        mapped.get(), sizes, [mapped](void*) {}, type);
  Tensor copy = empty(sizes, type);
  if (end > begin) std::memcpy(copy.data_ptr(), bytes.data() + begin, end - begin);
  normalize_bools(copy);
  return copy;
}

Tensor tensor_over(const Tensor& base, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  HEARTH_CHECK(sizes.size() <= size_t(kMaxDims), "more than ", kMaxDims, " dimensions: ", sizes);
  HEARTH_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  const size_t available = base.is_meta() ? std::numeric_limits<size_t>::max() : base.nbytes();
  check_inside_storage(sizes, strides, offset, base.itemsize(), available);
  Tensor tensor = shallow_alias(base, /*share_version=*/false);
  TensorImpl& impl = impl_of(tensor);
  impl.set_geometry(sizes, strides);
  impl.offset = offset;
  return tensor;
}

}  // namespace hearth::io
