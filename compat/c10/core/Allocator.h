#pragma once

#include "c10/core/Device.h"
#include "c10/util/UniqueVoidPtr.h"
#include "hearth/allocator.h"

namespace c10 {

/// Sets the allocator of a device type before main().
template <DeviceType type>
struct AllocatorRegisterer {
  explicit AllocatorRegisterer(Allocator* allocator) { SetAllocator(type, allocator); }
};
#define REGISTER_ALLOCATOR(type, allocator)                          \
  namespace {                                                        \
  static c10::AllocatorRegisterer<type> hearth_registered_allocator( \
      allocator); /* NOLINT(misc-definitions-in-headers) */          \
  }

}  // namespace c10
