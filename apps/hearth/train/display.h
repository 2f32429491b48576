#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hearth::app {

/// Progress on standard output: a bar that is drawn over on a terminal, elsewhere plain lines.
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

/// "12,345".
std::string with_commas(int64_t number);

}  // namespace hearth::app
