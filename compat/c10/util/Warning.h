#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "c10/namespaces.h"
#include "c10/util/StringUtil.h"
#include "hearth/context.h"
#include "hearth/error.h"

namespace c10 {

/// A warning's kind, source location and message.
class Warning {
 public:
  class UserWarning {};
  class DeprecationWarning {};
  using warning_variant_t = std::variant<UserWarning, DeprecationWarning>;

  Warning(warning_variant_t type, const SourceLocation& location, std::string msg, bool verbatim)
      : type_(type), location_(location), msg_(std::move(msg)), verbatim_(verbatim) {}
  warning_variant_t type() const { return type_; }
  const SourceLocation& source_location() const { return location_; }
  const std::string& msg() const { return msg_; }
  bool verbatim() const { return verbatim_; }

 private:
  warning_variant_t type_;
  SourceLocation location_;
  std::string msg_;
  bool verbatim_;
};
using UserWarning = Warning::UserWarning;
using DeprecationWarning = Warning::DeprecationWarning;

/// Base class of handlers that receive a thread's warnings.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning) { print_warning(warning.msg()); }
};

namespace WarningUtils {

namespace detail {
inline thread_local WarningHandler* handler = nullptr;

/// Passes a warning of the library to this thread's handler.
inline void forward(const std::string& message) {
  handler->process(Warning(UserWarning(), {}, message, false));
}
}  // namespace detail

/// Sets this thread's handler, which must outlive its use; null restores the default.
inline void set_warning_handler(WarningHandler* handler) noexcept {
  detail::handler = handler;
  hearth::set_warning_sink(handler ? &detail::forward : nullptr);
}
inline WarningHandler* get_warning_handler() noexcept {
  static WarningHandler default_handler;
  return detail::handler ? detail::handler : &default_handler;
}

/// Sets whether TORCH_WARN_ONCE warns every time.
inline void set_warnAlways(bool setting) noexcept {
  hearth::globalContext().setWarnAlways(setting);
}
inline bool get_warnAlways() noexcept { return hearth::globalContext().warnAlways(); }

/// Sets this thread's handler and restores the former one on destruction.
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : former_(detail::handler) {
    set_warning_handler(handler);
  }
  ~WarningHandlerGuard() { set_warning_handler(former_); }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningHandler* former_;
};

/// Sets warnAlways and restores the former value on destruction.
struct WarnAlways {
  explicit WarnAlways(bool setting = true) : former_(get_warnAlways()) { set_warnAlways(setting); }
  ~WarnAlways() { set_warnAlways(former_); }
  WarnAlways(const WarnAlways&) = delete;
  WarnAlways& operator=(const WarnAlways&) = delete;

 private:
  bool former_;
};

}  // namespace WarningUtils

inline void warn(const Warning& warning) { WarningUtils::get_warning_handler()->process(warning); }

}  // namespace c10

namespace at {
using c10::Warning;
using c10::WarningHandler;
namespace WarningUtils = c10::WarningUtils;
}  // namespace at
namespace torch {
using c10::Warning;
using c10::WarningHandler;
namespace WarningUtils = c10::WarningUtils;
}  // namespace torch

#define HEARTH_WARN_AS(Type, ...)                                           \
  ::c10::warn(::c10::Warning(::c10::Type(), {__func__, __FILE__, __LINE__}, \
                             ::c10::str(__VA_ARGS__), false))
#define TORCH_WARN(...) HEARTH_WARN_AS(UserWarning, __VA_ARGS__)
#define TORCH_WARN_DEPRECATION(...) HEARTH_WARN_AS(DeprecationWarning, __VA_ARGS__)
/// Warns the first time that the statement is executed, or every time with warnAlways.
#define TORCH_WARN_ONCE(...)                                                                      \
  do {                                                                                            \
    static ::std::atomic<bool> warned = false;                                                    \
    if (!warned.exchange(true) || ::c10::WarningUtils::get_warnAlways()) TORCH_WARN(__VA_ARGS__); \
  } while (false)
