#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/deadline.h"
#include "hearth/distributed/types.h"

namespace hearth::distributed {

/// The description of a call, from which its tag and the texts of errors are made.
struct CallInfo {
  OpType type = OpType::UNKNOWN;
  uint64_t sequence = 0;  // of collectives, from 1
  bool reduces = false;   // whether `op` is set
  ReduceOp op;
  int peer = -1;  // the root, or the other rank of a transfer
  int user_tag = 0;
  ScalarType dtype = ScalarType::Undefined;
  std::vector<int64_t> sizes;   // of the tensor whose size is equal on all ranks
  bool has_equal_sizes = true;  // otherwise text() and tag() leave `sizes` out
  std::string module;
  Deadline::Clock::time_point start{};

  bool is_transfer() const {
    return type == OpType::SEND || type == OpType::RECV || type == OpType::RECVANYSOURCE ||
           type == OpType::COALESCED;
  }
  /// "all_reduce number 3: SUM of Float [2, 3]".
  std::string text() const;
  /// Equal on ranks with matching calls.
  uint32_t tag() const;
};

}  // namespace hearth::distributed
