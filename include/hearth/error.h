#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hearth/export.h"

namespace hearth {

/// A place in a program.
struct SourceLocation {
  const char* function = "";
  const char* file = "";
  uint32_t line = 0;
};

/// The root of everything Hearth throws; the subclasses carry PyTorch's names. A runtime_error,
/// because LibTorch throws those for numbers that do not fit.
class HEARTH_API Error : public std::runtime_error {
 public:
  explicit Error(std::string message);
  /// what() also names the place.
  Error(SourceLocation where, std::string message);
  ~Error() override;
  const char* what() const noexcept override {
    return full_.empty() ? message_.c_str() : full_.c_str();
  }
  const char* what_without_backtrace() const noexcept { return message_.c_str(); }
  const std::string& msg() const noexcept { return message_; }

  /// Appends a line of context ("while computing net.fc1"), for those who rethrow.
  void add_context(std::string_view line);

 private:
  std::string message_;
  std::string full_;  // with the place, if there is one
};

#define HEARTH_ERROR_TYPE(Name, Base)                \
  class HEARTH_API Name : public Base {              \
   public:                                           \
    explicit Name(std::string message);              \
    Name(SourceLocation where, std::string message); \
    ~Name() override;                                \
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

/// Reports a condition that does not stop the program: "[W] message" on stderr unless a sink is
/// set.
HEARTH_API void warn(const std::string& message);
/// What warn does when no sink is set.
HEARTH_API void print_warning(const std::string& message);
using WarningSink = void (*)(const std::string& message);
/// Sets where this thread's warnings go (null restores the default) and returns the former sink.
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

/// What must be named with its namespace: a program's own function of such a name is called with
/// Hearth's types without an ambiguity.
namespace by_name {

/// The value as text.
template <class T>
requires requires(const T& value) { as_text(value); }
std::string to_string(const T& value) { return std::string(as_text(value)); }

}  // namespace by_name
using namespace by_name;

}  // namespace hearth

/// HEARTH_CHECK(condition, parts...) throws hearth::Error with the parts joined.
#define HEARTH_CHECK(condition, ...) HEARTH_CHECK_AS(::hearth::Error, condition, __VA_ARGS__)
#define HEARTH_CHECK_AS(ErrorType, condition, ...)    \
  do {                                                \
    if (!(condition)) [[unlikely]]                    \
      ::hearth::detail::fail<ErrorType>(__VA_ARGS__); \
  } while (false)
