#include <condition_variable>
#include <mutex>

#include "data/epoch.h"

namespace hearth::data::detail {

struct Turns::State {
  std::mutex mutex;
  std::condition_variable passed;
  size_t next;
};

Turns::Turns(size_t first) : state_(new State) { state_->next = first; }
Turns::~Turns() = default;

void Turns::wait(size_t number) {
  std::unique_lock lock(state_->mutex);
  state_->passed.wait(lock, [&] { return state_->next >= number; });
}

void Turns::pass(size_t number) {
  wait(number);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->next > number) return;
    state_->next = number + 1;
  }
  state_->passed.notify_all();
}

}  // namespace hearth::data::detail
