#pragma once

#include <optional>
#include <type_traits>

#include "ATen/Context.h"
#include "ATen/core/Generator.h"
#include "c10/util/Exception.h"
#include "hearth/cpu_generator.h"

namespace at {

/// A new generator, with the given seed or the default one.
template <class Impl>
requires std::is_same_v<Impl, hearth::CPUGeneratorImpl> Generator make_generator() {
  return hearth::make_generator();
}
template <class Impl>
requires std::is_same_v<Impl, hearth::CPUGeneratorImpl> Generator make_generator(uint64_t seed) {
  return hearth::detail::createCPUGenerator(seed);
}

/// The implementation of a generator of the CPU.
template <class Impl>
Impl* check_generator(std::optional<Generator> generator) {
  TORCH_CHECK(generator.has_value(), "Expected Generator but received nullopt");
  TORCH_CHECK(generator->defined(), "Generator with undefined implementation is not allowed");
  TORCH_CHECK(generator->device().is_cpu(),
              "Expected a 'cpu' device type for generator but found '", generator->device().type(),
              "'");
  return generator->template get<Impl>();
}

/// The implementation of `generator`, or of `default_generator` if there is none.
template <class Impl>
Impl* get_generator_or_default(const std::optional<Generator>& generator,
                               const Generator& default_generator) {
  return check_generator<Impl>(generator && generator->defined() ? *generator : default_generator);
}

}  // namespace at
