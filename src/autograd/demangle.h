#pragma once

#include <string>

namespace hearth::autograd {

/// A C++ symbol as a person reads it.
std::string demangle(const char* symbol);

}  // namespace hearth::autograd
