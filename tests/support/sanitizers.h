#pragma once

namespace hearth::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
/// For tests that must be shorter, because sanitizers make a step ten times as long, and for those
/// of signals that sanitizers handle themselves.
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

}  // namespace hearth::testing
