#include <algorithm>
#include <fstream>

#include "hearth/data/csv.h"
#include "hearth/data/text.h"
#include "hearth/hearth.h"
#include "loaders.h"

namespace hearth::app {

namespace {

constexpr int64_t kTextLength = 64;     // of an example
constexpr double kTextTestShare = 0.1;  // the end of the text

Tensor rows_at(const Tensor& tensor, const std::vector<size_t>& indices) {
  return tensor.index_select(
      0, hearth::tensor(std::vector<int64_t>(indices.begin(), indices.end()), kLong));
}

/// The name of the last column in the first line.
std::string last_column(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  HEARTH_CHECK(std::getline(file, line), "cannot read the first line of '", path, "'");
  std::string name = line.substr(line.rfind(',') + 1);
  const auto is_blank = [](char c) { return c == '\r' || c == '"' || c == ' '; };
  while (!name.empty() && is_blank(name.back())) name.pop_back();
  while (!name.empty() && is_blank(name.front())) name.erase(name.begin());
  return name;
}

void check_finite(const Tensor& numbers, const std::string& file) {
  const Tensor bad = numbers.isfinite().logical_not().nonzero();
  if (bad.size(0) == 0) return;
  throw Error(detail::str("'", file, "' has a number that is not finite: row ",
                          bad[0][0].item<int64_t>() + 1, " after the names, column ",
                          bad[0][1].item<int64_t>() + 1));
}

std::vector<double> numbers_in(const Tensor& tensor) {
  const Tensor row = tensor.contiguous();
  return {row.data_ptr<double>(), row.data_ptr<double>() + row.numel()};
}

/// Mean and deviation of the columns. A deviation that is 0 but for rounding is set to 1.
Standard standard_of(const Tensor& rows) {
  const Tensor numbers = rows.to(kDouble);
  const Tensor mean = numbers.mean(0), spread = numbers.std(0, false);
  const Tensor deviation = where(spread < 1e-12 * (mean.abs() + 1), ones_like(spread), spread);
  return {numbers_in(mean), numbers_in(deviation)};
}

/// Examples of kTextLength characters; the target of each character is the next one in the text.
Tensors examples_of(const Tensor& ids) {
  const int64_t count = (ids.size(0) - 1) / kTextLength, length = count * kTextLength;
  // The test set, a tenth of the text, needs kTextLength + 1 characters.
  HEARTH_CHECK(count > 0, "a text needs at least ", 10 * kTextLength + 10, " characters");
  return {ids.narrow(0, 0, length).view({count, kTextLength}),
          ids.narrow(0, 1, length).view({count, kTextLength})};
}

}  // namespace

DataSets load_csv(const std::string& file, const DataOptions& options) {
  const std::string target = last_column(file);
  const data::datasets::CSV table(
      file, data::datasets::CSVOptions().target(target).categorical(target).trim(true));
  const Tensor numbers = table.data(), classes = table.target();
  HEARTH_CHECK(numbers.dim() == 2 && numbers.size(1) > 0, "'", file,
               "' needs columns of numbers before the column '", target, "' with the class");
  check_finite(numbers, file);
  const Split split = random_split_of(numbers.size(0), options.limit);
  const Standard standard =
      options.standard ? *options.standard : standard_of(rows_at(numbers, split.train));
  HEARTH_CHECK(std::ssize(standard.mean) == numbers.size(1), "the model was trained on ",
               standard.mean.size(), " columns of numbers, but '", file, "' has ", numbers.size(1));
  const Tensor mean = tensor(standard.mean, kDouble),
               deviation = tensor(standard.deviation, kDouble);
  const auto standardised = [&](const std::vector<size_t>& rows) {
    return ((rows_at(numbers, rows).to(kDouble) - mean) / deviation).to(kFloat);
  };
  const std::vector<std::string>& names = table.categories()[target].get_itos();
  DataSets data = in_memory({standardised(split.train), rows_at(classes, split.train)},
                            {standardised(split.test), rows_at(classes, split.test)},
                            std::ssize(names), options.limit);
  data.class_names = names;
  data.standard = standard;
  return data;
}

DataSets load_text(const std::string& file, const DataOptions& options) {
  const std::vector<std::string> texts{data::read_text(file)};
  const data::tokenizers::Characters characters;
  const data::Vocab vocab = data::build_vocab(texts, characters);
  const Tensor ids = data::encode(texts, vocab, characters);
  const auto test_length = static_cast<int64_t>(kTextTestShare * static_cast<double>(ids.size(0)));
  const int64_t train_length = ids.size(0) - test_length;
  DataSets data = in_memory(examples_of(ids.narrow(0, 0, train_length)),
                            examples_of(ids.narrow(0, train_length, test_length)),
                            static_cast<int64_t>(vocab.size()), options.limit);
  data.class_names = vocab.get_itos();  // --resume refuses a text with other characters
  return data;
}

}  // namespace hearth::app
