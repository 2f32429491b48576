#pragma once

#include <cstdint>

namespace hearth {

/// The sequence number of the next autograd node that this thread records. It is per thread, as in
/// PyTorch: later ops of a thread run earlier in backward.
inline constinit thread_local uint64_t next_sequence_nr = 0;

}  // namespace hearth
