#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <vector>

namespace hearth::app {

struct BenchOptions {
  std::vector<int64_t> sizes{1000, 10000};  // of the square matrices
  int64_t transfer_size = 10000;            // rows and columns that are moved
  int64_t repeats = 100;                    // of a small transfer
  int64_t steps = 20;                       // of training
  std::optional<int> gpu;                   // none: the first, if there is one
  bool as_json = false;
};

/// `hearth bench`: what the tutorials measure, on the CPU against a GPU; false if something
/// could not be measured.
bool run_bench(const BenchOptions& options, std::ostream& out);

}  // namespace hearth::app
