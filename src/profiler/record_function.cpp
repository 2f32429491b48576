#include "hearth/profiler/record_function.h"

#include "core/observer.h"

namespace hearth::profiler {

bool is_observed() { return modes.flags & kObserved; }

record_function::record_function(std::string_view name) {
  if (is_observed()) [[unlikely]]
    begin_observed_range({ObservedRange::Kind::kUser, this, name});
}

record_function::~record_function() {
  if (is_observed()) [[unlikely]]
    end_observed_range(this);
}

}  // namespace hearth::profiler
