#include "hearth/distributed/future.h"

#include <atomic>
#include <mutex>
#include <optional>

namespace hearth::distributed {

struct Future::State {
  WorkPtr work;                  // null in a Future of then() or of a value
  std::optional<Future> before;  // only in a Future of then(), which calls step(before)
  Step step;

  std::mutex mutex;  // of the value; held during the wait for it
  std::optional<Tensor> value;
  std::atomic<bool> has_value = false;
};

Future::Future(Tensor value) : state_(std::make_shared<State>()) {
  state_->value = std::move(value);
  state_->has_value = true;
}

Future::Future(const WorkPtr& work) : state_(std::make_shared<State>()) {
  HEARTH_CHECK_AS(ValueError, work, "a Future needs a work, but this process is not in the group");
  state_->work = work;
}

Future Future::then(Step step) const {
  HEARTH_CHECK_AS(ValueError, step, "then() needs a function");
  auto next = std::make_shared<State>();
  next->before = *this;
  next->step = std::move(step);
  return Future(std::move(next));
}

Tensor Future::wait() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->value) return *state_->value;
  if (state_->work) {
    state_->work->wait();
    const std::vector<Tensor> written = state_->work->result();
    HEARTH_CHECK(!written.empty(), "the work of a Future writes no tensor");
    state_->value = written.front();
  } else {
    state_->before->wait();
    state_->value = state_->step(*state_->before);
  }
  state_->has_value = true;
  return *state_->value;
}

Tensor Future::value() const { return wait(); }

bool Future::done() const {
  return state_->has_value || (state_->work && state_->work->isCompleted());
}

}  // namespace hearth::distributed
