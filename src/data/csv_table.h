#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/csv_columns.h"

namespace hearth::data {

/// The columns of a file, with their content unless they are ignored.
struct CsvTable {
  std::string name;  // of the file
  std::vector<std::string> names;
  std::vector<ColumnContent> columns;
  std::vector<size_t> data, target;  // indices of columns
  datasets::Categories categories;
  int64_t rows = 0;

  size_t find(std::string_view column) const;  // the index; throws if there is none
};

/// Reads a text; errors call it `name`.
CsvTable read_csv(std::string_view text, const std::string& name,
                  const datasets::CSVOptions& options);

}  // namespace hearth::data
