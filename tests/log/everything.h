#pragma once

#include <string>

namespace hearth::testing {

/// Writes records of every kind. tests/oracle/read_by_tensorboard.py makes the same calls with
/// PyTorch, except for figures and the video.
void write_everything(const std::string& folder);

}  // namespace hearth::testing
