#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/experiment/results.h"

// The columns of tables of results.
namespace hearth::experiment::detail {

/// A value in a column, or none.
using Cell = std::optional<Value>;

/// The names and values of a row's columns, in order.
std::vector<std::pair<std::string, Cell>> cells_of(const EpochResult& row);

/// The names of all rows' columns, in the order in which they appear.
std::vector<std::string> columns_of(const std::vector<EpochResult>& rows);

/// A row's values in these columns.
std::vector<Cell> cells_of(const EpochResult& row, const std::vector<std::string>& columns);

/// The row as text for the terminal: results are rounded.
std::vector<std::string> rounded_cells(const EpochResult& row,
                                       const std::vector<std::string>& columns);

/// A line with each text right-aligned in its column; widens columns that are too narrow.
std::string aligned(const std::vector<std::string>& texts, std::vector<size_t>& widths);

/// Throws if a parameter has the name of a result, such as "loss".
void check_names(const Run& params);

}  // namespace hearth::experiment::detail
