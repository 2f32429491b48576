#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "hearth/error.h"

namespace hearth::data {

/// Input iterator over a data loader's batches. Copies share their position.
template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;
  using BatchProducer = std::function<std::optional<Batch>()>;

  Iterator() = default;  ///< past the end
  explicit Iterator(BatchProducer next) : state_(std::make_shared<State>()) {
    state_->next = std::move(next);
  }

  Iterator& operator++() {
    HEARTH_CHECK(state_, "Incrementing the DataLoader's past-the-end iterator is not allowed");
    HEARTH_CHECK(state_->get(), "Attempted to increment iterator past the end");
    state_->batch = state_->next();
    return *this;
  }
  Batch& operator*() {
    HEARTH_CHECK(state_, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
    HEARTH_CHECK(state_->get(), "Attempted to dereference iterator that was past the end");
    return *state_->batch;
  }
  Batch* operator->() { return &**this; }

  bool operator==(const Iterator& other) const {
    return state_ == other.state_ || (!state_ && !other.state_->get()) ||
           (!other.state_ && !state_->get());
  }
  bool operator!=(const Iterator& other) const { return !(*this == other); }

  /// A pointer that expires when the last copy of the iterator is destroyed.
  std::weak_ptr<const void> alive() const { return state_; }

 private:
  struct State {
    BatchProducer next;
    std::optional<Batch> batch;
    bool started = false;

    /// The current batch; the first one is produced at first use.
    std::optional<Batch>& get() {
      if (!started) {
        batch = next();
        started = true;
      }
      return batch;
    }
  };
  std::shared_ptr<State> state_;
};

}  // namespace hearth::data
