#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace hearth::app {

/// Progress on stderr: on a terminal a bar that is redrawn in place, elsewhere plain lines.
class Display {
 public:
  /// The progress of a run.
  struct Status {
    std::string title;    // "run 1/8  epoch 2/5"
    int64_t seen, total;  // samples of this epoch
    double loss, accuracy;
    double samples_per_second, seconds_left;
    double fraction() const { return static_cast<double>(seen) / static_cast<double>(total); }
  };

  /// Shows nothing if it is silent.
  explicit Display(bool silent = false);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  /// Whether it is time to show a status again.
  bool is_due() const;
  void show(const Status& status);
  /// Prints a permanent line.
  void line(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  void clear();

  bool silent_, on_terminal_, has_bar_ = false;
  Clock::time_point last_shown_;
};

/// One line of at most `width` columns. Numbers that do not fit are left out, the least important
/// first, then the bar, then the time left.
std::string progress_text(const Display::Status& status, size_t width);

/// "12,345".
std::string with_commas(int64_t number);

}  // namespace hearth::app
