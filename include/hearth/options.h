#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "hearth/device.h"
#include "hearth/dtype.h"

namespace hearth {

/// dtype, device, layout (strided in tensors), requires_grad, pinned memory and memory format of a
/// new tensor. Setters return a changed copy; options that are not set have defaults.
class TensorOptions {
 public:
  constexpr TensorOptions() = default;
  constexpr TensorOptions(ScalarType type) { set_dtype(type); }
  constexpr TensorOptions(TypeMeta type) { set_dtype(type); }
  constexpr TensorOptions(Device device) { set_device(device); }
  constexpr TensorOptions(DeviceType type) { set_device(Device(type)); }
  template <class Index>
  requires std::is_integral_v<Index>
  constexpr TensorOptions(DeviceType type, Index index) {
    set_device(Device(type, static_cast<DeviceIndex>(index)));
  }
  /// Device by name. A template, so that the number 0 does not convert as a null pointer.
  template <class T>
  requires std::is_same_v<T, const char*> || std::is_same_v<T, char*> TensorOptions(T device) {
    set_device(Device(device));
  }
  template <class T>
  requires std::is_null_pointer_v<T> TensorOptions(T)
  = delete;
  TensorOptions(const std::string& device) { set_device(Device(device)); }
  constexpr TensorOptions(Layout layout) : layout_(layout), has_layout_(true) {}
  constexpr TensorOptions(MemoryFormat format) : format_(format), has_format_(true) {}

  [[nodiscard]] constexpr TensorOptions dtype(std::optional<ScalarType> type) const {
    TensorOptions result = *this;
    result.has_dtype_ = type.has_value();
    if (type) result.dtype_ = *type;
    return result;
  }
  [[nodiscard]] constexpr TensorOptions dtype(ScalarType type) const {
    return dtype(std::optional(type));
  }
  [[nodiscard]] constexpr TensorOptions dtype(TypeMeta type) const {
    return dtype(type.toScalarType());
  }
  template <class T>
  [[nodiscard]] constexpr TensorOptions dtype() const {
    return dtype(dtype_of<T>);
  }
  [[nodiscard]] TensorOptions device(std::optional<Device> value) const {
    TensorOptions result = *this;
    result.has_device_ = value.has_value();
    if (value) result.device_ = *value;
    return result;
  }
  template <class T>
  requires std::is_convertible_v<T, Device>
  [[nodiscard]] TensorOptions device(T&& value) const {
    return device(std::optional<Device>(std::forward<T>(value)));
  }
  [[nodiscard]] TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  /// Sets the device to the GPU `index`.
  [[nodiscard]] TensorOptions device_index(int index) const {
    return device(Device(DeviceType::CUDA, static_cast<DeviceIndex>(index)));
  }
  [[nodiscard]] constexpr TensorOptions layout(std::optional<Layout> value) const {
    TensorOptions result = *this;
    result.layout_ = value.value_or(Layout::Strided);
    result.has_layout_ = value.has_value();
    return result;
  }
  [[nodiscard]] constexpr TensorOptions requires_grad(std::optional<bool> value) const {
    TensorOptions result = *this;
    result.requires_grad_ = value.value_or(false);
    result.has_requires_grad_ = value.has_value();
    return result;
  }
  [[nodiscard]] constexpr TensorOptions pinned_memory(std::optional<bool> value) const {
    TensorOptions result = *this;
    result.pinned_ = value.value_or(false);
    result.has_pinned_ = value.has_value();
    return result;
  }
  [[nodiscard]] constexpr TensorOptions memory_format(std::optional<MemoryFormat> value) const {
    TensorOptions result = *this;
    result.has_format_ = value.has_value();
    if (value) result.format_ = *value;
    return result;
  }

  /// The dtype, or get_default_dtype() if it is not set.
  ScalarType dtype_or_default() const {
    return has_dtype_ ? dtype_ : get_default_dtype_as_scalartype();
  }
  TypeMeta dtype() const { return dtype_or_default(); }
  constexpr Device device() const { return device_; }
  constexpr Layout layout() const { return layout_; }
  constexpr bool requires_grad() const { return requires_grad_; }
  constexpr bool pinned_memory() const { return pinned_; }
  constexpr bool has_dtype() const { return has_dtype_; }
  constexpr bool has_device() const { return has_device_; }
  constexpr bool has_requires_grad() const { return has_requires_grad_; }
  constexpr bool has_layout() const { return has_layout_; }
  constexpr bool has_pinned_memory() const { return has_pinned_; }
  constexpr bool has_memory_format() const { return has_format_; }
  constexpr int32_t device_index() const { return device_.index(); }
  constexpr std::optional<ScalarType> dtype_opt() const {
    return has_dtype_ ? std::optional(dtype_) : std::nullopt;
  }
  constexpr std::optional<Device> device_opt() const {
    return has_device_ ? std::optional(device_) : std::nullopt;
  }
  constexpr std::optional<Layout> layout_opt() const {
    return has_layout_ ? std::optional(layout_) : std::nullopt;
  }
  constexpr std::optional<bool> requires_grad_opt() const {
    return has_requires_grad_ ? std::optional(requires_grad_) : std::nullopt;
  }
  constexpr std::optional<bool> pinned_memory_opt() const {
    return has_pinned_ ? std::optional(pinned_) : std::nullopt;
  }
  constexpr bool is_sparse() const { return layout_ == Layout::Sparse; }
  /// Whether dtype and device type are equal.
  bool type_equal(const TensorOptions& other) const {
    return dtype_or_default() == other.dtype_or_default() && device_.type() == other.device_.type();
  }
  constexpr std::optional<MemoryFormat> memory_format_opt() const {
    return has_format_ ? std::optional(format_) : std::nullopt;
  }
  /// These options, overridden by those that `other` sets.
  [[nodiscard]] HEARTH_API TensorOptions merge_in(const TensorOptions& other) const;

 private:
  constexpr void set_dtype(ScalarType type) {
    dtype_ = type;
    has_dtype_ = true;
  }
  constexpr void set_device(Device device) {
    device_ = device;
    has_device_ = true;
  }
  ScalarType dtype_ = ScalarType::Float;
  Device device_{DeviceType::CPU};
  MemoryFormat format_ = MemoryFormat::Contiguous;
  bool requires_grad_ = false, pinned_ = false;
  bool has_dtype_ = false, has_device_ = false, has_requires_grad_ = false, has_format_ = false;
  Layout layout_ = Layout::Strided;
  bool has_layout_ = false, has_pinned_ = false;
};

/// "TensorOptions(dtype=float (default), device=cpu (default), …)".
HEARTH_API std::string as_text(const TensorOptions& options);

// Options with one setting, such as dtype(kLong).device(kCUDA).
inline TensorOptions dtype(ScalarType type) { return TensorOptions().dtype(type); }
inline TensorOptions dtype(TypeMeta type) { return TensorOptions().dtype(type); }
template <class T>
TensorOptions dtype() {
  return TensorOptions().dtype<T>();
}
inline TensorOptions device(Device value) { return TensorOptions().device(value); }
inline TensorOptions device(DeviceType type) { return TensorOptions().device(type); }
inline TensorOptions device_index(int index) { return TensorOptions().device_index(index); }
inline TensorOptions layout(Layout value) { return TensorOptions().layout(value); }
inline TensorOptions requires_grad(bool value = true) {
  return TensorOptions().requires_grad(value);
}
inline TensorOptions pinned_memory(bool value = true) {
  return TensorOptions().pinned_memory(value);
}
inline TensorOptions memory_format(MemoryFormat value) {
  return TensorOptions().memory_format(value);
}

}  // namespace hearth
