#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/csv_columns.h"

namespace hearth::data {

/// A file's columns, those that were read with their content.
struct CsvTable {
  std::string name;  // the file's
  std::vector<std::string> names;
  std::vector<ColumnContent> columns;
  std::vector<size_t> data, target;  // numbers of columns
  datasets::Categories categories;
  int64_t rows = 0;

  size_t find(std::string_view column) const;  // its number; an error if there is none
};

/// Reads a text; `name` is that in errors.
CsvTable read_csv(std::string_view text, const std::string& name,
                  const datasets::CSVOptions& options);

}  // namespace hearth::data
