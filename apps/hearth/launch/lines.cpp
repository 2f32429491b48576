#include "lines.h"

#include <unistd.h>

#include <cerrno>

namespace hearth::app {

namespace {

constexpr size_t kTailLines = 10, kTailWidth = 500;

}  // namespace

void Lines::add(std::string_view bytes) {
  for (size_t end; (end = bytes.find('\n')) != std::string_view::npos;
       bytes.remove_prefix(end + 1)) {
    rest_ += bytes.substr(0, end);
    handle_(rest_);
    rest_.clear();
  }
  rest_ += bytes;
  if (rest_.size() >= longest_) finish();
}

void Lines::finish() {
  if (rest_.empty()) return;
  handle_(rest_);
  rest_.clear();
}

Lines::Read Lines::read_from(int file) {
  char buffer[kMaxRead];
  ssize_t count;
  while ((count = read(file, buffer, sizeof buffer)) < 0 && errno == EINTR) {
  }
  if (count < 0 && errno == EAGAIN) return Read::kNothing;
  if (count <= 0) {
    finish();
    return Read::kEnd;
  }
  add({buffer, size_t(count)});
  return Read::kSome;
}

void Tail::add(const std::string& line) {
  lines_.push_back(line.substr(0, kTailWidth));
  if (lines_.back().ends_with('\r')) lines_.back().pop_back();  // ssh writes it for terminals
  if (lines_.size() > kTailLines) lines_.pop_front();
}

}  // namespace hearth::app
