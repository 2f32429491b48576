#include "hearth/data/threads.h"

#include <system_error>
#include <thread>
#include <vector>

#include "hearth/error.h"
#include "hearth/thread_state.h"

namespace hearth::data::detail {

struct Threads::State {
  std::vector<std::thread> threads;
};

Threads::Threads() : state_(std::make_unique<State>()) {}
Threads::~Threads() { join(); }

void Threads::start(size_t count, const std::function<void(size_t)>& body,
                    const std::function<void()>& stop) {
  try {
    for (size_t i = 0; i < count; ++i)
      state_->threads.emplace_back([body, i] {
        const SerialGuard alone;
        body(i);
      });
  } catch (const std::system_error& error) {
    stop();
    join();
    hearth::detail::fail<Error>("cannot start ", count, " threads: ", error.what());
  }
}

void Threads::join() {
  for (std::thread& thread : state_->threads) thread.join();
  state_->threads.clear();
}

}  // namespace hearth::data::detail
