#include "experiment/live_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <utility>

#include "experiment/columns.h"

namespace hearth::experiment::detail {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(500);

size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

LiveTable::LiveTable() : on_terminal_(isatty(STDOUT_FILENO) == 1), last_shown_(Clock::now()) {}

bool LiveTable::is_due() const { return on_terminal_ && Clock::now() - last_shown_ >= kInterval; }

void LiveTable::add(const EpochResult& row) {
  clear_running();
  print_head(row);
  std::cout << aligned(rounded_cells(row, columns_), widths_) << std::endl;
}

void LiveTable::show_running(const EpochResult& row) {
  clear_running();
  print_head(row);
  // A longer line would wrap, and could not be cleared.
  std::cout << aligned(rounded_cells(row, columns_), widths_).substr(0, terminal_width() - 1)
            << std::flush;
  has_running_ = true;
  last_shown_ = Clock::now();
}

void LiveTable::print_head(const EpochResult& row) {
  std::vector<std::string> columns = columns_of({row});
  if (columns == columns_) return;
  columns_ = std::move(columns);
  widths_.clear();
  // The row may widen the columns.
  aligned(rounded_cells(row, columns_), widths_);
  std::cout << aligned(columns_, widths_) << '\n';
}

void LiveTable::clear_running() {
  if (has_running_) std::cout << "\r\033[K";
  has_running_ = false;
}

}  // namespace hearth::experiment::detail
