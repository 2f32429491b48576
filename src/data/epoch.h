#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hearth/owned_ptr.h"
#include "hearth/thread_state.h"

namespace hearth::data::detail {

/// Keeps an epoch's batches in order: each waits for all batches with lower numbers.
class Turns {
 public:
  explicit Turns(size_t first);
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// Waits until all earlier batches have passed.
  void wait(size_t number);
  /// Waits for the batch's turn and marks the batch as passed; a second call has no effect.
  void pass(size_t number);

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

/// The state that all batches of an epoch share.
struct Epoch {
  uint64_t seed = 0;
  ThreadLocalState modes;
  std::unique_ptr<Turns> turns;  // null if workers may call the dataset in any order
};

}  // namespace hearth::data::detail
