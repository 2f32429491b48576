#pragma once

#include <cstddef>

namespace hearth {

inline constexpr size_t kMiB = size_t{1} << 20;

}  // namespace hearth
