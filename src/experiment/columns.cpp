#include "experiment/columns.h"

#include <algorithm>
#include <cstdio>

#include "hearth/error.h"

namespace hearth::experiment::detail {

namespace {

/// A column for a result, which every row has.
struct ResultColumn {
  const char* name;
  Cell (*value)(const EpochResult&);
  int digits;  // after the decimal point on the terminal; 0: exact
};

constexpr ResultColumn kResults[] = {
    {"run", [](const EpochResult& row) -> Cell { return row.run; }, 0},
    {"epoch", [](const EpochResult& row) -> Cell { return row.epoch; }, 0},
    {"loss", [](const EpochResult& row) -> Cell { return row.loss; }, 4},
    {"accuracy", [](const EpochResult& row) -> Cell { return row.accuracy; }, 4},
    {"epoch_duration", [](const EpochResult& row) -> Cell { return row.epoch_duration; }, 2},
    {"run_duration", [](const EpochResult& row) -> Cell { return row.run_duration; }, 2},
};

/// The decimals of a column on the terminal; 0 for parameters, which are printed exactly.
int digits_of(const std::string& column) {
  for (const ResultColumn& result : kResults)
    if (column == result.name) return result.digits;
  return 0;
}

std::string rounded(const Cell& cell, int digits) {
  if (!cell) return "";
  if (digits == 0) return cell->str();
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, cell->to<double>());
  return text;
}

}  // namespace

void check_names(const Run& params) {
  for (const ResultColumn& result : kResults)
    HEARTH_CHECK(!params.contains(result.name), "a parameter cannot be called '", result.name,
                 "', because a result has this name");
}

std::vector<std::pair<std::string, Cell>> cells_of(const EpochResult& row) {
  std::vector<std::pair<std::string, Cell>> cells;
  for (const ResultColumn& result : kResults) cells.emplace_back(result.name, result.value(row));
  for (const auto& [name, value] : row.params.items()) cells.emplace_back(name, value);
  return cells;
}

std::vector<std::string> columns_of(const std::vector<EpochResult>& rows) {
  std::vector<std::string> columns;
  for (const ResultColumn& result : kResults) columns.emplace_back(result.name);
  for (const EpochResult& row : rows)
    for (const auto& [name, value] : row.params.items())
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  return columns;
}

std::vector<Cell> cells_of(const EpochResult& row, const std::vector<std::string>& columns) {
  std::vector<Cell> cells(columns.size());
  for (auto& [name, cell] : cells_of(row)) {
    const auto column = std::find(columns.begin(), columns.end(), name);
    if (column != columns.end()) cells[size_t(column - columns.begin())] = std::move(cell);
  }
  return cells;
}

std::vector<std::string> rounded_cells(const EpochResult& row,
                                       const std::vector<std::string>& columns) {
  const std::vector<Cell> cells = cells_of(row, columns);
  std::vector<std::string> texts;
  for (size_t i = 0; i < columns.size(); ++i)
    texts.push_back(rounded(cells[i], digits_of(columns[i])));
  return texts;
}

std::string aligned(const std::vector<std::string>& texts, std::vector<size_t>& widths) {
  widths.resize(texts.size());
  std::string line;
  for (size_t i = 0; i < texts.size(); ++i) {
    widths[i] = std::max(widths[i], texts[i].size());
    line += (i > 0 ? "  " : "") + std::string(widths[i] - texts[i].size(), ' ') + texts[i];
  }
  return line;
}

}  // namespace hearth::experiment::detail
