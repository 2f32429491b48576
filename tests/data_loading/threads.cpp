// The threads of data loaders.
#include "hearth/data/threads.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <new>

namespace hearth::data {
namespace {

/// What a thread runs: waits until `stops` is set. Copying throws once no copies are left, as if
/// memory ran out.
struct Body {
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool stops = false;
    int copies_left = 1000;
  };
  explicit Body(Shared& shared_) : shared(&shared_) {}
  Body(const Body& other) : shared(other.shared) {
    if (shared->copies_left-- == 0) throw std::bad_alloc();
  }
  Body& operator=(const Body&) = delete;
  ~Body() = default;
  void operator()(size_t) const {
    std::unique_lock lock(shared->mutex);
    shared->changed.wait(lock, [this] { return shared->stops; });
  }

  Shared* shared;
};

TEST(Threads, ThoseThatRunAreStoppedIfAnotherCannotStart) {
  Body::Shared shared;
  const auto stop = [&] {
    const std::lock_guard lock(shared.mutex);
    shared.stops = true;
    shared.changed.notify_all();
  };
  int stopped = 0;
  detail::Threads threads;
  const std::function<void(size_t)> body = Body(shared);
  shared.copies_left = 2;
  EXPECT_THROW(threads.start(3, body,
                             [&] {
                               ++stopped;
                               stop();
                             }),
               std::bad_alloc);
  EXPECT_EQ(stopped, 1);
  stop();  // or the destructor of `threads` would wait for ever after a failure
}

}  // namespace
}  // namespace hearth::data
