#pragma once

#include <cstddef>
#include <functional>

#include "hearth/device.h"
#include "hearth/export.h"

namespace hearth {

struct StorageImpl;

/// A memory address and its device.
class DataPtr {
 public:
  DataPtr() = default;
  DataPtr(void* data, Device device) : data_(data), device_(device) {}
  void* get() const { return data_; }
  void* mutable_get() const { return data_; }
  Device device() const { return device_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  void* data_ = nullptr;
  Device device_{DeviceType::CPU};
};

/// Shared owner of the memory of one or more tensors.
class HEARTH_API Storage {
 public:
  Storage() = default;
  explicit Storage(StorageImpl* owned) : impl_(owned) {}
  Storage(const Storage& other);
  Storage(Storage&& other) noexcept : impl_(other.impl_) { other.impl_ = nullptr; }
  Storage& operator=(Storage other) noexcept {
    auto* former = impl_;
    impl_ = other.impl_;
    other.impl_ = former;
    return *this;
  }
  ~Storage();

  explicit operator bool() const { return impl_ != nullptr; }
  const void* data() const;  ///< the address of the memory
  void* mutable_data() const;
  DataPtr data_ptr() const { return {mutable_data(), device()}; }
  size_t nbytes() const;  ///< the size of the memory
  Device device() const;
  DeviceType device_type() const { return device().type(); }
  size_t use_count() const;  ///< the number of owners
  bool is_alias_of(const Storage& other) const { return impl_ == other.impl_; }
  StorageImpl* unsafeGetStorageImpl() const { return impl_; }

 private:
  StorageImpl* impl_ = nullptr;
};

}  // namespace hearth
