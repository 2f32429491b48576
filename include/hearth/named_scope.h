#pragma once

#include <cstddef>

#include "hearth/export.h"

namespace hearth {

/// Names the part of the program, such as a module's path, that this thread runs during the scope's
/// lifetime; error texts, anomaly mode, memory tags and profiles show it.
class HEARTH_API NamedScope {
 public:
  /// `name` is not copied. `owner` identifies the object that opened the scope.
  explicit NamedScope(const char* name, const void* owner = nullptr);
  ~NamedScope();
  NamedScope(const NamedScope&) = delete;
  NamedScope& operator=(const NamedScope&) = delete;

  /// Whether the innermost scope of this thread belongs to `owner`.
  static bool is_innermost(const void* owner);
  static const char* innermost_name();  ///< the name of this thread's innermost scope, or null

 private:
  const NamedScope* outer_;
  const void* owner_;
  alignas(void*) std::byte scope_[2 * sizeof(void*)];  // the core's record of this scope
};

}  // namespace hearth
