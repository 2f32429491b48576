#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::app {

enum class Stream { kOut = 1, kErr = 2 };

/// The number of bytes after which a line of a rank is split.
constexpr size_t kLongestLine = 4 << 20;

/// Splits bytes into lines.
class Lines {
 public:
  using LineHandler = std::function<void(const std::string&)>;
  explicit Lines(LineHandler handle, size_t longest = kLongestLine)
      : handle_(std::move(handle)), longest_(longest) {}

  /// Passes on each line that is complete, without its newline. Lines that are too long are split.
  void add(std::string_view bytes);
  /// Passes on the last line if it has no newline.
  void finish();
  enum class Read { kSome, kNothing, kEnd };
  /// Reads the bytes that a file has now, at most kMaxRead. Calls finish() and returns kEnd at the
  /// file's end or after an error.
  Read read_from(int file);
  static constexpr int kMaxRead = 1 << 16;

 private:
  LineHandler handle_;
  size_t longest_;
  std::string rest_;
};

/// The last lines of a stream.
class Tail {
 public:
  void add(const std::string& line);
  std::vector<std::string> lines() const { return {lines_.begin(), lines_.end()}; }

 private:
  std::deque<std::string> lines_;
};

}  // namespace hearth::app
