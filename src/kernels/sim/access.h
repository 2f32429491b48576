#pragma once

#include <cstddef>

namespace hearth::sim {

/// A program that touches these bytes, a simulated GPU's memory, ends with a sentence that says so
/// before the signal. Nothing is changed in a program that handles SIGSEGV itself. For at most 16
/// ranges, which stay what they are until the process ends.
void explain_access(const void* begin, size_t bytes);

}  // namespace hearth::sim
