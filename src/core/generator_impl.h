#pragma once

#include <mutex>

#include "core/mt19937.h"
#include "hearth/cpu_generator.h"
#include "seam/ctx.h"

namespace hearth {

/// The state of a generator: a Mersenne twister on the CPU, seed and offset of Philox on GPUs.
struct GeneratorImpl : CPUGeneratorImpl {
  explicit GeneratorImpl(Device where) : device(where) {}
  Device device;
  std::mutex state_mutex;  // guards all members below; locked after mutex_
  Mt19937 mt;
  uint64_t philox_seed = Mt19937::kDefaultSeed;
  uint64_t philox_offset = 0;
};

/// Returns the given generator, or the device's default one if it is undefined; throws if it has
/// another device type.
GeneratorImpl& generator_for(const Generator& generator, Device device);

/// Locks a generator, first mutex_ as LibTorch's ops do, for one launch and provides the source for
/// its kernel. On GPUs, advances the generator's offset.
class Draw {
 public:
  Draw(const Generator& generator, Device device);
  const RandomSource& source() const { return source_; }

 private:
  GeneratorImpl& impl_;
  std::lock_guard<std::mutex> user_lock_;
  std::lock_guard<std::mutex> lock_;
  RandomSource source_;
};

}  // namespace hearth
