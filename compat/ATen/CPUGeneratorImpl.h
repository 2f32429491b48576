#pragma once

#include "ATen/Context.h"
#include "ATen/core/Generator.h"

namespace at {

/// Names the CPU's generators in make_generator.
struct CPUGeneratorImpl {};

/// A new generator, seeded if there is a seed.
template <class Impl>
requires std::is_same_v<Impl, CPUGeneratorImpl> Generator make_generator() {
  return hearth::make_generator();
}
template <class Impl>
requires std::is_same_v<Impl, CPUGeneratorImpl> Generator make_generator(uint64_t seed) {
  return hearth::detail::createCPUGenerator(seed);
}

}  // namespace at
