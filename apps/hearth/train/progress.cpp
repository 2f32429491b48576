#include "progress.h"

#include <utility>

#include "hearth/hearth.h"

namespace hearth::app {

namespace {

/// The members of EpochResult, each stored as one tensor over the epochs.
constexpr std::pair<const char*, double EpochResult::*> kSavedColumns[] = {
    {"loss", &EpochResult::loss},
    {"accuracy", &EpochResult::accuracy},
    {"test_accuracy", &EpochResult::test_accuracy},
    {"epoch_duration", &EpochResult::epoch_duration},
    {"run_duration", &EpochResult::run_duration}};

void write_numbers(serialize::OutputArchive& archive, const std::string& key,
                   const std::vector<double>& numbers) {
  archive.write(key, tensor(numbers, kDouble));
}

std::vector<double> read_numbers(serialize::InputArchive& archive, const std::string& key) {
  Tensor numbers;
  archive.read(key, numbers);
  HEARTH_CHECK(numbers.dim() == 1 && numbers.scalar_type() == kDouble,
               "expected a list of float64 as '", key, "', but got ", numbers.sizes(), " of ",
               numbers.scalar_type());
  numbers = numbers.cpu().contiguous();
  const double* begin = numbers.data_ptr<double>();
  return {begin, begin + numbers.numel()};
}

}  // namespace

void Progress::end_epoch(double test_accuracy, int64_t targets_per_example) {
  const auto count = static_cast<double>(seen);
  const double targets = count * static_cast<double>(targets_per_example);
  epochs.push_back({loss_sum / count, static_cast<double>(correct) / targets, test_accuracy,
                    epoch_seconds, run_seconds});
  batches = seen = correct = 0;
  loss_sum = epoch_seconds = 0;
}

void Progress::save(serialize::OutputArchive& archive) const {
  for (const auto& [name, member] : kSavedColumns) {
    std::vector<double> column;
    for (const EpochResult& epoch : epochs) column.push_back(epoch.*member);
    write_numbers(archive, name, column);
  }
  write_numbers(archive, "losses", losses);
  archive.write("step", IValue(step));
  archive.write("run_seconds", IValue(run_seconds));
  archive.write("batches", IValue(batches));
  archive.write("seen", IValue(seen));
  archive.write("correct", IValue(correct));
  archive.write("loss_sum", IValue(loss_sum));
  archive.write("epoch_seconds", IValue(epoch_seconds));
}

void Progress::load(serialize::InputArchive& archive) {
  const size_t count = read_numbers(archive, kSavedColumns[0].first).size();
  epochs.assign(count, {});
  for (const auto& [name, member] : kSavedColumns) {
    const std::vector<double> column = read_numbers(archive, name);
    HEARTH_CHECK(column.size() == count, "expected ", count, " numbers as '", name, "', but got ",
                 column.size());
    for (size_t i = 0; i < count; ++i) epochs[i].*member = column[i];
  }
  losses = read_numbers(archive, "losses");
  archive.read("step", step);
  archive.read("run_seconds", run_seconds);
  archive.read("batches", batches);
  archive.read("seen", seen);
  archive.read("correct", correct);
  archive.read("loss_sum", loss_sum);
  archive.read("epoch_seconds", epoch_seconds);
}

}  // namespace hearth::app
