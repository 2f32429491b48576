#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv_scanner.h"
#include "hearth/data/csv.h"

namespace hearth::data {

/// The texts of missing values, and whether missing values are allowed.
class MissingValues {
 public:
  explicit MissingValues(const datasets::CSVOptions& options);
  bool has(std::string_view field) const {
    return is_first_byte_[field.empty() ? 0 : uint8_t(field[0])] && is_listed(field);
  }
  bool are_allowed() const { return are_allowed_; }

 private:
  bool is_listed(std::string_view field) const;

  std::array<bool, 256> is_first_byte_{};  // of a missing value; byte 0 for an empty one
  const std::vector<std::string>& values_;
  bool are_allowed_;
};

/// The content of a column.
struct ColumnContent {
  Tensor values;                     // undefined for text and ignored columns
  std::vector<std::string> strings;  // of text columns
  Vocab categories;
};

/// Collects the fields of a column.
class ColumnReader {
 public:
  virtual ~ColumnReader();
  /// Adds `field`, the scanner's last field.
  virtual void add(std::string_view field, const CsvScanner& scanner) = 0;
  /// The content of the fields added; the reader is not used afterwards.
  virtual ColumnContent finish() = 0;
};
using ColumnReaderPtr = std::unique_ptr<ColumnReader>;

/// Readers for at most `rows` fields; `missing` and `known` must outlive them. `dtype`: kFloat or
/// kDouble.
ColumnReaderPtr real_column(const std::string& name, ScalarType dtype, int64_t rows,
                            const MissingValues& missing);
ColumnReaderPtr integer_column(const std::string& name, int64_t rows, const MissingValues& missing);
/// `known`: the vocabulary of another file, or null.
ColumnReaderPtr category_column(const std::string& name, int64_t rows, const MissingValues& missing,
                                const Vocab* known);
ColumnReaderPtr text_column();
ColumnReaderPtr ignored_column();

}  // namespace hearth::data
