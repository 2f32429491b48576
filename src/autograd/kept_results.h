#pragma once

#include <unordered_map>
#include <vector>

#include "core/op_reuse.h"
#include "hearth/utils/checkpoint.h"

namespace hearth::utils::detail {

/// The results that a SelectiveCheckpoint keeps in forward, and the OpReuse that keeps them.
class KeptResults final : public OpReuse {
 public:
  /// `redraws`: the second computation draws the same random numbers as forward.
  KeptResults(const SelectiveCheckpoint& selection, bool redraws)
      : selection_(selection), redraws_(redraws), outer_(modes.scope) {}
  /// The function has returned; from now on, each result is used once and then freed.
  void forward_completed() { forward_completed_ = true; }
  bool find(const OpRecord&, Outputs&) override { return false; }
  void computed(const OpRecord& op, const Outputs& outputs) override;

 private:
  friend class ReusedResults;
  enum class State : uint8_t { kComputedAgain, kKept, kUsed };
  /// A counted call in forward.
  struct Call {
    State state;
    std::vector<Tensor> outputs;
    std::vector<int64_t> versions;  // of the outputs when they were kept
  };
  /// Whether results of the op in the current scope may be kept, so that its calls are counted. The
  /// function was called in the scope `outer`.
  bool counts(const OpRecord& op, const Scope* outer) const;
  /// Sets the outputs of the op's call number `index` if they are kept.
  bool take(const OpRecord& op, size_t index, Outputs& outputs);
  void check_versions(const OpRecord& op, const Call& call) const;

  const SelectiveCheckpoint selection_;
  const bool redraws_;
  const Scope* const outer_;  // the scope in which forward called the function
  std::unordered_map<const OpRecord*, std::vector<Call>> calls_;
  bool forward_completed_ = false;
};

/// Returns the kept results to the calls of one computation that repeats forward.
class ReusedResults final : public OpReuse {
 public:
  explicit ReusedResults(KeptResults& kept) : kept_(kept), outer_(modes.scope) {}
  bool find(const OpRecord& op, Outputs& outputs) override {
    return kept_.counts(op, outer_) && kept_.take(op, calls_[&op]++, outputs);
  }
  void computed(const OpRecord&, const Outputs&) override {}

 private:
  KeptResults& kept_;
  const Scope* const outer_;
  std::unordered_map<const OpRecord*, size_t> calls_;  // the number of calls so far
};

}  // namespace hearth::utils::detail
