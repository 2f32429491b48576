#pragma once

#include <cstddef>

namespace hearth {

/// The memory in bytes that this process may use: the machine's memory, or the limit of the control
/// group if that is lower.
size_t system_memory_total();

/// The bytes available now without swapping; takes some microseconds.
size_t system_memory_available();

}  // namespace hearth
