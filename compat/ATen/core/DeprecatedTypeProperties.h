#pragma once

#include <iosfwd>
#include <string>

#include "c10/core/Backend.h"
#include "c10/namespaces.h"
#include "hearth/tensor.h"

namespace hearth {

/// The dtype and device type of tensors, for code that calls the deprecated tensor.type().
class DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(DeviceType device, ScalarType dtype) : device_(device), dtype_(dtype) {}
  ScalarType scalarType() const { return dtype_; }
  TypeMeta typeMeta() const { return dtype_; }
  DeviceType device_type() const { return device_; }
  bool is_cuda() const { return device_ == DeviceType::CUDA; }
  bool is_sparse() const { return false; }
  TensorOptions options() const { return TensorOptions(dtype_).device(Device(device_)); }
  operator TensorOptions() const { return options(); }
  operator ScalarType() const { return dtype_; }
  bool operator==(const DeprecatedTypeProperties& other) const {
    return device_ == other.device_ && dtype_ == other.dtype_;
  }
  DeprecatedTypeProperties toScalarType(ScalarType dtype) const { return {device_, dtype}; }
  /// "CPUFloatType", as in LibTorch.
  std::string toString() const {
    return std::string(c10::toString(backend())) + name_of(dtype_) + "Type";
  }
  c10::Backend backend() const {
    return is_cuda()                    ? c10::Backend::CUDA
           : device_ == DeviceType::CPU ? c10::Backend::CPU
                                        : c10::Backend::Meta;
  }
  Layout layout() const { return Layout::Strided; }

 private:
  DeviceType device_;
  ScalarType dtype_;
};

template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const DeprecatedTypeProperties& type) {
  return out << type.toString();
}

inline DeprecatedTypeProperties Tensor::type() const { return {device().type(), scalar_type()}; }

}  // namespace hearth
