#pragma once

#include <iosfwd>

namespace hearth::app {

/// `hearth info`: what this build is, where it runs, and why CUDA is off if it is.
void print_info(std::ostream& out, bool as_json);

}  // namespace hearth::app
