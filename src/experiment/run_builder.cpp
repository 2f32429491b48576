#include "hearth/experiment/run_builder.h"

#include "hearth/error.h"

namespace hearth::experiment {

namespace {

constexpr size_t kMaxRuns = 1'000'000;

size_t count_runs(const Params& params) {
  size_t count = 1;
  for (const auto& [name, values] : params) {
    HEARTH_CHECK(!values.empty(), "the parameter '", name, "' has no values");
    HEARTH_CHECK(values.size() <= kMaxRuns / count, "the grid has more than ", kMaxRuns,
                 " runs: give its parameters fewer values");
    count *= values.size();
  }
  return count;
}

}  // namespace

std::vector<Run> RunBuilder::get_runs(const Params& params) {
  const size_t count = count_runs(params);
  std::vector<Run> runs;
  runs.reserve(count);
  for (size_t number = 0; number < count; ++number) {
    // Each parameter is a digit of `number`; the last parameter is the last digit.
    size_t combinations = count;
    std::vector<Run::Item> items;
    for (const auto& [name, values] : params) {
      combinations /= values.size();
      items.emplace_back(name, values[number / combinations % values.size()]);
    }
    runs.emplace_back(std::move(items));
  }
  return runs;
}

}  // namespace hearth::experiment
