#pragma once

namespace torch::mps {

/// Always false: Hearth computes on CPUs and NVIDIA GPUs only.
inline bool is_available() { return false; }

}  // namespace torch::mps
