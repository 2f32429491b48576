#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv_scanner.h"
#include "hearth/data/csv.h"

namespace hearth::data {

/// Which fields stand for a missing value, and whether there may be any.
class MissingValues {
 public:
  explicit MissingValues(const datasets::CSVOptions& options);
  bool has(std::string_view field) const {
    return begins_one_[field.empty() ? 0 : uint8_t(field[0])] && is_listed(field);
  }
  bool allowed() const { return allowed_; }

 private:
  bool is_listed(std::string_view field) const;

  std::array<bool, 256> begins_one_{};  // by first byte; of an empty field: 0
  const std::vector<std::string>& values_;
  bool allowed_;
};

/// What a column's fields become.
struct ColumnContent {
  Tensor values;                     // undefined for texts and ignored columns
  std::vector<std::string> strings;  // of texts
  Vocab categories;
};

/// Takes a column's fields one by one.
class ColumnReader {
 public:
  virtual ~ColumnReader();
  /// Adds the scanner's last field.
  virtual void add(std::string_view field, const CsvScanner& at) = 0;
  /// The content of the fields added; the reader is not used afterwards.
  virtual ColumnContent finish() = 0;
};
using ColumnReaderPtr = std::unique_ptr<ColumnReader>;

/// Readers for at most `rows` fields; `missing` and `known` must live longer.
ColumnReaderPtr number_column(const std::string& name, ScalarType dtype, int64_t rows,
                              const MissingValues& missing);
ColumnReaderPtr integer_column(const std::string& name, int64_t rows, const MissingValues& missing);
/// `known`: the vocabulary of another file, or null.
ColumnReaderPtr category_column(const std::string& name, int64_t rows, const MissingValues& missing,
                                const Vocab* known);
ColumnReaderPtr text_column();
ColumnReaderPtr ignored_column();

}  // namespace hearth::data
