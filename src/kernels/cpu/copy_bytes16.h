// An element of 16 bytes that is only copied.
#pragma once

#include <cstdint>

namespace hearth::cpu {

struct Bytes16 {
  uint64_t low, high;
};

}  // namespace hearth::cpu
