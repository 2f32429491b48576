#pragma once

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

#include "c10/util/Exception.h"

namespace c10 {

inline constexpr int GLOG_INFO = 0, GLOG_WARNING = 1, GLOG_ERROR = 2, GLOG_FATAL = 3;

namespace detail {
/// The least severity that is printed: the number or name in TORCH_CPP_LOG_LEVEL, by default
/// WARNING.
inline int log_level() {
  static const int level = [] {
    const char* text = std::getenv("TORCH_CPP_LOG_LEVEL");
    if (!text || !*text) return GLOG_WARNING;
    const char* const names[] = {"INFO", "WARNING", "ERROR", "FATAL"};
    for (int severity = GLOG_INFO; severity <= GLOG_FATAL; ++severity)
      if (!std::strcmp(text, names[severity])) return severity;
    return std::atoi(text);
  }();
  return level;
}
}  // namespace detail

/// Collects a message and prints it at the end of its statement; then FATAL ends the program.
class MessageLogger {
 public:
  MessageLogger(const char* file, int line, int severity) : severity_(severity) {
    using namespace std::chrono;
    const auto now = system_clock::now().time_since_epoch();
    const std::time_t seconds = duration_cast<std::chrono::seconds>(now).count();
    std::tm local = {};
    localtime_r(&seconds, &local);
    const char* slash = std::strrchr(file, '/');
    stream_ << '[' << (severity < 0 ? 'V' : "IWEF"[severity]) << std::put_time(&local, "%m%d %T.")
            << std::setfill('0') << std::setw(9) << nanoseconds(now).count() % 1'000'000'000
            << std::setfill(' ') << ' ' << (slash ? slash + 1 : file) << ':' << line << "] ";
  }
  MessageLogger(const MessageLogger&) = delete;
  MessageLogger& operator=(const MessageLogger&) = delete;
  ~MessageLogger() {
    if (severity_ >= detail::log_level()) std::cerr << stream_.str() << std::endl;
    if (severity_ == GLOG_FATAL) std::abort();
  }
  std::ostream& stream() { return stream_; }

 private:
  int severity_;
  std::ostringstream stream_;
};

/// Gives a statement the type void; its operator binds less strongly than <<.
struct LoggerVoidify {
  void operator&(const std::ostream&) {}
};

}  // namespace c10

#define HEARTH_LOG(severity) ::c10::MessageLogger(__FILE__, __LINE__, severity).stream()
#define LOG(n) HEARTH_LOG(::c10::GLOG_##n)
#define VLOG(n) HEARTH_LOG(-(n))
#define HEARTH_LOG_UNLESS(condition, stream) (condition) ? (void)0 : ::c10::LoggerVoidify() & stream
#define LOG_IF(n, condition) HEARTH_LOG_UNLESS(!(condition), LOG(n))
#define VLOG_IF(n, condition) HEARTH_LOG_UNLESS(!(condition), VLOG(n))
#define VLOG_IS_ON(n) (::c10::detail::log_level() <= -(n))
#define FATAL_IF(condition) HEARTH_LOG_UNLESS(condition, LOG(FATAL))
#define CHECK(condition) FATAL_IF(condition) << "Check failed: " #condition " "
#ifdef NDEBUG
#define DCHECK(condition) \
  while (false) CHECK(condition)
#define DLOG(n) HEARTH_LOG_UNLESS(true, LOG(n))
#else
#define DCHECK(condition) CHECK(condition)
#define DLOG(n) LOG(n)
#endif
#define C10_LOG_EVERY_MS(n, ms) LOG(n)
#define C10_LOG_EVERY_N(n, count) LOG(n)
#define C10_LOG_FIRST_N(n, count) LOG(n)

// Checks that throw "[enforce fail at file.cpp:7] condition. message".
#define HEARTH_ENFORCE(condition, text, ...)                                                       \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      const char* const slash = ::std::strrchr(__FILE__, '/');                                     \
      ::hearth::detail::fail<::c10::Error>(                                                        \
          ::c10::str("[enforce fail at ", slash ? slash + 1 : __FILE__, ':', __LINE__, "] ", text, \
                     ". " __VA_OPT__(, ) __VA_ARGS__));                                            \
    }                                                                                              \
  } while (false)
#define CAFFE_ENFORCE(condition, ...) \
  HEARTH_ENFORCE(condition, #condition __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_THROW(...) HEARTH_ENFORCE(false, "" __VA_OPT__(, ) __VA_ARGS__)
#define HEARTH_ENFORCE_OP(a, b, op, ...) \
  HEARTH_ENFORCE((a)op(b),               \
                 ::c10::str(#a " " #op " " #b ". ", (a), " vs ", (b)) __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_EQ(a, b, ...) HEARTH_ENFORCE_OP(a, b, ==, __VA_ARGS__)
#define CAFFE_ENFORCE_NE(a, b, ...) HEARTH_ENFORCE_OP(a, b, !=, __VA_ARGS__)
#define CAFFE_ENFORCE_LE(a, b, ...) HEARTH_ENFORCE_OP(a, b, <=, __VA_ARGS__)
#define CAFFE_ENFORCE_LT(a, b, ...) HEARTH_ENFORCE_OP(a, b, <, __VA_ARGS__)
#define CAFFE_ENFORCE_GE(a, b, ...) HEARTH_ENFORCE_OP(a, b, >=, __VA_ARGS__)
#define CAFFE_ENFORCE_GT(a, b, ...) HEARTH_ENFORCE_OP(a, b, >, __VA_ARGS__)
