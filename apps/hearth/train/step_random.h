#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "hearth/device.h"
#include "hearth/generator.h"

namespace hearth::app {

class Processes;

/// `change` with random numbers that differ between ranks. Their seed is drawn from the current
/// generator, which is equal on all processes, and mixed with the rank.
std::function<Tensor(Tensor)> differing(std::function<Tensor(Tensor)> change, int64_t rank);

/// During its lifetime, the random numbers of a step, such as those of dropout, come from the seed,
/// the step and the rank: they differ between processes and need not be saved. Afterwards, the
/// generators continue as before, equal on all processes. Without other processes it does nothing.
class StepRandom {
 public:
  StepRandom(const Processes& processes, Device device, uint64_t seed, int64_t step);
  ~StepRandom();
  StepRandom(const StepRandom&) = delete;
  StepRandom& operator=(const StepRandom&) = delete;

 private:
  std::vector<std::pair<Generator, Tensor>> saved_;  // with their states
};

}  // namespace hearth::app
