#pragma once

#include <cstddef>

namespace hearth {

/// The memory in bytes that this process may use: that of the machine, or the limit of its control
/// group if that is less.
size_t system_memory_total();

/// The bytes available now without swapping; takes some microseconds.
size_t system_memory_available();

}  // namespace hearth
