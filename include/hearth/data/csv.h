#pragma once

/// @file
/// Files of values between commas. Not part of hearth.h.
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/data/datasets.h"
#include "hearth/data/vocab.h"

namespace hearth::data::datasets {

/// Names of columns: one, or a list.
struct ColumnNames : std::vector<std::string> {
  ColumnNames() = default;
  ColumnNames(const char* name) : vector{name} {}
  ColumnNames(std::string name) : vector{std::move(name)} {}
  ColumnNames(std::initializer_list<std::string> names) : vector(names) {}
  ColumnNames(std::vector<std::string> names) : vector(std::move(names)) {}
};

/// The vocabulary of each categorical column. Saved with one file, they give the categories of
/// another file the same numbers.
struct HEARTH_API Categories {
  std::vector<std::pair<std::string, Vocab>> columns;

  const Vocab* find(std::string_view column) const;        ///< null if there is none
  const Vocab& operator[](std::string_view column) const;  ///< an error if there is none
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);
};

/// How a CSV file is read. A column holds numbers unless one of the lists says otherwise.
struct CSVOptions {
  HEARTH_ARG(bool, header) = true;  ///< whether the first record names the columns
  HEARTH_ARG(ColumnNames, names);  ///< the columns' names, by default the header's or "0", "1", …
  HEARTH_ARG(char, delimiter) = ',';  ///< between fields
  HEARTH_ARG(char, quote) = '"';      ///< around fields with delimiters or ends of lines; 0: none
  HEARTH_ARG(bool, trim) = false;     ///< whether blanks around fields are left out

  /// The columns of the examples' data; by default all but those of target, text and ignored.
  HEARTH_ARG(ColumnNames, data);
  HEARTH_ARG(ColumnNames, target);       ///< the targets' columns
  HEARTH_ARG(ColumnNames, integers);     ///< columns of integers, read as int64
  HEARTH_ARG(ColumnNames, categorical);  ///< columns of names, which become int64 numbers
  HEARTH_ARG(ColumnNames, text);         ///< columns of texts, for CSV::strings()
  HEARTH_ARG(ColumnNames, ignored);      ///< columns that are not read

  HEARTH_ARG(ScalarType, dtype) = kFloat32;  ///< of numbers: float or double
  /// The categories of another file; a new category gets its vocabulary's default index, or is an
  /// error if it has none. Other columns' categories are sorted by their bytes.
  HEARTH_ARG(Categories, categories);
  /// Whether missing numbers become NaN and missing categories the category "". Otherwise, and in
  /// columns of integers, they are errors.
  HEARTH_ARG(bool, allow_missing) = false;
  /// Fields that stand for a missing value.
  HEARTH_ARG(std::vector<std::string>, missing_values) = {"",    "NA",   "N/A", "NaN",
                                                          "nan", "null", "NULL"};
};

/// A file of values between commas (RFC 4180): one record per line, fields optionally in quotes.
/// Lines end in "\n", "\r\n" or "\r"; blank ones are skipped. Data are [rows, columns], targets
/// [rows], or [rows, columns] if there are several; they are int64 if all of their columns are.
class HEARTH_API CSV : public Dataset<CSV> {
 public:
  explicit CSV(const std::string& path, const CSVOptions& options = {});
  /// Reads a text; `name` is that in errors.
  static CSV from_text(std::string_view text, const CSVOptions& options = {},
                       const std::string& name = "the text");

  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  /// For batches without examples.
  BatchedTensors batched() const { return {data(), target()}; }

  const Tensor& data() const { return data_; }
  const Tensor& target() const;                     ///< an error if there is none
  const std::vector<std::string>& columns() const;  ///< the names of all columns
  Tensor column(std::string_view name) const;       ///< [rows]
  const std::vector<std::string>& strings(std::string_view name) const;  ///< a column of texts
  const Categories& categories() const;

 private:
  struct Table;
  CSV(std::string_view text, const std::string& name, const CSVOptions& options);

  std::shared_ptr<const Table> table_;
  Tensor data_, target_;
};

}  // namespace hearth::data::datasets
