#pragma once

#include <memory>

#include "hearth/export.h"
#include "hearth/generator.h"
#include "hearth/owned_ptr.h"

namespace hearth {

namespace detail {
struct Modes;
}

/// A snapshot of a thread's modes for use in another thread: grad mode, inference mode, anomaly
/// mode, autocast, memory tag, current device and streams, a GeneratorGuard's generator; without
/// profilers and saved-tensor hooks.
class HEARTH_API ThreadLocalState {
 public:
  ThreadLocalState();  ///< the modes of this thread

 private:
  friend class ThreadLocalStateGuard;
  std::shared_ptr<const detail::Modes> modes_;
  Generator generator_;  // undefined without a GeneratorGuard
};

/// Applies a snapshot's modes to this thread during the guard's lifetime.
class HEARTH_API ThreadLocalStateGuard {
 public:
  explicit ThreadLocalStateGuard(const ThreadLocalState& state);
  ~ThreadLocalStateGuard();
  ThreadLocalStateGuard(const ThreadLocalStateGuard&) = delete;
  ThreadLocalStateGuard& operator=(const ThreadLocalStateGuard&) = delete;

 private:
  detail::OwnedPtr<const detail::Modes> former_;
  Generator generator_;
};

/// During its lifetime, parallel loops of this thread use one thread, and get_num_threads() is 1;
/// for programs that create many threads themselves.
class HEARTH_API SerialGuard {
 public:
  SerialGuard();
  ~SerialGuard();
  SerialGuard(const SerialGuard&) = delete;
  SerialGuard& operator=(const SerialGuard&) = delete;

 private:
  struct Scope;
  detail::OwnedPtr<Scope> scope_;
};

/// Replaces the CPU's default_generator() of this thread during the guard's lifetime, so that its
/// random numbers do not depend on other threads.
class HEARTH_API GeneratorGuard {
 public:
  explicit GeneratorGuard(Generator generator);
  ~GeneratorGuard();
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;

 private:
  Generator generator_;
  const Generator* former_;
};

}  // namespace hearth
