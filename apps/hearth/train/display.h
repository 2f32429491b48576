#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace hearth::app {

/// Progress on standard error: a bar that is drawn over on a terminal, elsewhere plain lines.
class Display {
 public:
  struct Moment {
    std::string title;  // "run 1/8  epoch 2/5"
    int64_t seen, total;
    double loss, accuracy;
    double samples_per_second, seconds_left;
    double part() const { return static_cast<double>(seen) / static_cast<double>(total); }
  };

  Display();
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  /// Whether it is time to show a moment.
  bool is_due() const;
  void show(const Moment& moment);
  /// A line that stays.
  void line(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  void clear();

  bool on_terminal_, has_bar_ = false;
  Clock::time_point shown_;
};

/// A moment on a line of this width. What there is no room for is left out, the least important
/// first; the bar and the time left are the last to go.
std::string progress_text(const Display::Moment& moment, size_t width);

/// "12,345".
std::string with_commas(int64_t number);

}  // namespace hearth::app
