#pragma once

#include <iosfwd>

namespace hearth::app {

/// `hearth info`: versions, CPU, memory and GPUs, or why CUDA is off.
void print_info(std::ostream& out, bool as_json);

}  // namespace hearth::app
