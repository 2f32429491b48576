#include "hearth/named_scope.h"

#include <new>

#include "core/modes.h"

namespace hearth {

namespace {
constinit thread_local const NamedScope* innermost = nullptr;
}

NamedScope::NamedScope(const char* name, const void* owner) : outer_(innermost), owner_(owner) {
  static_assert(sizeof(Scope) <= sizeof scope_ && alignof(Scope) <= alignof(void*));
  modes.scope = new (scope_) Scope{name, modes.scope};
  innermost = this;
}

NamedScope::~NamedScope() {
  modes.scope = std::launder(reinterpret_cast<const Scope*>(scope_))->outer;
  innermost = outer_;
}

bool NamedScope::is_innermost(const void* owner) { return innermost && innermost->owner_ == owner; }

}  // namespace hearth
