#pragma once

#include <cstddef>

#include "hearth/export.h"

namespace hearth {

/// While one lives, this thread works inside a part of the program that has a name, such as a
/// module's path: error texts, anomaly mode, memory tags and profiles say so.
class HEARTH_API NamedScope {
 public:
  /// `name` is not copied. `owner` says whose scope it is.
  explicit NamedScope(const char* name, const void* owner = nullptr);
  ~NamedScope();
  NamedScope(const NamedScope&) = delete;
  NamedScope& operator=(const NamedScope&) = delete;

  /// Whether the innermost scope of this thread belongs to `owner`.
  static bool is_innermost(const void* owner);

 private:
  const NamedScope* outer_;
  const void* owner_;
  alignas(void*) std::byte scope_[2 * sizeof(void*)];  // what the op boundary keeps of it
};

}  // namespace hearth
