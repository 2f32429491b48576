#pragma once

#include <string>
#include <vector>

namespace hearth::app {

/// A table with aligned columns: numeric columns to the right, others to the left. Every row has as
/// many cells as the head.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  bool is_numeric(size_t column) const;

  std::vector<std::vector<std::string>> rows_;
};

/// A table whose rows are printed one by one, so the widths of its columns are given in advance.
class RowWriter {
 public:
  struct Column {
    std::string name;
    size_t width;  // at least; a longer name widens the column
    bool align_right;
  };

  explicit RowWriter(std::vector<Column> columns) : columns_(std::move(columns)) {}
  std::string head() const;
  /// There may be fewer cells than columns; the last cell may be wider than its column.
  std::string row(const std::vector<std::string>& cells) const;

 private:
  std::vector<Column> columns_;
};

/// The width on a terminal: the number of UTF-8 characters.
size_t width_of(const std::string& text);
/// The text, or its first `width` UTF-8 characters if it is wider.
std::string cut_to_width(const std::string& text, size_t width);

/// The number with `digits` digits after the decimal point.
std::string fixed(double value, int digits);
/// As in "3.1e-05"; "0" for 0.
std::string scientific(double value);
/// The shortest text that reads back as the same number: "0.01".
std::string shortest(double value);
/// "3.20 ms", "12.5 s": at least three digits and a unit.
std::string duration_text(double seconds);
/// "8.0 GiB".
std::string bytes_text(double bytes);

}  // namespace hearth::app
