#pragma once

#include <optional>
#include <vector>

#include "distributed/flat_tensor.h"
#include "hearth/distributed/grad_bucket.h"
#include "hearth/distributed/process_group.h"

namespace hearth::distributed {

/// How gradients are communicated.
struct Communication {
  ProcessGroupPtr group;
  CommHook hook;                     // null: the mean by all_reduce
  double divisor = 1;                // of the sum, without a hook
  bool gradients_are_views = false;  // each grad() is a view of its bucket
};

/// Gradients that are communicated together, and the progress of their backward pass.
class Bucket {
 public:
  Bucket(std::vector<size_t> members, const std::vector<Tensor>& parameters);

  const std::vector<size_t>& members() const { return members_; }  ///< indices of parameters
  void begin_pass() { pending_ = members_.size(); }
  bool is_full() const { return pending_ == 0; }

  // A slot is the index of a parameter in members().
  /// Puts the gradient of a member (0 if it has none) into the bucket, divided unless there is a
  /// hook or launch() divides the whole bucket. With the last member the bucket is full.
  void put(size_t slot, const Communication& communication);
  void fill_with_zeros() const { gradients_.buffer().zero_(); }
  /// Starts the communication of bucket `index` of `count`.
  void launch(size_t index, size_t count, const Communication& communication);
  void wait();  ///< waits for the result, which is then in the bucket
  /// Sets the gradient of a member to the result.
  void store(size_t slot, bool gradients_are_views) const;

 private:
  std::vector<size_t> members_;
  std::vector<Tensor> parameters_;
  FlatTensor gradients_;
  size_t pending_ = 0;
  WorkPtr work_;
  std::optional<Future> future_;
};

}  // namespace hearth::distributed
