#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/export.h"

namespace hearth {

/// A position in a program's source code.
struct SourceLocation {
  const char* function = "";
  const char* file = "";
  uint32_t line = 0;
};

/// Base of all of Hearth's exceptions; the subclasses have PyTorch's names. Derived from
/// std::runtime_error, because LibTorch throws that class for numbers out of range, and programs
/// may catch it.
class HEARTH_API Error : public std::runtime_error {
 public:
  explicit Error(std::string message);
  Error(SourceLocation location, std::string message);  ///< what() also shows `location`
  ~Error() override;
  /// The message, the program's contexts and the location.
  const char* what() const noexcept override {
    return full_.empty() ? what_without_backtrace() : full_.c_str();
  }
  const char* what_without_backtrace() const noexcept {  ///< what() without the location
    return with_context_.empty() ? message_.c_str() : with_context_.c_str();
  }
  const std::string& msg() const noexcept { return message_; }  ///< the message
  /// Where it was raised: "Exception raised from f at a.cpp:3", or empty.
  const std::string& backtrace() const noexcept { return location_; }
  const void* caller() const noexcept { return nullptr; }  ///< LibTorch's; not recorded

  /// Appends a line ("in module net.fc1") to the message, before rethrowing.
  void append_line(std::string_view line);
  /// Adds a program's context. what() shows one in brackets, several on lines of their own.
  void add_context(std::string context);
  const std::vector<std::string>& context() const noexcept { return context_; }

 private:
  void refresh();
  std::string message_;
  std::string location_;
  std::vector<std::string> context_;
  std::string with_context_;  // message and contexts, or empty without a context
  std::string full_;          // the same with the location, or empty without a location
};

#define HEARTH_ERROR_TYPE(Name, Base)                   \
  class HEARTH_API Name : public Base {                 \
   public:                                              \
    explicit Name(std::string message);                 \
    Name(SourceLocation location, std::string message); \
    ~Name() override;                                   \
  }

HEARTH_ERROR_TYPE(IndexError, Error);
HEARTH_ERROR_TYPE(ValueError, Error);
HEARTH_ERROR_TYPE(TypeError, Error);
HEARTH_ERROR_TYPE(NotImplementedError, Error);
HEARTH_ERROR_TYPE(LinAlgError, Error);
HEARTH_ERROR_TYPE(OutOfMemoryError, Error);
HEARTH_ERROR_TYPE(DistError, Error);
HEARTH_ERROR_TYPE(DistBackendError, DistError);
HEARTH_ERROR_TYPE(DistStoreError, DistError);
HEARTH_ERROR_TYPE(DistNetworkError, DistError);
HEARTH_ERROR_TYPE(DistQueueEmptyError, DistStoreError);
#undef HEARTH_ERROR_TYPE

/// Passes a warning to this thread's sink, by default print_warning.
HEARTH_API void warn(const std::string& message);
HEARTH_API void print_warning(const std::string& message);  ///< prints "[W] message" to stderr
using WarningSink = void (*)(const std::string& message);   ///< receives warnings
/// Sets this thread's sink of warnings (null: the default) and returns the former one.
HEARTH_API WarningSink set_warning_sink(WarningSink sink);

namespace detail {

HEARTH_API void append(std::string& out, std::string_view text);
HEARTH_API void append(std::string& out, double value);
HEARTH_API void append(std::string& out, long long value);
HEARTH_API void append(std::string& out, unsigned long long value);

template <class T>
void append_any(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    append(out, std::string_view(value ? "true" : "false"));
  } else if constexpr (std::is_same_v<T, char>) {
    append(out, std::string_view(&value, 1));
  } else if constexpr (std::is_floating_point_v<T>) {
    append(out, static_cast<double>(value));
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    append(out, static_cast<long long>(value));
  } else if constexpr (std::is_integral_v<T>) {
    append(out, static_cast<unsigned long long>(value));
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    append(out, std::string_view(value));
  } else {
    append(out, std::string_view(as_text(value)));  // found by argument-dependent lookup
  }
}

template <class... Parts>
std::string str(const Parts&... parts) {
  std::string out;
  (append_any(out, parts), ...);
  return out;
}

template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Parts&... parts) {
  throw E(str(parts...));
}

}  // namespace detail

/// Functions that argument-dependent lookup must not find, so that a program's own functions of the
/// same names stay unambiguous for Hearth's types.
namespace by_name {

/// The value as text.
template <class T>
requires requires(const T& value) { as_text(value); }
std::string to_string(const T& value) { return std::string(as_text(value)); }

}  // namespace by_name
using namespace by_name;

}  // namespace hearth

/// HEARTH_CHECK(condition, parts...) throws a hearth::Error with the concatenated parts if the
/// condition is false.
#define HEARTH_CHECK(condition, ...) HEARTH_CHECK_AS(::hearth::Error, condition, __VA_ARGS__)
/// HEARTH_CHECK with another exception type.
#define HEARTH_CHECK_AS(ErrorType, condition, ...)    \
  do {                                                \
    if (!(condition)) [[unlikely]]                    \
      ::hearth::detail::fail<ErrorType>(__VA_ARGS__); \
  } while (false)
