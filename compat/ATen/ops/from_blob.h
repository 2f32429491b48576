#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "c10/namespaces.h"
#include "c10/util/Exception.h"
#include "hearth/tensor.h"

namespace at {

/// Builder for from_blob's arguments: for_blob(data, sizes).strides(s).options(o).make_tensor().
class TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) : data_(data), sizes_(sizes) {}
  TensorMaker& strides(OptionalIntArrayRef value) {
    strides_ = value ? std::optional<hearth::detail::Dims>(*value) : std::nullopt;
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
    if (!strides_) return from_blob(data_, sizes_, std::move(deleter_), options_);
    return from_blob(data_, sizes_, *strides_, std::move(deleter_), options_);
  }

 private:
  void* data_;
  hearth::detail::Dims sizes_;
  std::optional<hearth::detail::Dims> strides_;
  std::function<void(void*)> deleter_;
  TensorOptions options_;
};

/// Starts a tensor over existing memory.
inline TensorMaker for_blob(void* data, IntArrayRef sizes) { return {data, sizes}; }

}  // namespace at

namespace torch {
using at::for_blob;
using at::TensorMaker;
}  // namespace torch
