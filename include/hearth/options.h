#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "hearth/device.h"
#include "hearth/dtype.h"

namespace hearth {

/// dtype, device, requires_grad, pinned memory and memory format of a new tensor. Setters return a
/// changed copy; options that are not set have defaults.
class TensorOptions {
 public:
  constexpr TensorOptions() = default;
  constexpr TensorOptions(ScalarType type) { set_dtype(type); }
  constexpr TensorOptions(TypeMeta type) { set_dtype(type); }
  constexpr TensorOptions(Device where) { set_device(where); }
  constexpr TensorOptions(DeviceType where) { set_device(Device(where)); }
  template <class Index>
  requires std::is_integral_v<Index>
  constexpr TensorOptions(DeviceType where, Index index) {
    set_device(Device(where, static_cast<DeviceIndex>(index)));
  }
  /// Device by name. A template, so that the number 0 does not convert as a null pointer.
  template <class T>
  requires std::is_same_v<T, const char*> || std::is_same_v<T, char*> TensorOptions(T where) {
    set_device(Device(where));
  }
  template <class T>
  requires std::is_null_pointer_v<T> TensorOptions(T)
  = delete;
  TensorOptions(const std::string& where) { set_device(Device(where)); }
  constexpr TensorOptions(Layout) : has_layout_(true) {}
  constexpr TensorOptions(MemoryFormat format) : format_(format), has_format_(true) {}

  [[nodiscard]] constexpr TensorOptions dtype(std::optional<ScalarType> type) const {
    TensorOptions r = *this;
    r.has_dtype_ = type.has_value();
    if (type) r.dtype_ = *type;
    return r;
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
  [[nodiscard]] TensorOptions device(std::optional<Device> where) const {
    TensorOptions r = *this;
    r.has_device_ = where.has_value();
    if (where) r.device_ = *where;
    return r;
  }
  template <class T>
  requires std::is_convertible_v<T, Device>
  [[nodiscard]] TensorOptions device(T&& where) const {
    return device(std::optional<Device>(std::forward<T>(where)));
  }
  [[nodiscard]] TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  /// Sets the device to the GPU `index`.
  [[nodiscard]] TensorOptions device_index(int index) const {
    return device(Device(DeviceType::CUDA, static_cast<DeviceIndex>(index)));
  }
  [[nodiscard]] constexpr TensorOptions layout(std::optional<Layout> value) const {
    TensorOptions r = *this;
    r.has_layout_ = value.has_value();
    return r;
  }
  [[nodiscard]] constexpr TensorOptions requires_grad(std::optional<bool> value) const {
    TensorOptions r = *this;
    r.requires_grad_ = value.value_or(false);
    r.has_requires_grad_ = value.has_value();
    return r;
  }
  [[nodiscard]] constexpr TensorOptions pinned_memory(std::optional<bool> value) const {
    TensorOptions r = *this;
    r.pinned_ = value.value_or(false);
    r.has_pinned_ = value.has_value();
    return r;
  }
  [[nodiscard]] constexpr TensorOptions memory_format(std::optional<MemoryFormat> value) const {
    TensorOptions r = *this;
    r.has_format_ = value.has_value();
    if (value) r.format_ = *value;
    return r;
  }

  /// The dtype, or get_default_dtype() if it is not set.
  ScalarType dtype_or_default() const { return has_dtype_ ? dtype_ : get_default_dtype(); }
  TypeMeta dtype() const { return dtype_or_default(); }
  constexpr Device device() const { return device_; }
  constexpr Layout layout() const { return Layout::Strided; }
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
    return has_layout_ ? std::optional(Layout::Strided) : std::nullopt;
  }
  constexpr std::optional<bool> requires_grad_opt() const {
    return has_requires_grad_ ? std::optional(requires_grad_) : std::nullopt;
  }
  constexpr std::optional<bool> pinned_memory_opt() const {
    return has_pinned_ ? std::optional(pinned_) : std::nullopt;
  }
  constexpr bool is_sparse() const { return false; }
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
  constexpr void set_device(Device where) {
    device_ = where;
    has_device_ = true;
  }
  ScalarType dtype_ = ScalarType::Float;
  Device device_{DeviceType::CPU};
  MemoryFormat format_ = MemoryFormat::Contiguous;
  bool requires_grad_ = false, pinned_ = false;
  bool has_dtype_ = false, has_device_ = false, has_requires_grad_ = false, has_format_ = false;
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
inline TensorOptions device(Device where) { return TensorOptions().device(where); }
inline TensorOptions device(DeviceType where) { return TensorOptions().device(where); }
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
