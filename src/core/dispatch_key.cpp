#include "hearth/dispatch_key.h"

#include "core/modes.h"

namespace hearth {

const char* toString(DispatchKey key) {
  constexpr const char* kNames[] = {
#define HEARTH_NAME(name) #name,
      HEARTH_DISPATCH_KEYS(HEARTH_NAME)
#undef HEARTH_NAME
  };
  return kNames[static_cast<size_t>(key)];
}

std::string as_text(DispatchKeySet keys) {
  std::string text = "DispatchKeySet(";
  for (int i = 1; i < 64; ++i) {
    const auto key = static_cast<DispatchKey>(i);
    if (!keys.has(key)) continue;
    if (text.back() != '(') text += ", ";
    text += toString(key);
  }
  return text + ')';
}

namespace impl {

ExcludeDispatchKeyGuard::ExcludeDispatchKeyGuard(DispatchKeySet keys)
    : former_(modes.excluded_keys), former_flags_(modes.flags & kAutocast) {
  modes.excluded_keys = modes.excluded_keys | keys;
  if (keys.has(DispatchKey::AutocastCPU)) modes.flags &= ~uint32_t(kAutocastCpu);
  if (keys.has(DispatchKey::AutocastCUDA)) modes.flags &= ~uint32_t(kAutocastCuda);
}
ExcludeDispatchKeyGuard::~ExcludeDispatchKeyGuard() {
  modes.excluded_keys = former_;
  modes.flags = (modes.flags & ~uint32_t(kAutocast)) | former_flags_;
}

bool tls_is_dispatch_key_excluded(DispatchKey key) { return modes.excluded_keys.has(key); }
bool tls_is_dispatch_keyset_excluded(DispatchKeySet keys) {
  return modes.excluded_keys.has_all(keys);
}

}  // namespace impl

}  // namespace hearth
