#include "core/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "core/blocked_signals.h"
#include "core/process_end.h"
#include "core/threads.h"
#include "core/waking_core.h"

namespace hearth {

namespace {

// Threads spin because the loops of a training step are microseconds apart, and waking a thread
// takes about 50 microseconds.
constexpr std::chrono::microseconds kHelperSpin{50};
constexpr std::chrono::microseconds kCallerSpin{20};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until done() is true or the time limit is reached; returns whether done() was true.
template <class Done>
bool spin_until(const Done& done, std::chrono::microseconds limit) {
  constexpr int kSpinsPerCheck = 32;
  const auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < kSpinsPerCheck; ++i) {
      if (done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

ParallelLoop::ParallelLoop(int64_t chunks, int slots, Body body, const void* functor)
    : slots_(slots),
      body_(body),
      functor_(functor),
      blocks_signals_(BlockedSignals::are_active()),
      shares_(inline_shares_) {
  if (slots > kInlineSlots) {
    heap_shares_ = std::make_unique<Share[]>(static_cast<size_t>(slots));
    shares_ = heap_shares_.get();
  }
  for (int i = 0; i < slots; ++i) {
    shares_[i].next.store(chunks * i / slots, std::memory_order_relaxed);
    shares_[i].end = chunks * (i + 1) / slots;
  }
}

void ParallelLoop::take_chunks(int slot) noexcept {
  const SerialScope serial;
  const ThreadNumberScope number(slot);
  std::optional<BlockedSignals> no_signals;
  if (blocks_signals_) no_signals.emplace();
  for (int i = 0; i < slots_; ++i) take_share(shares_[(slot + i) % slots_], slot);
}

void ParallelLoop::take_share(Share& share, int slot) noexcept {
  while (share.next.load(std::memory_order_relaxed) < share.end) {
    const int64_t index = share.next.fetch_add(1, std::memory_order_relaxed);
    if (index >= share.end) return;
    if (failed_.load(std::memory_order_relaxed)) continue;
    try {
      body_(functor_, index, slot);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }
}

/// The helper threads of parallel loops, and the list of the loops that they may join.
class ThreadPool {
 public:
  static ThreadPool& instance() {
    ThreadPool* pool = current_.load(std::memory_order_acquire);
    return pool ? *pool : first_instance();
  }

  void run(ParallelLoop& loop) {
    const LibraryCall call;  // covers the library calls of all chunks
    open(loop);
    take_chunks(loop, 0);
    close(loop);
  }

 private:
  /// One of the pool's threads; its slot is the same in every loop.
  struct Helper {
    std::condition_variable work;
    bool sleeps = false;
    WakingCore core;
  };

  /// Creates the pool, which is never destroyed, because detached threads may use it until the
  /// process ends.
  static ThreadPool& first_instance() {
    static ThreadPool* const pool = [] {
      auto* const created = new ThreadPool;
      current_.store(created, std::memory_order_release);
      // A forked child has none of its parent's threads, so it gets a pool of its own.
      pthread_atfork([] { current_.load()->mutex_.lock(); },
                     [] { current_.load()->mutex_.unlock(); },
                     [] { current_.store(new ThreadPool); });
      return created;
    }();
    return *pool;
  }

  /// Lets helpers join the loop, and wakes them.
  void open(ParallelLoop& loop) {
    Helper* to_wake[2];
    size_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      while (std::ssize(helpers_) < loop.slots() - 1 && start_helper()) {
      }
      loop.is_open_ = true;
      loop.after_ = head_;
      if (head_) head_->before_ = &loop;
      head_ = &loop;
      open_loops_.fetch_add(1, std::memory_order_release);
      count = sleepers_to_wake(0, loop, to_wake);
    }
    for (size_t i = 0; i < count; ++i) to_wake[i]->work.notify_one();
  }

  /// Finds the sleeping helpers that the thread of this slot has to wake: the children of the slot
  /// in a binary tree, so that many helpers wake quickly. Makes them avoid this thread's core. The
  /// caller holds the mutex.
  size_t sleepers_to_wake(int slot, const ParallelLoop& loop, Helper* (&found)[2]) {
    size_t count = 0;
    for (int child = 2 * slot + 1; child <= 2 * slot + 2; ++child) {
      if (child >= loop.slots() || child > std::ssize(helpers_)) break;
      Helper& helper = helpers_[static_cast<size_t>(child - 1)];
      if (!helper.sleeps) continue;
      helper.core.avoid_this_core();
      found[count++] = &helper;
    }
    return count;
  }

  void take_chunks(ParallelLoop& loop, int slot) {
    loop.take_chunks(slot);
    if (!loop.exhausted_.exchange(true)) open_loops_.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Stops helpers from joining the loop, and waits for those that have joined.
  void close(ParallelLoop& loop) {
    {
      const std::lock_guard lock(mutex_);
      unlink(loop);
    }
    const auto done = [&] { return loop.num_inside_.load(std::memory_order_seq_cst) == 0; };
    if (done() || spin_until(done, kCallerSpin)) return;
    std::unique_lock lock(mutex_);
    waiting_callers_.fetch_add(1, std::memory_order_seq_cst);
    helper_left_.wait(lock, done);
    waiting_callers_.fetch_sub(1, std::memory_order_relaxed);
  }

  void unlink(ParallelLoop& loop) {
    if (!loop.is_open_) return;  // a helper has already unlinked the exhausted loop
    loop.is_open_ = false;
    (loop.before_ ? loop.before_->after_ : head_) = loop.after_;
    if (loop.after_) loop.after_->before_ = loop.before_;
  }

  /// Joins a loop that has a slot for this helper; null if there is none. The caller holds the
  /// mutex.
  ParallelLoop* join_any(int slot) {
    for (ParallelLoop* loop = head_; loop;) {
      ParallelLoop* const next = loop->after_;
      if (loop->exhausted()) {
        unlink(*loop);
      } else if (slot < loop->slots()) {
        loop->num_inside_.fetch_add(1, std::memory_order_relaxed);
        return loop;
      }
      loop = next;
    }
    return nullptr;
  }

  void leave(ParallelLoop& loop) {
    loop.num_inside_.fetch_sub(1,
                               std::memory_order_seq_cst);  // now the caller may destroy the loop
    if (waiting_callers_.load(std::memory_order_seq_cst) == 0) return;
    { const std::lock_guard lock(mutex_); }
    helper_left_.notify_all();
  }

  /// Starts a thread; returns false if the system refuses. The caller holds the mutex.
  bool start_helper() {
    if (out_of_threads_) return false;
    try {
      Helper& helper = helpers_.emplace_back();
      const int slot = static_cast<int>(helpers_.size());
      std::thread([this, &helper, slot] { run_helper(helper, slot); }).detach();
      return true;
    } catch (const std::exception&) {  // loops run with fewer helpers
      out_of_threads_ = true;
      return false;
    }
  }

  [[noreturn]] void run_helper(Helper& self, int slot) {
    const LibraryThreadsGuard guard;
    LibraryCall::cover_this_thread();
    const bool spins = slot < usable_cores();
    for (;;) {
      ParallelLoop& loop = next_loop(self, slot, spins);
      take_chunks(loop, slot);
      leave(loop);
    }
  }

  /// Waits for a loop and joins it.
  ParallelLoop& next_loop(Helper& self, int slot, bool spins) {
    const auto some_open = [this] { return open_loops_.load(std::memory_order_acquire) > 0; };
    for (;;) {
      const bool saw_open_loop = spins && spin_until(some_open, kHelperSpin);
      std::unique_lock lock(mutex_);
      ParallelLoop* loop = join_any(slot);
      if (!loop && saw_open_loop && !some_open())
        continue;  // the loop has ended; spin for the next
      while (!loop) {
        self.sleeps = true;
        self.core.remember();
        self.work.wait(lock);
        self.core.allow_all();
        self.sleeps = false;
        loop = join_any(slot);
      }
      Helper* to_wake[2];
      const size_t count = sleepers_to_wake(slot, *loop, to_wake);
      lock.unlock();
      for (size_t i = 0; i < count; ++i) to_wake[i]->work.notify_one();
      return *loop;
    }
  }

  static inline std::atomic<ThreadPool*> current_{nullptr};

  std::mutex mutex_;
  std::condition_variable helper_left_;
  ParallelLoop* head_ = nullptr;
  std::deque<Helper> helpers_;
  bool out_of_threads_ = false;  // the system has refused to start a thread
  std::atomic<int> open_loops_{0};
  std::atomic<int> waiting_callers_{0};
};

namespace thread_pool {

void run(ParallelLoop& loop) { ThreadPool::instance().run(loop); }

}  // namespace thread_pool

}  // namespace hearth
