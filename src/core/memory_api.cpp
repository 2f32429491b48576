#include "core/cpu_allocator.h"
#include "core/device_allocator.h"
#include "core/memory_report.h"
#include "hearth/error.h"
#include "hearth/memory_stats.h"

namespace hearth {

namespace {

void check_has_allocator(Device device, const char* function) {
  HEARTH_CHECK_AS(ValueError, device.is_cpu() || device.is_cuda(), function,
                  "(): expected a CPU or CUDA device, but got ", device);
}

}  // namespace

MemoryStats memory_stats(Device device) {
  check_has_allocator(device, "memory_stats");
  return device.is_cpu() ? cpu_memory_stats() : device_allocator(device).stats();
}

std::string memory_summary(Device device, bool abbreviated) {
  check_has_allocator(device, "memory_summary");
  if (device.is_cuda()) return summary_text(device_allocator(device).report(), abbreviated);
  MemoryReport report{.device = device, .stats = cpu_memory_stats()};
  report.modules = cpu_module_memory();
  return summary_text(report, abbreviated);
}

void reset_peak_memory_stats(Device device) {
  check_has_allocator(device, "reset_peak_memory_stats");
  device.is_cpu() ? cpu_reset_peak_stats() : device_allocator(device).reset_peak();
}

}  // namespace hearth
