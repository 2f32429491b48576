#pragma once

#include <string>
#include <string_view>

#include "event_loop.h"

namespace hearth::app {

/// Writes to a file without making the loop wait for its reader.
class Outlet {
 public:
  Outlet(EventLoop& loop, int file) : loop_(loop), file_(file) {}
  ~Outlet() { loop_.forget(file_); }
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;

  /// After an error, the pending text and all further text are dropped.
  void write(std::string_view text);
  /// The number of bytes that are not written yet.
  size_t pending() const { return text_.size() - begin_; }
  /// The errno of the first failed write; 0 if there was none.
  int error() const { return error_; }

 private:
  void write_some();

  EventLoop& loop_;
  int file_;
  std::string text_;
  size_t begin_ = 0;  // the text before this index is written
  int error_ = 0;
};

}  // namespace hearth::app
