#pragma once

#include <optional>

#include "core/op.h"

namespace hearth {

/// Replaces a -1 by the inferred size; throws "shape '[2, -1]' is invalid for input of size 5".
Dims infer_sizes(IntArrayRef wanted, int64_t numel);

/// The dimensions as a set; throws if one is repeated.
DimSet dim_set(const Tensor& self, IntArrayRef dims);

/// The strides of a view with other sizes; nullopt if only a copy can have them.
std::optional<Dims> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef wanted);

constexpr OpInfo view_info(const char* name, const char* node = "") {
  return {
      .name = name, .node = node, .effect = Effect::kView, .complex_grad = ComplexGrad::kAnalytic};
}

/// Sets output i of a view op; `offset` counts elements from the input's first one.
inline void set_view(InferContext& context, const Dims& sizes, const Dims& strides, int64_t offset,
                     int i = 0) {
  InferContext::Output& out = context.out(i);
  out.sizes = sizes;
  out.strides = strides;
  out.has_strides = true;
  out.offset = offset;
}

/// The view `in` broadcast to the sizes of `to`.
View broadcast_view(const View& in, const View& to);

/// LibTorch's name of a tensor type in errors: "CPUFloatType", "CUDAHalfType".
std::string type_text(const TensorImpl& impl);

}  // namespace hearth
