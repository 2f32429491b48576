#pragma once

#include <string>

#include "c10/namespaces.h"
#include "hearth/dispatch_key.h"

namespace hearth {
inline std::string toString(DispatchKeySet keys) { return as_text(keys); }
}  // namespace hearth

namespace c10::impl {
using hearth::impl::ExcludeDispatchKeyGuard;
using hearth::impl::tls_is_dispatch_key_excluded;
using hearth::impl::tls_is_dispatch_keyset_excluded;
}  // namespace c10::impl
