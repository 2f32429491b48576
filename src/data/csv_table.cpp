#include "data/csv_table.h"

#include <algorithm>
#include <unordered_map>

namespace hearth::data {

namespace {

using datasets::ColumnNames;
using datasets::CSVOptions;

/// Limit against absurd files: each column needs some hundred bytes of memory.
constexpr size_t kMaxColumns = size_t{1} << 20;
constexpr size_t kMaxShownNames = 20;  // in an error

enum class Kind { kNumber, kInteger, kCategory, kText, kIgnored };

void check_options(const CSVOptions& options) {
  const char delimiter = options.delimiter(), quote = options.quote();
  for (const char character : {delimiter, quote})
    HEARTH_CHECK_AS(ValueError, character != '\n' && character != '\r',
                    "CSVOptions: delimiter and quote cannot be the end of a line");
  HEARTH_CHECK_AS(ValueError, delimiter != quote, "CSVOptions: delimiter and quote are both '",
                  delimiter, "'");
  HEARTH_CHECK_AS(ValueError, options.dtype() == kFloat || options.dtype() == kDouble,
                  "CSVOptions: dtype should be kFloat or kDouble, but got ", options.dtype());
}

/// Throws if the text is empty, compressed or UTF-16.
void check_text(std::string_view text, const std::string& name) {
  HEARTH_CHECK(!text.empty(), "cannot read '", name, "': it is empty");
  HEARTH_CHECK(!text.starts_with("\x1f\x8b"), "cannot read '", name,
               "': it is compressed; gunzip decompresses it");
  HEARTH_CHECK(!text.starts_with("\xff\xfe") && !text.starts_with("\xfe\xff"), "cannot read '",
               name, "': it is UTF-16; iconv -f UTF-16 -t UTF-8 converts it");
}

std::vector<std::string> fields_of(CsvScanner& scanner) {
  std::vector<std::string> fields;
  for (std::string_view field; scanner.next_field(field);) {
    if (fields.size() == kMaxColumns) scanner.fail("there are more than ", kMaxColumns, " columns");
    fields.emplace_back(field);
  }
  return fields;
}

void check_names(const std::vector<std::string>& names, const std::string& file) {
  std::unordered_map<std::string_view, size_t> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto [first, is_new] = seen.emplace(names[i], i);
    HEARTH_CHECK(is_new, "cannot read '", file, "': columns ", first->second + 1, " and ", i + 1,
                 " have the same name '", shown(names[i]), "'");
  }
}

/// Reads the header, if there is one, and returns the columns' names.
std::vector<std::string> read_names(CsvScanner& scanner, const std::string& file,
                                    const CSVOptions& options) {
  CsvScanner first = scanner;
  HEARTH_CHECK(first.next_record(), "cannot read '", file, "': there are only empty lines");
  std::vector<std::string> names = fields_of(first);
  const size_t num_columns = names.size();
  if (options.header())
    scanner = first;
  else
    for (size_t i = 0; i < num_columns; ++i) names[i] = hearth::detail::str(i);
  if (!options.names().empty()) names = options.names();
  if (names.size() != num_columns)
    scanner.fail("there are ", num_columns, " columns, but CSVOptions().names() has ",
                 names.size());
  check_names(names, file);
  return names;
}

/// Reads all records after the header.
class TableReader {
 public:
  TableReader(CsvTable& table, const CSVOptions& options)
      : table_(table), options_(options), missing_(options), kinds_(table.names.size()) {
    set_kinds();
    choose_data();
  }

  void read(CsvScanner& scanner, std::string_view text) {
    const std::vector<ColumnReaderPtr> readers = make_readers(max_rows(text));
    std::string_view field;
    for (; scanner.next_record(); ++table_.rows) {
      for (size_t i = 0; i < readers.size(); ++i) {
        if (!scanner.next_field(field))
          scanner.fail("the line ends after ", i, " of ", readers.size(), " fields");
        readers[i]->add(field, scanner);
      }
      if (scanner.next_field(field))
        scanner.fail("there are more fields than the ", readers.size(), " columns");
    }
    HEARTH_CHECK(table_.rows > 0, "cannot read '", table_.name,
                 "': there is nothing after the header");
    for (const ColumnReaderPtr& reader : readers) table_.columns.push_back(reader->finish());
    for (size_t i = 0; i < kinds_.size(); ++i)
      if (kinds_[i] == Kind::kCategory)
        table_.categories.columns.emplace_back(table_.names[i], table_.columns[i].categories);
  }

 private:
  /// A bound on the rows: a record consists at least of its delimiters and the end of its line.
  int64_t max_rows(std::string_view text) const {
    const auto num_line_ends = std::count_if(text.begin(), text.end(), [](char character) {
      return character == '\n' || character == '\r';
    });
    return std::min(int64_t(num_line_ends), int64_t(text.size() / table_.names.size())) + 1;
  }

  void set_kinds() {
    const auto set = [&](const ColumnNames& names, Kind kind) {
      for (const std::string& name : names) {
        Kind& current = kinds_[table_.find(name)];
        HEARTH_CHECK_AS(ValueError, current == Kind::kNumber || current == kind,
                        "CSVOptions: column '", name, "' has two types");
        current = kind;
      }
    };
    set(options_.integers(), Kind::kInteger);
    set(options_.categorical(), Kind::kCategory);
    set(options_.text(), Kind::kText);
    set(options_.ignored(), Kind::kIgnored);
    for (size_t i = 0; i < kinds_.size(); ++i)
      if (kinds_[i] == Kind::kNumber && options_.categories().find(table_.names[i]))
        kinds_[i] = Kind::kCategory;
  }

  /// Sets the columns of target and data, which the options name. If they name none for data, it
  /// gets all other columns except text and ignored ones; else, the other columns of numbers are
  /// ignored.
  void choose_data() {
    std::vector<bool> is_used(kinds_.size());
    for (auto [names, indices] :
         {std::pair(&options_.target(), &table_.target), std::pair(&options_.data(), &table_.data)})
      for (const std::string& name : *names) {
        const size_t i = table_.find(name);
        HEARTH_CHECK_AS(ValueError, !is_used[i], "CSVOptions: column '", name,
                        "' is in target or data twice");
        HEARTH_CHECK_AS(ValueError, kinds_[i] != Kind::kText && kinds_[i] != Kind::kIgnored,
                        "CSVOptions: column '", name,
                        "' of target or data should not be in text or ignored");
        is_used[i] = true;
        indices->push_back(i);
      }
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (is_used[i] || kinds_[i] == Kind::kText || kinds_[i] == Kind::kIgnored) continue;
      if (options_.data().empty())
        table_.data.push_back(i);
      else if (kinds_[i] == Kind::kNumber)
        kinds_[i] = Kind::kIgnored;
    }
  }

  std::vector<ColumnReaderPtr> make_readers(int64_t rows) const {
    std::vector<ColumnReaderPtr> readers;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const std::string& name = table_.names[i];
      switch (kinds_[i]) {
        case Kind::kNumber:
          readers.push_back(real_column(name, options_.dtype(), rows, missing_));
          break;
        case Kind::kInteger: readers.push_back(integer_column(name, rows, missing_)); break;
        case Kind::kCategory:
          readers.push_back(
              category_column(name, rows, missing_, options_.categories().find(name)));
          break;
        case Kind::kText: readers.push_back(text_column()); break;
        case Kind::kIgnored: readers.push_back(ignored_column());
      }
    }
    return readers;
  }

  CsvTable& table_;
  const CSVOptions& options_;
  MissingValues missing_;
  std::vector<Kind> kinds_;
};

}  // namespace

size_t CsvTable::find(std::string_view column) const {
  const auto found = std::find(names.begin(), names.end(), column);
  if (found != names.end()) return size_t(found - names.begin());
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kMaxShownNames); ++i)
    list += hearth::detail::str(i == 0 ? "'" : ", '", shown(names[i]), "'");
  if (names.size() > kMaxShownNames) list += ", …";
  hearth::detail::fail<ValueError>("'", name, "' has no column '", column, "'; its columns are ",
                                   list);
}

CsvTable read_csv(std::string_view text, const std::string& name, const CSVOptions& options) {
  check_options(options);
  check_text(text, name);
  CsvScanner scanner(text, name, {options.delimiter(), options.quote(), options.trim()});
  CsvTable table;
  table.name = name;
  table.names = read_names(scanner, name, options);
  TableReader(table, options).read(scanner, text);
  return table;
}

}  // namespace hearth::data
