#include "hearth/thread_state.h"

#include "core/modes.h"
#include "core/threads.h"

namespace hearth {

ThreadLocalState::ThreadLocalState() {
  Modes copy = modes;
  copy.flags &= ~uint32_t{kObserved};
  copy.scope = nullptr;
  copy.observer = nullptr;
  copy.saved_hooks = nullptr;
  copy.generator = nullptr;
  if (modes.generator) generator_ = *modes.generator;
  modes_ = std::make_shared<const Modes>(copy);
}

ThreadLocalStateGuard::ThreadLocalStateGuard(const ThreadLocalState& state)
    : former_(new Modes(modes)), generator_(state.generator_) {
  const Modes mine = modes;
  modes = *state.modes_;
  modes.flags |= mine.flags & uint32_t{kObserved};
  modes.scope = mine.scope;
  modes.observer = mine.observer;
  modes.saved_hooks = mine.saved_hooks;
  modes.generator = generator_.defined() ? &generator_ : mine.generator;
}
ThreadLocalStateGuard::~ThreadLocalStateGuard() { modes = *former_; }

struct SerialGuard::Scope : SerialScope {};
SerialGuard::SerialGuard() : scope_(new Scope) {}
SerialGuard::~SerialGuard() = default;

}  // namespace hearth
