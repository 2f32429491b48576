#pragma once

/// @file
/// CSV files: comma-separated values. Not part of hearth.h.
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

/// One name of a column, or a list of names.
struct ColumnNames : std::vector<std::string> {
  ColumnNames() = default;
  ColumnNames(const char* name) : vector{name} {}
  ColumnNames(std::string name) : vector{std::move(name)} {}
  ColumnNames(std::initializer_list<std::string> names) : vector(names) {}
  ColumnNames(std::vector<std::string> names) : vector(std::move(names)) {}
};

/// The vocabulary of each categorical column. Saved vocabularies of one file give the categories of
/// another file the same indices.
struct HEARTH_API Categories {
  std::vector<std::pair<std::string, Vocab>> columns;

  const Vocab* find(std::string_view column) const;        ///< null if not categorical
  const Vocab& operator[](std::string_view column) const;  ///< throws if not categorical
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);
};

/// Options of CSV. A column holds floating-point numbers unless `integers`, `categorical`,
/// `categories` or `text` names it.
struct CSVOptions {
  HEARTH_ARG(bool, header) = true;  ///< whether the first record names the columns
  HEARTH_ARG(ColumnNames, names);  ///< the columns' names, by default the header's or "0", "1", …
  HEARTH_ARG(char, delimiter) = ',';  ///< between fields
  HEARTH_ARG(char, quote) = '"';      ///< around fields with delimiters or ends of lines; 0: none
  HEARTH_ARG(bool, trim) = false;     ///< whether blanks around fields are left out

  /// The columns of the examples' data; by default all columns but target, text and ignored.
  HEARTH_ARG(ColumnNames, data);
  HEARTH_ARG(ColumnNames, target);       ///< the targets' columns
  HEARTH_ARG(ColumnNames, integers);     ///< columns of integers, read as int64
  HEARTH_ARG(ColumnNames, categorical);  ///< columns of names, which become int64 indices
  HEARTH_ARG(ColumnNames, text);         ///< columns of texts, for CSV::strings()
  HEARTH_ARG(ColumnNames, ignored);      ///< columns that are not read

  HEARTH_ARG(ScalarType, dtype) = kFloat32;  ///< of floating-point columns; or kFloat64
  /// The categories of another file. A name that is not among a column's categories gets the
  /// default index of their vocabulary; without a default index, it is an error. The categories of
  /// all other columns are sorted by their bytes.
  HEARTH_ARG(Categories, categories);
  /// Whether missing numbers become NaN and missing categories the category "". Otherwise they are
  /// errors, as missing integers always are.
  HEARTH_ARG(bool, allow_missing) = false;
  /// Fields that stand for a missing value.
  HEARTH_ARG(std::vector<std::string>, missing_values) = {"",    "NA",   "N/A", "NaN",
                                                          "nan", "null", "NULL"};
};

/// A file of comma-separated values (RFC 4180): one record per line, fields optionally in quotes.
/// Lines end in "\n", "\r\n" or "\r"; empty lines are skipped. Data are [rows, columns], targets
/// [rows], or [rows, columns] if there are several target columns; a tensor is int64 if all of its
/// columns are.
class HEARTH_API CSV : public Dataset<CSV> {
 public:
  explicit CSV(const std::string& path, const CSVOptions& options = {});
  /// Reads a text; errors refer to it as `name`.
  static CSV from_text(std::string_view text, const CSVOptions& options = {},
                       const std::string& name = "the text");

  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  /// data() and target() as BatchedTensors.
  BatchedTensors batched() const { return {data(), target()}; }

  const Tensor& data() const { return data_; }
  const Tensor& target() const;                     ///< throws if there is none
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
