#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/modes.h"
#include "hearth/memory_stats.h"

namespace hearth {

class NamedScope;

/// The purpose of a block of memory: its tag and, for an activation, the number of the module's
/// path (0: none).
class MemoryLabel {
 public:
  MemoryLabel() = default;
  MemoryLabel(MemoryTag tag, uint16_t path = 0)
      : bits_(static_cast<uint32_t>(tag) | uint32_t{path} << 16) {}
  MemoryTag tag() const { return static_cast<MemoryTag>(bits_ & 0xff); }
  uint16_t path() const { return static_cast<uint16_t>(bits_ >> 16); }

 private:
  uint32_t bits_ = 0;  // one word: loading two fields at once after two stores would stall
};

namespace detail {
/// This thread's innermost module (core/named_scope.cpp); null outside modules.
extern constinit thread_local const NamedScope* innermost_scope;
/// The number of the innermost module's path.
uint16_t innermost_path();
}  // namespace detail

/// The label of memory that this thread allocates now; without `with_path`, it has no path.
inline MemoryLabel current_memory_label(bool with_path) {
  const MemoryTag tag = modes.memory_tag;
  if (tag != MemoryTag::Other && tag != MemoryTag::Activation) return tag;
  if (!detail::innermost_scope) [[likely]]
    return tag;
  return {MemoryTag::Activation, with_path ? detail::innermost_path() : uint16_t{0}};
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
