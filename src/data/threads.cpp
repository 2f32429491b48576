#include "hearth/data/threads.h"

#include <unistd.h>

#include <condition_variable>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "hearth/error.h"
#include "hearth/thread_state.h"

namespace hearth::data::detail {

struct Threads::State {
  std::vector<std::thread> threads;
  const pid_t process = ::getpid();
};

Threads::Threads() : state_(new State) {}
Threads::~Threads() { join(); }

void Threads::start(size_t num_threads, const std::function<void(size_t)>& body,
                    const std::function<void()>& stop) {
  const auto end = [&] {
    stop();
    join();
  };
  try {
    for (size_t i = 0; i < num_threads; ++i)
      state_->threads.emplace_back([body, i] {
        const SerialGuard serial;
        body(i);
      });
  } catch (const std::system_error& error) {
    end();
    hearth::detail::fail<Error>("cannot start ", num_threads, " threads: ", error.what());
  } catch (...) {
    end();
    throw;
  }
}

bool Threads::are_of_parent() const { return state_->process != ::getpid(); }

void Threads::join() {
  if (are_of_parent()) {
    // A forked process does not have them; it may neither join nor destroy them.
    [[maybe_unused]] const auto* lost = new std::vector(std::exchange(state_->threads, {}));
    return;
  }
  for (std::thread& thread : state_->threads) thread.join();
  state_->threads.clear();
}

struct Condition::State {
  std::condition_variable condition;
};

Condition::Condition() : state_(new State) {}
Condition::~Condition() = default;
void Condition::wait(std::unique_lock<std::mutex>& lock) { state_->condition.wait(lock); }
void Condition::notify_all() noexcept { state_->condition.notify_all(); }

}  // namespace hearth::data::detail
