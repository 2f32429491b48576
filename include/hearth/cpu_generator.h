#pragma once

#include <cstdint>
#include <mutex>

#include "hearth/generator.h"

namespace hearth {

/// The numbers of a CPU's generator, for kernels of programs: generator.get<CPUGeneratorImpl>().
class HEARTH_API CPUGeneratorImpl {
 public:
  uint32_t random();    ///< the next 32 random bits
  uint64_t random64();  ///< the next 64
  uint64_t current_seed();
  void set_current_seed(uint64_t seed);

  std::mutex mutex_;  ///< Generator::mutex()

 protected:
  CPUGeneratorImpl() = default;  // only as a part of a Generator
  ~CPUGeneratorImpl() = default;
};

}  // namespace hearth
