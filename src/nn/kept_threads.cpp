#include "nn/kept_threads.h"

#include <unistd.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace hearth::nn::parallel::detail {

/// A thread that waits for calls until the process ends.
class KeptThread {
 public:
  KeptThread() {
    std::thread([this] { run(); }).detach();
  }

  void start(const std::function<void(size_t)>& work, size_t i) {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    argument_ = i;
    started_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return !work_; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      started_.wait(lock, [this] { return work_; });
      lock.unlock();
      (*work_)(argument_);
      lock.lock();
      work_ = nullptr;
      ended_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable started_, ended_;
  const std::function<void(size_t)>* work_ = nullptr;
  size_t argument_ = 0;
};

namespace {

/// The threads that have no call.
class IdleThreads {
 public:
  KeptThread* take() {
    const std::lock_guard lock(mutex_);
    if (process_ != getpid()) {  // a forked child has none of its parent's threads
      process_ = getpid();
      threads_.clear();
    }
    if (threads_.empty()) return std::make_unique<KeptThread>().release();
    KeptThread* const thread = threads_.back();
    threads_.pop_back();
    return thread;
  }
  void put_back(KeptThread* thread) {
    const std::lock_guard lock(mutex_);
    threads_.push_back(thread);
  }

 private:
  std::mutex mutex_;
  std::vector<KeptThread*> threads_;
  pid_t process_ = getpid();
};

/// Never destroyed, because its threads run until the process ends.
IdleThreads& idle_threads() {
  static IdleThreads& threads = *new IdleThreads;
  return threads;
}

}  // namespace

ThreadCall::ThreadCall(const std::function<void(size_t)>& work, size_t i)
    : thread_(idle_threads().take()) {
  thread_->start(work, i);
}

ThreadCall::~ThreadCall() {
  if (!thread_) return;
  thread_->wait();
  idle_threads().put_back(thread_);
}

}  // namespace hearth::nn::parallel::detail
