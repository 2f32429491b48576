#pragma once

#include <cstddef>

namespace c10 {
/// The alignment in bytes of a tensor's memory.
constexpr size_t gAlignment = 64;
}  // namespace c10
