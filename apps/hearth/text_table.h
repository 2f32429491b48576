#pragma once

#include <string>
#include <vector>

namespace hearth::app {

/// Rows under a head, printed in columns: numbers to the right, words to the left. Every row has
/// as many cells as the head.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  bool is_numeric(size_t column) const;

  std::vector<std::vector<std::string>> rows_;
};

/// A table whose rows are printed as they come, in columns of widths that are known before.
class RowWriter {
 public:
  struct Column {
    std::string name;
    size_t width;  // the name may be longer
    bool to_the_right;
  };

  explicit RowWriter(std::vector<Column> columns) : columns_(std::move(columns)) {}
  std::string head() const;
  /// Fewer cells than columns are the first ones; the last may be as long as it is.
  std::string row(const std::vector<std::string>& cells) const;

 private:
  std::vector<Column> columns_;
};

/// A number with so many digits after the point.
std::string fixed(double value, int digits);
/// "3.1e-05"; "0".
std::string scientific(double value);
/// As few digits as tell the number from all others: "0.01".
std::string shortest(double value);
/// "3.2 ms", "1.25 s": three digits and a unit.
std::string duration_text(double seconds);
/// "8.0 GiB".
std::string bytes_text(double bytes);

}  // namespace hearth::app
