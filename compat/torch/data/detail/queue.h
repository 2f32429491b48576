#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <queue>
#include <utility>

#include "c10/util/Exception.h"

namespace hearth::data::detail {

/// A queue between threads.
template <class T>
class Queue {
 public:
  void push(T value) {
    {
      const std::lock_guard lock(mutex_);
      values_.push(std::move(value));
    }
    filled_.notify_one();
  }
  /// Waits for a value; throws after the time-out.
  T pop(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    std::unique_lock lock(mutex_);
    const auto is_filled = [this] { return !values_.empty(); };
    if (!timeout) filled_.wait(lock, is_filled);
    TORCH_CHECK(!timeout || filled_.wait_for(lock, *timeout, is_filled),
                "Timeout in DataLoader queue while waiting for next batch (timeout was ",
                timeout->count(), " ms)");
    T value = std::move(values_.front());
    values_.pop();
    return value;
  }
  /// Drops all values and returns their number.
  size_t clear() {
    const std::lock_guard lock(mutex_);
    const size_t count = values_.size();
    values_ = {};
    return count;
  }

 private:
  std::queue<T> values_;
  std::mutex mutex_;
  std::condition_variable filled_;
};

}  // namespace hearth::data::detail
