#pragma once

#include <string>

namespace hearth::testing {

/// Calls every function of SummaryWriter. tests/oracle/read_by_tensorboard.py makes the same calls
/// with PyTorch.
void write_everything(const std::string& folder);

}  // namespace hearth::testing
