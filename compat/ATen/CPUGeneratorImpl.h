#pragma once

#include "ATen/Context.h"
#include "ATen/core/Generator.h"

namespace at {

/// Template argument of make_generator for generators of the CPU.
struct CPUGeneratorImpl {};

/// A new generator, with the given seed or the default one.
template <class Impl>
requires std::is_same_v<Impl, CPUGeneratorImpl> Generator make_generator() {
  return hearth::make_generator();
}
template <class Impl>
requires std::is_same_v<Impl, CPUGeneratorImpl> Generator make_generator(uint64_t seed) {
  return hearth::detail::createCPUGenerator(seed);
}

}  // namespace at
