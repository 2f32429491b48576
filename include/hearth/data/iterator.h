#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "hearth/error.h"

namespace hearth::data {

/// Goes once through a data loader's batches. Copies share their place.
template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;
  using BatchProducer = std::function<std::optional<Batch>()>;

  /// Past the end.
  Iterator() = default;
  explicit Iterator(BatchProducer next) : place_(std::make_shared<Place>()) {
    place_->next = std::move(next);
  }

  Iterator& operator++() {
    HEARTH_CHECK(place_, "Incrementing the DataLoader's past-the-end iterator is not allowed");
    HEARTH_CHECK(place_->get(), "Attempted to increment iterator past the end");
    place_->batch = place_->next();
    return *this;
  }
  Batch& operator*() {
    HEARTH_CHECK(place_, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
    HEARTH_CHECK(place_->get(), "Attempted to dereference iterator that was past the end");
    return *place_->batch;
  }
  Batch* operator->() { return &**this; }

  bool operator==(const Iterator& other) const {
    return place_ == other.place_ || (!place_ && !other.place_->get()) ||
           (!other.place_ && !place_->get());
  }
  bool operator!=(const Iterator& other) const { return !(*this == other); }

  /// Expires with the last copy.
  std::weak_ptr<const void> alive() const { return place_; }

 private:
  struct Place {
    BatchProducer next;
    std::optional<Batch> batch;
    bool started = false;

    /// The current batch, which is the first one's maker's business until somebody looks.
    std::optional<Batch>& get() {
      if (!started) {
        batch = next();
        started = true;
      }
      return batch;
    }
  };
  std::shared_ptr<Place> place_;
};

}  // namespace hearth::data
