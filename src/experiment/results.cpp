#include "hearth/experiment/results.h"

#include <ostream>

#include "experiment/columns.h"
#include "hearth/error.h"
#include "hearth/io/file.h"

namespace hearth::experiment {

namespace {

/// A cell of a CSV file, in quotes if it needs them (RFC 4180).
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& texts) {
  std::string line;
  for (size_t i = 0; i < texts.size(); ++i) line += (i > 0 ? "," : "") + csv_cell(texts[i]);
  return line + '\n';
}

}  // namespace

void Results::add(EpochResult row) {
  detail::check_names(row.params);
  rows_.push_back(std::move(row));
}

std::string Results::csv() const {
  const std::vector<std::string> columns = detail::columns_of(rows_);
  std::string text = csv_line(columns);
  for (const EpochResult& row : rows_) {
    std::vector<std::string> texts;
    for (const detail::Cell& cell : detail::cells_of(row, columns))
      texts.push_back(cell ? cell->str() : "");
    text += csv_line(texts);
  }
  return text;
}

void Results::save(const std::string& name) const {
  HEARTH_CHECK(!name.empty(), "cannot save results: the name of the files is empty");
  io::write_file(name + ".csv", csv());
  io::write_file(name + ".json", json());
}

std::ostream& operator<<(std::ostream& stream, const Results& results) {
  const std::vector<std::string> columns = detail::columns_of(results.rows());
  std::vector<std::vector<std::string>> lines{columns};
  for (const EpochResult& row : results.rows())
    lines.push_back(detail::rounded_cells(row, columns));
  std::vector<size_t> widths;
  for (const auto& line : lines) detail::aligned(line, widths);
  for (const auto& line : lines) stream << detail::aligned(line, widths) << '\n';
  return stream;
}

}  // namespace hearth::experiment
