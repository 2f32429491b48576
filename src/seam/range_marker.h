#pragma once

#include <cstdint>

namespace hearth {

/// Functions that report ranges and points in time to the profilers of a GPU's vendor (NVTX).
/// Ranges of push and pop nest on the calling thread.
struct RangeMarker {
  int (*push)(const char* name);  // returns the number of open ranges before it
  int (*pop)();                   // returns the number of open ranges after it
  void (*mark)(const char* name);
  uint64_t (*start)(const char* name);  // a range that any thread may end
  void (*end)(uint64_t range);
};

}  // namespace hearth
