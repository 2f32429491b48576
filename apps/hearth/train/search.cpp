#include "search.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "../names.h"
#include "../usage.h"
#include "hearth/hearth.h"
#include "options.h"
#include "results.h"

namespace hearth::app {

namespace {

constexpr int kDigits = 3;         // of a drawn value
constexpr int kMaxAttempts = 100;  // to draw a run that is new

double number_in(std::string_view text, const std::string& range) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  HEARTH_CHECK_AS(
      ValueError,
      error == std::errc() && end == text.data() + text.size() && value > 0 && std::isfinite(value),
      "'", printable(range),
      "' is not a range of numbers above 0, such as "
      "1e-4..1e-1:log");
  return value;
}

/// The value with a few digits, which is easy to repeat by hand.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", kDigits, value);
  return std::strtod(text, nullptr);
}

/// A number from 0 to 1, without 1.
double uniform(const Generator& random) {
  return rand({}, random, TensorOptions(kDouble)).item<double>();
}

double draw(const Range& range, const Generator& random) {
  const double share = uniform(random);
  const double value = range.is_log ? range.low * std::pow(range.high / range.low, share)
                                    : range.low + share * (range.high - range.low);
  return std::clamp(rounded(value), range.low, range.high);
}

/// One of the values.
template <class T>
T draw(const std::vector<T>& values, const Generator& random) {
  return values[static_cast<size_t>(uniform(random) * static_cast<double>(values.size()))];
}

}  // namespace

std::optional<Range> parse_range(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  Range range{.text = text};
  std::string_view high = std::string_view(text).substr(dots + 2);
  const size_t colon = high.find(':');
  if (colon != std::string_view::npos) {
    HEARTH_CHECK_AS(ValueError, high.substr(colon) == ":log", "'", printable(text),
                    "': only ':log' may follow a range");
    range.is_log = true;
    high = high.substr(0, colon);
  }
  range.low = number_in(std::string_view(text).substr(0, dots), text);
  range.high = number_in(high, text);
  HEARTH_CHECK_AS(ValueError, range.low < range.high, "'", printable(text),
                  "' is empty: a range goes from its smaller to its larger number");
  return range;
}

void check_search(const TrainOptions& options) {
  const bool has_range = options.lr_range || options.batch_range;
  HEARTH_CHECK_AS(UsageError, !has_range || options.trials,
                  "a range needs --trials, the number of runs whose values are drawn from it");
  HEARTH_CHECK_AS(UsageError, has_range || !options.trials,
                  "--trials draws from a range, as in --lr 1e-4..1e-1:log");
  HEARTH_CHECK_AS(UsageError, has_range || options.search == "random",
                  "--search halving needs a range, as in --lr 1e-4..1e-1:log, and --trials");
  HEARTH_CHECK_AS(UsageError,
                  !has_range || (options.num_workers.size() == 1 && options.devices.size() == 1),
                  "a search has one value of --num-workers and of --device");
  HEARTH_CHECK_AS(UsageError, options.search != "halving" || options.epochs >= 3,
                  "--search halving needs at least 3 --epochs, for two stages");
}

std::vector<RunOptions> trials_of(const TrainOptions& options) {
  Generator random = make_generator();
  random.set_current_seed(options.seed);
  std::vector<RunOptions> runs;
  const auto is_new = [&](const RunOptions& run) {
    return std::ranges::none_of(runs, [&](const RunOptions& other) {
      return other.lr == run.lr && other.batch_size == run.batch_size;
    });
  };
  for (int attempts = 0; std::ssize(runs) < *options.trials;) {
    RunOptions run{0, 0, options.num_workers.front(), options.devices.front()};
    run.lr = options.lr_range ? draw(*options.lr_range, random) : draw(options.lrs, random);
    run.batch_size = options.batch_range
                         ? std::max<int64_t>(std::llround(draw(*options.batch_range, random)), 1)
                         : draw(options.batch_sizes, random);
    const bool accepted = is_new(run);
    attempts = accepted ? 0 : attempts + 1;
    HEARTH_CHECK(attempts < kMaxAttempts, "the ranges have too few different values for ",
                 *options.trials, " --trials");
    if (accepted) runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<int64_t> Halving::stages(int64_t runs, int64_t epochs) {
  std::vector<int64_t> stages{epochs};
  for (int64_t left = runs; left > kFactor && stages.front() >= kFactor; left /= kFactor)
    stages.insert(stages.begin(), stages.front() / kFactor);
  return stages;
}

std::vector<size_t> Halving::best(const std::vector<size_t>& among,
                                  const std::vector<RunResult>& runs, int64_t epochs) {
  const auto accuracy = [&](size_t i) {
    const std::vector<EpochResult>& all = runs[i].epochs;
    return best_accuracy({all.begin(), all.begin() + std::min<int64_t>(epochs, std::ssize(all))});
  };
  std::vector<size_t> kept = among;
  if (kept.empty()) return kept;
  std::ranges::stable_sort(kept, std::ranges::greater(), accuracy);
  kept.resize((kept.size() - 1) / kFactor + 1);
  std::ranges::sort(kept);
  return kept;
}

}  // namespace hearth::app
