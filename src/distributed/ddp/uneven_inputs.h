#pragma once

#include "hearth/nn/distributed_data_parallel.h"

namespace hearth::nn::parallel::detail {

/// The agreement of the ranks in join(): before each forward(), each rank tells the others whether
/// it still has data; when none has, all take the parameters and buffers of one that had data last.
class UnevenInputs {
 public:
  UnevenInputs(DistributedDataParallelModule& model, const JoinOptions& options)
      : model_(model), options_(options) {}

  /// Announces a forward() of this rank. Returns the rank whose buffers are the valid ones.
  int announce_forward();
  /// For a rank without more data: joins the others' communication until no rank has data.
  void finish();

 private:
  struct Round {
    int active = 0;           // the number of ranks that have data
    bool reduces = false;     // whether they communicate gradients
    bool broadcasts = false;  // whether they broadcast buffers
  };
  Round exchange(bool has_data);

  DistributedDataParallelModule& model_;
  const JoinOptions options_;
  // The rank whose state is valid: the highest of the ranks with data in the latest round that had
  // such ranks.
  int source_ = 0;
};

}  // namespace hearth::nn::parallel::detail
