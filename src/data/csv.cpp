#include "hearth/data/csv.h"

#include "data/csv_table.h"
#include "hearth/operators.h"
#include "io/bytes.h"

namespace hearth::data::datasets {

const Vocab* Categories::find(std::string_view column) const {
  for (const auto& [name, vocab] : columns)
    if (name == column) return &vocab;
  return nullptr;
}
const Vocab& Categories::operator[](std::string_view column) const {
  const Vocab* vocab = find(column);
  HEARTH_CHECK_AS(ValueError, vocab, "there is no categorical column '", column, "'");
  return *vocab;
}

// Column names may be any bytes, so the nested archives are named by index.
void Categories::save(serialize::OutputArchive& archive) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < columns.size(); ++i) {
    serialize::OutputArchive nested;
    columns[i].second.save(nested);
    archive.write(hearth::detail::str(i), nested);
    names.push_back(columns[i].first);
  }
  serialize::OutputArchive nested;
  Vocab(std::move(names)).save(nested);
  archive.write("columns", nested);
}
void Categories::load(serialize::InputArchive& archive) {
  serialize::InputArchive nested;
  archive.read("columns", nested);
  Vocab names;
  names.load(nested);
  std::vector<std::pair<std::string, Vocab>> loaded;
  for (size_t i = 0; i < names.size(); ++i) {
    serialize::InputArchive column;
    archive.read(hearth::detail::str(i), column);
    loaded.emplace_back(names.get_itos()[i], Vocab()).second.load(column);
  }
  columns = std::move(loaded);
}

struct CSV::Table : CsvTable {
  /// Joins columns to a tensor [rows, columns]: int64 if all columns are int64, else dtype.
  Tensor join(const std::vector<size_t>& indices, ScalarType dtype) {
    if (indices.empty()) return empty({rows, 0}, dtype);
    bool all_integers = true;
    for (const size_t i : indices) all_integers &= columns[i].values.scalar_type() == kLong;
    std::vector<Tensor> parts;
    for (const size_t i : indices)
      parts.push_back(all_integers ? columns[i].values : exact(i, dtype));
    Tensor joined = stack(parts, 1);
    // The columns become views, which need no memory of their own.
    for (size_t j = 0; j < indices.size(); ++j)
      if (Tensor& values = columns[indices[j]].values; values.dtype() == joined.dtype())
        values = joined.select(1, int64_t(j));
    return joined;
  }

 private:
  /// Converts column i to dtype; throws if dtype cannot represent its integers.
  Tensor exact(size_t i, ScalarType dtype) const {
    const Tensor& values = columns[i].values;
    const Tensor converted = values.to(dtype);
    HEARTH_CHECK(values.scalar_type() != kLong || converted.to(kLong).equal(values), "'", name,
                 "': column '", names[i], "' has integers that ", dtype, " cannot hold");
    return converted;
  }
};

CSV::CSV(std::string_view text, const std::string& name, const CSVOptions& options) {
  const auto table = std::make_shared<Table>(Table{read_csv(text, name, options)});
  data_ = table->join(table->data, options.dtype());
  if (table->target.size() == 1)
    target_ = table->columns[table->target[0]].values;
  else if (!table->target.empty())
    target_ = table->join(table->target, options.dtype());
  table_ = table;
}
CSV::CSV(const std::string& path, const CSVOptions& options) {
  const io::BytesPtr bytes = io::map_file(path);
  *this = CSV(bytes->text(0, bytes->size()), path, options);
}
CSV CSV::from_text(std::string_view text, const CSVOptions& options, const std::string& name) {
  return CSV(text, name, options);
}

Example<> CSV::get(size_t index) {
  const auto i = static_cast<int64_t>(index);
  return {data_[i], target()[i]};
}
std::optional<size_t> CSV::size() const { return size_t(table_->rows); }

const Tensor& CSV::target() const {
  HEARTH_CHECK(target_.defined(), "'", table_->name,
               "' was read without a target: name its column in CSVOptions().target(), or use "
               "TensorDataset(csv.data()), which has no targets");
  return target_;
}
const std::vector<std::string>& CSV::columns() const { return table_->names; }

Tensor CSV::column(std::string_view name) const {
  const Tensor& values = table_->columns[table_->find(name)].values;
  HEARTH_CHECK_AS(ValueError, values.defined(), "'", table_->name, "': column '", name,
                  "' has no values: it is ignored or holds texts");
  return values;
}
const std::vector<std::string>& CSV::strings(std::string_view name) const {
  const ColumnContent& column = table_->columns[table_->find(name)];
  HEARTH_CHECK_AS(ValueError, int64_t(column.strings.size()) == table_->rows, "'", table_->name,
                  "': column '", name, "' is not in CSVOptions().text()");
  return column.strings;
}
const Categories& CSV::categories() const { return table_->categories; }

}  // namespace hearth::data::datasets
