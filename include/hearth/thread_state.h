#pragma once

#include <memory>

#include "hearth/export.h"
#include "hearth/generator.h"
#include "hearth/owned_ptr.h"

namespace hearth {

namespace detail {
struct Modes;
}

/// A thread's modes, to be taken over by another one: gradients, inference, autocast, devices,
/// streams and a GeneratorGuard's generator. What looks on from a stack (profilers, saved-tensor
/// hooks) stays with its thread.
class HEARTH_API ThreadLocalState {
 public:
  /// This thread's.
  ThreadLocalState();

 private:
  friend class ThreadLocalStateGuard;
  std::shared_ptr<const detail::Modes> modes_;
  Generator generator_;  // undefined without a guard
};

/// While one lives, its thread has another one's modes.
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

/// While one lives, its thread computes alone: get_num_threads() is 1. For threads of which there
/// are many.
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

/// While one lives, default_generator() on the CPU is this one in its thread, so that what the
/// thread draws does not depend on others.
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
