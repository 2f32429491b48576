#include "text_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hearth::app {

namespace {

/// Whether a UTF-8 character begins with this byte.
bool begins_character(char c) { return (c & 0xc0) != 0x80; }

/// "12", "-0.5", "nan", "3.2 ms", "81 %".
bool is_number(const std::string& text) {
  char* rest = nullptr;
  std::strtod(text.c_str(), &rest);
  if (rest == text.c_str()) return false;
  return *rest == '\0' || (*rest == ' ' && !std::strchr(rest + 1, ' '));
}

std::string padded(const std::string& cell, size_t width, bool align_right) {
  const size_t used = width_of(cell);
  const std::string space(used < width ? width - used : 0, ' ');
  return align_right ? space + cell : cell + space;
}

/// Removes trailing spaces and adds the line break.
std::string finished(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string in_unit(double value, int digits, const char* unit) {
  return fixed(value, digits) + " " + unit;
}

}  // namespace

size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut_to_width(const std::string& text, size_t width) {
  size_t end = 0;
  while (end < text.size() && (!begins_character(text[end]) || width-- > 0)) ++end;
  return text.substr(0, end);
}

bool TextTable::is_numeric(size_t column) const {
  bool has_value = false;
  for (size_t r = 1; r < rows_.size(); ++r) {
    const std::string& cell = rows_[r][column];
    if (!cell.empty() && !is_number(cell)) return false;
    has_value = has_value || !cell.empty();
  }
  return has_value;
}

std::string TextTable::text() const {
  std::vector<std::string> lines(rows_.size());
  for (size_t c = 0; c < rows_[0].size(); ++c) {
    size_t width = 0;
    for (const auto& row : rows_) width = std::max(width, width_of(row[c]));
    const bool align_right = is_numeric(c);
    for (size_t r = 0; r < rows_.size(); ++r)
      lines[r] += (c ? "  " : "") + padded(rows_[r][c], width, align_right);
  }
  std::string result;
  for (std::string& line : lines) result += finished(std::move(line));
  return result;
}

std::string RowWriter::head() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name);
  return row(names);
}

std::string RowWriter::row(const std::vector<std::string>& cells) const {
  std::string line;
  for (size_t c = 0; c < cells.size(); ++c) {
    const auto& [name, width, align_right] = columns_[c];
    line += (c ? "  " : "") + padded(cells[c], std::max(width, width_of(name)), align_right);
  }
  return finished(std::move(line));
}

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string scientific(double value) {
  if (value == 0) return "0";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1e", value);
  return text.data();
}

std::string shortest(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string duration_text(double seconds) {
  // From 9.995 on, two digits would give "10.00", and from 99.95 on, one digit "100.0".
  const auto digits = [](double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; };
  if (seconds < 999.5e-6) return in_unit(seconds * 1e6, digits(seconds * 1e6), "us");
  if (seconds < 999.5e-3) return in_unit(seconds * 1e3, digits(seconds * 1e3), "ms");
  return in_unit(seconds, digits(seconds), "s");
}

std::string bytes_text(double bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return in_unit(bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

}  // namespace hearth::app
