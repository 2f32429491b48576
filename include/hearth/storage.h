#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "hearth/device.h"
#include "hearth/export.h"

namespace hearth {

struct StorageImpl;

struct Allocator;                      // in allocator.h
using DeleterFnPtr = void (*)(void*);  ///< frees the context of a DataPtr
namespace detail {
HEARTH_API void deleteNothing(void*);  ///< the deleter of memory that a DataPtr does not own
}

/// A memory address, its device and, if it owns the memory, an object (the context) whose deleter
/// frees it.
class HEARTH_API DataPtr {
 public:
  DataPtr() = default;
  DataPtr(void* data, Device device) : data_(data), device_(device) {}
  DataPtr(void* data, void* context, DeleterFnPtr deleter, Device device);
  DataPtr(DataPtr&& other) noexcept;
  DataPtr& operator=(DataPtr&& other) noexcept;
  ~DataPtr() { clear(); }

  void* get() const { return data_; }
  void* mutable_get() const { return data_; }
  void* operator->() const { return data_; }
  Device device() const { return device_; }
  void unsafe_set_device(Device device) { device_ = device; }
  explicit operator bool() const { return data_ || context_; }
  friend bool operator==(const DataPtr& pointer, std::nullptr_t) { return !pointer; }
  void clear();  ///< frees the memory
  void* get_context() const { return context_; }
  DeleterFnPtr get_deleter() const { return deleter_; }
  void* release_context();  ///< gives up the ownership
  std::unique_ptr<void, DeleterFnPtr> move_context();
  /// The context as a T, or null if it has another deleter.
  template <class T>
  T* cast_context(DeleterFnPtr expected) const {
    return deleter_ == expected ? static_cast<T*>(context_) : nullptr;
  }
  /// Replaces the deleter if it is `expected`.
  bool compare_exchange_deleter(DeleterFnPtr expected, DeleterFnPtr deleter);
  /// The same without ownership, which frees nothing.
  DataPtr borrow() const;

 private:
  void* data_ = nullptr;
  void* context_ = nullptr;
  DeleterFnPtr deleter_ = &detail::deleteNothing;
  Device device_{DeviceType::CPU};
  bool owns_ = false;
};

/// Shared owner of the memory of one or more tensors.
class HEARTH_API Storage {
 public:
  Storage() = default;
  explicit Storage(StorageImpl* owned) : impl_(owned) {}
  struct use_byte_size_t {};
  /// New memory from the allocator, by default the CPU's.
  Storage(use_byte_size_t, size_t nbytes, Allocator* allocator = nullptr, bool resizable = false);
  /// Given memory; a resizable one is replaced by the allocator's if it is too small.
  Storage(use_byte_size_t, size_t nbytes, DataPtr data, Allocator* allocator = nullptr,
          bool resizable = false);
  static Storage create_legacy(Device device);  ///< an empty, resizable one
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
  DataPtr data_ptr() const;  ///< without ownership
  DataPtr mutable_data_ptr() const { return data_ptr(); }
  DataPtr set_data_ptr(DataPtr&& data) const;  ///< replaces the memory and returns the former one
  void set_data_ptr_noswap(DataPtr&& data) const;  ///< replaces the memory and frees the former one
  size_t nbytes() const;                           ///< the size of the memory
  void set_nbytes(size_t nbytes) const;            ///< changes only the number
  bool resizable() const;                          ///< whether larger memory may replace its memory
  Allocator* allocator() const;                    ///< the allocator of larger memory
  Device device() const;
  DeviceType device_type() const { return device().type(); }
  size_t use_count() const;  ///< the number of owners
  bool unique() const { return use_count() == 1; }
  bool is_alias_of(const Storage& other) const { return impl_ == other.impl_; }
  StorageImpl* unsafeGetStorageImpl() const { return impl_; }

 private:
  StorageImpl* impl_ = nullptr;
};

}  // namespace hearth
