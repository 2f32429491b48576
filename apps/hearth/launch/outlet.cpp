#include "outlet.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace hearth::app {

void Outlet::write(std::string_view text) {
  if (error_ || text.empty()) return;
  if (pending() == 0) loop_.watch(file_, POLLOUT, [this] { write_some(); });
  text_ += text;
}

void Outlet::write_some() {
  // A pipe that poll() reports as writable takes this much at once.
  const size_t count = std::min<size_t>(pending(), PIPE_BUF);
  const ssize_t written = ::write(file_, text_.data() + begin_, count);
  if (written < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (written < 0) error_ = errno;
  begin_ = error_ ? text_.size() : begin_ + size_t(written);
  if (pending() == 0) loop_.forget(file_);
  // Not after each write: erase() moves the text that is left.
  if (pending() == 0 || begin_ > (1 << 20)) {
    text_.erase(0, begin_);
    begin_ = 0;
  }
}

}  // namespace hearth::app
