#pragma once

// Libraries that are opened at their first use, and their handles.

#include <mutex>
#include <string>
#include <vector>

#include "core/modes.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

/// A library that is opened and never closed, or the reason why it could not be used.
class LibraryFile {
 public:
  explicit LibraryFile(const char* file);

  /// Finds a function; without it, the library counts as missing.
  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(address_of(name));
    if (function == nullptr && library_ != nullptr) why_not_ = missing(name);
  }
  /// Finds a function that the library may lack; returns false if it is missing.
  template <class Function>
  bool find_optional(const char* name, Function& function) {
    function = reinterpret_cast<Function>(address_of(name));
    return function != nullptr;
  }
  /// Empty if the library was opened and has all functions that find() looked for.
  const std::string& why_not() const { return why_not_; }

 private:
  void* address_of(const char* name) const;
  std::string missing(const char* name) const;

  const char* file_;
  void* library_;
  std::string why_not_;
};

#define HEARTH_TEXT_OF(number) #number
#define HEARTH_TEXT(number) HEARTH_TEXT_OF(number)

/// One handle for each thread and device. Other threads reuse the handles of threads that have
/// ended. Handles are never destroyed: the driver may be unloaded when the process ends.
template <class Handle, Handle (*create)()>
class LibraryHandles {
 public:
  /// This thread's handle for the device, which must be current.
  static Handle get(int device) {
    static thread_local Own own;
    Handle& handle = own.handles[device];
    if (handle == nullptr) handle = spare().take(device);
    return handle;
  }

 private:
  struct Own {
    Handle handles[kMaxGpus] = {};
    ~Own() {
      for (int device = 0; device < kMaxGpus; ++device)
        if (handles[device] != nullptr) spare().release(device, handles[device]);
    }
  };

  static LibraryHandles& spare() {
    static auto* spare = new LibraryHandles;
    return *spare;
  }
  Handle take(int device) {
    {
      const std::lock_guard lock(mutex_);
      auto& unused = handles_[device];
      if (!unused.empty()) {
        const Handle handle = unused.back();
        unused.pop_back();
        return handle;
      }
    }
    return create();
  }
  void release(int device, Handle handle) {
    const std::lock_guard lock(mutex_);
    handles_[device].push_back(handle);
  }

  std::mutex mutex_;
  std::vector<Handle> handles_[kMaxGpus];
};

}  // namespace hearth::cuda
