#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench.h"
#include "hearth/device.h"

namespace hearth::app {

/// Two ways to do one thing; without a GPU there is only the first.
struct Measurement {
  struct Way {
    std::string name;
    double seconds;
  };
  std::string name;
  Way baseline;
  std::optional<Way> instead;
  std::optional<double> difference;  // the largest between the results

  double ratio() const { return baseline.seconds / instead->seconds; }
};

/// Says on a terminal what it is measuring.
std::vector<Measurement> measure(const BenchOptions& options, std::optional<Device> gpu);

}  // namespace hearth::app
