#include <nlohmann/json.hpp>

#include "experiment/columns.h"

namespace hearth::experiment {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const detail::Cell& cell) {
  if (!cell) return nullptr;
  return std::visit([](const auto& value) { return Json(value); }, cell->variant());
}

}  // namespace

std::string Results::json() const {
  const std::vector<std::string> columns = detail::columns_of(rows_);
  Json table = Json::array();
  for (const EpochResult& row : rows_) {
    const std::vector<detail::Cell> cells = detail::cells_of(row, columns);
    Json entry = Json::object();
    for (size_t i = 0; i < columns.size(); ++i) entry[columns[i]] = json_of(cells[i]);
    table.push_back(std::move(entry));
  }
  // A text that is not UTF-8 gets replacement characters instead of an exception.
  return table.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hearth::experiment
