#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench.h"
#include "hearth/device.h"

namespace hearth::app {

/// The times of two ways to compute one result; without a GPU there is only the baseline.
struct Measurement {
  enum class Kind { kMatmul, kRows, kTransfers, kTraining };
  struct Way {
    std::string name;
    double seconds = 0;
  };

  Kind kind;
  int64_t size;  // of square matrices, or of a batch
  int64_t repetitions;
  Way baseline;
  std::optional<Way> alternative;
  std::optional<double> difference;  // largest difference between the two results
  std::string error;                 // empty if the measurement succeeded

  double ratio() const { return baseline.seconds / alternative->seconds; }
};

/// The name in JSON: "matmul".
std::string kind_name(const Measurement& measurement);
/// The name in the table: "matmul of 1000 x 1000".
std::string title(const Measurement& measurement);

/// The requested measurements in order, still without times.
std::vector<Measurement> planned(const BenchOptions& options, std::optional<Device> gpu);

/// Runs one measurement and announces it on a terminal.
void measure(Measurement& measurement, std::optional<Device> gpu);

}  // namespace hearth::app
