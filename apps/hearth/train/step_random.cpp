#include "step_random.h"

#include "hearth/hearth.h"
#include "processes.h"

namespace hearth::app {

namespace {

/// A seed from several numbers (the finalizer of SplitMix64, applied to each).
uint64_t mixed(std::initializer_list<uint64_t> numbers) {
  uint64_t seed = 0;
  for (const uint64_t number : numbers) {
    seed += number + 0x9e3779b97f4a7c15;
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111eb;
    seed ^= seed >> 31;
  }
  return seed;
}

}  // namespace

std::function<Tensor(Tensor)> differing(std::function<Tensor(Tensor)> change, int64_t rank) {
  return [change = std::move(change), rank](Tensor example) {
    const auto drawn = static_cast<uint64_t>(empty({}, kLong).random_().item<int64_t>());
    // The loader discards the generator after the batch.
    Generator of_batch = default_generator();
    of_batch.set_current_seed(mixed({drawn, static_cast<uint64_t>(rank)}));
    return change(std::move(example));
  };
}

StepRandom::StepRandom(const Processes& processes, Device device, uint64_t seed, int64_t step) {
  if (!processes.are_several()) return;
  std::vector<Generator> generators{default_generator()};
  if (device.is_cuda()) generators.push_back(default_generator(device));
  const uint64_t step_seed =
      mixed({seed, static_cast<uint64_t>(step), static_cast<uint64_t>(processes.rank())});
  for (Generator& generator : generators) {
    saved_.emplace_back(generator, generator.get_state());
    generator.set_current_seed(step_seed);
  }
}

StepRandom::~StepRandom() {
  for (auto& [generator, state] : saved_) generator.set_state(state);
}

}  // namespace hearth::app
