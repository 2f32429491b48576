#pragma once

#include "hearth/autograd.h"
#include "hearth/operators.h"

namespace hearth {

/// The device with its index filled in; throws if there is no such device.
Device resolve_device(Device device);

/// The dtype; throws if tensors cannot have it.
ScalarType resolve_dtype(ScalarType dtype);

/// The options of `self`, overridden by `options`.
TensorOptions like_options(const Tensor& self, const TensorOptions& options);

/// The dtype and device of an out= tensor.
TensorOptions options_of(const Tensor& out);
/// Resizes an out= tensor; its values become undefined.
Tensor& resized(Tensor& out, IntArrayRef size);

/// Finishes a new tensor after its values were written: resets its version, makes it an inference
/// tensor under inference mode, and a leaf that requires grad if asked.
Tensor finish_new(Tensor tensor, const TensorOptions& options);

template <class Fill>
void fill_without_history(const Tensor& tensor, const Fill& fill) {
  const AutoGradMode off(false);
  fill(tensor);
}
/// A new tensor whose values fill(tensor) writes.
template <class Fill>
Tensor filled(IntArrayRef size, const TensorOptions& options, const Fill& fill) {
  Tensor tensor = empty(size, options.requires_grad(false));
  fill_without_history(tensor, fill);
  return finish_new(std::move(tensor), options);
}
template <class Fill>
Tensor filled_like(const Tensor& self, const TensorOptions& options,
                   std::optional<MemoryFormat> format, const Fill& fill) {
  const TensorOptions merged = like_options(self, options);
  Tensor tensor = empty_like(self, merged.requires_grad(false), format);
  fill_without_history(tensor, fill);
  return finish_new(std::move(tensor), merged);
}

}  // namespace hearth
