#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "c10/namespaces.h"
#include "c10/util/Exception.h"
#include "hearth/tensor.h"

namespace hearth::detail {
/// The strides of a contiguous tensor.
inline std::vector<int64_t> defaultStrides(IntArrayRef sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * (sizes[i] > 1 ? sizes[i] : 1);
  return strides;
}
}  // namespace hearth::detail

namespace at {

/// Builder for from_blob's arguments: for_blob(data, sizes).strides(s).options(o).make_tensor().
class TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) : data_(data), sizes_(sizes) {}
  TensorMaker& strides(OptionalIntArrayRef value) {
    strides_ = value ? std::optional<hearth::detail::Dims>(*value) : std::nullopt;
    return *this;
  }
  TensorMaker& storage_offset(std::optional<int64_t> value) {
    offset_ = value.value_or(0);
    return *this;
  }
  /// An object that the memory belongs to, and the function that deletes it.
  TensorMaker& context(void* value, void (*destroy)(void*) = nullptr) {
    deleter_ = [value, destroy](void*) {
      if (destroy) destroy(value);
    };
    return *this;
  }
  TensorMaker& deleter(std::function<void(void*)> value) {
    deleter_ = std::move(value);
    return *this;
  }
  TensorMaker& options(TensorOptions value) {
    options_ = value;
    return *this;
  }
  TensorMaker& target_device(std::optional<Device> value) {
    if (value) options_ = options_.device(*value);
    return *this;
  }
  Tensor make_tensor() {
    using hearth::detail::Dims;
    const Dims strides = strides_ ? *strides_ : Dims(hearth::detail::defaultStrides(sizes_));
    if (offset_ == 0) return from_blob(data_, sizes_, strides, std::move(deleter_), options_);
    // The second of two tensors that are offset_ elements apart: from_blob checks the geometry.
    Dims two_sizes(sizes_), two_strides(strides);
    two_sizes.insert(0, 2);
    two_strides.insert(0, offset_);
    return from_blob(data_, two_sizes, two_strides, std::move(deleter_), options_).select(0, 1);
  }

 private:
  void* data_;
  hearth::detail::Dims sizes_;
  std::optional<hearth::detail::Dims> strides_;
  std::function<void(void*)> deleter_;
  TensorOptions options_;
  int64_t offset_ = 0;
};

/// Starts a tensor over existing memory.
inline TensorMaker for_blob(void* data, IntArrayRef sizes) { return {data, sizes}; }

}  // namespace at

namespace torch {
using at::for_blob;
using at::TensorMaker;
}  // namespace torch
