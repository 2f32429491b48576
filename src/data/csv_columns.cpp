#include "data/csv_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/csv_numbers.h"
#include "data/string_hash.h"
#include "hearth/operators.h"

namespace hearth::data {

MissingValues::MissingValues(const datasets::CSVOptions& options)
    : values_(options.missing_values()), are_allowed_(options.allow_missing()) {
  for (const std::string& value : values_)
    is_first_byte_[value.empty() ? 0 : uint8_t(value[0])] = true;
}
bool MissingValues::is_listed(std::string_view field) const {
  return std::find(values_.begin(), values_.end(), field) != values_.end();
}

ColumnReader::~ColumnReader() = default;

namespace {

constexpr const char* kAllow = " (CSVOptions().allow_missing(true) accepts it)";

/// A tensor of values that are appended one by one.
template <class T>
class Values {
 public:
  explicit Values(int64_t capacity) : tensor_(empty({capacity}, dtype_of<T>)), next_(begin()) {}

  void add(T value) { *next_++ = value; }
  T* begin() { return tensor_.template data_ptr<T>(); }
  T* end() { return next_; }
  /// The values, without the memory that is not used.
  Tensor finish() {
    const int64_t rows = end() - begin();
    return rows == tensor_.numel() ? tensor_ : tensor_.narrow(0, 0, rows).clone();
  }

 private:
  Tensor tensor_;
  T* next_;
};

template <class T>
class NumberColumn final : public ColumnReader {
 public:
  NumberColumn(const std::string& name, int64_t rows, const MissingValues& missing)
      : name_(shown(name)), missing_(missing), values_(rows) {}

  void add(std::string_view field, const CsvScanner& scanner) override {
    if (missing_.has(field)) return add_missing(field, scanner);
    double value = 0;
    const Parsed result = parse_number(field, value);
    if (result == Parsed::kNotANumber)
      scanner.fail("expected a number for '", name_, "', but got '", shown(field),
                   "' (for names, list the column in CSVOptions().categorical())");
    if (result == Parsed::kOutOfRange || (std::isinf(T(value)) && std::isfinite(value)))
      scanner.fail(shown(field), " for '", name_, "' is out of the range of ", dtype_of<T>);
    if (std::isnan(value)) return add_missing(field, scanner);
    values_.add(static_cast<T>(value));
  }
  ColumnContent finish() override { return {values_.finish(), {}, {}}; }

 private:
  void add_missing(std::string_view field, const CsvScanner& scanner) {
    if (!missing_.are_allowed())
      scanner.fail("the number for '", name_, "' is missing: '", shown(field), "'", kAllow);
    values_.add(std::numeric_limits<T>::quiet_NaN());
  }

  const std::string name_;  // for errors
  const MissingValues& missing_;
  Values<T> values_;
};

class IntegerColumn final : public ColumnReader {
 public:
  IntegerColumn(const std::string& name, int64_t rows, const MissingValues& missing)
      : name_(shown(name)), missing_(missing), values_(rows) {}

  void add(std::string_view field, const CsvScanner& scanner) override {
    if (missing_.has(field))
      scanner.fail("the integer for '", name_, "' is missing: '", shown(field), "'");
    int64_t value = 0;
    const Parsed result = parse_integer(field, value);
    if (result == Parsed::kNotANumber)
      scanner.fail("expected an integer for '", name_, "', but got '", shown(field), "'");
    if (result == Parsed::kOutOfRange)
      scanner.fail(shown(field), " for '", name_, "' is out of the range of ", kLong);
    values_.add(value);
  }
  ColumnContent finish() override { return {values_.finish(), {}, {}}; }

 private:
  const std::string name_;  // for errors
  const MissingValues& missing_;
  Values<int64_t> values_;
};

class CategoryColumn final : public ColumnReader {
 public:
  CategoryColumn(const std::string& name, int64_t rows, const MissingValues& missing,
                 const Vocab* known)
      : name_(shown(name)), missing_(missing), known_(known), values_(rows) {}

  void add(std::string_view field, const CsvScanner& scanner) override {
    if (missing_.has(field)) {
      if (!missing_.are_allowed())
        scanner.fail("the category for '", name_, "' is missing: '", shown(field), "'", kAllow);
      field = "";
    }
    values_.add(known_ ? known_id_of(field, scanner) : id_of(field));
  }

  /// Without a given vocabulary, the categories are sorted.
  ColumnContent finish() override {
    if (known_) return {values_.finish(), {}, *known_};
    std::vector<std::string> sorted;
    sorted.reserve(ids_.size());
    for (const auto& [category, id] : ids_) sorted.push_back(category);
    std::sort(sorted.begin(), sorted.end());
    std::vector<int64_t> sorted_ids(sorted.size());
    for (size_t i = 0; i < sorted.size(); ++i)
      sorted_ids[size_t(ids_.find(sorted[i])->second)] = int64_t(i);
    for (int64_t& value : values_) value = sorted_ids[size_t(value)];
    return {values_.finish(), {}, Vocab(std::move(sorted))};
  }

 private:
  int64_t id_of(std::string_view category) {
    const auto found = ids_.find(category);
    if (found != ids_.end()) return found->second;
    return ids_.emplace(category, int64_t(ids_.size())).first->second;
  }
  int64_t known_id_of(std::string_view category, const CsvScanner& scanner) const {
    const std::optional<int64_t> found = known_->find(category);
    if (!found && !known_->get_default_index())
      scanner.fail("'", shown(category), "' is not one of the ", known_->size(), " categories of '",
                   name_, "', whose vocabulary has no default index");
    return found ? *found : *known_->get_default_index();
  }

  const std::string name_;  // for errors
  const MissingValues& missing_;
  const Vocab* known_;
  StringMap<int64_t> ids_;  // numbered in the order of the categories' first use
  Values<int64_t> values_;
};

class TextColumn final : public ColumnReader {
 public:
  void add(std::string_view field, const CsvScanner&) override { strings_.emplace_back(field); }
  ColumnContent finish() override { return {{}, std::move(strings_), {}}; }

 private:
  std::vector<std::string> strings_;
};

class IgnoredColumn final : public ColumnReader {
 public:
  void add(std::string_view, const CsvScanner&) override {}
  ColumnContent finish() override { return {}; }
};

}  // namespace

ColumnReaderPtr real_column(const std::string& name, ScalarType dtype, int64_t rows,
                            const MissingValues& missing) {
  if (dtype == kDouble) return std::make_unique<NumberColumn<double>>(name, rows, missing);
  return std::make_unique<NumberColumn<float>>(name, rows, missing);
}
ColumnReaderPtr integer_column(const std::string& name, int64_t rows,
                               const MissingValues& missing) {
  return std::make_unique<IntegerColumn>(name, rows, missing);
}
ColumnReaderPtr category_column(const std::string& name, int64_t rows, const MissingValues& missing,
                                const Vocab* known) {
  return std::make_unique<CategoryColumn>(name, rows, missing, known);
}
ColumnReaderPtr text_column() { return std::make_unique<TextColumn>(); }
ColumnReaderPtr ignored_column() { return std::make_unique<IgnoredColumn>(); }

}  // namespace hearth::data
