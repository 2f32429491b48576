#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "hearth/export.h"

namespace hearth::data::detail {

/// Threads that each compute alone.
class HEARTH_API Threads {
 public:
  Threads();
  /// Joins.
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// Runs body(0) to body(count - 1), which must not throw. If the system grants no more threads,
  /// calls stop, so that those already there end, and throws.
  void start(size_t count, const std::function<void(size_t)>& body,
             const std::function<void()>& stop);
  void join();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hearth::data::detail
