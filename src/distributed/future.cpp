#include "hearth/distributed/future.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>

namespace hearth::distributed {

struct Future::State {
  WorkPtr work;                  // null in a Future of then() or of a value
  std::optional<Future> before;  // only in a Future of then(), which calls step(before)
  Step step;

  std::mutex mutex;  // of the result; held during the wait for it
  std::optional<Tensor> value;
  std::exception_ptr error;         // of the work or the step, which runs once
  std::atomic<bool> ended = false;  // value or error is set

  Tensor compute();
};

Future::Future(Tensor value) : state_(std::make_shared<State>()) {
  state_->value = std::move(value);
  state_->ended = true;
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

Tensor Future::State::compute() {
  if (!work) {
    before->wait();
    return step(*before);
  }
  work->wait();
  const std::vector<Tensor> written = work->result();
  HEARTH_CHECK(!written.empty(), "the work of a Future writes no tensor");
  return written.front();
}

Tensor Future::wait() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->ended) {
    try {
      state_->value = state_->compute();
    } catch (...) {
      state_->error = std::current_exception();
    }
    state_->ended = true;
  }
  if (state_->error) std::rethrow_exception(state_->error);
  return *state_->value;
}

Tensor Future::value() const { return wait(); }

bool Future::done() const { return state_->ended || (state_->work && state_->work->isCompleted()); }

}  // namespace hearth::distributed
