#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench.h"
#include "hearth/device.h"

namespace hearth::app {

/// Two ways to do one thing; without a GPU there is only the first.
struct Measurement {
  enum class Kind { kMatmul, kRows, kTransfers, kTraining };
  struct Way {
    std::string name;
    double seconds = 0;
  };

  Kind kind;
  int64_t size;   // of square matrices, or of a batch
  int64_t times;  // how often it is done
  Way baseline;
  std::optional<Way> instead;
  std::optional<double> difference;  // the largest between the results
  std::string error;                 // what went wrong, if anything

  double ratio() const { return baseline.seconds / instead->seconds; }
};

/// For programs: "matmul".
std::string kind_name(const Measurement& measurement);
/// For people: "matmul of 1000 x 1000".
std::string title(const Measurement& measurement);

/// All that is asked for, in order, without times yet.
std::vector<Measurement> planned(const BenchOptions& options, std::optional<Device> gpu);

/// Measures one of them, and says on a terminal that it does.
void measure(Measurement& measurement, std::optional<Device> gpu);

}  // namespace hearth::app
