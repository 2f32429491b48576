#include <algorithm>
#include <memory>

#include "core/cpu_allocator.h"
#include "core/device_allocator.h"
#include "core/memory_report.h"
#include "core/system_memory.h"
#include "hearth/cuda.h"
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

size_t available_memory(Device device) {
  check_has_allocator(device, "available_memory");
  const MemoryStats stats = memory_stats(device);
  const auto held = static_cast<size_t>(stats.allocated_bytes.current);
  const auto cached = static_cast<size_t>(std::max<int64_t>(stats.cached_bytes(), 0));
  const size_t limit = device.is_cpu() ? cpu_memory_limit() : device_allocator(device).limit();
  const size_t free =
      device.is_cpu() ? system_memory_available() : device_allocator(device).report().free_bytes;
  return std::min(free + cached, limit - std::min(limit, held));
}

void record_memory_history(bool enabled, size_t max_entries) {
  const auto start = MemoryHistory::Clock::now();
  const auto history = [&] {
    return enabled ? std::make_unique<MemoryHistory>(start, max_entries) : nullptr;
  };
  cpu_record_history(history());
  for (int i = 0; i < cuda::device_count(); ++i)
    device_allocator(Device(DeviceType::CUDA, static_cast<DeviceIndex>(i))).record(history());
}

std::string memory_snapshot() {
  std::string text = "{\"format\": 1, \"tags\": [";
  for (size_t i = 0; i < kNumMemoryTags; ++i)
    text += detail::str(i > 0 ? ", " : "", "\"", as_text(static_cast<MemoryTag>(i)), "\"");
  text += "], \"devices\": [";
  const auto add = [&text](const std::string& device) {
    if (device.empty()) return;
    text += text.back() == '[' ? device : ", " + device;
  };
  add(cpu_history_json());
  for (int i = 0; i < cuda::device_count(); ++i)
    add(device_allocator(Device(DeviceType::CUDA, static_cast<DeviceIndex>(i))).history_json());
  return text + "]}";
}

}  // namespace hearth
