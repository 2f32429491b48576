#include "display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "../text_table.h"

namespace hearth::app {

namespace {

using namespace std::chrono_literals;

constexpr auto kBarPause = 100ms;
constexpr auto kLinePause = 30s;
constexpr size_t kBarWidth = 24;

size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// "1:02:03", "0:09".
std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  const auto two = [](int64_t n) {
    const std::string digits = std::to_string(n);
    return std::string(2 - digits.size(), '0') + digits;
  };
  const int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  const std::string start =
      hours ? std::to_string(hours) + ":" + two(minutes) : std::to_string(minutes);
  return start + ":" + two(whole % 60);
}

std::string bar(double part) {
  const auto done = static_cast<size_t>(part * kBarWidth);
  std::string text = "[";
  return text.append(done, '#').append(kBarWidth - done, '-').append("] ");
}

std::string text_of(const Display::Moment& m, bool with_bar) {
  const double part = static_cast<double>(m.seen) / static_cast<double>(m.total);
  return m.title + "  " + (with_bar ? bar(part) : "") + fixed(100 * part, 0) + " %  loss " +
         fixed(m.loss, 4) + "  accuracy " + fixed(m.accuracy, 4) + "  " +
         with_commas(std::llround(m.samples_per_second)) + " samples/s  " +
         clock_text(m.seconds_left) + " left";
}

}  // namespace

Display::Display() : on_terminal_(isatty(STDOUT_FILENO) == 1), shown_(Clock::now()) {}
Display::~Display() { clear(); }

bool Display::is_due() const {
  return Clock::now() - shown_ >= (on_terminal_ ? Clock::duration(kBarPause) : kLinePause);
}

void Display::show(const Moment& moment) {
  shown_ = Clock::now();
  if (!on_terminal_) {
    std::cout << text_of(moment, false) << std::endl;
    return;
  }
  std::string text = text_of(moment, true);
  const size_t width = terminal_width();
  if (text.size() >= width) text = text_of(moment, false);
  text.resize(std::min(text.size(), width - 1));
  clear();
  std::cout << text << std::flush;
  has_bar_ = true;
}

void Display::line(const std::string& text) {
  clear();
  std::cout << text << std::endl;
}

void Display::clear() {
  if (has_bar_) std::cout << "\r\033[K";
  has_bar_ = false;
}

std::string with_commas(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

}  // namespace hearth::app
