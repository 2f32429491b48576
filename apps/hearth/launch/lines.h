#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::app {

enum class Stream { kOut = 1, kErr = 2 };

/// Splits bytes into lines.
class Lines {
 public:
  using Take = std::function<void(const std::string&)>;
  explicit Lines(Take take) : take_(std::move(take)) {}

  /// Passes on each line that is complete, without its newline. Very long lines are split.
  void add(std::string_view bytes);
  /// Passes on the last line if it has no newline.
  void finish();
  enum class Read { kSome, kNothing, kEnd };
  /// Reads what a file has now, up to some limit; at its end it calls finish().
  Read read_from(int file);

 private:
  Take take_;
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
