#include "display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "../text_table.h"

namespace hearth::app {

namespace {

using namespace std::chrono_literals;

constexpr auto kBarInterval = 100ms;
constexpr auto kLineInterval = 30s;
constexpr size_t kLongestBar = 22, kShortestBar = 7;

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// "1:02:03", "0:09".
std::string clock_text(double seconds) {
  const auto total_seconds = static_cast<int64_t>(std::ceil(seconds));
  const auto two_digits = [](int64_t number) {
    const std::string digits = std::to_string(number);
    return std::string(2 - digits.size(), '0') + digits;
  };
  const int64_t hours = total_seconds / 3600, minutes = total_seconds / 60 % 60;
  const std::string start =
      hours ? std::to_string(hours) + ":" + two_digits(minutes) : std::to_string(minutes);
  return start + ":" + two_digits(total_seconds % 60);
}

/// "[####----]" in at most `room` columns.
std::string bar(double fraction, size_t room) {
  const size_t length = std::min(room, kLongestBar) - 2;
  const auto done = static_cast<size_t>(fraction * static_cast<double>(length));
  std::string text = "[";
  return text.append(done, '#').append(length - done, '-').append("]");
}

/// The numbers to show, the most important one first.
std::vector<std::string> numbers_of(const Display::Status& status) {
  return {fixed(100 * status.fraction(), 0) + " %", "loss " + fixed(status.loss, 4),
          "accuracy " + fixed(status.accuracy, 4),
          with_commas(std::llround(status.samples_per_second)) + " samples/s"};
}

std::string joined(const std::string& start, const std::vector<std::string>& parts,
                   const std::string& end) {
  std::string text = start + "  ";
  for (const std::string& part : parts) text += part + "  ";
  return text + end;
}

std::string left_text(const Display::Status& status) {
  return clock_text(status.seconds_left) + " left";
}

}  // namespace

Display::Display(bool silent)
    : silent_(silent), on_terminal_(isatty(STDERR_FILENO) == 1), last_shown_(Clock::now()) {}
Display::~Display() { clear(); }

bool Display::is_due() const {
  return !silent_ && Clock::now() - last_shown_ >=
                         (on_terminal_ ? Clock::duration(kBarInterval) : kLineInterval);
}

void Display::show(const Status& status) {
  if (silent_) return;
  last_shown_ = Clock::now();
  if (!on_terminal_) {
    line(joined(status.title, numbers_of(status), left_text(status)));
    return;
  }
  clear();
  std::cerr << progress_text(status, terminal_width() - 1) << std::flush;
  has_bar_ = true;
}

void Display::line(const std::string& text) {
  if (silent_) return;
  clear();
  std::cerr << text << std::endl;
}

void Display::clear() {
  if (has_bar_) std::cerr << "\r\033[K";
  has_bar_ = false;
}

std::string progress_text(const Display::Status& status, size_t width) {
  const std::string end = left_text(status);
  std::vector<std::string> numbers = numbers_of(status);
  while (!numbers.empty() &&
         width_of(joined(status.title, numbers, end)) + 2 + kShortestBar > width)
    numbers.pop_back();
  const size_t used = width_of(joined(status.title, numbers, end)) + 2;
  if (used + kShortestBar <= width)
    numbers.insert(numbers.begin(), bar(status.fraction(), width - used));
  return cut_to_width(joined(status.title, numbers, end), width);
}

std::string with_commas(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

}  // namespace hearth::app
