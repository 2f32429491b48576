#pragma once

#include <unordered_map>
#include <vector>

#include "core/op_reuse.h"
#include "hearth/utils/checkpoint.h"

namespace hearth::utils::detail {

/// The results that a SelectiveCheckpoint keeps in forward and returns in the second computation.
class KeptResults final : public OpReuse {
 public:
  /// `redraws`: the second computation draws the same random numbers as forward.
  KeptResults(const SelectiveCheckpoint& selection, bool redraws)
      : selection_(selection), redraws_(redraws) {}
  /// From now on, calls are those of the second computation.
  void replay();
  bool find(const OpRecord& op, Outputs& outputs) override;
  void computed(const OpRecord& op, const Outputs& outputs) override;

 private:
  enum class State : uint8_t { kComputedAgain, kKept, kUsed };
  struct Call {
    State state;
    std::vector<Tensor> outputs;
    std::vector<int64_t> versions;
  };
  struct Calls {
    std::vector<Call> made;
    size_t next = 0;  // in the second computation
  };
  /// Whether the calls of the op in the current scope are counted.
  bool counts(const OpRecord& op) const;
  void take(const OpRecord& op, Call& call, Outputs& outputs) const;

  const SelectiveCheckpoint selection_;
  const bool redraws_;
  std::unordered_map<const OpRecord*, Calls> calls_;
  bool replays_ = false;
};

}  // namespace hearth::utils::detail
