#pragma once

#include <cstddef>

namespace hearth {

/// Bytes of memory this process may use in all: the machine's, or its control group's where that is
/// less.
size_t system_memory_total();

/// Bytes that could be had now without swapping; costs some microseconds.
size_t system_memory_available();

}  // namespace hearth
