#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <vector>

namespace hearth::app {

struct BenchOptions {
  std::vector<int64_t> sizes{1000, 10000};  // rows and columns of the matrices to multiply
  int64_t transfer_size = 10000;            // rows and columns of the matrix moved row by row
  int64_t repeats = 100;                    // number of multiplications by a scalar
  int64_t steps = 20;                       // training steps
  std::optional<int> gpu;                   // without a value: the first, if there is any
  bool as_json = false;
};

/// `hearth bench`: compares the CPU and a GPU by the measurements of the tutorials. Returns false
/// if a measurement failed.
bool run_bench(const BenchOptions& options, std::ostream& out);

}  // namespace hearth::app
