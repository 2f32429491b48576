#include "line_process.h"

#include <fcntl.h>
#include <poll.h>

namespace hearth::app {

LineProcess::LineProcess(const Context& context, const Command& command, LineHandler handle,
                         size_t longest_stdout_line)
    : loop_(context.loop),
      process_(command, context.signals, context.guard),
      out_([handle](const std::string& line) { handle(Stream::kOut, line); }, longest_stdout_line),
      err_([this, handle](const std::string& line) {
        tail_.add(line);
        handle(Stream::kErr, line);
      }) {
  watch(process_.output(), out_);
  watch(process_.errors(), err_);
}

LineProcess::~LineProcess() {
  loop_.forget(process_.output());
  loop_.forget(process_.errors());
}

void LineProcess::watch(int file, Lines& lines) const {
  const auto read = [&loop = loop_, file, &lines] {
    if (lines.read_from(file) == Lines::Read::kEnd) loop.forget(file);
  };
  loop_.watch(file, POLLIN, read, /*can_wait=*/true);
}

void LineProcess::drain(int file, Lines& lines) const {
  // Not more than the pipe holds: a process that has left the group may go on writing.
  for (int rest = fcntl(file, F_GETPIPE_SZ);
       rest >= 0 && lines.read_from(file) == Lines::Read::kSome; rest -= Lines::kMaxRead) {
  }
  lines.finish();
  loop_.forget(file);
}

bool LineProcess::reap() {
  if (status_) return false;
  const std::optional<int> status = process_.status();
  if (!status) return false;
  drain(process_.output(), out_);
  drain(process_.errors(), err_);
  status_ = status;
  return true;
}

}  // namespace hearth::app
