#pragma once

#include <functional>
#include <memory>

#include "hearth/distributed/work.h"

namespace hearth::distributed {

/// A tensor that will be known when a collective has ended. Copies share their state.
class HEARTH_API Future {
 public:
  using Step = std::function<Tensor(const Future& future)>;

  explicit Future(Tensor value);         ///< a tensor that is known
  explicit Future(const WorkPtr& work);  ///< the first tensor that the work writes

  /// The result of `step`, which receives this future when it has ended. The step runs in the first
  /// wait() for the new future, on the waiting thread. Steps may therefore call collectives if all
  /// ranks wait for their futures in the same order.
  Future then(Step step) const;
  Tensor wait() const;   ///< the tensor; throws the error of the collective or of a step
  Tensor value() const;  ///< the same, for use in a step
  bool done() const;     ///< whether wait() would return at once

 private:
  struct State;
  explicit Future(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace hearth::distributed
