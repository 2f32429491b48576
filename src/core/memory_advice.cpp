#include "core/memory_advice.h"

#include <algorithm>
#include <array>

#include "hearth/error.h"
#include "seam/backend.h"

namespace hearth {

namespace {

constexpr size_t kAdviceLines = 3;
constexpr size_t kModuleLines = 3;

std::string size_text(int64_t bytes) {
  return format_bytes(static_cast<size_t>(std::max<int64_t>(bytes, 0)));
}

std::string padded(std::string text, size_t width, bool align_right) {
  if (text.size() < width) text.insert(align_right ? 0 : text.size(), width - text.size(), ' ');
  return text;
}

std::string row(const std::string& name, const std::string& now, const std::string& peak) {
  return "\n" + padded(name, 32, false) + padded(now, 13, true) + padded(peak, 13, true);
}

/// The tags, those with the most bytes first.
std::array<MemoryTag, kNumMemoryTags> tags_by_size(const MemoryStats& stats) {
  std::array<MemoryTag, kNumMemoryTags> tags;
  for (size_t i = 0; i < kNumMemoryTags; ++i) tags[i] = static_cast<MemoryTag>(i);
  std::ranges::stable_sort(
      tags, [&](MemoryTag a, MemoryTag b) { return stats.of(a).current > stats.of(b).current; });
  return tags;
}

/// The modules that hold the most activations now.
std::vector<ModuleMemory> largest_modules(std::vector<ModuleMemory> modules) {
  std::ranges::stable_sort(modules, [](const ModuleMemory& a, const ModuleMemory& b) {
    return a.bytes.current > b.bytes.current;
  });
  if (modules.size() > kModuleLines) modules.resize(kModuleLines);
  std::erase_if(modules, [](const ModuleMemory& each) { return each.bytes.current <= 0; });
  return modules;
}

std::string tag_table(const MemoryReport& report) {
  std::string text = row("memory by tag", "now", "peak");
  for (const MemoryTag tag : tags_by_size(report.stats)) {
    const MemoryStat& stat = report.stats.of(tag);
    if (stat.peak <= 0) continue;
    text += row(std::string("  ") + as_text(tag), size_text(stat.current), size_text(stat.peak));
    if (tag != MemoryTag::Activation) continue;
    for (const ModuleMemory& module : largest_modules(report.modules))
      text += row("    in " + module.path, size_text(module.bytes.current),
                  size_text(module.bytes.peak));
  }
  return text;
}

std::string limit_advice(const MemoryReport& report) {
  const std::string limit = format_bytes(report.limit);
  return report.device.is_cpu()
             ? "raise the limit of " + limit + ", which HEARTH_CPU_MEMORY sets"
             : "raise the limit of " + limit + " with cuda::set_per_process_memory_fraction()";
}

/// Advice if much of the memory has this tag.
std::vector<std::string> advice_for(MemoryTag tag, const MemoryReport& report) {
  switch (tag) {
    case MemoryTag::Activation: {
      const std::vector<ModuleMemory> modules = largest_modules(report.modules);
      const std::string where = modules.empty() ? "" : ", for example in " + modules[0].path;
      return {"reduce the batch size",
              "recompute activations in backward with utils::checkpoint()" + where,
              "compute in bfloat16 with amp::autocast"};
    }
    case MemoryTag::Gradient:
      return {"drop the gradients with optimizer.zero_grad() before the next forward pass"};
    case MemoryTag::OptimizerState:
      return {"use an optimizer with less state: SGD without momentum has none"};
    case MemoryTag::Parameter: return {"keep the model in bfloat16: model->to(kBFloat16)"};
    case MemoryTag::Workspace: return {"reduce the batch size"};
    case MemoryTag::Other: break;
  }
  return {
      "release tensors that are no longer needed (t.reset()); sum losses as numbers, "
      "loss.item(), because a tensor keeps its graph"};
}

/// At least kAdviceLines different pieces of advice, the most helpful first.
std::vector<std::string> advice(const MemoryReport& report) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  };
  const bool is_limited = report.limit != SIZE_MAX;
  const int64_t held = report.stats.allocated_bytes.current;
  if (report.total_bytes > 0 && report.wanted > report.total_bytes)
    add("check the sizes: this request alone is more than the " + format_bytes(report.total_bytes) +
        " of the whole device");
  if (is_limited) add(limit_advice(report));
  for (const MemoryTag tag : tags_by_size(report.stats))
    if (held > 0 && report.stats.of(tag).current >= held / 4)
      for (const std::string& line : advice_for(tag, report)) add(line);
  add("reduce the batch size");
  add("evaluate under NoGradGuard, which keeps no activations");
  for (const std::string& line : advice_for(MemoryTag::Other, report)) add(line);
  return lines;
}

}  // namespace

std::string tags_and_advice(const MemoryReport& report) {
  std::string text = tag_table(report);
  text += "\nWhat would help:";
  const std::vector<std::string> lines = advice(report);
  for (size_t i = 0; i < kAdviceLines; ++i) text += detail::str("\n  ", i + 1, ". ", lines[i]);
  return text;
}

}  // namespace hearth
