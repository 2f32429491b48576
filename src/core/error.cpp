#include "hearth/error.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "hearth/shape.h"

namespace hearth {

// what() is overridden: the text can still grow (append_line).
Error::Error(std::string message) : std::runtime_error(""), message_(std::move(message)) {}
Error::Error(SourceLocation where, std::string message) : Error(std::move(message)) {
  location_ =
      detail::str("Exception raised from ", where.function, " at ", where.file, ":", where.line);
  refresh();
}
Error::~Error() = default;

void Error::append_line(std::string_view line) {
  message_ += '\n';
  message_ += line;
  refresh();
}

void Error::add_context(std::string context) {
  context_.push_back(std::move(context));
  refresh();
}

void Error::refresh() {
  with_context_.clear();
  if (context_.size() == 1) with_context_ = detail::str(message_, " (", context_[0], ")");
  if (context_.size() > 1) with_context_ = message_;
  for (size_t i = 0; context_.size() > 1 && i < context_.size(); ++i)
    with_context_ += "\n  " + context_[i];
  if (!location_.empty()) full_ = detail::str(what_without_backtrace(), "\n", location_);
}

#define HEARTH_ERROR_BODY(Name, Base)                                                        \
  Name::Name(std::string message) : Base(std::move(message)) {}                              \
  Name::Name(SourceLocation where, std::string message) : Base(where, std::move(message)) {} \
  Name::~Name() = default;
HEARTH_ERROR_BODY(IndexError, Error)
HEARTH_ERROR_BODY(ValueError, Error)
HEARTH_ERROR_BODY(TypeError, Error)
HEARTH_ERROR_BODY(NotImplementedError, Error)
HEARTH_ERROR_BODY(LinAlgError, Error)
HEARTH_ERROR_BODY(OutOfMemoryError, Error)
HEARTH_ERROR_BODY(DistError, Error)
HEARTH_ERROR_BODY(DistBackendError, DistError)
HEARTH_ERROR_BODY(DistStoreError, DistError)
HEARTH_ERROR_BODY(DistNetworkError, DistError)
HEARTH_ERROR_BODY(DistQueueEmptyError, DistStoreError)
#undef HEARTH_ERROR_BODY

namespace {
thread_local WarningSink warning_sink = nullptr;
}

void print_warning(const std::string& message) {
  std::fprintf(stderr, "[W] %s\n", message.c_str());
}

void warn(const std::string& message) {
  if (warning_sink)
    warning_sink(message);
  else
    print_warning(message);
}

WarningSink set_warning_sink(WarningSink sink) { return std::exchange(warning_sink, sink); }

namespace detail {

void append(std::string& out, std::string_view text) { out += text; }

void append(std::string& out, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  out += buffer;
}

namespace {
template <class T>
void append_integer(std::string& out, T value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}
}  // namespace

void append(std::string& out, long long value) { append_integer(out, value); }
void append(std::string& out, unsigned long long value) { append_integer(out, value); }

}  // namespace detail

std::string as_text(IntArrayRef values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += ", ";
    detail::append(out, static_cast<long long>(values[i]));
  }
  return out += ']';
}

}  // namespace hearth
