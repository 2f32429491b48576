#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory_label.h"
#include "hearth/device.h"
#include "hearth/memory_stats.h"

namespace hearth {

/// The state of one device's allocator, for tables and out-of-memory errors.
struct MemoryReport {
  Device device{DeviceType::CPU};
  MemoryStats stats;
  std::vector<ModuleMemory> modules = {};
  size_t limit = SIZE_MAX;    // of the reserved bytes
  size_t wanted = 0;          // bytes that could not be allocated
  size_t free_bytes = 0;      // of a GPU
  size_t total_bytes = 0;     // of the device
  size_t largest_unused = 0;  // the largest reserved block of a GPU that no tensor uses
};

/// The table of memory_summary().
std::string summary_text(const MemoryReport& report, bool abbreviated);

/// PyTorch's texts, followed by the memory by tag and three pieces of advice.
std::string cpu_out_of_memory_text(const MemoryReport& report);
std::string device_out_of_memory_text(const MemoryReport& report);

}  // namespace hearth
