#pragma once

#include <string_view>

#include "hearth/export.h"

namespace hearth::profiler {

/// A named range of this thread's work in profiles, from construction to destruction. Ranges may be
/// nested. Without a running profile, a range costs the test of one flag.
class HEARTH_API record_function {
 public:
  explicit record_function(std::string_view name);
  ~record_function();
  record_function(const record_function&) = delete;
  record_function& operator=(const record_function&) = delete;
};

/// Whether a profile or another observer records this thread now.
HEARTH_API bool is_observed();

}  // namespace hearth::profiler
