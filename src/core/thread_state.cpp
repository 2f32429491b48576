#include "hearth/thread_state.h"

#include "core/observer.h"
#include "core/threads.h"

namespace hearth {

namespace {

/// The flags of state that belongs to one thread and is not in a snapshot.
constexpr uint32_t kOwnFlags = kObserved | kReusesOps;

}  // namespace

ThreadLocalState::ThreadLocalState() {
  Modes copy = modes;
  copy.flags &= ~kOwnFlags;
  copy.scope = nullptr;
  copy.observer = nullptr;
  copy.saved_hooks = nullptr;
  copy.saved_by = nullptr;
  copy.op_reuse = nullptr;
  copy.generator = nullptr;
  if (modes.generator) generator_ = *modes.generator;
  modes_ = std::make_shared<const Modes>(copy);
}

ThreadLocalStateGuard::ThreadLocalStateGuard(const ThreadLocalState& state)
    : former_(new Modes(modes)), generator_(state.generator_) {
  const Modes mine = modes;
  modes = *state.modes_;
  modes.flags |= mine.flags & kOwnFlags;
  modes.scope = mine.scope;
  modes.observer = mine.observer;
  modes.saved_hooks = mine.saved_hooks;
  modes.saved_by = mine.saved_by;
  modes.op_reuse = mine.op_reuse;
  modes.generator = generator_.defined() ? &generator_ : mine.generator;
  if (Observer * (*const of_thread)() = observer_of_thread.load()) [[unlikely]]
    if (Observer* const observer = of_thread(); observer && !observer->is_installed())
      observer->install();
}
ThreadLocalStateGuard::~ThreadLocalStateGuard() { modes = *former_; }

struct SerialGuard::Scope : SerialScope {};
SerialGuard::SerialGuard() : scope_(new Scope) {}
SerialGuard::~SerialGuard() = default;

}  // namespace hearth
