#pragma once

#include "c10/namespaces.h"
#include "hearth/context.h"
#include "hearth/cuda.h"
#include "hearth/generator.h"
#include "hearth/threads.h"

namespace at {

/// What at::globalContext() answers.
struct Context : hearth::Context {
  bool hasCUDA() const { return hearth::cuda::is_available(); }
  const Generator& defaultGenerator(Device device) const {
    return hearth::default_generator(device);
  }
};
inline Context& globalContext() {
  static Context context;
  return context;
}
inline bool hasCUDA() { return globalContext().hasCUDA(); }
inline void init_num_threads() {}

}  // namespace at

namespace hearth::detail {
inline const Generator& getDefaultCPUGenerator() { return default_generator(); }
inline Generator createCPUGenerator(uint64_t seed = 67280421310721) {
  Generator generator = make_generator();
  generator.set_current_seed(seed);
  return generator;
}
}  // namespace hearth::detail

namespace torch {
using at::globalContext;
using at::init_num_threads;
}  // namespace torch
