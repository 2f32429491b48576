#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hearth::app {

struct TrainOptions;
struct RunOptions;
struct RunResult;

/// The values from `low` to `high`, drawn uniformly, or so that their logarithms are uniform.
struct Range {
  double low = 0, high = 0;
  bool is_log = false;
  std::string text;  // "1e-4..1e-1:log"
};

/// A range from its text, or nullopt if the text has no ".."; throws if it is not a range of
/// numbers above 0.
std::optional<Range> parse_range(const std::string& text);

/// Throws if the ranges, --trials and --search do not fit each other.
void check_search(const TrainOptions& options);

/// The runs of a random search, the same for the same seed.
std::vector<RunOptions> trials_of(const TrainOptions& options);

/// Successive halving: the first stage trains all runs, and each later one the best third of the
/// stage before, to about three times as many epochs.
class Halving {
 public:
  /// The epochs that the runs have after each stage: {1, 3, 9}.
  static std::vector<int64_t> stages(int64_t runs, int64_t epochs);
  /// The best third of `among`, which are indices of runs, by the best test accuracy in the first
  /// `epochs`; the indices ascend.
  static std::vector<size_t> best(const std::vector<size_t>& among,
                                  const std::vector<RunResult>& runs, int64_t epochs);

 private:
  static constexpr int64_t kFactor = 3;
};

}  // namespace hearth::app
