#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/modes.h"
#include "hearth/memory_stats.h"

namespace hearth {

class NamedScope;

/// What a block of memory is for: its tag and, for an activation, the number of the module's path
/// (0: none).
struct MemoryLabel {
  MemoryTag tag = MemoryTag::Other;
  uint16_t path = 0;
};

namespace detail {
/// This thread's innermost module (core/named_scope.cpp); null outside modules.
extern constinit thread_local const NamedScope* innermost_scope;
/// The number of the innermost module's path.
uint16_t innermost_path();
}  // namespace detail

/// The label of memory that this thread allocates now.
inline MemoryLabel current_memory_label(bool with_path) {
  MemoryLabel label{modes.memory_tag, 0};
  if (!detail::innermost_scope) [[likely]]
    return label;
  if (label.tag == MemoryTag::Other) label.tag = MemoryTag::Activation;
  if (with_path && label.tag == MemoryTag::Activation) label.path = detail::innermost_path();
  return label;
}

/// The bytes of the activations of one module.
struct ModuleMemory {
  std::string path;
  MemoryStat bytes;
};

/// The bytes of activations by the number of their path; its owner locks it.
class PathBytes {
 public:
  void add(uint16_t path, int64_t bytes);  // bytes < 0: removes
  void reset_peak();
  /// The modules that have or had activations, those with the highest peak first.
  std::vector<ModuleMemory> modules() const;

 private:
  std::vector<MemoryStat> stats_;
};

}  // namespace hearth
