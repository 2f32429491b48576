#include "core/memory_report.h"

#include <algorithm>

#include "core/memory_advice.h"
#include "hearth/error.h"
#include "seam/backend.h"

namespace hearth {

namespace {

std::string mebibytes_text(int64_t bytes) { return detail::str((bytes + (1 << 19)) >> 20, " MiB"); }

/// Advice if tensors hold more than the limit; else empty.
std::string held_text(const MemoryReport& report) {
  const auto held = static_cast<size_t>(report.stats.allocated_bytes.current);
  if (held <= report.limit) return "";
  return detail::str(" Tensors hold ", format_bytes(held - report.limit),
                     " more than the limit: release some, or raise it.");
}

/// The fragmentation of the unused memory, and advice if it caused the failure.
std::string fragmentation_text(const MemoryReport& report) {
  const auto unused = static_cast<size_t>(report.stats.cached_bytes());
  const auto reserved = static_cast<size_t>(report.stats.reserved_bytes.current);
  std::string text;
  if (unused > 0) {
    const size_t scattered = unused - std::min(unused, report.largest_unused);
    text = detail::str(" Fragmentation: ", 100 * scattered / unused,
                       " % of the unallocated memory is outside its largest block.");
  }
  const size_t reservable =
      std::min(report.free_bytes, report.limit - std::min(report.limit, reserved));
  if (unused + reservable >= report.wanted)
    text +=
        " Memory is fragmented: enough is free in all, but not in one piece. Allocate large "
        "tensors first, or release others and call cuda::empty_cache().";
  return text;
}

}  // namespace

std::string cpu_out_of_memory_text(const MemoryReport& report) {
  const MemoryStats& stats = report.stats;
  std::string text =
      detail::str("DefaultCPUAllocator: can't allocate memory: you tried to allocate ",
                  report.wanted, " bytes. Error code 12 (Cannot allocate memory). Tensors hold ",
                  mebibytes_text(stats.allocated_bytes.current), " (at most ",
                  mebibytes_text(stats.allocated_bytes.peak), " so far), caches ",
                  mebibytes_text(stats.cached_bytes()));
  if (report.limit != SIZE_MAX)
    text += ", and the limit is " + mebibytes_text(static_cast<int64_t>(report.limit));
  return text + "." + held_text(report) + tags_and_advice(report);
}

std::string device_out_of_memory_text(const MemoryReport& report) {
  const MemoryStats& stats = report.stats;
  std::string text = detail::str("CUDA out of memory. Tried to allocate ",
                                 format_bytes(report.wanted), ". GPU ", int{report.device.index()},
                                 " has a total capacity of ", format_bytes(report.total_bytes),
                                 " of which ", format_bytes(report.free_bytes), " is free. ");
  if (report.limit != SIZE_MAX) text += format_bytes(report.limit) + " allowed; ";
  text += detail::str(
      "Of the allocated memory ", format_bytes(static_cast<size_t>(stats.allocated_bytes.current)),
      " is allocated by Hearth, and ", format_bytes(static_cast<size_t>(stats.cached_bytes())),
      " is reserved by Hearth but unallocated. The largest unallocated block has ",
      format_bytes(report.largest_unused), ".");
  return text + fragmentation_text(report) + held_text(report) + tags_and_advice(report);
}

}  // namespace hearth
