#pragma once

#include <cstddef>

namespace hearth::sim {

/// Registers a range of simulated device memory: a host program that accesses it prints an
/// explanation before SIGSEGV ends it. Has no effect in a program that handles SIGSEGV itself. At
/// most 16 ranges; they stay registered until the process ends.
void explain_access(const void* begin, size_t bytes);

}  // namespace hearth::sim
