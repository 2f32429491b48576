#pragma once

#include <cstddef>

#include "hearth/export.h"

namespace hearth {

/// Names the current activity of this thread during the scope's lifetime, for example by a module's
/// path. Error texts and anomaly mode show the name.
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
