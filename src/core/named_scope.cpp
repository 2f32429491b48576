#include "hearth/named_scope.h"

#include <new>

#include "core/memory_label.h"
#include "core/observer.h"

namespace hearth {

constinit thread_local const NamedScope* detail::innermost_scope = nullptr;
using detail::innermost_scope;

NamedScope::NamedScope(const char* name, const void* owner)
    : outer_(innermost_scope), owner_(owner) {
  static_assert(sizeof(Scope) <= sizeof scope_ && alignof(Scope) <= alignof(void*));
  modes.scope = new (scope_) Scope{name, modes.scope};
  innermost_scope = this;
  if (modes.flags & kObserved) [[unlikely]]
    begin_observed_range({ObservedRange::Kind::kModule, this, name});
}

NamedScope::~NamedScope() {
  if (modes.flags & kObserved) [[unlikely]]
    end_observed_range(this);
  modes.scope = std::launder(reinterpret_cast<const Scope*>(scope_))->outer;
  innermost_scope = outer_;
}

bool NamedScope::is_innermost(const void* owner) {
  return innermost_scope && innermost_scope->owner_ == owner;
}

const char* NamedScope::innermost_name() {
  if (!innermost_scope) return nullptr;
  return std::launder(reinterpret_cast<const Scope*>(innermost_scope->scope_))->name;
}

}  // namespace hearth
