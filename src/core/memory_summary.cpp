// The table of torch.cuda.memory_summary(), with rows for tags and modules.
#include <algorithm>
#include <array>
#include <cstdio>

#include "core/memory_report.h"
#include "hearth/error.h"

namespace hearth {

namespace {

constexpr size_t kWidth = 75;
constexpr size_t kMaxModules = 20;

std::string line_of(char fill) { return "|" + std::string(kWidth, fill) + "|\n"; }

template <class... Values>
std::string printed(const char* format, const Values&... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// Formats the value in a unit that suits `reference`, so that a column has one unit.
struct Unit {
  const char* const* names;
  size_t count;
  int64_t step;       // between a unit and the next
  int64_t threshold;  // from which the next unit is used
  const char* format;

  std::string text(int64_t value, int64_t reference) const {
    size_t unit = 0;
    for (; unit + 1 < count && reference >= threshold; ++unit) {
      value /= step;
      reference /= step;
    }
    return printed(format, static_cast<long long>(value), names[unit]);
  }
};

constexpr const char* kByteNames[] = {"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"};
constexpr const char* kCountNames[] = {" ", "K", "M"};
constexpr Unit kBytes{kByteNames, 6, 1024, 768 * 1024, "%6lld %s"};  // PyTorch's thresholds
constexpr Unit kCount{kCountNames, 3, 1000, 750 * 1000, "%7lld %s "};

std::string stat_row(const char* name, const MemoryStat& stat, const MemoryStat& total,
                     const Unit& unit) {
  return printed(
      "| %-21s | %s | %s | %s | %s |\n", name, unit.text(stat.current, total.current).c_str(),
      unit.text(stat.peak, total.peak).c_str(), unit.text(stat.allocated, total.allocated).c_str(),
      unit.text(stat.freed, total.freed).c_str());
}

std::string heading(const MemoryReport& report) {
  const bool is_cpu = report.device.is_cpu();
  std::string text = line_of('=');
  const std::string title =
      is_cpu ? "Hearth CPU memory summary"
             : detail::str("Hearth CUDA memory summary, device ID ", int{report.device.index()});
  text += printed("|%18s%-57s|\n", "", title.c_str());
  text += line_of('-');
  text += is_cpu ? printed("|           CPU OOMs: %-12lld  |     allocation retries: %-14lld|\n",
                           static_cast<long long>(report.stats.num_ooms),
                           static_cast<long long>(report.stats.num_alloc_retries))
                 : printed("|           CUDA OOMs: %-12lld |        cudaMalloc retries: %-11lld|\n",
                           static_cast<long long>(report.stats.num_ooms),
                           static_cast<long long>(report.stats.num_alloc_retries));
  text += line_of('=');
  return text + "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n";
}

std::string tag_rows(const MemoryStats& stats) {
  std::string text = line_of('-');
  text += stat_row("Allocated memory", stats.allocated_bytes, stats.allocated_bytes, kBytes);
  constexpr MemoryTag kOrder[kNumMemoryTags] = {MemoryTag::Parameter,      MemoryTag::Gradient,
                                                MemoryTag::OptimizerState, MemoryTag::Activation,
                                                MemoryTag::Workspace,      MemoryTag::Other};
  for (const MemoryTag tag : kOrder)
    text += stat_row((std::string("      ") + as_text(tag)).c_str(), stats.of(tag),
                     stats.allocated_bytes, kBytes);
  return text;
}

std::string other_rows(const MemoryReport& report) {
  const MemoryStats& stats = report.stats;
  const bool is_cpu = report.device.is_cpu();
  std::string text;
  const auto add = [&text](const char* name, const MemoryStat& stat, const Unit& unit) {
    text += line_of('-') + stat_row(name, stat, stat, unit);
  };
  if (!is_cpu) add("Active memory", stats.active_bytes, kBytes);
  add(is_cpu ? "Reserved memory" : "GPU reserved memory", stats.reserved_bytes, kBytes);
  add("Allocations", stats.allocation, kCount);
  add(is_cpu ? "Reserved segments" : "GPU reserved segments", stats.segment, kCount);
  return text;
}

/// The path in at most this many characters: a long one loses its beginning.
std::string shortened(const std::string& path, size_t width) {
  return path.size() <= width ? path : "..." + path.substr(path.size() - width + 3);
}

std::string module_rows(const MemoryReport& report) {
  if (report.modules.empty()) return "";
  std::string text = line_of('=');
  text +=
      printed("| %-47s | %-10s | %-10s |\n", "Activations by module", "Cur Usage", "Peak Usage");
  text += line_of('-');
  const MemoryStat& largest = report.modules[0].bytes;
  for (size_t i = 0; i < std::min(report.modules.size(), kMaxModules); ++i) {
    const auto& [path, bytes] = report.modules[i];
    text += printed("| %-47s | %s | %s |\n", shortened(path, 47).c_str(),
                    kBytes.text(bytes.current, largest.peak).c_str(),
                    kBytes.text(bytes.peak, largest.peak).c_str());
  }
  if (report.modules.size() > kMaxModules)
    text += printed("| %-73s |\n",
                    detail::str(report.modules.size() - kMaxModules, " more modules").c_str());
  return text;
}

}  // namespace

std::string summary_text(const MemoryReport& report, bool abbreviated) {
  std::string text = heading(report) + tag_rows(report.stats);
  if (!abbreviated) text += other_rows(report) + module_rows(report);
  return text + line_of('=');
}

}  // namespace hearth
