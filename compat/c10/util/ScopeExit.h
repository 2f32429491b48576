#pragma once

#include <utility>

namespace c10 {

/// Calls a function at the end of its scope, unless release() was called.
template <class F>
class ScopeExit {
 public:
  explicit ScopeExit(F function) : function_(std::move(function)) {}
  ScopeExit(const ScopeExit&) = delete;
  ScopeExit& operator=(const ScopeExit&) = delete;
  ~ScopeExit() {
    if (is_active_) function_();
  }
  void release() { is_active_ = false; }

 private:
  F function_;
  bool is_active_ = true;
};

template <class F>
ScopeExit<F> make_scope_exit(F function) {
  return ScopeExit<F>(std::move(function));
}

}  // namespace c10
